"""The files of a skill, opened so that nothing can be swapped in between: plain files only, no link is ever followed."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

MOST_FILES = 200
MOST_BYTES = 10 * 1024 * 1024


class PackageTooLarge(Exception):
    """More files or bytes than a skill may have."""


@contextmanager
def opened(folder: Path) -> Iterator[dict[str, int]]:
    """Descriptors of the plain files below `folder` by relative path, closed at the end. What begins with a dot is left out.

    Raises PackageTooLarge, or OSError when the folder cannot be read.
    """
    with ExitStack() as stack:
        files: dict[str, int] = {}
        size = 0
        for root, folders, names, at in os.fwalk(folder, follow_symlinks=False, onerror=_raise):
            folders[:] = sorted(name for name in folders if _is_shown(name))
            for name in sorted(filter(_is_shown, names)):
                fd = _open_plain(name, at)
                if fd is None:
                    continue
                stack.callback(os.close, fd)
                size += os.fstat(fd).st_size
                files[Path(root, name).relative_to(folder).as_posix()] = fd
                if len(files) > MOST_FILES or size > MOST_BYTES:
                    raise PackageTooLarge
        yield files


def _open_plain(name: str, at: int) -> int | None:
    """A descriptor of the plain file `name`; None for a link, a device, a socket or a pipe, which are never opened for good, and for
    what may not be read. Raises OSError where a disk fails or this process has too much open: a skill with a file missing is another skill."""
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE, errno.EIO):
            raise
        return None
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    return None


def _is_shown(name: str) -> bool:
    return not name.startswith(".") and name != "__pycache__"


def _raise(error: OSError) -> None:
    raise error
