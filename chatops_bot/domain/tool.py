"""Tool calls as the model makes them, results as they come back, and the interrupt that turns a call into a proposal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.followup import Suggestion
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.skill import LOAD_SKILL, RUN_SKILL_SCRIPT

ToolStatus = Literal["ok", "error", "waits", "not_run"]

READ_RESULT = "read_result"
"""The tool that gives back, in pieces, what was too long to be sent or was sent too long ago."""

FIND_TOOLS = "find_tools"
"""The tool that finds tools which are not on offer."""

CONSULT_AGENT = "consult_agent"
"""The tool by which one agent asks another."""

OF_THE_AGENT = (LOAD_SKILL, RUN_SKILL_SCRIPT, FIND_TOOLS, READ_RESULT, CONSULT_AGENT)
"""Tools that act on the conversation; every bot has them beside those of its back ends."""

CALL_ID_CHARS = 9

ARGUMENT_CHARS = 64_000
"""The longest arguments that a call may have: about 16,000 tokens, above anything that a tool here takes."""


def call_id_of(name: str) -> str:
    """An id for a call that stands for `name`: nine hex digits, the one form that Mistral's API takes; all others take it too."""
    return sha256(name.encode("utf-8", "replace")).hexdigest()[:CALL_ID_CHARS]


@dataclass(frozen=True, slots=True)
class ToolText:
    """What a model reads of a tool, in one language: `when` to use it stands in the prompt; `what` it does, and what each of its
    `arguments` is, travels with the tool."""

    when: str
    what: str
    arguments: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a model message. `arguments` is the raw JSON text as the model sent it, valid or not.

    `opaque` is the JSON text of an object: fields that the provider put beside the call for itself, such as a signature of
    the thought that led to it. The same model gets them back unchanged.
    """

    id: str
    name: str
    arguments: str
    opaque: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to.

    `content` is a JSON-able mapping for the model; `summary` is the short line that people see ("12 found");
    `suggestions` are next questions that make sense after this result, most useful first; `answers` are those that it answers
    itself, so that nobody is offered what they have just read. `offers` are names of tools that the model is to have from the
    next step on, as far as its agent may use them; `rounds` is how many steps with tools the turn may now have, if that is more.
    `skills_read` are names of skills whose words are in it.
    """

    status: ToolStatus
    content: Mapping[str, Any]
    summary: Phrase
    suggestions: tuple[Suggestion, ...] = ()
    answers: tuple[Suggestion, ...] = ()
    offers: tuple[str, ...] = ()
    rounds: int = 0
    skills_read: tuple[str, ...] = ()
    _text: str = field(default="", init=False, repr=False, compare=False)

    @property
    def text(self) -> str:
        """`content` as canonical JSON, spelled once: what fits, what is recorded and what the model reads are one text."""
        if not self._text:
            object.__setattr__(self, "_text", canonical_json(self.content))
        return self._text


@dataclass(frozen=True, slots=True)
class Change:
    """One field that an action changes; `before` is None where there was nothing, `after` None where nothing stays."""

    field: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Inverse:
    """The call that would take an action back, and what it would do in words.

    `filled` are arguments that only the outcome tells, such as the number of a new task: argument to key of `Outcome.content`.
    """

    tool: str
    arguments: Mapping[str, Any]
    summary: Phrase
    filled: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a write tool would do, worked out by reading only. Everything an approver must see is in it.

    `preconditions` are the facts the plan rests on; at apply they are read again, and any difference is drift.
    `details` are further labelled facts to show whole, such as a payload that will be executed. `inverse` takes the action
    back, where that can be computed before it is done.
    """

    target: str
    summary: Phrase
    changes: tuple[Change, ...]
    risk: str
    preconditions: Mapping[str, Any]
    details: tuple[tuple[Phrase, str], ...] = field(default=())
    inverse: Inverse | None = None


Verdict = Literal["recovered", "as_intended", "no_effect", "failed", "failed_again", "worse", "unknown"]
"""What a look says of an action: what had failed works again; things are as it meant them to be; they are not; what it started
failed, or failed as before; it made things worse; or that cannot be told. Each tool says what is true of its kind of action."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What a tool sees of its action some time after it was run."""

    verdict: Verdict
    summary: Phrase


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a stored action came to, as read back from the system it changed.

    `verified` says whether reading back showed the effect; `content` is the tool's result for the model.
    """

    ok: bool
    verified: bool
    summary: Phrase
    content: Mapping[str, Any]
