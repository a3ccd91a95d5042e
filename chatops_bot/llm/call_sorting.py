"""The pieces of tool calls in an answer, and which call each belongs to.

Providers disagree about how the pieces of a call are marked; `CallSorter` holds what we know about that. Ids are passed
on as they came, empty or double: making them unique is the business of whoever merges the deltas.
"""

import json
from dataclasses import dataclass, field
from typing import Any

import msgspec

from chatops_bot.domain.model import ToolCallDelta


class Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: Any = None
    """Text by the protocol; some providers send the object itself."""


class CallPiece(msgspec.Struct, gc=False):
    index: int | None = None
    id: str | None = None
    function: Function | None = None
    extra_content: Any = None
    """Gemini's compatible endpoint puts the signature of a thought here."""
    provider_specific_fields: Any = None
    """LiteLLM puts it here."""


@dataclass(slots=True)
class _OpenCall:
    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        try:
            json.loads("".join(self.arguments))
        except (ValueError, RecursionError):
            return False
        return True


class CallSorter:
    """Decides which call a piece belongs to, and numbers the calls of an answer in the order in which they begin.

    With an index, a piece belongs to the call of that index in its choice, unless it brings another id and a name too:
    some providers give every call the index 0, others give every piece a new id, but no name. A bare piece whose index is
    unknown goes on with the newest call.

    Without an index, a piece belongs to the call with its id, or to the newest call if it has no id either. It begins a
    call when there is none, when it names another tool, or when it names the tool again and begins an object although
    the arguments of that call are complete.
    """

    def __init__(self) -> None:
        self.started = 0
        self._by_index: dict[tuple[int, int], _OpenCall] = {}
        self._by_id: dict[tuple[int, str], _OpenCall] = {}
        self._newest: dict[int, _OpenCall] = {}

    def place(self, choice: int, piece: CallPiece) -> ToolCallDelta:
        """The piece as a delta with a distinct index; id and name are given once, when they first come."""
        function = piece.function or Function()
        identity, name = piece.id or "", function.name or ""
        arguments = _text_of_arguments(function.arguments)
        if piece.index is not None:
            call = self._by_index.get((choice, piece.index))
            if call is None and not identity and not name:
                call = self._newest.get(choice)
            begins = call is not None and bool(identity and name and call.id and call.id != identity)
        else:
            call = self._by_id.get((choice, identity)) if identity else self._newest.get(choice)
            begins = call is not None and bool(name) and _named_anew(call, name, arguments)
        if call is None or begins:
            call = _OpenCall(self.started)
            self.started += 1
        if piece.index is not None:
            self._by_index[choice, piece.index] = call
        if identity:
            self._by_id[choice, identity] = call
        self._newest[choice] = call
        opaque = ""
        if piece.extra_content is not None or piece.provider_specific_fields is not None:
            opaque = _opaque(piece)
        delta = ToolCallDelta(
            call.index, "" if call.id else identity, "" if call.name else name, arguments, opaque
        )
        call.id, call.name = call.id or identity, call.name or name
        call.arguments.append(arguments)
        return delta


def _named_anew(call: _OpenCall, name: str, arguments: str) -> bool:
    """Asked for each piece that has a name; `complete` parses all that came so far, so it is asked last and seldom."""
    if not call.name:
        return False
    return name != call.name or (arguments.lstrip()[:1] == "{" and call.complete)


def _opaque(piece: CallPiece) -> str:
    fields = {
        "extra_content": piece.extra_content,
        "provider_specific_fields": piece.provider_specific_fields,
    }
    return json.dumps(
        {name: value for name, value in fields.items() if value is not None}, ensure_ascii=False
    )


def _text_of_arguments(arguments: Any) -> str:
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
