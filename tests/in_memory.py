"""Temporary folders of a test run lie in memory where the machine has room for them there.

A database waits for its disk at each commit, and a test that runs bot, workspace and scheduler commits hundreds of times. What is
tested is what survives the death of a process, which a file in memory does as well.
"""

import os
import tempfile
from collections.abc import MutableMapping
from pathlib import Path

FOLDER = Path("/dev/shm")  # the machine's own folder in memory, in which everybody may write
ROOM = 2 * 1024**3
"""Bytes that must be free: some times what a run has there at once."""


def settle_in(folder: Path, environ: MutableMapping[str, str], room: int = ROOM) -> bool:
    """Make `folder` the one for temporary files, here and in every process to come, if nobody chose one and there is `room`."""
    if "TMPDIR" in environ or not has_room(folder, room):
        return False
    environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None  # it is chosen once a process, and may have been
    return True


def has_room(folder: Path, room: int) -> bool:
    """Whether there is such a folder, in which one may write, and run what was written, and `room` bytes are free."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    may_run = not found.f_flag & os.ST_NOEXEC
    return may_run and os.access(folder, os.W_OK) and found.f_bavail * found.f_frsize >= room
