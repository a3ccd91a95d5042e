"""The filter, run by a small interpreter of its own, for both machines; the kernel's own verdict is in the ways out."""

import errno
import struct

import pytest

from chatops_bot.sandbox.seccomp import (
    AARCH64,
    AF_UNIX,
    ALLOW,
    KILL,
    REFUSED,
    TERMINAL_INJECTION,
    UNKNOWN,
    X86_64,
    Instruction,
    Machine,
    encoded,
    program,
)

MACHINES = pytest.mark.parametrize("machine", [X86_64, AARCH64], ids=["x86_64", "aarch64"])


def verdict(instructions: list[Instruction], audit: int, number: int, *arguments: int) -> int:
    """What the kernel would answer: the program run over `struct seccomp_data`."""
    filled = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("=IIQ6Q", number & 0xFFFFFFFF, audit, 0, *filled)
    loaded, at = 0, 0
    while True:
        code, if_true, if_false, value = instructions[at]
        at += 1
        if code == 0x20:
            (loaded,) = struct.unpack_from("=I", data, value)
        elif code == 0x06:
            return value
        else:
            met = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
            at += if_true if met else if_false


@MACHINES
def test_every_refused_call_is_refused_whatever_its_arguments(machine: Machine):
    filtered = program(machine)
    for name, number in machine.refused.items():
        for argument in (0, 1, 2**64 - 1):
            assert verdict(filtered, machine.audit, number, argument, argument) == REFUSED, name


@MACHINES
def test_what_programs_live_on_is_allowed(machine: Machine):
    filtered = program(machine)
    special = {machine.clone, machine.ioctl, machine.socketpair, *machine.refused.values()}
    for number in range(machine.last + 1):
        if number not in special:
            assert verdict(filtered, machine.audit, number) == ALLOW


@MACHINES
def test_calls_of_another_machine_end_the_process(machine: Machine):
    for audit in (0x40000003, 0x40000028, 0, 0xC00000F3):
        assert verdict(program(machine), audit, 20) == KILL


@MACHINES
@pytest.mark.parametrize(
    "number",
    [335, 400, 425, 426, 427, 428, 429, 435, 438, 440, 442, 447, 453, 467, 10_000, 0x40000029, 0xFFFFFFFF],
)
def test_calls_that_are_not_known_do_not_exist(machine: Machine, number: int):
    assert verdict(program(machine), machine.audit, number) == UNKNOWN == 0x50000 | errno.ENOSYS


@MACHINES
@pytest.mark.parametrize("number", [424, 434, 436, 437, 439, 441, 449, 454])
def test_newer_calls_that_are_of_use_are_allowed(machine: Machine, number: int):
    assert verdict(program(machine), machine.audit, number) == ALLOW


@MACHINES
@pytest.mark.parametrize(
    "flag", [0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]
)
def test_a_process_is_never_started_in_a_new_namespace(machine: Machine, flag: int):
    filtered = program(machine)
    assert verdict(filtered, machine.audit, machine.clone, 17) == ALLOW
    assert verdict(filtered, machine.audit, machine.clone, flag | 17) == REFUSED
    assert verdict(filtered, machine.audit, machine.clone, 0xFFFFFFFF_00000000 | flag | 17) == REFUSED


@MACHINES
@pytest.mark.parametrize("request_number", TERMINAL_INJECTION)
def test_nothing_is_typed_into_a_terminal_however_the_request_is_written(
    machine: Machine, request_number: int
):
    filtered = program(machine)
    assert verdict(filtered, machine.audit, machine.ioctl, 0, request_number) == REFUSED
    assert verdict(filtered, machine.audit, machine.ioctl, 0, 1 << 32 | request_number) == REFUSED
    assert verdict(filtered, machine.audit, machine.ioctl, 0, 0x5401) == ALLOW


@MACHINES
def test_only_a_local_pair_of_sockets_is_made(machine: Machine):
    for family in range(46):
        expected = ALLOW if family == AF_UNIX else REFUSED
        assert verdict(program(machine), machine.audit, machine.socketpair, family) == expected


@MACHINES
def test_the_kernel_takes_the_program(machine: Machine):
    filtered = program(machine)
    assert len(encoded(filtered)) == 8 * len(filtered) <= 8 * 4096
    for at, each in enumerate(filtered):
        assert max(each.if_true, each.if_false) < 256
        assert at + 1 + max(each.if_true, each.if_false) < len(filtered) or each.code == 0x06
