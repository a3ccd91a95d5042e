"""What a plan says of its target, its fields and their values, in words of the reader's language.

Tools name things as their service does (`task nightly-report (#1)`, `fixed_interval`), which is what the record and the
digest hold. Above the record stand the words that a form has for the same things; what has no words stays to the letter.
"""

import re

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.tool import Change
from chatops_bot.rendering.escapes import exact

FIELDS = {
    "status": Phrase("状态", "Status"),
    "next_run": Phrase("下次运行", "Next run"),
    "run": Phrase("运行", "Run"),
    "new_runs": Phrase("新增运行", "New runs"),
    "task": Phrase("任务", "Task"),
    "name": Phrase("名称", "Name"),
    "type": Phrase("类型", "Type"),
    "cron_expr": Phrase("调度", "Schedule"),
    "image": Phrase("镜像", "Image"),
    "timeout_seconds": Phrase("超时（秒）", "Timeout (s)"),
    "max_retry": Phrase("最多重试", "Retries at most"),
    "retry_policy": Phrase("重试方式", "Retry policy"),
    "dependants": Phrase("依赖它的任务", "Tasks that depend on it"),
    "dependency": Phrase("依赖", "Dependency"),
}
"""Fields of tasks as people call them; any other field shows its own name."""
FIELD_OF = Phrase("{owner} 的{field}", "{field} of {owner}")
STATUS_VALUES = {
    "enabled": Phrase("启用", "enabled"),
    "disabled": Phrase("停用", "disabled"),
}
RUN_VALUES = {
    "failed": Phrase("失败", "failed"),
    "timeout": Phrase("超时", "timed out"),
    "linked retry": Phrase("关联的重试", "linked retry"),
    "fresh run": Phrase("全新的运行", "fresh run"),
}
RETRY_VALUES = {
    "fixed_interval": Phrase("固定间隔", "fixed interval"),
    "exponential_backoff": Phrase("间隔逐次加倍", "interval doubles each time"),
}
NO_DEPENDANTS = {"-": Phrase("无", "none")}
VALUES = {
    "dependants": NO_DEPENDANTS,
    "status": STATUS_VALUES,
    "run": RUN_VALUES,
    "retry_policy": RETRY_VALUES,
}
"""Values of fields in the words that forms have for them; any other value is shown to the letter."""
TARGET_TASK = Phrase("任务 {task}", "task {task}")
TARGET_NEW_TASK = Phrase("任务 {task}（新建）", "task {task} (new)")
TARGET_RUN = Phrase("任务 {task} 的运行 {run}", "run {run} of task {task}")

_TARGETS = (
    (re.compile(r"task (?P<task>.+) \(new\)"), TARGET_NEW_TASK),
    (re.compile(r"task (?P<task>.+)"), TARGET_TASK),
    (re.compile(r"run (?P<run>#\d+) of task (?P<task>.+)"), TARGET_RUN),
)


def target_words(target: str, language: Language) -> str:
    for form, phrase in _TARGETS:
        match = form.fullmatch(target)
        if match is not None:
            parts = {name: exact(part) for name, part in match.groupdict().items()}
            return phrase.filled(**parts).said_in(language)
    return exact(target)


def field_words(change: Change, language: Language) -> str:
    """The name of a changed field; `dependency of x` is a field of another thing."""
    name, of, owner = change.field.partition(" of ")
    known = FIELDS.get(name)
    if known is None:
        return exact(change.field.replace("_", " "))
    if not of:
        return known.said_in(language)
    return FIELD_OF.filled(field=known.said_in(language), owner=exact(owner)).said_in(language)


def value_words(label: str, text: str, language: Language) -> str:
    """A value of the field that people know by `label`; of `#7 failed`, the last word is one."""
    known = (words for name, words in VALUES.items() if FIELDS[name].said_in(language) == label)
    words = next(known, {})
    if text in words:
        return words[text].said_in(language)
    head, _, last = text.rpartition(" ")
    return f"{exact(head)} {words[last].said_in(language)}" if head and last in words else exact(text)
