"""The least that a tool loop can be: aiohttp for the bytes, msgspec for the JSON, no checks and nothing kept but the messages."""

from typing import Any

import aiohttp
import msgspec

from bench.conversation import FUNCTIONS, SCHEMAS, SYSTEM
from bench.product import OnDelta


class _Function(msgspec.Struct):
    name: str | None = None
    arguments: str = ""


class _Call(msgspec.Struct):
    index: int
    id: str | None = None
    function: _Function = msgspec.field(default_factory=_Function)


class _Delta(msgspec.Struct):
    content: str | None = None
    tool_calls: list[_Call] = []


class _Choice(msgspec.Struct):
    delta: _Delta


class _Chunk(msgspec.Struct):
    choices: list[_Choice]


_CHUNK = msgspec.json.Decoder(_Chunk)


class BareLoop:
    def __init__(self, connections: aiohttp.ClientSession, base_url: str) -> None:
        self._connections = connections
        self._url = f"{base_url}/chat/completions"

    async def converse(self, prompt: str, model: str, on_delta: OnDelta) -> None:
        """One conversation, as `Product.converse` has it."""
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": prompt},
        ]
        while True:
            text, calls = await self._ask(messages, model, on_delta)
            if not calls:
                return
            whole = [{"id": id, "type": "function", "function": {"name": name, "arguments": "".join(arguments)}}
                     for id, name, arguments in calls.values()]  # fmt: skip
            messages.append({"role": "assistant", "content": text, "tool_calls": whole})
            for id, name, arguments in calls.values():
                result = await FUNCTIONS[name](**msgspec.json.decode("".join(arguments)))
                messages.append({"role": "tool", "tool_call_id": id, "content": result})

    async def _ask(
        self, messages: list[dict[str, Any]], model: str, on_delta: OnDelta
    ) -> tuple[str, dict[int, tuple[str, str, list[str]]]]:
        body = msgspec.json.encode({
            "model": model, "messages": messages, "tools": SCHEMAS, "stream": True,
            "stream_options": {"include_usage": True},
        })  # fmt: skip
        texts: list[str] = []
        calls: dict[int, tuple[str, str, list[str]]] = {}
        async with self._connections.post(self._url, data=body, raise_for_status=True) as response:
            rest = b""
            async for data in response.content.iter_any():
                *events, rest = (rest + data).split(b"\n\n")
                for event in events:
                    if event == b"data: [DONE]":
                        continue
                    for choice in _CHUNK.decode(event[6:]).choices:
                        if choice.delta.content:
                            texts.append(choice.delta.content)
                            await on_delta(choice.delta.content)
                        for call in choice.delta.tool_calls:
                            known = calls.setdefault(
                                call.index, (call.id or "", call.function.name or "", [])
                            )
                            known[2].append(call.function.arguments)
        return "".join(texts), calls
