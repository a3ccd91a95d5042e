"""The facts of a task that somebody wants created, read from one message.

Nothing is guessed: a fact that the message does not state stays empty, and the asker is shown a form. Only in that form,
where people see it before it counts, "every night" is taken for two o'clock.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from chatops_bot.domain.clocks import Clocks, zone_label
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.regex import regex
from chatops_bot.llm.offline.arguments import Masked, Span
from chatops_bot.llm.offline.cron import written_in
from chatops_bot.llm.offline.cues import NAME
from chatops_bot.llm.offline.said_zone import SaidZone, said_zone_in
from chatops_bot.llm.offline.schedules import cron_in, impossible_clock_in, mentions_time, names_clock

_NAMED = regex(
    rf"(?:\b(?:named\b|called\b|name\b\s*(?:is|:|=)?)|名为|名叫|叫做?|名称?(?:是|为|:|=)?|名字(?:是|叫|为|:)?)\s*(?:(?P<span>{NAME})|(?P<word>[a-z][a-z0-9]*))"
)
_TASK_THEN_NAME = regex(
    rf"(?:\b(?:task|job)|任务)\s*[:,，]?\s*(?P<span>{NAME})|(?P<before>{NAME})\s*(?:task|job|任务)"
)
_TYPES = (
    ("container", regex(r"\b(?:container|docker|image)\b|容器|镜像")),
    ("shell", regex(r"\b(?:shell|bash|script|command)\b|命令|脚本")),
    ("http", regex(r"\bhttps?\b|接口|网址")),
)
_PAYLOAD_CUE = regex(
    rf"(?:\b(?:payload|command|cmd|script|url|runs?|running|execut\w+|calls?|fetch(?:es)?|gets?|hits?|pings?|args?|flags?)|"
    rf"内容|命令|脚本|执行|运行|地址|网址|调用|请求|访问|参数)\s*(?:is|是|为|:|=)?\s*(?P<span>{NAME})"
)
_IMAGE_CUE = regex(rf"(?:\bimage|镜像)\s*(?:is|是|为|:|=)?\s*(?P<span>{NAME})")
_TIMEOUT = regex(
    r"(?:timeout|超时(?:时间)?)\s*(?:of|is|是|为|:|=)?\s*(?P<n>\d{1,5})\s*(?P<unit>m\b|min|分|h\b|小时|hour)?"
)
_RETRIES = regex(
    r"(?:(?:retry|retries|max[ _]retry|重试)\s*(?:of|is|是|为|:|=)?\s*(?P<n>\d{1,2})|(?P<m>\d{1,2})\s*(?:retries|次重试))"
)
_LIKELY = (
    (regex(r"\b(?:every morning|each morning)\b|每天早上|每早"), "0 9 * * *"),
    (
        regex(r"\b(?:every night|each night|nightly|every day|daily)\b|每晚|每夜|每天|每日|天天"),
        "0 2 * * *",
    ),
    (regex(r"\b(?:every weekday|weekdays)\b|工作日"), "0 9 * * 1-5"),
    (regex(r"\b(?:every week|weekly|every sunday)\b|每周|每星期"), "0 3 * * 0"),
    (regex(r"\b(?:every month|monthly)\b|每个?月"), "0 4 1 * *"),
)
_NO_SUCH_TIME = Phrase(
    "没有 {clock} 这个时间，请在表单里选择或填写调度。",
    "There is no time {clock}; choose or write a schedule in the form.",
)
_ODD_TIME = Phrase(
    "这个时间无法用 5 段 cron 准确表示，请在表单里选择或填写调度。",
    "That schedule has no exact 5-field cron form; choose or write one in the form.",
)
_NO_SUCH_ZONE = Phrase(
    "不确定这个时间是哪个时区的，请在表单里按 {zone} 选择或填写调度。",
    "It is not sure which time zone that is; choose or write a schedule in the form, in {zone}.",
)
_DAYS_OFF = {
    -1: Phrase("前一天 {clock}", "{clock} the day before"),
    0: Phrase("{clock}", "{clock}"),
    1: Phrase("次日 {clock}", "{clock} the day after"),
}
_NO_EXACT_TIME = Phrase(
    "{said} 在调度服务的时钟（{zone}）上是 {there}，五段 cron 无法准确表示；请在表单里按 {zone} 选择或填写调度。",
    "{said} is {there} on the scheduler's clock ({zone}), which no five cron fields say exactly; choose or write a schedule in the form, in {zone}.",
)


@dataclass(frozen=True, slots=True)
class NewTask:
    """What the message states. Empty strings and None stand for what it does not."""

    name: str = ""
    type: str = ""
    cron_expr: str = ""
    payload: str = ""
    image: str = ""
    timeout_seconds: int | None = None
    max_retry: int | None = None
    has_odd_time: bool = False
    """It says when, but not in a way that five cron fields express."""
    impossible_clock: str = ""
    """A time of day that there is not, such as 25:00."""
    likely_cron: str = ""
    """What a time without an hour most likely means."""
    is_cron_written: bool = False
    """The expression stands in the message as it is, so it is meant for the scheduler's clock."""
    said_cron: str = ""
    """The schedule that was said in words, where the scheduler's clock cannot say the same."""
    zone: SaidZone | None = None
    """The zone that was said beside it."""

    @property
    def missing(self) -> tuple[str, ...]:
        """Fields without which no task can be created, in the order in which to ask for them."""
        needed = ("name", "type", "cron_expr", "payload") + (("image",) if self.type == "container" else ())
        return tuple(field for field in needed if not getattr(self, field))

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments of create_task that are known. A vague schedule is among them only when a form will be shown."""
        others = tuple(field for field in self.missing if field != "cron_expr")
        stated = {
            "name": self.name,
            "type": self.type,
            "cron_expr": self.cron_expr or (self.likely_cron if others else ""),
            "payload": self.payload,
            "image": self.image,
            "timeout_seconds": self.timeout_seconds,
            "max_retry": self.max_retry,
        }
        return {key: value for key, value in stated.items() if value not in ("", None)}


def new_task_in(message: Masked) -> NewTask:
    """Read a whole masked message."""
    zone, text = said_zone_in(message.text)
    message = replace(message, text=text)
    taken: set[int] = set()

    def span_of(match: re.Match[str] | None, group: str = "span") -> Span | None:
        if match is None or not match.group(group):
            return None
        place = ord(match.group(group)) - 0xE000
        if place in taken or place >= len(message.spans):
            return None
        taken.add(place)
        return message.spans[place]

    image = span_of(_IMAGE_CUE.search(message.text))
    payload = span_of(_PAYLOAD_CUE.search(message.text))
    named = _NAMED.search(message.text)
    by_word = named.group("word") if named and named.group("word") else ""
    name = span_of(named)
    if name is None and not by_word:
        beside = _TASK_THEN_NAME.search(message.text)
        name = span_of(beside) or span_of(beside, "before")
    rest = [span for place, span in enumerate(message.spans) if place not in taken]
    if name is None and not by_word:
        name = next((span for span in rest if span.kind == "name"), None)
    if payload is None:
        quoted = [span for span in rest if span.kind in ("quote", "url") and span is not name]
        payload = next((span for span in quoted if "\n" in span.text), quoted[0] if quoted else None)
    cron, payload, is_written = _cron_beside(message, payload, rest)
    impossible = impossible_clock_in(message.text)
    likely = next(
        (fields for vague, fields in _LIKELY if vague.search(message.text) and not impossible), None
    )
    if cron is None and names_clock(message.text):
        likely = None  # a time was said, only not one that could be read
    timeout, retries = _TIMEOUT.search(message.text), _RETRIES.search(message.text)
    return NewTask(
        name=name.text if name else by_word,
        type=_type_of(message.text, payload),
        cron_expr=cron or "",
        payload=payload.text if payload else "",
        image=image.text if image else "",
        timeout_seconds=_seconds(timeout) if timeout else None,
        max_retry=int(retries.group("n") or retries.group("m")) if retries else None,
        has_odd_time=cron is None and likely is None and mentions_time(message.text),
        impossible_clock=impossible,
        likely_cron=likely or "",
        is_cron_written=is_written,
        zone=zone,
    )


def on_clocks(task: NewTask, clocks: Clocks, now: datetime) -> NewTask:
    """The task with the time that was said in words, on the asker's clock or that which was named, put into the scheduler's."""
    if task.zone == "unknown":
        return task if task.is_cron_written else replace(task, cron_expr="", likely_cron="")
    if task.zone == "scheduler":
        return task
    clocks = _said(clocks, task)
    likely = task.likely_cron and (clocks.schedule(task.likely_cron, now) or task.likely_cron)
    task = replace(task, likely_cron=likely)
    if task.is_cron_written or not task.cron_expr:
        return task
    moved = clocks.schedule(task.cron_expr, now)
    if moved is not None:
        return replace(task, cron_expr=moved)
    return replace(task, cron_expr="", likely_cron="", said_cron=task.cron_expr)


def _said(clocks: Clocks, task: NewTask) -> Clocks:
    return replace(clocks, person=task.zone) if isinstance(task.zone, tzinfo) else clocks


def said_with_form(task: NewTask, clocks: Clocks, now: datetime | None, language: Language) -> str:
    """What the form itself does not say: nothing, unless the message had a time that it cannot hold."""
    clocks = _said(clocks, task)
    if task.zone == "unknown" and not task.is_cron_written:
        return _NO_SUCH_ZONE.filled(zone=zone_label(clocks.scheduler)).said_in(language)
    if task.said_cron and now is not None:
        minute, hour, *_ = task.said_cron.split()
        there = [
            _DAYS_OFF[days].filled(clock=f"{at:%H:%M}").said_in(language)
            for days, at in clocks.shown_at(task.said_cron, now)
        ]
        if not there:
            return _ODD_TIME.said_in(language)
        return _NO_EXACT_TIME.filled(
            said=f"{int(hour):02}:{int(minute):02} {zone_label(clocks.person)}",
            there=" / ".join(there), zone=zone_label(clocks.scheduler),
        ).said_in(language)  # fmt: skip
    if task.impossible_clock and not task.cron_expr:
        return _NO_SUCH_TIME.filled(clock=task.impossible_clock).said_in(language)
    return _ODD_TIME.said_in(language) if task.has_odd_time else ""


def _cron_beside(
    message: Masked, payload: Span | None, rest: list[Span]
) -> tuple[str | None, Span | None, bool]:
    """The cron expression, also one in quotes, and the payload when that quotation was taken for it; and whether the
    expression was written out."""
    quoted = next((span for span in rest if span.kind == "quote" and cron_in(span.text) == span.text), None)
    if quoted is None:
        return cron_in(message.text), payload, written_in(message.text) is not None
    if payload is quoted:
        payload = next((span for span in rest if span.kind in ("quote", "url") and span is not quoted), None)
    return quoted.text, payload, True


def _type_of(text: str, payload: Span | None) -> str:
    for kind, pattern in _TYPES:
        if pattern.search(text):
            return kind
    return "http" if payload is not None and payload.kind == "url" else ""


def _seconds(match: re.Match[str]) -> int:
    unit = match.group("unit") or ""
    return int(match.group("n")) * (60 if unit in ("m", "min", "分") else 3600 if unit else 1)
