"""What a script must not be able to do, tried from the inside. Runs as a script in the sandbox, and imports nothing of ours.

It takes a JSON object of what the host laid out for it, tries each way out, and prints a JSON object: name of the check →
whether the isolation held. Nothing here reports success for what it did not try.
"""

import ctypes
import errno
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Any

_CLONE_NEWUSER = 0x10000000
_PR_GET_SECCOMP = 21
_MIB = 1024 * 1024


def environment(facts: Mapping[str, Any]) -> bool:
    return bool(dict(os.environ) == facts["environment"])


def descriptors(facts: Mapping[str, Any]) -> bool:
    """Nothing but the three of every program is open."""
    for fd in range(3, facts["open_files"]):
        try:
            os.fstat(fd)
        except OSError:
            continue
        return False
    return True


def host_files(facts: Mapping[str, Any]) -> bool:
    paths = (
        facts["canary"],
        "/etc/passwd",
        "/proc",
        "/sys",
        "/home",
        "/root",
        "/var",
        "/run",
        "/dev/tty",
        "/dev/shm",  # noqa: S108  # must not be there
    )
    return not any(map(os.path.lexists, paths))


def network(facts: Mapping[str, Any]) -> bool:
    return not any(_reached(family, address) for family, address in facts["addresses"])


def writing_outside(facts: Mapping[str, Any]) -> bool:
    places = ("/", "/skill", "/usr", "/usr/bin", "/usr/lib", "/etc", "/dev")
    return not any(_can_write(os.path.join(place, "probe")) for place in places)  # noqa: PTH118  # strings suffice inside


def disk(facts: Mapping[str, Any]) -> bool:
    """A private folder takes something, and has an end."""
    block = b"\0" * _MIB
    try:
        with open("/tmp/probe", "wb", buffering=0) as file:  # noqa: PTH123, S108  # the sandbox's own
            for _ in range(facts["tmp_bytes"] // _MIB + 1):
                if file.write(block) < len(block):
                    return True
    except OSError as error:
        return error.errno == errno.ENOSPC
    return False


def user(facts: Mapping[str, Any]) -> bool:
    try:
        os.setuid(0)
    except OSError:
        return bool(os.getuid() == os.geteuid() == facts["user"])
    return False


def namespaces(facts: Mapping[str, Any]) -> bool:
    """No user namespace of its own, in which a script would be root again."""
    return bool(_libc().unshare(_CLONE_NEWUSER) != 0)


def system_calls(facts: Mapping[str, Any]) -> bool:
    """The filter is in force where one was set up."""
    return bool(not facts["filtered"] or _libc().prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) == 2)


def memory(facts: Mapping[str, Any]) -> bool:
    try:
        bytearray(2 * facts["memory_bytes"])
    except MemoryError:
        return True
    return False


def processes(facts: Mapping[str, Any]) -> bool:
    """One more process is possible, and many are not."""
    started = 0
    try:
        while started <= facts["processes"]:
            if os.fork() == 0:
                signal.pause()
            started += 1
    except OSError:
        return started > 0
    return False


CHECKS: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    check.__name__: check
    for check in (
        environment, descriptors, host_files, network, writing_outside, disk, user, namespaces, system_calls, memory, processes,
    )
}  # fmt: skip


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _reached(family: int, address: Any) -> bool:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as out:
            out.settimeout(1)
            out.connect(tuple(address) if isinstance(address, list) else address)
    except OSError:
        return False
    return True


def _can_write(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    except OSError:
        return False
    return True


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    sys.stdout.write(json.dumps({name: check(given) for name, check in CHECKS.items()}))
    sys.stdout.flush()
