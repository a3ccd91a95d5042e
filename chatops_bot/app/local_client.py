"""The other end of the local API: what the commands on this machine use to reach the bot of a data folder."""

import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from chatops_bot.app.local_socket import socket_address
from chatops_bot.domain.errors import PlatformUnavailable
from chatops_bot.domain.people import Role
from chatops_bot.platforms.terminal.frames import Frame, frame_from_json
from chatops_bot.platforms.terminal.people import LocalRefused
from chatops_bot.sessions.commands import Verdict

Json = dict[str, Any]
MAX_LINE_BYTES = 8 * 1024 * 1024
"""A frame is one message as a whole; no message is near this size."""

ANSWER_SECONDS = 5.0
"""What a running bot takes to say who it is is milliseconds."""


class LocalClient:
    """`model_name` is the model that the bot runs with."""

    def __init__(self, session: aiohttp.ClientSession, folder: Path, model_name: str) -> None:
        self._session = session
        self._folder = folder
        self.model_name = model_name

    async def ask(self, text: str, *, thread: str | None, role: Role | None) -> AsyncGenerator[Frame, None]:
        """As `LocalDesk.ask`. Raises LocalRefused, or PlatformUnavailable when the bot ends in the middle."""
        body = {"text": text, "thread": thread, "as": role}
        try:
            async with self._session.post("http://local/ask", json=body) as response:
                if response.status != 200:
                    raise LocalRefused(await _error(response))
                async for line in response.content:
                    yield frame_from_json(json.loads(line))
        except (aiohttp.ClientError, ValueError) as error:
            raise self._lost() from error

    async def stop(self, thread: str) -> None:
        await self._call("stop", {"thread": thread})

    async def decide(self, verdict: Verdict, code: str, role: Role | None, reason: str = "") -> Json:
        """As `LocalDesk.decide`, with the views as JSON."""
        return await self._call(verdict, {"code": code, "as": role, "reason": reason})

    async def _call(self, name: str, body: Json) -> Json:
        try:
            async with self._session.post(f"http://local/{name}", json=body) as response:
                if response.status != 200:
                    raise LocalRefused(await _error(response))
                return dict(await response.json())
        except (aiohttp.ClientError, ValueError) as error:
            raise self._lost() from error

    def _lost(self) -> PlatformUnavailable:
        return PlatformUnavailable(
            f"The bot of {self._folder} broke off in the middle; look at its log, then ask again."
        )


async def _error(response: aiohttp.ClientResponse) -> str:
    try:
        return str((await response.json())["error"])
    except (aiohttp.ClientError, ValueError, KeyError, TypeError):
        return f"The bot's local API answered {response.status}; look at its log."


@asynccontextmanager
async def reach(folder: Path) -> AsyncGenerator[LocalClient | None, None]:
    """The running bot of a data folder, or None when none runs there. Raises LocalRefused when it is not for us, or hangs."""
    async with AsyncExitStack() as stack:
        try:
            address = stack.enter_context(socket_address(folder))
        except OSError:
            yield None
            return
        session = await stack.enter_async_context(
            aiohttp.ClientSession(
                connector=aiohttp.UnixConnector(address),
                timeout=aiohttp.ClientTimeout(total=None),
                read_bufsize=MAX_LINE_BYTES,
            )
        )
        try:
            timeout = aiohttp.ClientTimeout(total=ANSWER_SECONDS)
            async with session.get("http://local/", timeout=timeout) as response:
                model_name = str((await response.json())["model"])
        except TimeoutError as error:
            raise LocalRefused(
                f"The bot of {folder} has not answered within {ANSWER_SECONDS:g} s: it hangs. Look at its log, or start it again."
            ) from error
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, PermissionError):
                raise LocalRefused(
                    f"The bot of {folder} belongs to another user; run this as the user of the bot."
                ) from error
            yield None
            return
        except (aiohttp.ClientError, ValueError, KeyError, TypeError):
            yield None
            return
        yield LocalClient(session, folder, model_name)
