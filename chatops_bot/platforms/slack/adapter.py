"""Slack behind the `Platform` port: wires the way in, the writer and the directory around one bot token."""

from collections.abc import Collection

import aiohttp

from chatops_bot.domain.roster import Roster
from chatops_bot.domain.session import MessageRef
from chatops_bot.domain.thread import ThreadExcerpt
from chatops_bot.domain.view import Modal, View
from chatops_bot.platforms.slack import limits
from chatops_bot.platforms.slack.api import DEFAULT_BASE_URL, Identity, OnCall, SlackApi
from chatops_bot.platforms.slack.blocks import modal_payload
from chatops_bot.platforms.slack.directory import SlackDirectory
from chatops_bot.platforms.slack.inbound import OnEvent, OnModal, SlackInbound, no_problems
from chatops_bot.platforms.slack.outbound import POSTS, SlackWriter
from chatops_bot.platforms.slack.socket import SlackSocket
from chatops_bot.platforms.slack.thread_reader import SlackThreadReader
from chatops_bot.ports import Clock, Ids, Place, PlatformLimits
from chatops_bot.rendering.pacing import Pace


class SlackPlatform:
    """One Slack workspace. `session` stays its owner's and must outlive this object.

    `directory` is the `Directory` of the same workspace. Only `base_url` tells Slack from a local workspace.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        clock: Clock,
        ids: Ids,
        *,
        bot_token: str,
        app_token: str,
        base_url: str = DEFAULT_BASE_URL,
        roster: Roster | None = None,
        groups: Collection[str] = (),
        timezone: str = "",
        pace: Pace | None = None,
        posts: Pace = POSTS,
        patience: float = 120.0,
        call_timeout: float = 30.0,
        ping_interval: float = 10.0,
        proxy: str | None = None,
        on_call: OnCall | None = None,
    ) -> None:
        self._pace = pace or Pace()
        self._api = SlackApi(session, bot_token, base_url, timeout=call_timeout, on_call=on_call)
        self._writer = SlackWriter(self._api, clock, ids, pace=self._pace, posts=posts, patience=patience)
        self._socket = SlackSocket(
            session, app_token, base_url, clock, ping_interval=ping_interval, proxy=proxy
        )
        self._inbound: SlackInbound | None = None
        self.directory = SlackDirectory(self._api, clock, roster or Roster(), groups, timezone)
        self._reader = SlackThreadReader(self._api, self.directory)

    async def start(self, on_event: OnEvent, on_modal: OnModal = no_problems) -> None:
        """Connect and hand events to `on_event`, and dialogs that are sent off to `on_modal`, until `aclose`.

        Raises PlatformError when Slack refuses a token, PlatformUnavailable when it cannot be reached.
        """
        identity = await self._api.identity()
        self._inbound = SlackInbound(identity, self.directory, self.whisper, on_event, on_modal)
        await self._socket.open(identity, self._inbound.receive)

    async def stop_intake(self) -> None:
        """Take in nothing more; what Slack has no acknowledgement of, it sends to the next connection."""
        await self._socket.close()

    async def drain(self, patience: float) -> None:
        """Work through what came in; what takes longer than `patience` seconds is cancelled."""
        if self._inbound is not None:
            await self._inbound.drain(patience)

    async def aclose(self) -> None:
        """End at once: take in nothing more, cancel what is still being worked on, drop edits that wait."""
        await self.stop_intake()
        await self.drain(0)
        await self._writer.aclose()

    @property
    def deaf_because(self) -> str:
        """Why no event reaches us, in one sentence; empty while they do."""
        return self._socket.deaf_because

    async def identity(self) -> Identity:
        """The bot's workspace and ids."""
        return await self._api.identity()

    @property
    def limits(self) -> PlatformLimits:
        return PlatformLimits(text_chars=limits.MARKDOWN_TOTAL, edit_interval=self._pace.per_message)

    async def post(self, place: Place, view: View, key: str = "") -> MessageRef:
        return await self._writer.post(place, view, key)

    async def find(self, place: Place, key: str) -> MessageRef | None:
        return await self._writer.find(place, key)

    def edit(self, ref: MessageRef, view: View) -> None:
        self._writer.edit(ref, view)

    async def finish(self, ref: MessageRef, view: View) -> MessageRef:
        return await self._writer.finish(ref, view)

    async def link(self, ref: MessageRef) -> str:
        answer = await self._api.read("chat.getPermalink", channel=ref.channel, message_ts=ref.id)
        return str(answer.get("permalink", ""))

    async def whisper(self, place: Place, person_id: str, view: View) -> None:
        await self._writer.whisper(place, person_id, view)

    async def open_modal(self, trigger: str, modal: Modal) -> None:
        await self._api.call("views.open", trigger_id=trigger, view=modal_payload(modal))

    async def update_modal(self, dialog: str, modal: Modal) -> None:
        await self._api.call("views.update", view_id=dialog, view=modal_payload(modal))

    async def earlier(self, place: Place, before: str, limit: int) -> ThreadExcerpt:
        return await self._reader.earlier(place, before, limit)
