"""What a model request says, as facts: the newest message, this turn's results, earlier decisions, and what "it" is.

Everything that came from outside is only ever compared with names or quoted in the report. It chooses no call, with one
exception that is data by nature: the id of a task or run that a name stands for.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chatops_bot.context.fence import unfence
from chatops_bot.domain.language import Language, language_of
from chatops_bot.domain.model import (
    AssistantMessage,
    Message,
    ModelRequest,
    RecordMessage,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)
from chatops_bot.domain.tool import ToolCall
from chatops_bot.llm.offline.arguments import NOTHING, Target, ids_in, mask

WRITE_TOOLS = frozenset({"pause_task", "trigger_task", "retry_failed_instance", "delete_task", "create_task"})

Content = Mapping[str, Any]
UNREADABLE = "the result could not be read; it may have been cut"


@dataclass(frozen=True, slots=True)
class Result:
    """One call of this turn and what came back."""

    tool: str
    arguments: Mapping[str, Any]
    content: Content

    @property
    def error(self) -> str:
        """The tool's error text, empty when the call worked."""
        error = self.content.get("error")
        return "" if error is None else str(error)


@dataclass(frozen=True, slots=True)
class Record:
    """An earlier decision, as the bot recorded it. Missing fields are empty."""

    tool: str = ""
    target: str = ""
    state: str = ""
    by: str = ""
    outcome: str = ""
    at: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """`records` are newest first. `undecided`: the newest change that was proposed and not decided since, or empty."""

    text: str
    language: Language
    is_first_call: bool
    has_spoken: bool
    results: tuple[Result, ...]
    records: tuple[Record, ...]
    undecided: str
    referent: Target
    offered: Mapping[str, ToolDefinition]


def read(request: ModelRequest) -> Conversation:
    """Never fails, whatever the messages hold."""
    messages = request.messages
    start = max(
        (place for place, message in enumerate(messages) if isinstance(message, UserMessage)), default=0
    )
    asked = messages[start] if messages else None
    text = asked.text if isinstance(asked, UserMessage) else ""
    history, turn = messages[:start], messages[start:]
    said = [message for message in turn if isinstance(message, AssistantMessage)]
    records, undecided = _decisions(history)
    return Conversation(
        text=text,
        language=_language(text, history),
        is_first_call=not said,
        has_spoken=any(message.text.strip() for message in said),
        results=tuple(_results(turn)),
        records=records,
        undecided=undecided,
        referent=_referent(history),
        offered={tool.name: tool for tool in request.tools},
    )


def _language(text: str, history: Sequence[Message]) -> Language:
    language: Language = "en"
    for message in history:
        if isinstance(message, UserMessage):
            language = language_of(message.text, language)
    return language_of(text, language)


def _mapping(fenced: str) -> Content:
    try:
        inside = unfence(fenced)
    except ValueError:
        inside = fenced
    try:
        value = json.loads(inside)
    except (ValueError, RecursionError):
        return {"error": UNREADABLE}
    return value if isinstance(value, dict) else {"error": UNREADABLE}


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _results(turn: Iterable[Message]) -> Iterable[Result]:
    calls: dict[str, ToolCall] = {}
    for message in turn:
        if isinstance(message, AssistantMessage):
            calls |= {call.id: call for call in message.calls}
        elif isinstance(message, ToolMessage) and message.call_id in calls:
            call = calls[message.call_id]
            yield Result(call.name, _arguments(call), _mapping(message.text))


def _decisions(history: Sequence[Message]) -> tuple[tuple[Record, ...], str]:
    records: list[Record] = []
    undecided = ""
    for message in history:
        if isinstance(message, RecordMessage):
            records.append(_record(message))
            undecided = ""
        elif isinstance(message, ToolMessage) and message.name in WRITE_TOOLS:
            undecided = "" if "error" in _mapping(message.text) else message.name
    return tuple(reversed(records)), undecided


def _record(message: RecordMessage) -> Record:
    content = _mapping(message.text)
    return Record(**{field: str(content.get(field) or "") for field in Record.__dataclass_fields__})


def target_of(text: str) -> Target:
    """The task that a record's target names: an id where it has one, else a name."""
    masked = mask(text)
    ids, names = ids_in(masked.text), masked.names_in(masked.text)
    if names:
        return Target(names[:1])
    if ids.tasks:
        return Target(task_ids=ids.tasks[:1])
    if ids.runs:
        return Target(run_ids=ids.runs[:1])
    return Target((text.strip(),)) if text.strip() and len(text) <= 128 else NOTHING


def _referent(history: Sequence[Message]) -> Target:
    """What "it" means: the newest turn that was about one thing. A turn about several leaves it open."""
    for turn in reversed(_turns(history)):
        target = _decided_in(turn) or _asked_in(turn)
        if target is not None:
            return target
        tasks = _shown_in(turn)
        if tasks:
            return Target(task_ids=(tasks.pop(),)) if len(tasks) == 1 else NOTHING
    return NOTHING


def _turns(history: Sequence[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = [[]]
    for message in history:
        if isinstance(message, UserMessage):
            turns.append([])
        turns[-1].append(message)
    return turns


def _decided_in(turn: Sequence[Message]) -> Target | None:
    targets = [target_of(_record(message).target) for message in turn if isinstance(message, RecordMessage)]
    return targets[-1] if targets and not targets[-1].is_empty else None


def _asked_in(turn: Sequence[Message]) -> Target | None:
    for message in turn:
        if isinstance(message, UserMessage):
            masked = mask(message.text)
            names, ids = masked.names_in(masked.text), ids_in(masked.text)
            if len(names) == 1 or (not names and len(ids.tasks) == 1):
                return Target(names, () if names else ids.tasks)
            if names:
                return NOTHING
    return None


def _shown_in(turn: Sequence[Message]) -> set[int]:
    """Ids of the tasks that the results of a turn are about."""
    found: set[int] = set()
    for result in _results(turn):
        rows = [result.content, *rows_of(result.content, "tasks"), *rows_of(result.content, "instances")]
        for row in rows:
            # A run has both ids and belongs to a task; a task has only its own.
            task_id = row.get("task_id") or (row.get("id") if "name" in row or "cron_expr" in row else None)
            if isinstance(task_id, int) and not isinstance(task_id, bool):
                found.add(task_id)
    return found


def rows_of(content: Content, key: str) -> list[Mapping[str, Any]]:
    """The rows of a result's list; empty when it has none, rows of another shape left out."""
    rows = content.get(key)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
