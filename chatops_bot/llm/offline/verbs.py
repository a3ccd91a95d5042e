"""Changing verbs: where one is a wish, and where it only speaks of a change.

An English verb counts only where an imperative stands (`pause X`, `put X on hold`), a Chinese one only when it is neither
passive, past, reported nor part of a noun. A verb of everyday use (打开, 关掉, 运行) counts only in a clause that holds
nothing but it, its object and politeness: 打开 X is a wish, 打开 X 的日志 is not.
"""

import re
from dataclasses import dataclass

from chatops_bot.domain.regex import regex
from chatops_bot.llm.offline.cues import CHINESE_QUESTION, NAME, PROHIBITION, Kind

# Order matters where one verb contains another: 取消暂停 before 暂停.
CHINESE_VERBS: tuple[tuple[Kind, str], ...] = (
    (Kind.CREATE, r"(?:创建|新建|新增|添加|增加|建立|(?:加|建|搞|弄|安排|定)一?个)"),
    (Kind.RESUME, r"(?:取消暂停|解除暂停|恢复(?!正常)|重新启用|启用|重新(?:打开|开启)|继续运行|取消停用)"),
    (Kind.RETRY, r"(?:重试|重跑|重新运行|重新执行|重新跑|再试(?:一次|一下|试)|再(?:跑|执行|运行)一?[次遍下]|再来一[次遍])"),
    (Kind.PAUSE, r"(?:暂停|停用|停掉|停止|禁用|停一下|停一停|先停|停下来|挂起|关停)"),
    (Kind.TRIGGER, r"(?:触发|(?:立即|立刻|马上|现在|手动|手工)(?:就)?(?:执行|运行|跑|启动)|(?:执行|运行|跑)一?(?:次|下|遍)|启动)"),
    (Kind.DELETE, r"(?:删除|删掉|移除|删了|删去)"),
)  # fmt: skip

_NOT_A_VERB = (
    r"(?!\s+(?:polic\w+|counts?|status|states?|history|settings?|config\w*|limits?|rates?|intervals?|times?|"
    r"buttons?|reasons?|durations?|logs?|records?|failed|succeeded|list)\b)"
)

ENGLISH_VERBS: tuple[tuple[Kind, str], ...] = (
    (Kind.CREATE, rf"(?:create|add|set up|schedule|make|register|define|new(?=\s+(?:\w+\s+)?(?:task|job)\b))\b"
     rf"(?!\s+(?:sure|of|sense){_NOT_A_VERB}\b)"),
    (Kind.RESUME, r"(?:resume|unpause|enable|reenable|reactivate|activate|unsuspend|(?:turn|switch)(?: back)? on|continue)\b"),
    (Kind.RETRY, r"(?:retry|rerun|redo)\b"),
    (Kind.PAUSE, r"(?:pause|suspend|disable|hold|halt|freeze|(?:turn|switch|shut) off|"
     r"stop(?: (?:running|scheduling|executing))?(?!\s+(?:it|that|this)\b|[^a-z\ue000-\uefff]*$))\b"),
    (Kind.TRIGGER, r"(?:trigger|kick off|fire off|fire|execute|launch|start(?!\s+(?:by|with|from|to)\b)|"
     r"run(?!\s+(?:#?\d|an?\b|me\b|us\b|through\b|diagnos)))\b"),
    (Kind.DELETE, r"(?:delete|remove|drop|erase|get rid of)\b"),
)  # fmt: skip

OPENERS = (
    r"(?:(?:please|pls|plz|kindly|okay|ok|yes|yeah|hey|hi|hello|bot|now|just|then|so|also|and|first|next|quickly|"
    r"immediately|manually|go ahead and|let'?s|let us|help me to|help me|can you|could you|would you|will you|can we|could we|(?:can|could|would) (?:someone|somebody|anyone|anybody)|"
    r"i want you to|i want to|i'?d like you to|i'?d like to|i need you to|(?:i'?m )?going to need you to|i need to|we need to|we have to|you need to|"
    r"请|帮我|帮忙|麻烦|先|给我)\s*+,?+\s*+)*+"
)
_ANY_OBJECT = r"\s+[^,;:?!]{1,80}?\s+"
_OBJECT = rf"(?P<object>{_ANY_OBJECT})"

# Phrases with the object inside: "put X on hold". They come first, since "run X again" begins like "run X".
_ENGLISH_FRAMES: tuple[tuple[Kind, str, str], ...] = (
    (Kind.RESUME, r"take", r"(?:off (?:of )?hold|out of (?:pause|hold))"),
    (Kind.RESUME, r"(?:turn|switch|bring)", r"(?:back(?: on| up| online)?|on)(?! (?:hold|pause))"),
    (Kind.RESUME, r"let", r"(?:run|continue|resume|go on)(?: again)?"),
    (Kind.PAUSE, r"(?:put|place)", r"on (?:hold|pause)"),
    (Kind.PAUSE, r"(?:turn|switch|shut)", r"(?:off|down)"),
    (Kind.PAUSE, r"take", r"(?:offline|down|out of (?:service|rotation|schedule))"),
    (Kind.RETRY, r"(?:try|run)", r"(?:again|once more)"),
    (Kind.RETRY, r"give", r"another (?:try|go|run|shot)"),
    (Kind.TRIGGER, r"give", r"an? (?:run|go|kick)"),
    (Kind.TRIGGER, r"kick", r"off"),
)
_CLOSERS = r"(?:\s|now|please|for (?:now|me|us|a while|the moment)|thanks?(?: you)?|thx|ok(?:ay)?|asap|immediately)*+"

ENGLISH_IMPERATIVES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    *(
        (kind, regex(rf"^\s*{OPENERS}(?<![a-z])(?P<verb>{verb}){_OBJECT}(?P<tail>{tail}){_CLOSERS}$"))
        for kind, verb, tail in _ENGLISH_FRAMES
    ),
    *(
        (kind, regex(rf"^\s*{OPENERS}(?<![a-z])(?P<verb>{verb}{_NOT_A_VERB})(?P<tail>)"))
        for kind, verb in ENGLISH_VERBS
    ),
    # Telegram style: the name, then the bare verb and nothing more.
    *(
        (kind, regex(rf"^\s*{NAME}\s*:?\s*(?P<verb>{verb})(?P<tail>)\s*(?:it)?{_CLOSERS}$"))
        for kind, verb in ENGLISH_VERBS
        if kind is not Kind.CREATE
    ),
)
ENGLISH_ANY_VERB = regex(
    "|".join(
        (
            *(rf"\b(?:{verb})" for _, verb in ENGLISH_VERBS),
            *(rf"\b{verb}{_ANY_OBJECT}{tail}\b" for _, verb, tail in _ENGLISH_FRAMES),
        )
    )
)
CHINESE_IMPERATIVES: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, regex(verb)) for kind, verb in CHINESE_VERBS
)

_LEAD = (
    r"(?:请问?|麻烦(?:你|您)?|帮我|帮忙|给我|你|您|那|就|先|暂时|现在|可以|能不能|能否|能|把|将|让|再|手动|直接|赶紧|快|也|重新|给|"
    r"我想|我要|,|\s)*+"
)
_KIND_OF_THING = r"(?:任务|作业|job|task)"
_THING = (
    rf"(?:{_KIND_OF_THING}?\s*(?:{NAME}|#\s*\d+)|{_KIND_OF_THING}\s*\d+|它|(?:这个|那个|该|此){_KIND_OF_THING}?)"
    rf"(?:\s*(?:这个|那个)?{_KIND_OF_THING})?"
)
_TRAIL = r"(?:一下|下|一次|一遍|起来|吧|呗|啊|哈|呀|谢谢|谢啦|thx|thanks|please|先|了(?=\s*(?:吧|呗))|,|\s)*+"
_EVERYDAY_VERBS: tuple[tuple[Kind, str], ...] = (
    (Kind.RESUME, r"(?:打开|开启|(?:继续|接着)(?:跑|运行|执行)?了?)"),
    (Kind.RESUME, r"上线"),
    (Kind.PAUSE, r"(?:下线|下架|关掉|关闭|关了|关|停下|停了|停(?!用))"),
    (Kind.TRIGGER, r"(?:运行|执行|跑起来|跑)"),
    (Kind.DELETE, r"(?:清除|清掉|干掉|去掉)"),
)
_MARKED = regex(r"把|将|让|给我|可以|吧|请|麻烦|帮|先|再|起来")
"""What tells the wish "X 关了吧" from the news "X 关了"."""
_EVERYDAY: tuple[tuple[Kind, re.Pattern[str], bool], ...] = tuple(
    (kind, regex(pattern), names_first)
    for kind, verb in _EVERYDAY_VERBS
    for pattern, names_first in (
        (rf"^{_LEAD}(?P<verb>{verb})\s*{_THING}{_TRAIL}$", False),
        (rf"^{_LEAD}{_THING}\s*{_LEAD}(?P<verb>{verb}){_TRAIL}$", True),
    )
)
_RUN_NO_MORE = regex(
    rf"^{_LEAD}(?:{_THING})?{_LEAD}(?P<verb>(?:别|不要|甭)\s*(?P<again>再)?\s*(?:跑|运行|执行|调度))\s*(?:{_THING})?\s*(?P<stop>了)?{_TRAIL}$"
)
"""先别跑 X 了: what reads like a prohibition asks for a pause."""
_HAS_THING = regex(_THING)

CHINESE_ANY_VERB = regex(
    "|".join([*(verb for _, verb in CHINESE_VERBS), *(verb for _, verb in _EVERYDAY_VERBS), "删", "重启"])
)

# Guards of Chinese verbs: what stands right before or after makes it a description instead of a wish.
_DESCRIBED_BEFORE = regex(
    r"(?:被|已|已经|刚|刚刚|自动|正在|曾|曾经|未|没|没有|还没|谁|下次|上次|定时|在|的|说|说要|提示|显示|建议|写着)\s*$"
)
_DESCRIBED_AFTER = regex(
    r"\s*(?:(?:也|又|还是|都|仍然?|全)(?:失败|超时|报错|出错|不行|没)|的|中|状态|过|次数|策略|机制|时间|时|记录|历史|原因|器|条件|后|前|之后|之前|失败(?!的)|成功|日志|按钮|功能|权限|操作)"
)
_DONE_AFTER = regex(r"\s*了(?!吧)")
_HANDED_OVER = regex(r"把|将|给我|可以\s*$")
_POLITE = regex(r"^\s*(?:请问)?(?:你)?(?:能不能|能否|可否|可不可以|可以|能)(?P<rest>.*?)(?:吗|么)?\s*$")
_SOMEBODY = r"(?!我|咱|你|您|请|麻烦|帮|现在|今天|就|还|也|那|先|只)[\u4e00-\u9fffa-z]{1,6}?"
_TOLD = regex(
    r"(?<!我)(?<!我们)(?:说|表示|提到|写道|写着|写的是?|建议|提议|提示|要求|告诉|认为|觉得)"
    rf"|(?:^|[\s,]){_SOMEBODY}(?:让|叫|要|请)(?:我|咱|你|他|她|人|大家)"
    rf"|(?:^|[\s,]){_SOMEBODY}(?:想|打算|准备|希望|让把|要把)"
    r"|^\s*(?!bot|机器人|请|麻烦|另外|注意)[\u4e00-\u9fffa-z]{1,8}\s*:\s*$"
)

REPORTING = regex(
    r"\b(?!i\b|we\b|you\b)[a-z]+\s+(?:just\s+|already\s+)?(?:said|says|told|tells|wrote|writes|asked|asks|suggest(?:s|ed)|"
    r"recommend(?:s|ed)|thinks|thought|wants|wanted|request(?:s|ed)|mention(?:s|ed)|commented|posted|reads)\b"
    r"|(?<!我)(?:说|表示|提到|写道|写着|建议|提议)(?:了|过)?\s*:?\s*$"
)
"""Somebody else's words follow."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A change that a clause asks for. `words`: the clause without its verb.

    `is_partial`: the wish is about something of a task ("delete the logs of X"), which is no change of the task.
    """

    kind: Kind
    words: str
    is_polite: bool = False
    is_partial: bool = False


_IS_POLITE = regex(r"\bplease\b|\b(?:can|could|would|will) you\b|\blet'?s\b|请|麻烦|帮我|帮忙")


_AROUND = " .~…:()^_*=|\\/;-\"'"
"""What people put around a wish: smileys, dashes, stray quotes."""


_OF_A_TASK = regex(
    rf"(?P<what>[^{NAME[1:-1]}]*?)\b(?:of|for|from|in|on)\s+(?:the\s+)?(?:task\s+|job\s+)?(?:{NAME}|#\d)"
)
_WHOLE = frozenset(
    [
        "the",
        "a",
        "an",
        "task",
        "job",
        "last",
        "latest",
        "newest",
        "most",
        "recent",
        "failed",
        "failing",
        "run",
        "runs",
        "instance",
        "execution",
        "executions",
        "schedule",
        "scheduling",
        "scheduled",
        "one",
        "my",
        "our",
        "this",
        "that",
        "please",
        "now",
        "it",
    ]
)
"""Words that still mean the task or its newest run in "… of X"."""
_PART_EN = regex(
    rf"{NAME}\s*'s\s+(?!(?:task|job|last|latest|failed|newest|run|schedule)\b)[a-z]"
    rf"|{NAME}\s+(?:logs?|history|alerts?|retries|timeouts?|notifications?|config\w*|settings?|dependenc\w+|cron|payload|"
    r"labels?|tags?|records?|outputs?|errors?)\b"
)
_PART_ZH = regex(
    rf"(?:{NAME}|#\s*\d+|任务\s*\d+)\s*(?:任务)?\s*(?:的\s*(?!运行|失败|最近|最后|最新|上次|那次|这次|实例|调度|定时|执行|任务)[\u4e00-\u9fff]{{2}}"
    r"|的?\s*(?:日志|告警|报警|记录|历史|配置|依赖|超时|重试次数|标签|通知))"
)
_IS_ABOUT_TASKS = regex(
    r"\b(?:tasks?|jobs?|cronjobs?|shell|https?|container|cron|every|daily|nightly|hourly|weekly)\b|任务|作业|每"
)
_STOP_ALONE = regex(r"^\W*停(?:止|下|下来)?吧?\W*$")
"""The word that ends an answer; without an object it is about nothing else."""


def _is_partial(about: str) -> bool:
    """Whether what follows an English verb is about something of a task only."""
    of = _OF_A_TASK.match(about)
    words = set(re.findall(r"[a-z]+", of.group("what"))) if of else set()
    return bool(words - _WHOLE) or _PART_EN.search(about) is not None


def wish_in(clause: str) -> Wish | None:
    """The change that a masked clause asks for, or None."""
    clause = clause.strip(_AROUND)
    is_polite = _IS_POLITE.search(clause) is not None
    stopped = _RUN_NO_MORE.match(clause)
    if stopped is not None and (stopped.group("again") or stopped.group("stop")):
        rest = clause[: stopped.start("verb")] + " " + clause[stopped.end("verb") :]
        if _HAS_THING.search(rest):
            return Wish(Kind.PAUSE, rest, is_polite)
    if PROHIBITION.search(clause):
        return None
    for kind, pattern in ENGLISH_IMPERATIVES:
        match = pattern.match(clause)
        if match is not None:
            verb, tail = match.span("verb"), match.span("tail")
            rest = clause[: verb[0]] + " "
            about = clause[verb[1] : tail[0]] if tail[1] > tail[0] else clause[verb[1] :]
            if kind is Kind.CREATE and not _IS_ABOUT_TASKS.search(about):
                return None
            return Wish(kind, rest + about, is_polite, _is_partial(about))
    return _chinese_wish_in(clause, is_polite)


def _chinese_wish_in(clause: str, is_polite: bool) -> Wish | None:
    polite = _POLITE.match(clause)
    asked = clause if polite is None else polite.group("rest")
    if CHINESE_QUESTION.search(asked) or _STOP_ALONE.match(asked):
        return None
    is_partial = _PART_ZH.search(asked) is not None
    for kind, pattern in CHINESE_IMPERATIVES:
        for match in pattern.finditer(asked):
            before, after = asked[: match.start()], asked[match.end() :]
            if kind is Kind.CREATE and not re.search(r"任务|作业|\b(?:task|job)\b", after):
                continue
            if _is_wish(before, after):
                return Wish(kind, before + " " + after, is_polite or polite is not None, is_partial)
    for kind, everyday, names_first in _EVERYDAY:
        found = everyday.match(asked)
        if found is None:
            continue
        could_be_news = names_first or found.group("verb").endswith("了")
        if not could_be_news or polite is not None or _MARKED.search(asked):
            rest = asked[: found.start("verb")] + " " + asked[found.end("verb") :]
            return Wish(kind, rest, is_polite or polite is not None)
    return None


def _is_wish(before: str, after: str) -> bool:
    if _TOLD.search(before) or _DESCRIBED_BEFORE.search(before) or _DESCRIBED_AFTER.match(after):
        return False
    return not _DONE_AFTER.match(after) or _HANDED_OVER.search(before) is not None


_CREATE_ALONE = regex(
    rf"^{_LEAD}(?:创建|新建|新增|添加|建立|(?:加|建|设|搞|弄|安排)(?:上|好)?)(?:一?个|一下|下)?(?:这样的|这个)?(?:定时)?{_KIND_OF_THING}?{_TRAIL}$"
    rf"|^\s*{OPENERS}(?:(?:create|add|set up|schedule|make)(?:\s+(?:it|that|this|one))?|set (?:it|that|this) up)(?:\s+for\s+(?:me|us|that|this|it))?{_CLOSERS}$"
)


def creates_alone(clause: str) -> bool:
    """Whether a masked clause asks to create what the clauses beside it describe."""
    return _CREATE_ALONE.match(clause.strip(_AROUND)) is not None


def is_prohibition(clause: str) -> bool:
    """Whether a masked clause says not to change something."""
    match = PROHIBITION.search(clause)
    if match is None:
        return False
    rest = clause[match.end() :]
    return ENGLISH_ANY_VERB.search(rest) is not None or CHINESE_ANY_VERB.search(clause) is not None
