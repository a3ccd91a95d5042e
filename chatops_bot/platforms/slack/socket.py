"""The way in: slack-bolt over Socket Mode.

Bolt decodes and authorises; one middleware stands for every listener, so that each payload is acknowledged, known or not:
Bolt leaves what no listener matches unacknowledged, and people then see "this app is not responding".
"""

import asyncio
import logging
from collections.abc import Callable
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

CLOSE_TIMEOUT = 2.0
STALE_PINGS = 4
"""Pings without a pong after which the connection counts as dead (slack_sdk's own rule)."""


class SlackSocket:
    """One Socket Mode connection that keeps itself alive. `receive` gets every verified payload, and must not block."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        app_token: str,
        base_url: str,
        clock: Clock,
        *,
        ping_interval: float = 10.0,
        proxy: str | None = None,
    ) -> None:
        self._session = session
        self._app_token = app_token
        self._base_url = base_url
        self._clock = clock
        self._ping_interval = ping_interval
        self._proxy = proxy
        self._handler: AsyncSocketModeHandler | None = None
        self._watch: asyncio.Task[None] | None = None

    async def open(
        self, identity: Identity, receive: Callable[[Json], None], *, timeout: float = 30.0
    ) -> None:
        """Connect. Raises PlatformError when the app token is refused, PlatformUnavailable after `timeout` seconds."""
        answer = await SlackApi(self._session, self._app_token, self._base_url).call("apps.connections.open")
        self._handler = self._bolt(identity, receive)
        client: Any = self._handler.client
        client.wss_uri = answer["url"]
        try:
            await asyncio.wait_for(client.connect(), timeout)
        except TimeoutError as error:
            await self.close()
            raise PlatformUnavailable("Slack's socket could not be opened in time.", "unreachable") from error
        self._watch = asyncio.create_task(self._renew_ticket_when_down(client))

    @property
    def connected(self) -> bool:
        """Whether the socket is open and Slack has answered its pings lately."""
        if self._handler is None:
            return False
        client = self._handler.client
        if client.closed or client.stale or client.current_session is None or client.current_session.closed:
            return False
        last = client.last_ping_pong_time
        return last is None or self._clock.now().timestamp() - last < STALE_PINGS * self._ping_interval

    async def close(self) -> None:
        """Close the connection, and end what slack_sdk started but does not wait for."""
        if self._handler is None:
            return
        client: Any = self._handler.client
        self._handler = None
        try:
            await asyncio.wait_for(client.close(), CLOSE_TIMEOUT)
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

    def _bolt(self, identity: Identity, receive: Callable[[Json], None]) -> AsyncSocketModeHandler:
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
            receive(body)
            return await ack()

        # An `authorize` of our own also keeps Bolt from switching to OAuth when SLACK_CLIENT_ID is set.
        app = AsyncApp(name="chatops_bot", logger=log, client=client, authorize=authorize, signing_secret="")
        app.middleware(acknowledge_everything)
        handler = AsyncSocketModeHandler(app, self._app_token, ping_interval=self._ping_interval)
        handler.client.proxy = self._proxy
        return handler

    async def _renew_ticket_when_down(self, client: Any) -> None:
        """slack_sdk retries a failed connection with the same one-time address; without it, it asks for another."""
        while True:
            await asyncio.sleep(self._ping_interval)
            if not self.connected:
                client.wss_uri = None
