"""What goes to a model and what streams back, free of any provider's wire format."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from chatops_bot.domain.language import Phrase
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
class AssistantMessage:
    text: str
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()


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


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as the model sees it; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One model call. `tools` keeps its order between calls, so that providers can cache the prefix."""

    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...]


class FinishReason(StrEnum):
    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    TRUNCATED = "truncated"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """A piece of one tool call. Pieces with one `index` belong together: id and name come once, arguments in parts."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class ModelNotice:
    """Something about the model itself that people must know ("no language model is connected"); never part of the text."""

    phrase: Phrase


@dataclass(frozen=True, slots=True)
class Finished:
    """The last delta of a stream that ended properly."""

    reason: FinishReason
    usage: Usage = Usage()


ModelDelta = TextDelta | ReasoningDelta | ToolCallDelta | ModelNotice | Finished
