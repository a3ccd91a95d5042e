"""`chatops-bot …` in a process that is forked from one which has imported every command: a twentieth of a cold start.

The process is real: it has its own folder, environment, standard streams and exit code. What the interpreter itself does at
its start (arguments as bytes, streams that cannot be decoded, signals) is for a cold start to show.
"""

import os
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from subprocess import CompletedProcess

from chatops_bot.app import ask, ask_here, audit_show, audit_verify, cli, demo, run
from chatops_bot.app.doctor import command as doctor
from tests.forked import processes

__all__ = ["ask", "ask_here", "audit_show", "audit_verify", "demo", "doctor", "run"]

_one_at_a_time = threading.Lock()
"""Starting a process looks at how all others do, and an exit code can be read once only."""


def run_warm(
    arguments: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    deadline: float,
    stdin: str = "",
    terminal: str = "",
) -> CompletedProcess[str]:
    """`chatops-bot` with `arguments` to its end. With the path of a `terminal`, that is its standard output."""
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder) / name for name in ("in", "out", "err")]
        for stream in streams:
            stream.write_text(stdin if stream.name == "in" else "")
        paths = [str(stream) for stream in streams]
        if terminal:
            paths[1] = terminal
        process = processes.Process(target=_become, args=(list(arguments), dict(env), str(cwd), paths))
        with _one_at_a_time:
            process.start()
        ended = wait([process.sentinel], deadline)
        with _one_at_a_time:
            if not ended:
                process.kill()
            process.join()
        assert ended, f"{arguments} had not ended after {deadline:g} s"
        return CompletedProcess(
            arguments, process.exitcode or 0, streams[1].read_text(), streams[2].read_text()
        )


def _become(arguments: list[str], env: dict[str, str], cwd: str, paths: list[str]) -> None:
    """Be the command that a shell would have started so."""
    for descriptor, path in enumerate(paths):
        opened = os.open(path, (os.O_WRONLY if descriptor else os.O_RDONLY) | os.O_NOCTTY)
        os.dup2(opened, descriptor)
        os.close(opened)
    errors = sys.stdout.errors
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", errors=errors, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    cli.main(arguments)
