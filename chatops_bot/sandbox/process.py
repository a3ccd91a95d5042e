"""One program in a sandbox, from its start to the end of everything that it started.

The program is the first process of its own pid namespace: when it ends, or is killed, the kernel kills all others there,
whatever sessions and groups they had made for themselves. bubblewrap stays outside, tells through the status pipe what
came of it, and dies with the bot.
"""

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.sandbox.bubblewrap import TMP, WORKSPACE, command
from chatops_bot.sandbox.host import Host
from chatops_bot.sandbox.inodes import files_in
from chatops_bot.sandbox.limits import MIB, Limits
from chatops_bot.sandbox.memory import memory_of_tree
from chatops_bot.sandbox.output import Kept

_CHUNK = 64 * 1024
_LOOKS_EVERY = 0.1
"""Seconds between two looks at the memory and the files of all processes together."""


@dataclass(frozen=True, slots=True)
class Ended:
    """`exit_code` is None when the program was killed from outside, and `killed_because` says why."""

    exit_code: int | None
    killed_because: Phrase | None
    stdout: Kept
    stderr: Kept
    seconds: float


async def run_sandboxed(
    host: Host,
    limits: Limits,
    seccomp: bytes | None,
    files: Mapping[str, int],
    argv: Sequence[str],
    stdin: bytes = b"",
) -> Ended:
    """Run `argv` with `files` below /skill. Raises ToolFailed when the sandbox cannot be built."""
    began = time.monotonic()
    # A start is never cut in half: bubblewrap, killed before it has told of its child, leaves one that waits for ever.
    starting = asyncio.ensure_future(_start(host, limits, seccomp, files, argv))
    try:
        running = await asyncio.shield(starting)
    except asyncio.CancelledError:
        with suppress(ToolFailed):
            await (await starting).end()
        raise
    work = asyncio.ensure_future(running.work(stdin))
    try:
        async with asyncio.timeout(limits.wall_seconds):
            await asyncio.shield(work)
    except TimeoutError:
        running.kill(_overtime(limits))
    finally:
        running.kill()
        await work
    return running.ended(time.monotonic() - began)


class _Running:
    def __init__(
        self, process: asyncio.subprocess.Process, status: asyncio.StreamReader, first: int, limits: Limits
    ) -> None:
        """`first` is the pid of the sandbox's first process, as the host numbers it."""
        self._process = process
        self._status = status
        self._first = first
        self._handle = _handle_of(first, child_of=process.pid)
        self._limits = limits
        self._stdout, self._stderr = Kept(limits.output_bytes), Kept(limits.output_bytes)
        self._exit: int | None = None
        self._killed: Phrase | None = None
        self._is_over = False

    async def work(self, stdin: bytes) -> None:
        """Feed, drain and watch until all is over; ends soon once the program is killed."""
        watching = asyncio.create_task(self._watch())
        try:
            await asyncio.gather(
                self._feed(stdin), self._drain(self._process.stdout, self._stdout), self._drain(self._process.stderr, self._stderr),
                self._await_exit(),
            )  # fmt: skip
        finally:
            watching.cancel()
            self._is_over = True
            if self._handle is not None:
                os.close(self._handle)

    def kill(self, because: Phrase | None = None) -> None:
        """Kill everything in the sandbox; nothing when it is over."""
        if self._is_over or self._handle is None:
            return
        self._killed = self._killed or because
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, signal.SIGKILL)

    async def end(self) -> None:
        work = asyncio.ensure_future(self.work(b""))
        self.kill()
        await work

    def ended(self, seconds: float) -> Ended:
        """Raises ToolFailed when the program was never started, since the sandbox could not be built."""
        if self._exit is None and self._killed is None:
            raise _not_built(self._stderr.text)
        return Ended(
            None if self._killed else self._exit, self._killed, self._stdout, self._stderr, round(seconds, 3)
        )

    async def _feed(self, stdin: bytes) -> None:
        pipe = self._process.stdin
        if pipe is None:
            return
        with suppress(BrokenPipeError, ConnectionResetError):
            pipe.write(stdin)
            await pipe.drain()
        pipe.close()
        with suppress(BrokenPipeError, ConnectionResetError):
            await pipe.wait_closed()

    async def _drain(self, pipe: asyncio.StreamReader | None, kept: Kept) -> None:
        while pipe is not None and (chunk := await pipe.read(_CHUNK)):
            kept.take(chunk)
            if kept.seen > self._limits.flood_bytes:
                self.kill(_flood(self._limits))

    async def _await_exit(self) -> None:
        """bubblewrap tells the exit code only of a program that was started."""
        async for line in self._status:
            self._exit = json.loads(line).get("exit-code", self._exit)
        await self._process.wait()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_LOOKS_EVERY)
            if memory_of_tree(self._first) > self._limits.total_memory_bytes:
                self.kill(_too_much_memory(self._limits))
            if files_in(self._first, (WORKSPACE, TMP)) > self._limits.files:
                self.kill(_too_many_files(self._limits))


async def _start(
    host: Host, limits: Limits, seccomp: bytes | None, files: Mapping[str, int], argv: Sequence[str]
) -> _Running:
    read_end, write_end = os.pipe()
    filter_fd = None if seccomp is None else _in_memory(seccomp)
    handed = [write_end, *files.values(), *([] if filter_fd is None else [filter_fd])]
    status_pipe = os.fdopen(read_end, "rb")
    try:
        process = await asyncio.create_subprocess_exec(
            *command(host, limits, files, argv, status=write_end, seccomp=filter_fd),
            env={},
            cwd="/",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            pass_fds=handed,
            user=host.user,
            group=host.user,
            extra_groups=None if host.user is None else [],
        )
    except OSError as error:
        status_pipe.close()
        raise _not_built(f"{host.bwrap}: {error.strerror}") from error
    finally:
        os.close(write_end)
        if filter_fd is not None:
            os.close(filter_fd)
    status = await _reader(status_pipe)
    try:
        async with asyncio.timeout(limits.start_seconds):
            told = await status.readline()
    except TimeoutError as error:
        process.kill()
        await process.wait()
        raise _not_built(f"no answer within {limits.start_seconds:g} s") from error
    if not told:
        _, stderr = await process.communicate()
        raise _not_built(stderr.decode(errors="replace"))
    return _Running(process, status, int(json.loads(told)["child-pid"]), limits)


def _handle_of(pid: int, *, child_of: int) -> int | None:
    """A handle on a process that no other can take over, as a number can; None when it has ended already."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    try:
        status = Path("/proc", str(pid), "status").read_text()
    except OSError:
        status = ""
    if f"\nPPid:\t{child_of}\n" in status:
        return handle
    os.close(handle)
    return None


async def _reader(pipe: BinaryIO) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    protocol: Callable[[], asyncio.Protocol] = lambda: asyncio.StreamReaderProtocol(reader)  # noqa: E731
    await asyncio.get_running_loop().connect_read_pipe(protocol, pipe)
    return reader


def _in_memory(data: bytes) -> int:
    """A descriptor from which `data` is read."""
    fd = os.memfd_create("seccomp", os.MFD_CLOEXEC)
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _not_built(said: str) -> ToolFailed:
    reason = next((line for line in said.splitlines() if line.strip()), "no reason given").strip()[:300]
    return ToolFailed(
        Phrase(
            f"隔离环境无法建立（{reason}）；请检查 bubblewrap。",
            f"The sandbox could not be built ({reason}); look at bubblewrap.",
        )
    )


def _overtime(limits: Limits) -> Phrase:
    seconds = f"{limits.wall_seconds:g}"
    return Phrase(f"运行超过 {seconds} 秒，已被终止", f"killed: it ran for more than {seconds} s")


def _flood(limits: Limits) -> Phrase:
    size = limits.flood_bytes // MIB
    return Phrase(f"输出超过 {size} MiB，已被终止", f"killed: it wrote more than {size} MiB")


def _too_many_files(limits: Limits) -> Phrase:
    return Phrase(
        f"创建的文件超过 {limits.files:,} 个，已被终止", f"killed: it made more than {limits.files:,} files"
    )


def _too_much_memory(limits: Limits) -> Phrase:
    size = limits.total_memory_bytes // MIB
    return Phrase(
        f"所有进程共用内存超过 {size} MiB，已被终止",
        f"killed: its processes together used more than {size} MiB of memory",
    )
