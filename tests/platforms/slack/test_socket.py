"""Whether the socket hears, said by a Slack that greets late, falls silent, or asks for a new connection."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import aiohttp
import pytest
from aiohttp import WSMsgType, web

from chatops_bot.domain.errors import PlatformUnavailable
from chatops_bot.platforms.slack.api import Identity
from chatops_bot.platforms.slack.socket import STALE_PINGS, SlackSocket
from tests.platforms.slack.conftest import DEADLINE, RealClock, eventually

PING = 0.1
WHO = Identity("T1", "UBOT", "BBOT")


class FakeSocketSlack:
    """Tickets and a websocket. `greets` is asked before each hello; `pongs` says whether pings are answered."""

    def __init__(self) -> None:
        self.url = ""
        self.greets: Callable[[], bool] = lambda: True
        self.pongs = True
        self.sockets: list[web.WebSocketResponse] = []
        self.tickets = 0

    @property
    def newest(self) -> web.WebSocketResponse:
        return self.sockets[-1]

    async def ticket(self, _: web.Request) -> web.Response:
        self.tickets += 1
        return web.json_response({"ok": True, "url": f"{self.url.replace('http', 'ws')}/socket"})

    async def serve(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(autoping=False, timeout=0.1)
        await socket.prepare(request)
        self.sockets.append(socket)
        if self.greets():
            await socket.send_json({"type": "hello", "num_connections": 1})
        async for message in socket:
            if message.type is WSMsgType.PING and self.pongs:
                await socket.pong(message.data)
        return socket


@pytest.fixture
async def slack() -> AsyncIterator[FakeSocketSlack]:
    fake = FakeSocketSlack()
    app = web.Application()
    app.add_routes([web.post("/api/apps.connections.open", fake.ticket), web.get("/socket", fake.serve)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    fake.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield fake
    await runner.cleanup()


Opened = Callable[..., Awaitable[SlackSocket]]


@pytest.fixture
async def opened(slack: FakeSocketSlack) -> AsyncIterator[Opened]:
    made: list[SlackSocket] = []
    async with aiohttp.ClientSession() as session:

        async def open_socket(timeout: float = DEADLINE, hello_seconds: float = DEADLINE) -> SlackSocket:
            socket = SlackSocket(
                session, "xapp-1", f"{slack.url}/api/", RealClock(), ping_interval=PING, hello_seconds=hello_seconds
            )  # fmt: skip
            made.append(socket)
            assert socket.deaf_because == "The socket to Slack is not open."
            await socket.open(WHO, lambda _: None, timeout=timeout)
            return socket

        yield open_socket
        await asyncio.gather(*(socket.close() for socket in made))


async def hears_again(socket: SlackSocket) -> None:
    async def heard() -> bool:
        return socket.deaf_because == ""

    await eventually(heard)


async def deafness(socket: SlackSocket) -> str:
    async def deaf() -> str:
        return socket.deaf_because

    return str(await eventually(deaf))


async def test_it_hears_once_slack_said_hello(opened: Opened):
    assert (await opened()).deaf_because == ""


async def test_a_connection_without_hello_is_no_open_socket(slack: FakeSocketSlack, opened: Opened):
    slack.greets = lambda: False
    with pytest.raises(PlatformUnavailable, match="could not be opened in time"):
        await opened(timeout=0.3)


async def test_a_cut_connection_is_deaf_until_the_next_hello(slack: FakeSocketSlack, opened: Opened):
    socket = await opened(hello_seconds=0.3)
    slack.greets = lambda: False
    transport = slack.newest._req.transport if slack.newest._req else None
    assert transport is not None
    transport.abort()
    assert "socket" in await deafness(socket)
    slack.greets = lambda: True
    await hears_again(socket)
    assert slack.tickets > 1, "a ticket can be used once"


async def test_a_disconnect_without_a_new_hello_is_deaf_and_the_silent_connection_is_given_up(
    slack: FakeSocketSlack, opened: Opened
):
    socket = await opened(hello_seconds=0.3)
    slack.greets = lambda: len(slack.sockets) > 2
    began = time.monotonic()
    await slack.newest.send_json({"type": "disconnect", "reason": "refresh_requested"})
    said = await deafness(socket)
    assert said in (
        "Slack has not said hello on the socket; it is given up and opened again when it stays silent.",
        "The socket to Slack is down and is being opened again.",
    )
    await hears_again(socket)
    assert len(slack.sockets) > 2
    print(f"\n[measured] deaf for {time.monotonic() - began:.2f} s")


async def test_a_disconnect_with_a_new_hello_is_soon_over(slack: FakeSocketSlack, opened: Opened):
    socket = await opened()
    await slack.newest.send_json({"type": "disconnect", "reason": "warning"})

    async def renewed() -> bool:
        return len(slack.sockets) == 2

    await eventually(renewed)
    await hears_again(socket)


async def test_silence_on_pings_is_deaf_until_a_new_connection_answers(
    slack: FakeSocketSlack, opened: Opened
):
    socket = await opened()
    slack.pongs = False
    began = time.monotonic()
    assert await deafness(socket)
    assert time.monotonic() - began < (STALE_PINGS + 5) * PING + 5.0
    slack.pongs = True
    await hears_again(socket)
