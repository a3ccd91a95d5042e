"""The Unix socket of a bot's data folder, and who is at its other end.

File rights say who may open it: it lies in a folder of its own with 0700, itself with 0600. The kernel says who did (SO_PEERCRED), so that no name needs to
be believed.
"""

import os
import pwd
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

_ADDRESS_BYTES = 100
"""A Unix socket's address holds 108 bytes on Linux; longer paths go by way of the folder's descriptor."""
KNOWS_PEERS = hasattr(socket, "SO_PEERCRED")
"""Whether this system says who opened a connection; where it does not, there is no local API."""
_CREDENTIALS = struct.Struct("3i")
"""Linux's `struct ucred`: process, user, group."""


class Peer(Protocol):
    def getsockopt(self, level: int, optname: int, buflen: int, /) -> bytes: ...


def socket_path(folder: Path) -> Path:
    """The socket of a data folder; the rights of the data folder itself are its owner's business."""
    return folder / "local" / "bot.sock"


@contextmanager
def socket_address(folder: Path) -> Iterator[str]:
    """The address of a data folder's socket, short enough for the kernel, while the context is open."""
    path = socket_path(folder)
    if len(os.fsencode(path)) <= _ADDRESS_BYTES:
        yield str(path)
        return
    descriptor = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{path.name}"
    finally:
        os.close(descriptor)


def user_name(uid: int) -> str:
    """The system's name of a user, or the number where it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid-{uid}"


def listen(folder: Path) -> socket.socket:
    """A listening socket in a data folder, for its owner only; makes the folder where the store lies elsewhere.

    Of a store in a file, its lock says that no other bot uses the folder.
    """
    path = socket_path(folder)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.parent.mkdir(exist_ok=True)
    path.parent.chmod(0o700)
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        with socket_address(folder) as address:
            listener.bind(address)
    except BaseException:
        listener.close()
        raise
    finally:
        os.umask(mask)
    listener.setblocking(False)
    return listener


def peer_name(peer: Peer) -> str:
    """The system's name of whoever opened a connection."""
    credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return user_name(_CREDENTIALS.unpack(credentials)[1])
