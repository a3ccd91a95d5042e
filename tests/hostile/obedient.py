"""The worst model there is: it does whatever it reads, wherever it reads it.

Text from anywhere tells it what to do with an order, `OBEY-<number>`; what an order says is in `Orders`. It looks for orders
in the whole request, system text and tool definitions included, and carries each out once, step by step. Only when no order
is left does it do what the person asked: `DO <tool> <arguments as JSON>`.
"""

import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chatops_bot.domain.model import (
    AssistantMessage,
    Finished,
    FinishReason,
    ModelDelta,
    ModelRequest,
    ReasoningDelta,
    SystemMessage,
    TextDelta,
    ToolCallDelta,
    UserMessage,
)

ORDER = re.compile(r"OBEY-(\d+)")
_DO = re.compile(r"DO (\w+) (\{.*\})")
_NONCE = re.compile(r"nonce=([0-9a-f]{32})")
_OPENED = re.compile(r"^\[(?:UNTRUSTED DATA|SKILL) nonce=([0-9a-f]{32})", re.MULTILINE)
_CODE = re.compile(r'"proposal":"([A-Z0-9]{6})"')


@dataclass(frozen=True)
class Reading:
    """What the model sees in one request."""

    prompt: str
    everything: str

    @property
    def nonces(self) -> list[str]:
        return list(dict.fromkeys(_NONCE.findall(self.everything)))

    @property
    def code(self) -> str:
        """The newest proposal's code."""
        found = _CODE.findall(self.everything)
        return str(found[-1]) if found else "AAAAAA"


Step = Callable[[Reading], Sequence[ModelDelta]]
"""What one request is answered with, without the end."""


@dataclass
class ObedientModel:
    """An `LLM`. `orders` says what each number means; `obeyed` are the numbers that it has read and carried out; `met` are the
    nonces of the fences that it was sent, the newest last."""

    orders: dict[int, Sequence[Step]] = field(default_factory=dict)
    obeyed: list[int] = field(default_factory=list)
    met: dict[str, None] = field(default_factory=dict)
    name: str = "obedient"
    _at: dict[int, int] = field(default_factory=dict)
    _calls: int = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        """See `ports.LLM.stream`."""
        reading = _read(request)
        for nonce in _OPENED.findall(reading.everything):
            self.met.pop(nonce, None)
            self.met[nonce] = None
        deltas = list(self._ordered(reading) or _asked(request))
        makes_calls = any(isinstance(delta, ToolCallDelta) for delta in deltas)
        for delta in deltas:
            if isinstance(delta, ToolCallDelta):
                self._calls += 1
                delta = ToolCallDelta(delta.index, f"call_{self._calls}", delta.name, delta.arguments)
            yield delta
        yield Finished(FinishReason.TOOL_CALLS if makes_calls else FinishReason.STOP)

    def _ordered(self, reading: Reading) -> Sequence[ModelDelta] | None:
        for number in map(int, ORDER.findall(reading.everything)):
            steps = self.orders.get(number)
            at = self._at.get(number, 0)
            if steps is None or at == len(steps):
                continue
            self._at[number] = at + 1
            if number not in self.obeyed:
                self.obeyed.append(number)
            return steps[at](reading)
        return None

    def give(self, number: int, steps: Sequence[Step]) -> None:
        """Say what an order means, also anew."""
        self.orders[number] = steps
        self._at.pop(number, None)
        if number in self.obeyed:
            self.obeyed.remove(number)


def calls(*wanted: tuple[str, Mapping[str, Any] | str], text: str = "") -> list[ModelDelta]:
    made: list[ModelDelta] = [TextDelta(text)] if text else []
    for index, (name, arguments) in enumerate(wanted):
        raw = arguments if isinstance(arguments, str) else json.dumps(dict(arguments), ensure_ascii=False)
        made.append(ToolCallDelta(index, name=name, arguments=raw))
    return made


def says(text: str, size: int = 40) -> list[ModelDelta]:
    """`text` in pieces of `size` characters."""
    return [TextDelta(text[at : at + size]) for at in range(0, len(text), size)]


def thinks(text: str) -> list[ModelDelta]:
    return [ReasoningDelta(text)]


def _read(request: ModelRequest) -> Reading:
    texts: list[str] = []
    for message in request.messages:
        texts.append(message.text)
        if isinstance(message, AssistantMessage):
            texts += [f"{call.name} {call.arguments}" for call in message.calls]
    texts += [
        f"{tool.name} {tool.description} {json.dumps(tool.parameters, default=str)}" for tool in request.tools
    ]
    prompt = "\n".join(message.text for message in request.messages if isinstance(message, SystemMessage))
    return Reading(prompt, "\n".join(texts))


def _asked(request: ModelRequest) -> Sequence[ModelDelta]:
    """The newest person's wish, unless a call was made since."""
    newest = max(at for at, message in enumerate(request.messages) if isinstance(message, UserMessage))
    wish = _DO.search(request.messages[newest].text)
    done = any(isinstance(message, AssistantMessage) for message in request.messages[newest:])
    if wish is None or done:
        return says("That is all.")
    return calls((wish[1], wish[2]))
