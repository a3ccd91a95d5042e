"""`/sim/*`, second half: what happens around the bot. Other apps post, channels change, calls and sockets fail."""

from typing import Any

from aiohttp import web
from pydantic import Field

from chatops_bot.simulators.slack.apps import App, Apps
from chatops_bot.simulators.slack.arguments import Arguments
from chatops_bot.simulators.slack.content import read_content
from chatops_bot.simulators.slack.database import Database
from chatops_bot.simulators.slack.driving_border import Body, answering, read_body
from chatops_bot.simulators.slack.errors import DrivingError, SlackError
from chatops_bot.simulators.slack.identity import Channel, Identity
from chatops_bot.simulators.slack.posting import Posting

Json = dict[str, Any]


class _AppPost(Body):
    app: str = Field(min_length=1, max_length=80)
    channel: str
    text: str | None = None
    blocks: list[Any] | None = None
    attachments: list[Any] | None = None
    thread_ts: str | None = None
    ts: str | None = None
    legacy: bool = False


class Steering:
    def __init__(self, identity: Identity, apps: Apps, database: Database, posting: Posting) -> None:
        self._identity = identity
        self._apps = apps
        self._database = database
        self._posting = posting

    def routes(self) -> list[web.RouteDef]:
        return [web.post("/sim/app_post", answering(self.app_post))]

    async def app_post(self, request: web.Request) -> web.StreamResponse:
        """Another app posts as its bot user, or as an old webhook (`legacy`); with `ts` it edits what it posted."""
        body = await read_body(request, _AppPost)
        channel = self._channel(body.channel)
        app = await self._database.run(lambda connection: self._apps.named(connection, body.app))
        try:
            ts = await self._write(body, channel, app)
        except SlackError as error:
            raise DrivingError(error.code, f"Slack would refuse this message: {error}.") from error
        ids = {"user_id": app.user_id, "bot_id": app.bot_id, "app_id": app.app_id}
        return web.json_response({"ok": True, "ts": ts, **ids})

    async def _write(self, body: _AppPost, channel: Channel, app: App) -> str:
        content = read_content(Arguments(body.model_dump(include={"text", "blocks", "attachments"})))
        if body.ts is not None:
            await self._posting.edit(app.user_id, channel, body.ts, content)
            return body.ts
        if body.legacy:
            content.extra.update(subtype="bot_message", username=app.name, user=None, app_id=None)
        stored, _ = await self._posting.post(app.user_id, channel, content, thread_ts=body.thread_ts)
        return stored.ts

    def _channel(self, channel_id: str) -> Channel:
        channel = self._identity.channel(channel_id)
        if channel is None or channel.kind != "channel":
            raise DrivingError("channel_not_found", f"There is no channel {channel_id!r}; name it by its id.")
        return channel
