"""The system calls that a script may not make, as a filter for the kernel (a classic BPF program, see seccomp(2)).

Namespaces already take most things away from a script. The filter takes away the kernel code behind them: of the ways out
that became known, nearly all led through a call that no script needs. What is listed is refused with EPERM; what came to
the kernel after this list with ENOSYS, as if the kernel were older; another machine's calls end the process.

A script may have no socket of any family; a connected pair it may, since nothing can be reached through it and Python's own
event loop has one. Memory that no limit counts (System V segments, memfd, message queues) it may not have either.

Numbers are those of Linux's arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
"""

import errno
import platform
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Instruction(NamedTuple):
    """One of the program: jumps are counted from the next instruction."""

    code: int
    if_true: int
    if_false: int
    value: int


# linux/bpf_common.h
_LOAD = 0x20
_EQUAL = 0x15
_AT_LEAST = 0x35
_ANY_BIT = 0x45
_RETURN = 0x06

# linux/seccomp.h
ALLOW = 0x7FFF0000
KILL = 0x80000000
_ERRNO = 0x00050000
REFUSED = _ERRNO | errno.EPERM
UNKNOWN = _ERRNO | errno.ENOSYS

_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
"""Offsets in `struct seccomp_data`; an argument is eight bytes, its lower half first on both machines."""

_X32 = 0x40000000
"""Marks a call of x86's third ABI, which has other numbers for the same calls."""

AF_UNIX = 1
NEW_NAMESPACES = 0x7E020080
"""Every CLONE_NEW… flag of clone: time, mount, cgroup, uts, ipc, user, pid, net."""
TERMINAL_INJECTION = (0x5412, 0x541C, 0x5423)
"""TIOCSTI types into a terminal, TIOCLINUX pastes into one, TIOCSETD loads drivers for one."""

_NEWER = (424, 434, 436, 437, 439, 441, 444, 445, 446, 449, 451, 452, 454, 455, 456)
"""Of the calls that have one number on every machine, those that are of use: pidfd_send_signal, pidfd_open, close_range,
openat2, faccessat2, epoll_pwait2, landlock_…, futex_waitv, cachestat, fchmodat2, futex_wake, futex_wait, futex_requeue."""


@dataclass(frozen=True, slots=True)
class Machine:
    """`audit` is its AUDIT_ARCH_…; `last` the last call with a number of its own; `refused` those that no script may make."""

    audit: int
    last: int
    clone: int
    ioctl: int
    socketpair: int
    refused: Mapping[str, int]


def _table(names: str, numbers: Sequence[int]) -> dict[str, int]:
    return dict(zip(names.split(), numbers, strict=True))


_REFUSED = """
    socket connect bind listen accept accept4
    ptrace process_vm_readv process_vm_writev kcmp add_key request_key keyctl
    mount umount2 pivot_root chroot setns unshare name_to_handle_at open_by_handle_at
    bpf perf_event_open userfaultfd personality memfd_create shmget shmat shmctl semget msgget mq_open
    kexec_load kexec_file_load init_module finit_module delete_module reboot swapon swapoff acct quotactl
    settimeofday clock_settime clock_adjtime adjtimex syslog lookup_dcookie vhangup sethostname setdomainname
    fanotify_init fanotify_mark nfsservctl migrate_pages move_pages mbind set_mempolicy get_mempolicy
"""
_X86_ONLY = "iopl ioperm modify_ldt uselib _sysctl ustat sysfs"

X86_64 = Machine(
    audit=0xC000003E,
    last=334,
    clone=56,
    ioctl=16,
    socketpair=53,
    refused=_table(
        _REFUSED + _X86_ONLY,
        [
            *(41, 42, 49, 50, 43, 288),
            *(101, 310, 311, 312, 248, 249, 250),
            *(165, 166, 155, 161, 308, 272, 303, 304),
            *(321, 298, 323, 135, 319, 29, 30, 31, 64, 68, 240),
            *(246, 320, 175, 313, 176, 169, 167, 168, 163, 179),
            *(164, 227, 305, 159, 103, 212, 153, 170, 171),
            *(300, 301, 180, 256, 279, 237, 238, 239),
            *(172, 173, 154, 134, 156, 136, 139),
        ],
    ),
)
AARCH64 = Machine(
    audit=0xC00000B7,
    last=294,
    clone=220,
    ioctl=29,
    socketpair=199,
    refused=_table(
        _REFUSED,
        [
            *(198, 203, 200, 201, 202, 242),
            *(117, 270, 271, 272, 217, 218, 219),
            *(40, 39, 41, 51, 268, 97, 264, 265),
            *(280, 241, 282, 92, 279, 194, 196, 195, 190, 186, 180),
            *(104, 294, 105, 273, 106, 142, 224, 225, 89, 60),
            *(170, 112, 266, 171, 116, 18, 58, 161, 162),
            *(262, 263, 42, 238, 239, 235, 237, 236),
        ],
    ),
)
_MACHINES = {"x86_64": X86_64, "aarch64": AARCH64}


def filter_for_this_machine() -> bytes | None:
    """The filter as the kernel takes it; None where the numbers of the machine's calls are not known here."""
    machine = _MACHINES.get(platform.machine())
    return None if machine is None else encoded(program(machine))


def program(machine: Machine) -> list[Instruction]:
    """The filter for a machine, first instruction first."""
    return [
        _load(_MACHINE),
        Instruction(_EQUAL, 1, 0, machine.audit),
        _answer(KILL),
        _load(_NUMBER),
        *_when(_AT_LEAST, _X32, [_answer(UNKNOWN)]),
        *_when(_AT_LEAST, machine.last + 1, [*_each(_NEWER, ALLOW), _answer(UNKNOWN)]),
        *_each(machine.refused.values(), REFUSED),
        *_when(_EQUAL, machine.clone, _judged_by(0, _ANY_BIT, [NEW_NAMESPACES])),
        *_when(_EQUAL, machine.ioctl, _judged_by(1, _EQUAL, TERMINAL_INJECTION)),
        *_when(_EQUAL, machine.socketpair, _judged_by(0, _EQUAL, [AF_UNIX], otherwise=REFUSED, then=ALLOW)),
        _answer(ALLOW),
    ]


def encoded(instructions: Iterable[Instruction]) -> bytes:
    """`struct sock_filter`, one after the other."""
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in instructions)


def _load(offset: int) -> Instruction:
    return Instruction(_LOAD, 0, 0, offset)


def _answer(action: int) -> Instruction:
    return Instruction(_RETURN, 0, 0, action)


def _when(test: int, value: int, then: Sequence[Instruction]) -> list[Instruction]:
    """`then`, which always answers, where the test of what was loaded is met."""
    return [Instruction(test, 0, len(then), value), *then]


def _each(numbers: Iterable[int], action: int) -> list[Instruction]:
    return [each for number in numbers for each in _when(_EQUAL, number, [_answer(action)])]


def _judged_by(
    argument: int, test: int, values: Iterable[int], *, then: int = REFUSED, otherwise: int = ALLOW
) -> list[Instruction]:
    """`then` where the lower half of an argument meets the test with one of the values."""
    met = [each for value in values for each in _when(test, value, [_answer(then)])]
    return [_load(_ARGUMENTS + 8 * argument), *met, _answer(otherwise)]
