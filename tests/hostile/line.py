"""The wire between the workspace and the bot's socket: it passes everything on, keeps what it is told to, and adds its own."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
from aiohttp import WSMsgType, web
from yarl import URL

from tests.hostile.judge import Json

ACK_SECONDS = 10.0


@dataclass
class Line:
    """`keep` says of a payload on its way to the bot whether it is kept in `kept` and acknowledged here."""

    url: str = ""
    keep: Callable[[Json], bool] = lambda payload: False
    kept: list[Json] = field(default_factory=list)
    _bot: web.WebSocketResponse | None = None
    _open: dict[str, asyncio.Future[None]] = field(default_factory=dict)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    def redirect(self, call: str, body: bytes) -> bytes:
        """Slack's answers, in which the socket's address is this line's."""
        if not call.endswith("apps.connections.open"):
            return body
        answer = json.loads(body)
        target = URL(self.url).with_query({"to": answer["url"]})
        return json.dumps(answer | {"url": str(target)}).encode()

    async def say(self, payload: Json, kind: str = "interactive") -> None:
        """Give the bot an envelope of one's own."""
        assert self._bot is not None
        number = f"forged-{next(self._numbers)}"
        self._open[number] = asyncio.get_running_loop().create_future()
        envelope = {"envelope_id": number, "type": kind, "accepts_response_payload": True, "payload": payload}
        await self._bot.send_json(envelope)

    async def heard(self) -> None:
        """Return when the bot has acknowledged something that was said after all the rest; not all can be acknowledged."""
        self._open.clear()
        await self.say(
            {"type": "shortcut", "callback_id": "none", "user": {"id": "U0NOBODY"}, "team": {"id": "T0"}}
        )
        async with asyncio.timeout(ACK_SECONDS):
            await next(iter(self._open.values()))

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        bot = web.WebSocketResponse()
        await bot.prepare(request)
        async with aiohttp.ClientSession() as session, session.ws_connect(request.query["to"]) as slack:
            self._bot = bot
            forth = asyncio.create_task(self._forth(slack, bot))
            try:
                async for message in bot:
                    if message.type == WSMsgType.TEXT and not self._is_ours(message.data):
                        await slack.send_str(message.data)
            finally:
                forth.cancel()
                await asyncio.gather(forth, return_exceptions=True)
        return bot

    async def _forth(self, slack: aiohttp.ClientWebSocketResponse, bot: web.WebSocketResponse) -> None:
        async for message in slack:
            if message.type != WSMsgType.TEXT:
                continue
            frame = json.loads(message.data)
            payload = frame.get("payload")
            if payload is not None and self.keep(payload):
                self.kept.append(payload)
                await slack.send_json({"envelope_id": frame["envelope_id"]})
            else:
                await bot.send_str(message.data)
        await bot.close()

    def _is_ours(self, data: str) -> bool:
        frame = json.loads(data) if data.startswith("{") else {}
        waiting = self._open.get(str(frame.get("envelope_id")))
        if waiting is not None and not waiting.done():
            waiting.set_result(None)
        return str(frame.get("envelope_id")).startswith("forged-")


@asynccontextmanager
async def open_line() -> AsyncIterator[Line]:
    """A line on a free port; `redirect` lets the bot find it."""
    line = Line()
    app = web.Application()
    app.router.add_get("/line", line._serve)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    line.url = f"ws://127.0.0.1:{runner.addresses[0][1]}/line"
    try:
        yield line
    finally:
        await runner.cleanup()
