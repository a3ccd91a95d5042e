"""What a model request says, as facts: the newest message, this turn's results, earlier decisions, and what "it" is.

Everything that came from outside is only ever compared with names or quoted in the report. It chooses no call, with one
exception that is data by nature: the id of a task or run that a name stands for.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from chatops_bot.context.fence import unfence
from chatops_bot.context.skill_text import unframed
from chatops_bot.domain.clocks import ONE_CLOCK, Clocks
from chatops_bot.domain.language import Language, language_of_words
from chatops_bot.domain.model import (
    AssistantMessage,
    ContextMessage,
    Message,
    ModelRequest,
    RecordMessage,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)
from chatops_bot.domain.regex import regex
from chatops_bot.domain.skill import LOAD_SKILL, Skill
from chatops_bot.domain.tool import ToolCall
from chatops_bot.llm.offline.content import Content, arguments_of, content_of, rows_of
from chatops_bot.llm.offline.decisions import OpenProposal, Record, decisions_in


@dataclass(frozen=True, slots=True)
class Result:
    """One call of a turn and what came back."""

    tool: str
    arguments: Content
    content: Content

    @property
    def error(self) -> str:
        """The tool's error text, empty when the call worked."""
        error = self.content.get("error")
        return "" if error is None else str(error)


@dataclass(frozen=True, slots=True)
class Conversation:
    """`records` and `proposals` (those not decided yet) are newest first.

    `history` is what came before the newest message. `earlier`: texts of the thread before the bot was spoken to, other
    people's words, newest first. `now` is the time that the request states, None when it states none. `skills`, `agents`,
    `is_shared`, `clocks` and `is_standing_in` are those of the request.
    """

    text: str
    author: str
    language: Language
    is_first_call: bool
    has_spoken: bool
    results: tuple[Result, ...]
    records: tuple[Record, ...]
    proposals: tuple[OpenProposal, ...]
    history: tuple[Message, ...]
    earlier: tuple[str, ...]
    offered: Mapping[str, ToolDefinition]
    now: datetime | None = None
    skills: tuple[Skill, ...] = ()
    agents: tuple[str, ...] = ()
    is_shared: bool = True
    clocks: Clocks = ONE_CLOCK
    is_standing_in: bool = False


def read(request: ModelRequest) -> Conversation:
    """Never fails, whatever the messages hold."""
    messages = request.messages
    start = max(
        (place for place, message in enumerate(messages) if isinstance(message, UserMessage)), default=0
    )
    asked = messages[start] if messages else None
    text = _own_words(asked.text) if isinstance(asked, UserMessage) else ""
    history, turn = messages[:start], messages[start:]
    said = [message for message in turn if isinstance(message, AssistantMessage)]
    records, proposals = decisions_in(history)
    context = next((message.text for message in turn if isinstance(message, ContextMessage)), "")
    now = _now(context)
    return Conversation(
        text=text,
        author=asked.author if isinstance(asked, UserMessage) else "",
        language=request.language or _language(text, history),
        is_first_call=not said,
        has_spoken=any(message.text.strip() for message in said),
        results=tuple(results_in(turn)),
        records=records,
        proposals=proposals,
        history=history,
        earlier=tuple(reversed([*_earlier(messages)])),
        offered={tool.name: tool for tool in request.tools if request.may_call},
        now=now,
        skills=request.skills,
        agents=request.agents,
        is_shared=request.is_shared,
        clocks=request.clocks,
        is_standing_in=request.is_standing_in,
    )


def _own_words(text: str) -> str:
    """What is asked: an agent that consults another puts its question in a fence."""
    try:
        return unfence(text).strip()
    except ValueError:
        return text


def _language(text: str, history: Sequence[Message]) -> Language:
    language: Language = "en"
    for message in history:
        if isinstance(message, UserMessage):
            language = language_of_words(message.text) or language
    return language_of_words(text) or language


def results_in(turn: Iterable[Message]) -> Iterable[Result]:
    """The calls of a turn with what came back, in the order of the answers."""
    calls: dict[str, ToolCall] = {}
    for message in turn:
        if isinstance(message, AssistantMessage):
            calls |= {call.id: call for call in message.calls}
        elif isinstance(message, ToolMessage) and message.call_id in calls:
            call = calls[message.call_id]
            skill = unframed(message.text) if call.name == LOAD_SKILL else None
            content = content_of(message.text) if skill is None else {"text": skill}
            yield Result(call.name, arguments_of(call), content)


def _earlier(messages: Iterable[Message]) -> Iterable[str]:
    """The texts of the thread before the session began, oldest first."""
    for message in messages:
        if isinstance(message, RecordMessage):
            told = rows_of(content_of(message.text), "earlier_messages")
            yield from (each["text"] for each in told if isinstance(each.get("text"), str))


_NOW = regex(
    r"(?P<year>\d{4})(?:-|年)(?P<month>\d{1,2})(?:-|月)(?P<day>\d{1,2})日?\s+(?P<hour>\d{1,2}):(?P<minute>\d{2})"
    r"[^\n]*?UTC(?P<sign>[+-])(?P<hours>\d{2}):(?P<minutes>\d{2})"
)


def _now(context: str) -> datetime | None:
    """The current time in the session's zone, as the context states it (see `prompt_factory`), and not as some data in it does."""
    stated = (_NOW.search(line) for line in context.splitlines() if not line.startswith("| "))
    match = next(filter(None, stated), None)
    if match is None:
        return None
    offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"]))
    year, month, day, hour, minute = (int(match[part]) for part in ("year", "month", "day", "hour", "minute"))
    try:
        zone = timezone(offset if match["sign"] == "+" else -offset)
        return datetime(year, month, day, hour, minute, tzinfo=zone)
    except ValueError:
        return None
