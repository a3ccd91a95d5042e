"""The probe notices when the isolation is not what it should be: each wall is taken down once, and scripts are off."""

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from chatops_bot.domain.language import Phrase
from chatops_bot.sandbox import inside
from chatops_bot.sandbox.host import Host, find_host
from chatops_bot.sandbox.limits import Limits
from chatops_bot.sandbox.probe import judged, probed
from chatops_bot.sandbox.runner import Sandboxes, ThisMachine
from chatops_bot.sandbox.seccomp import filter_for_this_machine

ALL_WELL = dict.fromkeys(inside.CHECKS, True)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that whoever bubblewrap is started as can read."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def weakened(host: Host, folder: Path, replaced: str) -> Host:
    """The host with a bubblewrap whose options are edited before they are used."""
    script = folder / "bwrap"
    edit = f'for each; do shift; case "$each" in {replaced} *) set -- "$@" "$each";; esac; done'
    script.write_text(f'#!/bin/sh\n{edit}\nexec {host.bwrap} "$@"\n')
    script.chmod(0o755)
    return replace(host, bwrap=str(script))


def option(old: str, *new: str) -> str:
    """An edit that puts `new` in the place of the option `old`."""
    return f'{old}) set -- "$@" {" ".join(new)};;'


async def test_where_everything_holds_scripts_run(host: Host):
    assert await probed(host, Limits(), filter_for_this_machine()) == host
    assert isinstance(await ThisMachine().runner(), Sandboxes)


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (option("--as-pid-1", "--as-pid-1", "--setenv", "LEAK", "1"), "environment"),
        (option("--as-pid-1", "--as-pid-1", "--ro-bind", "/etc", "/etc"), "host files"),
        (option("--as-pid-1", "--as-pid-1", "--dir", "/sys"), "host files"),
        (option("--remount-ro", "--dir"), "writing outside"),
        (option("65534", "1000"), "user"),
        (option("--seccomp", "--sync-fd"), "system calls"),
        (option("--nproc=32", "--nproc=1000"), "processes"),
        (option("16777216", "99777216") + option("--fsize=33554432", "--fsize=unlimited"), "disk"),
    ],
)  # fmt: skip
async def test_a_wall_that_is_missing_is_noticed(host: Host, open_folder: Path, edit: str, named: str):
    found = await probed(weakened(host, open_folder, edit), Limits(), filter_for_this_machine())
    assert isinstance(found, Phrase)
    assert named in found.en
    assert "does not hold" in found.en


async def test_without_the_limit_of_memory_the_probe_notices_or_is_ended_by_the_watch_over_all_of_it(
    host: Host, open_folder: Path
):
    """Two walls stand behind each other here, and whichever is quicker keeps scripts off."""
    edit = option("--as=268435456", "--as=unlimited")
    found = await probed(weakened(host, open_folder, edit), Limits(), filter_for_this_machine())
    assert isinstance(found, Phrase)
    assert "memory" in found.en or "did not end (no answer)" in found.en


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (option("--unshare-all", "--unshare-pid", "--unshare-uts"), "network"),
        (option("nothing"), "namespaces"),
    ],
)
async def test_what_the_filter_would_hide_is_noticed_without_it(
    host: Host, open_folder: Path, edit: str, named: str
):
    found = await probed(replace(weakened(host, open_folder, edit), strict=False), Limits(), None)
    assert isinstance(found, Phrase)
    assert named in found.en


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can fail to become somebody else")
async def test_root_that_stays_root_is_noticed(host: Host):
    found = await probed(replace(host, user=None), Limits(), filter_for_this_machine())
    assert isinstance(found, Phrase)
    assert "processes" in found.en


async def test_a_bubblewrap_that_does_not_work_is_told_with_its_own_words(host: Host, open_folder: Path):
    broken = open_folder / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    found = await probed(replace(host, bwrap=str(broken)), Limits(), filter_for_this_machine())
    assert isinstance(found, Phrase)
    assert "No permissions to create new namespace" in found.en
    assert "unprivileged user namespaces" in found.en


async def test_a_bubblewrap_that_hangs_is_not_waited_for(host: Host, open_folder: Path):
    deaf = open_folder / "bwrap"
    deaf.write_text("#!/bin/sh\nexec sleep 60\n")
    deaf.chmod(0o755)
    found = await probed(replace(host, bwrap=str(deaf)), Limits(start_seconds=0.2), None)
    assert isinstance(found, Phrase)
    assert "no answer within 0.2 s" in found.en


async def test_a_bubblewrap_that_builds_nothing_runs_nothing(host: Host, open_folder: Path):
    bare = open_folder / "bwrap"
    bare.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    bare.chmod(0o755)
    assert isinstance(
        await probed(replace(host, bwrap=str(bare)), Limits(), filter_for_this_machine()), Phrase
    )


async def test_where_the_program_is_gone_nothing_runs(host: Host):
    found = await probed(replace(host, bwrap="/nowhere/bwrap"), Limits(), None)
    assert isinstance(found, Phrase)
    assert "No such file" in found.en


def test_what_is_missing_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nowhere")
    found = find_host()
    assert isinstance(found, Phrase)
    assert "install it (apt install bubblewrap)" in found.en


def test_only_an_answer_to_every_check_is_an_answer():
    assert judged(json.dumps(ALL_WELL)) is None
    for name in inside.CHECKS:
        for broken in (
            {**ALL_WELL, name: False},
            {**ALL_WELL, name: "true"},
            {k: v for k, v in ALL_WELL.items() if k != name},
        ):
            problem = judged(json.dumps(broken))
            assert problem is not None
            assert name.replace("_", " ") in problem.en
    for text in ("", "[]", "true", "{", json.dumps(ALL_WELL) + "x"):
        assert judged(text) is not None
