"""The workspace as a whole: wiring, HTTP routes, life.

`Workspace.start` is the one entry for tests and for the command line; leaving its block closes every socket.
"""

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from aiohttp import web

from chatops_bot.simulators.slack.apps import Apps
from chatops_bot.simulators.slack.arguments import Api
from chatops_bot.simulators.slack.clock import Clock
from chatops_bot.simulators.slack.database import Database
from chatops_bot.simulators.slack.driving import Driving
from chatops_bot.simulators.slack.errors import WorkspaceUnusable
from chatops_bot.simulators.slack.faults import Faults
from chatops_bot.simulators.slack.guard import LOOPBACK, PAGE_HEADERS, only_this_machine
from chatops_bot.simulators.slack.identity import Identity, load_or_create
from chatops_bot.simulators.slack.interactions import Interactions
from chatops_bot.simulators.slack.live import Live
from chatops_bot.simulators.slack.posting import Posting
from chatops_bot.simulators.slack.response_urls import ResponseUrls
from chatops_bot.simulators.slack.rooms import Rooms
from chatops_bot.simulators.slack.settings import Settings
from chatops_bot.simulators.slack.socket_mode import SocketMode
from chatops_bot.simulators.slack.steering import Steering
from chatops_bot.simulators.slack.streams import Streams
from chatops_bot.simulators.slack.views import Views
from chatops_bot.simulators.slack.web_api import WebApi

MAX_BODY = 4 * 1024 * 1024
PAGE_TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".json": "application/json",
}


class Workspace:
    """A running workspace: `url`, `identity` (ids and tokens), and what a bot needs to reach it."""

    def __init__(self, identity: Identity, url: str) -> None:
        self.identity = identity
        self.url = url

    @property
    def api_url(self) -> str:
        """The `base_url` for slack_sdk."""
        return f"{self.url}/api/"

    def ready(self) -> dict[str, Any]:
        """The ready line: everything that a bot or a driver needs, tokens included."""
        identity = self.identity
        return {
            "ready": "workspace",
            "url": self.url,
            "bot_token": identity.bot_token,
            "app_token": identity.app_token,
            "bot_user_id": identity.bot_user_id,
            "team_id": identity.team_id,
            "channels": {
                channel.name: channel.id for channel in identity.channels if channel.kind == "channel"
            },
            "people": {
                person.key: {"id": person.id, "role": person.role, "token": person.token}
                for person in identity.people
            },
            "groups": {group.handle: group.id for group in identity.groups},
        }

    @classmethod
    @asynccontextmanager
    async def start(
        cls,
        data_dir: Path,
        *,
        port: int = 0,
        host: str = "127.0.0.1",
        settings: Settings | None = None,
        clock: Clock | None = None,
    ) -> AsyncIterator["Workspace"]:
        """Serve the workspace kept in `data_dir` until the block ends. Port 0 takes any free port.

        Raises WorkspaceUnusable, in one sentence, for a folder or port that cannot be used.
        """
        if host not in LOOPBACK:
            raise WorkspaceUnusable(
                f"The workspace listens on this machine only, not on {host}; use 127.0.0.1."
            )
        database = Database(data_dir)
        await database.open()
        try:
            identity = await database.run(lambda connection: load_or_create(connection, time.time()))
            async with _serving(
                identity, database, settings or Settings(), clock or Clock(), host, port
            ) as url:
                yield cls(identity, url)
        finally:
            await database.close()


@asynccontextmanager
async def _serving(
    identity: Identity, database: Database, settings: Settings, clock: Clock, host: str, port: int
) -> AsyncIterator[str]:
    app = web.Application(middlewares=[only_this_machine], client_max_size=MAX_BODY)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5, handle_signals=False)
    live = Live()

    def announce(online: bool) -> None:
        live.push(identity.people, {"type": "presence", "bot_online": online})

    faults = Faults()
    socket_mode = SocketMode(database, settings, identity.app_id, announce, faults)
    apps = Apps(identity)
    rooms = Rooms()
    await database.run(apps.load)
    await database.run(rooms.load)
    posting = Posting(identity, database, live, socket_mode, settings, apps, rooms)
    streams = Streams(settings, clock)
    views = Views(identity, database, live, settings, clock)
    # The port is bound before the routes exist, since several of them hand out URLs of this server.
    listener = _bind(host, port)
    url = f"http://{host}:{listener.getsockname()[1]}"
    interactions = Interactions(identity, database, socket_mode, views, settings, clock, url)
    driving = Driving(identity, database, posting, interactions, views, socket_mode, live, apps)
    steering = Steering(identity, apps, rooms, database, posting, socket_mode, faults, streams)
    api = WebApi(
        Api(identity, apps, rooms, database, posting, views, streams, socket_mode, settings, clock, url),
        faults,
    )
    responses = ResponseUrls(identity, database, posting, clock)
    app.add_routes(
        [
            web.route("*", "/api/{method}", api.handle),
            web.get("/socket", socket_mode.serve),
            web.post("/response/{token}", responses.handle),
            *driving.routes(),
            *steering.routes(),
            web.get("/", _page_file),
            web.get("/page/{file}", _page_file),
        ]
    )
    await runner.setup()
    await web.SockSite(runner, listener).start()
    pump = asyncio.create_task(socket_mode.pump(), name="event-pump")
    try:
        yield url
    finally:
        live.close()
        await socket_mode.close()
        await runner.cleanup()
        pump.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await pump
        posting.forget_statuses()
        listener.close()


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host.strip("[]"), port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise WorkspaceUnusable(
            f"Port {port} of {host} cannot be used ({error}); choose another --port."
        ) from error
    listener.setblocking(False)
    return listener


async def _page_file(request: web.Request) -> web.Response:
    name = request.match_info.get("file", "index.html")
    kind = PAGE_TYPES.get(Path(name).suffix)
    body = None if kind is None else await asyncio.to_thread(_read_page_file, name)
    if body is None:
        return web.Response(status=404, text="There is no such page file.", headers=PAGE_HEADERS)
    return web.Response(body=body, content_type=kind, charset="utf-8", headers=PAGE_HEADERS)


def _read_page_file(name: str) -> bytes | None:
    if name != Path(name).name or name.startswith("."):
        return None
    file = resources.files(__package__) / "page" / name
    return file.read_bytes() if file.is_file() else None
