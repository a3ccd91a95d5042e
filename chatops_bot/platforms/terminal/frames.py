"""What a reader of a thread is told, one frame at a time, and each frame as one JSON object.

The same frames go over the local API, to a screen, and to scripts (`ask --json`).
"""

from dataclasses import dataclass
from typing import Any

from msgspec import MsgspecError, convert, to_builtins

from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.view import (
    Block,
    Buttons,
    Code,
    Facts,
    Heading,
    Lines,
    Markdown,
    Mention,
    Notice,
    Select,
    TextInput,
    View,
)

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Opened:
    """The question was taken; `thread` continues the conversation, `model` is who answers."""

    thread: str
    model: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A message as it looks now: a new one, or a known one that changed."""

    message: str
    view: View


@dataclass(frozen=True, slots=True)
class Whispered:
    """Something that is said to this reader alone, such as a refusal."""

    view: View


@dataclass(frozen=True, slots=True)
class Ended:
    """Nothing more comes. `outcome` is None when the question did not start a turn."""

    outcome: TurnOutcome | None


Frame = Opened | Shown | Whispered | Ended

_BLOCKS: dict[str, type[Block]] = {
    "markdown": Markdown,
    "heading": Heading,
    "lines": Lines,
    "notice": Notice,
    "facts": Facts,
    "code": Code,
    "buttons": Buttons,
    "mention": Mention,
    "select": Select,
    "text_input": TextInput,
}
_NAMES = {kind: name for name, kind in _BLOCKS.items()}


def view_to_json(view: View) -> Json:
    """`text` is the message as plain text; each block carries its kind."""
    blocks = [{"block": _NAMES[type(block)], **to_builtins(block)} for block in view.blocks]
    return {"text": view.fallback, "blocks": blocks}


def view_from_json(value: Json) -> View:
    """The view that `view_to_json` wrote. Raises PlatformError on anything else."""
    try:
        blocks = tuple(
            convert({k: v for k, v in block.items() if k != "block"}, _BLOCKS[block["block"]])
            for block in value["blocks"]
        )
        return View(blocks, str(value["text"]))
    except (KeyError, TypeError, AttributeError, MsgspecError) as error:
        raise PlatformError("The bot's local API sent a message that cannot be read; update both.") from error


def frame_to_json(frame: Frame) -> Json:
    match frame:
        case Opened(thread, model):
            return {"event": "opened", "thread": thread, "model": model}
        case Shown(message, view):
            return {"event": "shown", "message": message, **view_to_json(view)}
        case Whispered(view):
            return {"event": "whispered", **view_to_json(view)}
        case Ended(outcome):
            return {"event": "ended", "outcome": outcome}


def frame_from_json(value: Json) -> Frame:
    """The frame that `frame_to_json` wrote. Raises PlatformError on anything else."""
    try:
        match value["event"]:
            case "opened":
                return Opened(str(value["thread"]), str(value["model"]))
            case "shown":
                return Shown(str(value["message"]), view_from_json(value))
            case "whispered":
                return Whispered(view_from_json(value))
            case "ended":
                return Ended(None if value["outcome"] is None else TurnOutcome(value["outcome"]))
            case other:
                raise ValueError(other)
    except (KeyError, TypeError, ValueError) as error:
        raise PlatformError("The bot's local API sent something that cannot be read; update both.") from error
