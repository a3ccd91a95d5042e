"""A small OpenAI-compatible server that plays scripted answers over real HTTP, for tests of the client."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import web

DONE = b"data: [DONE]\n\n"
BEATING = 0.02
"""As a piece of an answer: the answer's `beat` every so many seconds, for ever."""


def event(chunk: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def chunk(finish: str | None = None, **delta: Any) -> bytes:
    """An event with one choice."""
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def text(piece: str) -> bytes:
    return chunk(content=piece)


def call(index: int | None, id: str | None = None, name: str | None = None, arguments: str = "") -> bytes:
    function = {"name": name, "arguments": arguments}
    return chunk(tool_calls=[{"index": index, "id": id, "type": "function", "function": function}])


def usage(prompt: int, completion: int, cached: int = 0) -> bytes:
    figures = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
    return event({"choices": [], "usage": figures})


def complaint(message: str, **fields: Any) -> bytes:
    return json.dumps({"error": {"message": message, **fields}}).encode()


@dataclass(frozen=True)
class Answer:
    """One answer. An `asyncio.Event` among the pieces is waited for; a number beats at that pace, for ever. `torn` cuts the connection after the last piece."""

    pieces: Sequence[bytes | asyncio.Event | float] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/event-stream"})
    torn: bool = False
    beat: bytes = b": still here\n\n"


@dataclass(frozen=True)
class Received:
    path: str
    headers: Mapping[str, str]
    body: Any


class ModelServer:
    """Plays `answers` in order, the last one again and again. `asked` is set by the first request, `hung_up` when a client leaves in mid-answer."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.received: list[Received] = []
        self.connections: set[object] = set()
        self.asked = asyncio.Event()
        self.hung_up = asyncio.Event()
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        self.base_url = ""

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        host, port = self._runner.addresses[0][:2]
        self.base_url = f"http://{host}:{port}/v1"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._runner.cleanup()

    def answer_to(self, body: Any) -> Answer:
        """What is played next; a subclass may choose by the request's body."""
        return self.answers[min(len(self.received), len(self.answers) - 1)]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        answer = self.answer_to(body)
        self.received.append(Received(request.path_qs, request.headers, body))
        self.connections.add(request.transport)
        self.asked.set()
        response = web.StreamResponse(status=answer.status, headers=answer.headers)
        await response.prepare(request)
        try:
            for piece in answer.pieces:
                if isinstance(piece, asyncio.Event):
                    await piece.wait()
                elif isinstance(piece, bytes):
                    await response.write(piece)
                while isinstance(piece, float):
                    await response.write(answer.beat)
                    await asyncio.sleep(piece)
        except (asyncio.CancelledError, ConnectionError):
            self.hung_up.set()
            raise
        if answer.torn and request.transport is not None:
            request.transport.abort()
        return response
