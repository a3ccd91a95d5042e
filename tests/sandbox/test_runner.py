"""What comes of a script: its output, its end, and what is said when it was ended."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.skill import Skill
from chatops_bot.sandbox.inodes import files_in
from chatops_bot.sandbox.memory import memory_of_tree
from chatops_bot.sandbox.package import opened
from chatops_bot.sandbox.runner import NoScripts, Sandboxes, ThisMachine, is_plain
from tests.forked import processes
from tests.sandbox.conftest import SkillFolder

MakeSandboxes = Callable[..., Sandboxes]


async def test_a_script_gets_its_arguments_and_its_input_and_its_output_comes_back(
    folder: SkillFolder, sandboxes: MakeSandboxes
):
    folder.write("scripts/words.py", "WORDS = 'read {} from {}'")
    script = folder.write(
        "scripts/say.py",
        "import sys, words\nprint(words.WORDS.format(sys.stdin.read(), sys.argv[1:]))\nprint('and', file=sys.stderr)",
    )
    run = await sandboxes().run(folder.skill, script, ["--all", "a b"], "数据")
    assert (run.exit_code, run.stdout, run.stderr, run.notes) == (
        0,
        "read 数据 from ['--all', 'a b']\n",
        "and\n",
        (),
    )
    assert "no network" in run.isolation


async def test_a_script_that_fails_is_a_result(folder: SkillFolder, sandboxes: MakeSandboxes):
    script = folder.write("fail.sh", "echo half; echo why >&2; exit 3")
    run = await sandboxes().run(folder.skill, script, [])
    assert (run.exit_code, run.stdout, run.stderr) == (3, "half\n", "why\n")


async def test_a_script_reads_the_other_files_of_its_skill(folder: SkillFolder, sandboxes: MakeSandboxes):
    folder.write("references/table.csv", "a,b")
    script = folder.write("scripts/read.sh", "cat /skill/references/table.csv")
    assert (await sandboxes().run(folder.skill, script, [])).stdout == "a,b"


async def test_files_that_only_the_bot_may_read_are_handed_in_all_the_same(
    folder: SkillFolder, sandboxes: MakeSandboxes
):
    script = folder.write("say.sh", "echo here")
    (folder.skill.folder / script).chmod(0o600)
    folder.skill.folder.chmod(0o700)
    assert (await sandboxes().run(folder.skill, script, [])).stdout == "here\n"


async def test_what_runs_too_long_is_ended_with_all_that_it_started(
    folder: SkillFolder, sandboxes: MakeSandboxes
):
    script = folder.write("wait.sh", "(setsid sleep 61.25 &)\n(nohup sleep 61.25 &)\necho begun\nsleep 61.25")
    run = await sandboxes(wall_seconds=0.4).run(folder.skill, script, [])
    assert run.exit_code is None
    assert run.stdout == "begun\n"
    assert "0.4 s" in run.notes[0].en
    assert not running("61.25")


async def test_what_a_script_leaves_behind_ends_with_it(folder: SkillFolder, sandboxes: MakeSandboxes):
    script = folder.write("leave.sh", "setsid sleep 62.25 </dev/null >/dev/null 2>&1 &\necho done")
    run = await sandboxes().run(folder.skill, script, [])
    assert (run.exit_code, run.stdout) == (0, "done\n")
    assert not running("62.25")


async def test_a_script_that_closes_its_output_is_still_waited_for(
    folder: SkillFolder, sandboxes: MakeSandboxes
):
    script = folder.write("close.sh", "exec >&- 2>&-; sleep 0.2; exit 5")
    assert (await sandboxes().run(folder.skill, script, [])).exit_code == 5


async def test_a_cancelled_call_leaves_no_process(folder: SkillFolder, sandboxes: MakeSandboxes):
    script = folder.write("wait.sh", "sleep 63.25")
    call = asyncio.create_task(sandboxes().run(folder.skill, script, []))
    await until(lambda: running("63.25"))
    call.cancel()
    with suppress(asyncio.CancelledError):
        await call
    assert not running("63.25")


@pytest.mark.parametrize("after", [0.0, 0.001, 0.004, 0.008, 0.012])
async def test_a_call_that_is_cancelled_while_it_starts_leaves_no_process(
    folder: SkillFolder, sandboxes: MakeSandboxes, after: float
):
    script = folder.write("wait.sh", "sleep 64.25")
    call = asyncio.create_task(sandboxes().run(folder.skill, script, []))
    await asyncio.sleep(after)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert not running("64.25")


async def test_a_flood_is_cut_off_and_its_beginning_and_end_are_kept(
    folder: SkillFolder, sandboxes: MakeSandboxes
):
    script = folder.write("flood.sh", "echo first; yes")
    run = await sandboxes(flood_bytes=2 * 1024 * 1024).run(folder.skill, script, [])
    assert run.exit_code is None
    assert run.stdout.startswith("first\ny\n")
    assert len(run.stdout) < 257 * 1024
    assert [("2 MiB" in note.en, "left out" in note.en) for note in run.notes] == [
        (True, False),
        (False, True),
    ]


async def test_long_output_that_ends_is_a_result_with_its_middle_left_out(
    folder: SkillFolder, sandboxes: MakeSandboxes
):
    script = folder.write(
        "long.py", "import sys\nprint('a', 'x' * 999_990, 'b')\nprint('y' * 500_000, file=sys.stderr)"
    )
    run = await sandboxes().run(folder.skill, script, [])
    assert run.exit_code == 0
    assert run.stdout.startswith("a x")
    assert run.stdout.endswith("x b\n")
    assert max(len(run.stdout), len(run.stderr)) < 257 * 1024
    assert ["stdout" in note.en for note in run.notes] == [True, False]


def test_a_script_is_not_run_without_a_file_that_cannot_be_opened_just_now(folder: SkillFolder):
    for number in range(20):
        folder.write(f"references/{number}.md", "part of what the script reads")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    next_free = os.dup(0)
    os.close(next_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (next_free + 10, hard))
    try:
        with pytest.raises(OSError, match="Too many open files"), opened(folder.skill.folder):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("place", ["/tmp", "/workspace"])
async def test_a_script_may_make_files_but_not_without_end(
    folder: SkillFolder, sandboxes: MakeSandboxes, place: str
):
    """Empty ones: no limit on bytes counts them, and each takes memory of the kernel."""
    script = folder.write(
        "fill.py",
        f"""
import os, sys, time
for number in range(int(sys.argv[1])):
    os.mkdir(f'{place}/{{number}}')
time.sleep(float(sys.argv[2]))""",
    )
    few = await sandboxes(files=200).run(folder.skill, script, ["150", "0.3"])
    assert (few.exit_code, few.notes) == (0, ())
    many = await sandboxes(files=200).run(folder.skill, script, ["250", "60"])
    assert many.exit_code is None
    assert "more than 200 files" in many.notes[0].en


async def test_memory_is_counted_over_all_processes_of_a_script(
    folder: SkillFolder, sandboxes: MakeSandboxes
):
    """Each uses less than it may, and so does each alone; together they use too much."""
    script = folder.write(
        "grow.py",
        """
import os, time
for _ in range(3):
    if os.fork() == 0:
        held = b'x' * (40 << 20)
        time.sleep(60)
time.sleep(60)""",
    )
    run = await sandboxes(total_memory_bytes=100 << 20).run(folder.skill, script, [])
    assert run.exit_code is None
    assert "more than 100 MiB" in run.notes[0].en


def test_memory_and_files_of_what_is_gone_are_none():
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert memory_of_tree(gone.pid) == 0
    assert files_in(gone.pid, ("/tmp",)) == 0
    assert memory_of_tree(os.getpid()) > 1 << 20


def test_files_of_the_host_are_not_those_of_a_sandbox():
    """A sandbox that is not laid out yet has the host's root still."""
    assert files_in(os.getpid(), ("/",)) == 0


@pytest.mark.usefixtures("host")
async def test_no_script_outlives_a_bot_that_is_killed(folder: SkillFolder):
    script = folder.write("wait.sh", "(setsid sleep 65.25 &)\nsleep 65.25")
    bot = processes.Process(target=run_until_killed, args=(folder.skill, script))
    bot.start()
    await until(lambda: len(running("65.25")) == 2)
    os.kill(bot.pid or 0, signal.SIGKILL)
    await until(lambda: not running("65.25"))
    await asyncio.to_thread(bot.join)
    assert bot.exitcode == -signal.SIGKILL


def run_until_killed(skill: Skill, script: str) -> None:
    async def run() -> None:
        await (await ThisMachine().runner()).run(skill, script, [])

    asyncio.run(run())


STARTS = 6.0
"""Bare starts of an interpreter that a run may cost; measured: 1 to 2."""


@pytest.mark.soak
async def test_a_start_costs_little(folder: SkillFolder, sandboxes: MakeSandboxes, soak: int):
    """Goal: 40 ms at the 95th percentile on a quiet machine. What is held to it is CPU, beside an interpreter that starts bare."""
    shell, python = folder.write("nothing.sh", "true"), folder.write("nothing.py", "pass")
    runner, count = sandboxes(), 10 * soak
    before = cpu_seconds()
    for _ in range(count):
        bare = await asyncio.create_subprocess_exec(sys.executable, "-I", "-c", "pass")
        await bare.wait()
    bare_cpu = (cpu_seconds() - before) / count
    for script in (shell, python):
        walls, before = [], cpu_seconds()
        for _ in range(count):
            began = time.perf_counter()
            await runner.run(folder.skill, script, [])
            walls.append(time.perf_counter() - began)
        cpu = (cpu_seconds() - before) / count
        p95 = sorted(walls)[int(0.95 * count) - 1]
        print(
            f"\n[measured] {script}: {cpu / bare_cpu:.1f} x a bare start, {cpu * 1000:.1f} ms CPU, p95 {p95 * 1000:.1f} ms"
        )
        assert cpu / bare_cpu < STARTS


def cpu_seconds() -> float:
    both = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in both)


async def test_output_that_is_no_text_is_made_one(folder: SkillFolder, sandboxes: MakeSandboxes):
    script = folder.write("bytes.py", "import os; os.write(1, bytes(range(256)))")
    run = await sandboxes().run(folder.skill, script, [])
    assert run.stdout.startswith("\x00\x01")
    assert "�" in run.stdout


async def test_input_that_nobody_reads_does_no_harm(folder: SkillFolder, sandboxes: MakeSandboxes):
    script = folder.write("deaf.sh", "exec <&-; echo ok")
    assert (await sandboxes().run(folder.skill, script, [], "x" * 1_000_000)).stdout == "ok\n"


async def test_as_many_run_at_once_as_the_limits_say_first_come_first_served(
    folder: SkillFolder, sandboxes: MakeSandboxes
):
    script = folder.write("nap.sh", "sleep 0.2; echo $1")
    runner, ended = sandboxes(at_once=2), []

    async def run(name: str) -> None:
        await runner.run(folder.skill, script, [name])
        ended.append(name)

    began = time.monotonic()
    await asyncio.gather(*(run(name) for name in "abcdef"))
    assert time.monotonic() - began >= 0.6
    assert [set(ended[:2]), set(ended[2:4]), set(ended[4:])] == [{"a", "b"}, {"c", "d"}, {"e", "f"}]


@pytest.mark.parametrize(
    ("script", "holds"),
    [
        ("a.py", True), ("scripts/a-b_c.sh", True), ("脚本/甲.py", True), ("a.txt", False), ("a", False), ("../a.py", False),
        ("/skill/a.py", False), ("scripts/../a.py", False), ("./a.py", False), ("scripts//a.py", False), ("a.py/", False),
        ("", False), (".py", False), (".hidden/a.py", False), ("a.py\0", False), ("a\n.py", False), ("a.py;id", False),
    ],
)  # fmt: skip
def test_a_script_is_a_plain_path_down_to_a_py_or_sh_file(script: str, holds: bool):
    assert is_plain(script) is holds


@pytest.mark.parametrize(
    "script", ["../outside.sh", "gone.sh", "link.sh", "way/outside.sh", ".hidden.sh", "pipe.sh"]
)
async def test_nothing_but_a_plain_file_of_the_skill_is_run(
    folder: SkillFolder, sandboxes: MakeSandboxes, script: str, tmp_path: Path
):
    folder.write("../outside.sh", "echo out")
    folder.write("../elsewhere/outside.sh", "echo out")
    folder.write(".hidden.sh", "echo hidden")
    (folder.skill.folder / "link.sh").symlink_to(tmp_path / "outside.sh")
    (folder.skill.folder / "way").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(folder.skill.folder / "pipe.sh")
    with pytest.raises(ToolFailed, match="no script"):
        await sandboxes().run(folder.skill, script, [])


@pytest.mark.parametrize(("files", "size"), [(201, 1), (2, 6 * 1024 * 1024)])
async def test_a_skill_that_is_too_large_is_not_run(
    folder: SkillFolder, sandboxes: MakeSandboxes, files: int, size: int
):
    for number in range(files):
        folder.write(f"{number}.sh", "x" * size)
    with pytest.raises(ToolFailed, match="more than 200 files or 10 MiB"):
        await sandboxes().run(folder.skill, "0.sh", [])


async def test_a_skill_whose_folder_is_gone_is_not_run(folder: SkillFolder, sandboxes: MakeSandboxes):
    with pytest.raises(ToolFailed, match="cannot be read"):
        await sandboxes().run(folder.skill, "a.sh", [])


async def test_a_sandbox_that_cannot_be_built_is_no_result_of_the_script(
    folder: SkillFolder, sandboxes: MakeSandboxes
):
    script = folder.write("say.sh", "echo ran")
    with pytest.raises(ToolFailed, match="could not be built"):
        await sandboxes(tmp_bytes=-1).run(folder.skill, script, [])


async def test_where_scripts_are_off_the_call_says_why(folder: SkillFolder):
    nothing = NoScripts(Phrase("没有 bubblewrap", "no bubblewrap"))
    assert nothing.disabled_because.en == "no bubblewrap"
    with pytest.raises(ToolFailed, match="no bubblewrap"):
        await nothing.run(folder.skill, "a.sh", [])


def running(argument: str) -> list[str]:
    """The processes of this machine that `sleep` for `argument` seconds."""
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if line.read_bytes().split(b"\0")[:2] == [b"sleep", argument.encode()]:
                found.append(str(line))
    return found


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(5):
        while not holds():  # noqa: ASYNC110  # another process, which cannot set an event
            await asyncio.sleep(0.01)
