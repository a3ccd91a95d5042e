"""Wishes to change what a task is: its schedule, its timeout, its name. No tool does that, so people are told what can be done."""

from chatops_bot.domain.regex import regex
from chatops_bot.llm.offline.cues import CHINESE_QUESTION, NAME
from chatops_bot.llm.offline.verbs import OPENERS

_ASPECT = (
    r"schedul\w*|cron\w*|times?|timeouts?|retr(?:y|ies)|payload|command|script|image|name|config\w*|settings?|polic\w+|priority|"
    r"type|interval|dependenc\w+|limits?|frequency|parameters?|arguments?"
)
_ENGLISH = regex(
    rf"^\s*{OPENERS}(?:(?:change|edit|modify|alter|adjust|rename|reschedule|reconfigure)\b"
    rf"|(?:update(?! me| us)|set|increase|decrease|raise|lower|extend|shorten|reduce|move|bump)\b.*(?:{NAME}|\b(?:{_ASPECT})\b))"
)
_CHINESE = regex(
    rf"(?:把|将|{NAME}).{{0,20}}?(?:改|调|设|换)(?:成|为|到|至)|(?:修改|更改|变更|调整|更新|改一?下|调一?下|设置|重命名|改名)(?!了|过|时间|人|记录|历史).{{0,20}}"
    rf"(?:{NAME}|调度|定时|时间|超时|重试|命令|脚本|镜像|名|配置|设置|策略|参数|内容|类型|频率|依赖)"
    rf"|{NAME}.{{0,12}}(?:(?:修改|更改|调整|重命名|改名)(?!了|过|时间|人|记录|历史)|改一?下|调一?下)"
)


def is_alteration(clause: str) -> bool:
    """Whether a masked clause asks to change a task's settings."""
    if _ENGLISH.search(clause):
        return True
    return _CHINESE.search(clause) is not None and CHINESE_QUESTION.search(clause) is None
