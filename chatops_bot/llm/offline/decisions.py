"""What became of changes: decisions that the bot recorded, and proposals that still wait for one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chatops_bot.domain.model import AssistantMessage, Message, RecordMessage, ToolMessage
from chatops_bot.domain.tool import ToolCall
from chatops_bot.llm.offline.content import arguments_of, content_of

WRITE_TOOLS = frozenset({"pause_task", "trigger_task", "retry_failed_instance", "delete_task", "create_task"})


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
    reason: str = ""
    takes_back: str = ""
    """The code of the change that it undid; without `by` it was undone because nobody kept it."""
    place: int = -1
    """Where it stands in the conversation, to tell what came later."""


@dataclass(frozen=True, slots=True)
class OpenProposal:
    """A change that was proposed and not decided since. `target` is empty where the result did not name it."""

    tool: str
    code: str
    target: str
    arguments: Mapping[str, Any]
    place: int = -1


def record_of(message: RecordMessage) -> Record | None:
    """The decision that a record tells, None for a record of something else (the end of a turn, a thread's past)."""
    content = content_of(message.text)
    if not (content.get("tool") and content.get("state")):
        return None

    def said(field: str) -> str:
        return str(content.get(field) or "")

    return Record(
        tool=said("tool"), target=said("target"), state=said("state"), by=said("by"), outcome=said("outcome"),
        at=said("at"), code=said("code"), reason=said("reason"), takes_back=said("takes_back"),
    )  # fmt: skip


def decisions_in(history: Sequence[Message]) -> tuple[tuple[Record, ...], tuple[OpenProposal, ...]]:
    """The decisions and the open proposals of a conversation, each newest first."""
    records: list[Record] = []
    waiting: list[OpenProposal] = []
    calls: dict[str, ToolCall] = {}
    for place, message in enumerate(history):
        if isinstance(message, AssistantMessage):
            calls |= {call.id: call for call in message.calls}
        elif isinstance(message, ToolMessage) and message.name in WRITE_TOOLS:
            proposal = _proposal(message, calls.get(message.call_id))
            waiting += [replace(proposal, place=place)] if proposal else []
        elif isinstance(message, RecordMessage):
            record = record_of(message)
            if record is not None:
                records.append(replace(record, place=place))
                waiting = [one for one in waiting if not _decides(record, one)]
    return tuple(reversed(records)), tuple(reversed(waiting))


def _proposal(message: ToolMessage, call: ToolCall | None) -> OpenProposal | None:
    content = content_of(message.text)
    if "proposal" not in content:
        return None
    return OpenProposal(
        tool=message.name,
        code=str(content["proposal"]),
        target=str(content.get("target") or ""),
        arguments=arguments_of(call) if call else {},
    )


def _decides(record: Record, proposal: OpenProposal) -> bool:
    """A record without a code, which only an old transcript holds, decides everything before it."""
    return not record.code or record.code == proposal.code
