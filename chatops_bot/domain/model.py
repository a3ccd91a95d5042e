"""What goes to a model and what streams back, free of any provider's wire format."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from msgspec import Struct

from chatops_bot.domain.clocks import ONE_CLOCK, Clocks
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.skill import Skill
from chatops_bot.domain.tool import ToolCall


@dataclass(frozen=True, slots=True)
class SystemMessage:
    text: str


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What a person wrote. `author` is their id, which the platform gives out; empty when nobody in particular said it."""

    text: str
    author: str = ""


@dataclass(frozen=True, slots=True)
class ContextMessage:
    """The volatile part of the prompt (time, asker, channel), sent after the newest user message and never stored."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A model's reasoning as it came, for the same model to get back unchanged: several refuse a request without it.

    `text` stood in the message field `field`; where that is `content` it stood in front of the text, its tags included. An
    empty text in a named field goes back as an empty text. `opaque` is the JSON text of an object: further fields of the
    message that only the provider understands (signed and encrypted blocks).
    """

    text: str = ""
    field: str = ""
    opaque: str = ""


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """`model` names the model that said it: only that one gets `reasoning`, and what is opaque in `calls`, back."""

    text: str
    reasoning: Reasoning = Reasoning()
    calls: tuple[ToolCall, ...] = ()
    model: str = ""


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The answer to one call of the assistant message before it; `text` is fenced."""

    call_id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class RecordMessage:
    """Something that happened between messages, told by the bot: a decision and its outcome, as fenced JSON."""

    text: str


Message = SystemMessage | UserMessage | ContextMessage | AssistantMessage | ToolMessage | RecordMessage


@dataclass(frozen=True, slots=True, eq=False)
class ToolDefinition:
    """A tool as the model sees it; `parameters` is a JSON schema of type object.

    One definition is one object for as long as its registry lives, so what is derived from it can be kept.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One model call. `tools` keeps its order between calls, so that providers can cache the prefix.

    `language` is that of the turn, for whoever writes fixed texts; None outside a turn. Without `may_call` the answer is to be
    text alone; the tools are shown all the same, since some providers refuse a history of calls without them, and since the
    request then begins as the one before did.

    The next four say what stands in the prompt in prose, for who reads none: the `skills` that the asker may see, the `agents`
    that may be consulted, whether others read along, who may not see all of those skills, and the `clocks` of the asker and the
    scheduler. `is_standing_in`: another model was asked first and is away.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...]
    language: Language | None = None
    may_call: bool = True
    skills: tuple[Skill, ...] = ()
    agents: tuple[str, ...] = ()
    is_shared: bool = True
    clocks: Clocks = ONE_CLOCK
    is_standing_in: bool = False


class FinishReason(StrEnum):
    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    TRUNCATED = "truncated"
    BLOCKED = "blocked"


class TextDelta(Struct, frozen=True):
    """A Struct, as the other two that come word by word are: a frozen dataclass takes three times as long to make."""

    text: str


class ReasoningDelta(Struct, frozen=True):
    text: str


class ToolCallDelta(Struct, frozen=True):
    """A piece of one tool call. Pieces with one `index` belong together: id and name come once, arguments in parts.

    A later `opaque` takes the place of an earlier one; see `ToolCall`.
    """

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""
    opaque: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls. The cached are among those of the prompt, the reasoning among the completion's."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )


@dataclass(frozen=True, slots=True)
class TextEnded:
    """The answer is whole, though its usage may still come: nothing of the text needs to be held back any more. Optional."""


@dataclass(frozen=True, slots=True)
class ThoughtEnded:
    """All text of this answer so far was the model's reasoning, which its end alone gave away. Comes at most once."""


@dataclass(frozen=True, slots=True)
class ModelNotice:
    """Something about the model itself that people must know ("no language model is connected"); never part of the text.

    `is_first`: it explains the answer, so it stands above it.
    """

    phrase: Phrase
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """The last delta of a stream that ended properly. `model` names the model that answered; empty: the one that was asked."""

    reason: FinishReason
    usage: Usage = Usage()
    reasoning: Reasoning = Reasoning()
    model: str = ""


ModelDelta = TextDelta | ReasoningDelta | ToolCallDelta | ModelNotice | ThoughtEnded | TextEnded | Finished
