"""Processes of ours under one launcher: started until they say that they are ready, started again when they die.

Each child holds one end of a pipe as its stdin; when the launcher dies, however it dies, the pipe ends and so do they.
They share the launcher's lock on the data folder, so the folder is free only when the last of them is gone.
"""

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from typing import IO, Any

from chatops_bot.app.process import unless
from chatops_bot.domain.errors import ChatopsError

READY_SECONDS = 30.0
STOP_SECONDS = 0.9
"""How long a child gets to end by itself, unless it asks for more. The bot goes first, since its answers need the others;
with no answer under way the whole end stays under two seconds."""
RESTART_PAUSES = (0.0, 0.0, 0.5, 1.0)
"""Seconds before the first, second, ... restart in a row; a child that lives for a minute starts the row anew."""
HEALTHY_AFTER = 60.0


class ChildFailed(ChatopsError):
    """A child did not come up; the message says which, and where to look."""


class Child:
    """One supervised process that prints a JSON line when it is ready."""

    def __init__(
        self,
        name: str,
        arguments: list[str],
        env: Mapping[str, str],
        lock: IO[str],
        *,
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        self.name = name
        self.arguments = arguments
        self.env = dict(env)
        self.lock = lock
        self.stop_seconds = stop_seconds
        self.process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int:
        return self.process.pid if self.process is not None else 0

    async def start(self) -> dict[str, Any]:
        """Start it and wait for its ready line. Raises ChildFailed when it ends first or takes too long."""
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", *self.arguments,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=self.env, pass_fds=(self.lock.fileno(),),
        )  # fmt: skip
        if self.process.stdout is None:
            raise RuntimeError("the child was started without a pipe")
        try:
            async with asyncio.timeout(READY_SECONDS):
                line = await self.process.stdout.readline()
        except TimeoutError as error:
            await self.stop()
            raise ChildFailed(
                f"The {self.name} was not ready within {READY_SECONDS:g} s; its log is above."
            ) from error
        if not line:
            code = await self.process.wait()
            raise ChildFailed(
                f"The {self.name} ended at start (exit {code}); its last log line above says why."
            )
        ready: dict[str, Any] = json.loads(line)
        return ready

    async def stop(self, hurry: asyncio.Event | None = None) -> None:
        """End it: ask, ask again when `hurry` is set, then insist."""
        if self.process is None or self.process.returncode is not None:
            return
        process = self.process
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        ending = asyncio.ensure_future(process.wait())
        if hurry is not None and self.stop_seconds > STOP_SECONDS:
            async with _patience(self.stop_seconds):
                if not await unless(hurry, asyncio.shield(ending)):
                    with contextlib.suppress(ProcessLookupError):
                        process.terminate()
        async with _patience(STOP_SECONDS):
            await asyncio.shield(ending)
        if not ending.done():
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        await ending


@contextlib.asynccontextmanager
async def _patience(seconds: float) -> AsyncIterator[None]:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            yield


async def keep(child: Child) -> None:
    """Start the child again whenever it ends."""
    loop = asyncio.get_running_loop()
    failures = 0
    while True:
        if child.process is None:
            raise RuntimeError(f"the {child.name} is kept before it was started")
        started = loop.time()
        code = await child.process.wait()
        failures = 0 if loop.time() - started > HEALTHY_AFTER else failures
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit {code}"
        sys.stderr.write(f"chatops-bot demo: the {child.name} ended ({how}); starting it again.\n")
        await asyncio.sleep(RESTART_PAUSES[min(failures, len(RESTART_PAUSES) - 1)])
        failures += 1
        try:
            await child.start()
        except ChildFailed as error:
            sys.stderr.write(f"chatops-bot demo: {error}\n")


def on_port(arguments: list[str], url: str) -> list[str]:
    """The same command line with the port that was given out, so that a restart comes back at the same address."""
    at = arguments.index("--port") + 1
    return [*arguments[:at], url.rsplit(":", 1)[1], *arguments[at + 1 :]]
