"""Running one shell payload: bounded in time, stoppable, and nothing of it left behind."""

from __future__ import annotations

import asyncio

from chatops_bot.scheduler.states import RunStatus
from chatops_bot.scheduler.worker.capture import Capture
from chatops_bot.scheduler.worker.outcome import Outcome
from chatops_bot.scheduler.worker.sandbox import Process, Sandbox

_CHUNK = 65_536
# Time for the pipes to drain once the payload's processes are gone.
_DRAIN_SECONDS = 1.0


async def run_shell(
    payload: str, timeout_seconds: float, sandbox: Sandbox, stop: asyncio.Event, kill_grace: float
) -> Outcome:
    """Run the payload until it ends, `timeout_seconds` pass, or `stop` is set.

    The last two send TERM to its whole group, wait `kill_grace` seconds, and KILL. When this coroutine is cancelled
    everything is killed at once.
    """
    try:
        running = await sandbox.start(payload)
    except OSError as error:
        text = f"the payload could not be started: {error.strerror or error}"
        return Outcome(RunStatus.FAILED, "execute_failed", text, text, len(text.encode()))
    out, err, both = Capture(), Capture(), Capture()
    readers = [
        asyncio.create_task(_collect(running.process.stdout, out, both)),
        asyncio.create_task(_collect(running.process.stderr, err, both)),
    ]
    try:
        reason = await _wait_for_end(running, timeout_seconds, stop, kill_grace)
        await running.clean_up()
        await asyncio.wait(readers, timeout=_DRAIN_SECONDS)
    finally:
        await running.clean_up()
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
    status, code, message = _describe(reason, running.process.returncode or 0, timeout_seconds, out, err)
    return Outcome(status, code, message, both.text(), both.total, both.truncated)


async def _wait_for_end(
    running: Process, timeout_seconds: float, stop: asyncio.Event, kill_grace: float
) -> RunStatus | None:
    """None when the payload ended by itself, else why it was stopped."""
    ended = asyncio.create_task(running.process.wait())
    stopped = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({ended, stopped}, timeout=timeout_seconds, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            return None
        reason = RunStatus.CANCELLED if stopped.done() else RunStatus.TIMEOUT
        running.terminate()
        await asyncio.wait({ended}, timeout=kill_grace)
        return reason
    finally:
        ended.cancel()
        stopped.cancel()


async def _collect(stream: asyncio.StreamReader | None, *captures: Capture) -> None:
    while stream is not None and (data := await stream.read(_CHUNK)):
        for capture in captures:
            capture.feed(data)


def _describe(
    reason: RunStatus | None, exit_code: int, timeout_seconds: float, out: Capture, err: Capture
) -> tuple[RunStatus, str, str]:
    tail = err.last_chars() or out.last_chars()
    if reason is RunStatus.TIMEOUT:
        return reason, "timeout", _lines(f"timed out after {timeout_seconds:g} s", tail)
    if reason is not None:
        return reason, "cancelled", _lines("cancelled by hand", tail)
    if exit_code == 0:
        return RunStatus.SUCCESS, "", out.first_chars()
    return RunStatus.FAILED, "execute_failed", _lines(f"exit code {exit_code}", tail)


def _lines(first: str, tail: str) -> str:
    return f"{first}\n{tail}" if tail else first
