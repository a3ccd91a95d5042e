"""What a session remembers, entry by entry, in the order in which it happened.

Entries are appended as they happen, so a turn that fails, is stopped or dies keeps the memory of what it did. A model
message may therefore stand without the results of its calls; the projection in `context.history` answers those itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from chatops_bot.domain.language import Language, language_of
from chatops_bot.domain.model import Reasoning, Usage
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.thread import EarlierMessage
from chatops_bot.domain.tool import ToolCall, ToolStatus


@dataclass(frozen=True, slots=True)
class UserSaid:
    """A person's message that started a turn. `text` is what they wrote, mention removed; `language` is what it was answered in.

    `mentioned` are the names of those whose ids stand in `text`.
    """

    turn_id: str
    at: datetime
    author_id: str
    author_name: str
    author_role: str
    text: str
    language: str = ""
    mentioned: Mapping[str, str] = field(default_factory=dict)
    kind: Literal["user"] = "user"


@dataclass(frozen=True, slots=True)
class EarlierRead:
    """What stood in the thread before the session began, redacted and not yet fenced: all before the message `before`.

    `problem` is the platform's code for the failure, empty when the messages were read. The newest of several counts.
    """

    turn_id: str
    at: datetime
    messages: tuple[EarlierMessage, ...]
    left_out: int = 0
    problem: str = ""
    before: str = ""
    kind: Literal["earlier"] = "earlier"


@dataclass(frozen=True, slots=True)
class Prompted:
    """The prompt of a turn's next model call, when it is not that of the call before: which agent and version of its text, the
    hashes under which it is kept, and the tools that were offered, in their order."""

    turn_id: str
    at: datetime
    agent_id: str
    version: str
    prompt_hash: str
    prefix_hash: str
    tools: tuple[str, ...]
    kind: Literal["prompt"] = "prompt"


@dataclass(frozen=True, slots=True)
class ModelSaid:
    """One model message: its text, its reasoning (never shown) and its calls, the model that said it and what it cost.

    `skills_told` are skills that not everybody may see and that its prompt named, `skills_read` those of them whose words its
    turn had read before it began. `shown` is what people saw of `text`; it is kept where a skill was at work, else None.
    """

    turn_id: str
    at: datetime
    text: str
    reasoning: Reasoning
    calls: tuple[ToolCall, ...]
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    skills_told: tuple[str, ...] = ()
    skills_read: tuple[str, ...] = ()
    shown: str | None = None
    kind: Literal["model"] = "model"


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """The result of one call, as JSON text, redacted and not yet fenced; `skills_read` are skills whose words are in it."""

    turn_id: str
    at: datetime
    call_id: str
    tool: str
    status: ToolStatus
    content: str
    skills_read: tuple[str, ...] = ()
    kind: Literal["tool"] = "tool"


@dataclass(frozen=True, slots=True)
class ProposalDecided:
    """A decision and what came of it, so that a later "did it work?" has an answer. `at` is when it was decided, `reason` why
    somebody rejected it, `seen` what was seen of it when the bot looked again, `takes_back` the code of the change that it
    undid; without `person_name` it was undone because nobody kept it."""

    turn_id: str
    at: datetime
    proposal_id: str
    code: str
    tool: str
    target: str
    state: str
    person_name: str
    outcome: str
    reason: str = ""
    seen: str = ""
    takes_back: str = ""
    kind: Literal["decision"] = "decision"


@dataclass(frozen=True, slots=True)
class FormFilled:
    """A person filled in a form, which started a turn; `arguments` are the complete ones, redacted."""

    turn_id: str
    at: datetime
    form_id: str
    tool: str
    arguments: Mapping[str, Any]
    language: str
    author_id: str
    author_name: str
    author_role: str
    kind: Literal["form"] = "form"


@dataclass(frozen=True, slots=True)
class FormClosed:
    """A form that nobody will fill in any more. `state` says why; `person_name` is who cancelled it, if somebody did."""

    turn_id: str
    at: datetime
    form_id: str
    tool: str
    state: str
    person_name: str
    kind: Literal["form_closed"] = "form_closed"


@dataclass(frozen=True, slots=True)
class TurnRested:
    """The end of a turn. `body` is the authoritative final text, without the commentary of earlier rounds."""

    turn_id: str
    at: datetime
    outcome: TurnOutcome
    body: str
    kind: Literal["end"] = "end"


Entry = (
    EarlierRead
    | UserSaid
    | Prompted
    | ModelSaid
    | ToolReturned
    | ProposalDecided
    | FormFilled
    | FormClosed
    | TurnRested
)

MADE_BY_TURNS = (EarlierRead, UserSaid, Prompted, ModelSaid, ToolReturned, FormFilled, TurnRested)
"""Kinds that only the process which runs their turn may add. The others tell of decisions, which come from anywhere."""


def spoken_in(entries: Sequence[Entry]) -> Language:
    """The language of a conversation: that of its newest message; English where nobody has said anything."""
    for entry in reversed(entries):
        if isinstance(entry, FormFilled):
            return "zh" if entry.language == "zh" else "en"
        if isinstance(entry, UserSaid):
            return "zh" if (entry.language or language_of(entry.text)) == "zh" else "en"
    return "en"
