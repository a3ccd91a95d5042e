"""A real redis-server of the tests' own: on a Unix socket and a free port, in a folder that goes with it."""

import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

DEADLINE = 20.0


class RedisServer:
    """A server as the bot wants it, unless `settings` say otherwise. `stop` and `start` keep its data."""

    def __init__(self, folder: Path, *settings: str) -> None:
        program = shutil.which("redis-server")
        if program is None:
            pytest.skip("redis-server is not installed; sh tests/system_packages.sh installs it")
        self.port = _free_port()
        self._socket = folder / "redis.sock"
        self._process: subprocess.Popen[bytes] | None = None
        self._command = [
            program, "--port", str(self.port), "--bind", "127.0.0.1", "--unixsocket", str(self._socket),
            "--dir", str(folder), "--save", "", "--appendonly", "yes", "--appendfsync", "always",
            "--logfile", str(folder / "redis.log"), *settings,
        ]  # fmt: skip

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def await_death(self) -> None:
        """Until it is gone that somebody else kills."""
        assert self._process is not None
        self._process.wait(DEADLINE)

    def start(self) -> None:
        self._process = subprocess.Popen(self._command)
        deadline = time.monotonic() + DEADLINE
        while self.send("PING") not in {b"+PONG\r\n", b"-NOAUTH"}:
            assert self._process.poll() is None, "redis-server did not start"
            assert time.monotonic() < deadline, "redis-server did not answer"
            time.sleep(0.01)

    def kill(self) -> None:
        """As a crash does: nothing is flushed or said."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def flush(self) -> None:
        assert self.send("FLUSHALL") == b"+OK\r\n"

    def send(self, *words: str) -> bytes:
        """The beginning of the raw answer, empty when there is none."""
        command = b"".join(b"$%d\r\n%s\r\n" % (len(word.encode()), word.encode()) for word in words)
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(str(self._socket))
                connection.sendall(b"*%d\r\n" % len(words) + command)
                answer = connection.recv(4096)
            except OSError:
                return b""
        return b"-NOAUTH" if answer.startswith(b"-NOAUTH") else answer


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
