"""The way in: slack-bolt over Socket Mode.

Bolt decodes and authorises; one middleware stands for every listener, so that each payload is acknowledged, known or not:
Bolt leaves what no listener matches unacknowledged, and people then see "this app is not responding".
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from chatops_bot.domain.errors import PlatformUnavailable
from chatops_bot.platforms.slack.api import Identity, Json, SlackApi
from chatops_bot.ports import Clock

log = logging.getLogger(__name__)


def _says_something(record: logging.LogRecord) -> bool:
    """Bolt looks for a token in the environment itself, and warns that it does not need it beside our client."""
    return "`token` will be unused" not in record.getMessage()


bolt_log = log.getChild("bolt")
bolt_log.addFilter(_says_something)

Receive = Callable[[Json], Awaitable[Json] | None]
CLOSE_TIMEOUT = 2.0
STALE_PINGS = 4
"""Pings without a pong after which the connection counts as dead (slack_sdk's own rule)."""
HELLO_SECONDS = 10.0
"""How long a new connection may go without Slack's `hello` before it is given up; Slack says it at once."""


class SlackSocket:
    """One Socket Mode connection that keeps itself alive. `receive` gets every verified payload, and must not block;
    where it returns something to wait for, that is what the payload is acknowledged with."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        app_token: str,
        base_url: str,
        clock: Clock,
        *,
        ping_interval: float = 10.0,
        hello_seconds: float = HELLO_SECONDS,
        proxy: str | None = None,
    ) -> None:
        self._session = session
        self._app_token = app_token
        self._base_url = base_url
        self._clock = clock
        self._ping_interval = ping_interval
        self._hello_seconds = hello_seconds
        self._proxy = proxy
        self._handler: AsyncSocketModeHandler | None = None
        self._watch: asyncio.Task[None] | None = None
        self._greeted: object = None
        """The connection on which Slack said `hello`, and no `disconnect` since."""
        self._hello = asyncio.Event()

    async def open(self, identity: Identity, receive: Receive, *, timeout: float = 30.0) -> None:
        """Connect, until Slack says hello.

        Raises PlatformError when the app token is refused, PlatformUnavailable after `timeout` seconds.
        """
        answer = await SlackApi(self._session, self._app_token, self._base_url).call("apps.connections.open")
        self._handler = self._bolt(identity, receive)
        client: Any = self._handler.client
        client.wss_uri = answer["url"]
        try:
            async with asyncio.timeout(timeout):
                await client.connect()
                await self._hello.wait()
        except TimeoutError as error:
            await self.close()
            raise PlatformUnavailable("Slack's socket could not be opened in time.", "unreachable") from error
        self._watch = asyncio.create_task(self._mend_when_deaf(client))

    @property
    def deaf_because(self) -> str:
        """Why nothing that happens in Slack reaches us, in one sentence; empty while it does."""
        if self._handler is None:
            return "The socket to Slack is not open."
        client = self._handler.client
        if client.closed or client.stale or client.current_session is None or client.current_session.closed:
            return "The socket to Slack is down and is being opened again."
        last = client.last_ping_pong_time
        silence = 0.0 if last is None else self._clock.now().timestamp() - last
        if silence >= STALE_PINGS * self._ping_interval:
            return f"Slack has not answered a ping for {silence:.0f} s; the socket is being opened again."
        if self._greeted is not client.current_session:
            return "Slack has not said hello on the socket; it is given up and opened again when it stays silent."
        return ""

    async def close(self) -> None:
        """Close the connection, and end what slack_sdk started but does not wait for."""
        if self._handler is None:
            return
        client: Any = self._handler.client
        self._handler = None
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await client.close()
        except TimeoutError:
            log.warning("Slack's socket did not close within %g s and was dropped.", CLOSE_TIMEOUT)
            await client.aiohttp_client_session.close()
        tasks = [
            client.message_processor,
            client.current_session_monitor,
            client.message_receiver,
            self._watch,
        ]
        running = [task for task in tasks if task is not None]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _bolt(self, identity: Identity, receive: Receive) -> AsyncSocketModeHandler:
        client = AsyncWebClient(base_url=self._base_url, session=self._session, retry_handlers=[])
        client.proxy = self._proxy  # not from the environment, which slack_sdk reads when given none

        async def authorize() -> AuthorizeResult:
            return AuthorizeResult(
                enterprise_id=None,
                team_id=identity.team_id,
                bot_user_id=identity.user_id,
                bot_id=identity.bot_id,
            )

        async def acknowledge_everything(body: Json, ack: AsyncAck) -> BoltResponse:
            answer = receive(body)
            return await ack(**(await answer)) if answer is not None else await ack()

        # An `authorize` of our own also keeps Bolt from switching to OAuth when SLACK_CLIENT_ID is set.
        app = AsyncApp(
            name="chatops_bot", logger=bolt_log, client=client, authorize=authorize, signing_secret=""
        )
        app.middleware(acknowledge_everything)
        handler = AsyncSocketModeHandler(app, self._app_token, ping_interval=self._ping_interval)
        handler.client.proxy = self._proxy
        handler.client.on_message_listeners.append(self._note_hello)
        return handler

    async def _note_hello(self, message: aiohttp.WSMessage) -> None:
        if '"envelope_id"' in message.data or self._handler is None:
            return
        try:
            kind = json.loads(message.data).get("type")
        except (ValueError, AttributeError):
            return
        if kind == "hello":
            self._greeted = self._handler.client.current_session
            self._hello.set()
        elif kind == "disconnect":
            self._greeted = None

    async def _mend_when_deaf(self, client: Any) -> None:
        """Two things that slack_sdk leaves to us.

        It retries a failed connection with the same one-time address; without it, it asks for another. And it is content
        with a connection on which Slack answers pings and says nothing else.
        """
        silent: aiohttp.ClientWebSocketResponse | None = None
        silent_since = 0.0
        while True:
            await asyncio.sleep(self._ping_interval)
            if not self.deaf_because:
                silent = None
                continue
            client.wss_uri = None
            session = client.current_session
            if session is not silent:
                silent, silent_since = session, self._clock.monotonic()
            elif session is not None and self._clock.monotonic() - silent_since > self._hello_seconds:
                log.warning(
                    "Slack said no hello within %g s; the socket is opened again.", self._hello_seconds
                )
                await session.close()
                silent = None
