"""No package writes outside of its folder, none loads, and each is refused within a second and 64 MiB."""

import re
import time
from pathlib import Path

import pytest

from chatops_bot.domain.skill import BrokenSkill
from chatops_bot.skillpacks.archive import SkillArchive
from chatops_bot.skillpacks.git import MEMORY_BYTES
from tests.forked import processes
from tests.skillpacks.conftest import commit, run
from tests.skillpacks.hostile_packages import FAMILIES, OUTSIDE
from tests.skillpacks.other_process import read_repository

SECONDS = 1.0
MEMORY = 64 * 1024 * 1024


def peak_of_memory() -> int:
    """The most memory that this process had since `forget_peak`, in bytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found.group(1)) * 1024


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def test_every_hostile_package_is_refused_and_writes_nothing(tmp_path: Path):
    kept, package = tmp_path / "inside" / "kept", tmp_path / "package"
    kept.parent.mkdir()
    slowest, largest, count = 0.0, 0, 0
    packages = ((label, data) for family in FAMILIES.values() for label, data in family())
    for label, data in packages:
        package.write_bytes(data)
        del data
        forget_peak()
        before, started = peak_of_memory(), time.perf_counter()
        found = list(SkillArchive(package, kept).read())
        seconds, memory = time.perf_counter() - started, peak_of_memory() - before
        assert [type(each) for each in found] == [BrokenSkill], label
        assert all(isinstance(each, BrokenSkill) and each.problem.en and each.problem.zh for each in found)
        if ", up" in label or "dot and up" in label:
            assert all("`..`" in each.problem.en for each in found if isinstance(each, BrokenSkill)), label
        assert seconds < SECONDS, f"{label} took {seconds:.2f} s"
        assert memory < MEMORY, f"{label} took {memory >> 20} MiB"
        slowest, largest, count = max(slowest, seconds), max(largest, memory), count + 1
        package.unlink()
    print(f"\n[measured] {count} hostile packages, slowest {slowest:.2f} s, most memory {largest >> 20} MiB")
    assert count >= 120
    assert [path for path in tmp_path.rglob("*") if path not in (kept.parent, kept)] == []
    assert not Path("/tmp", OUTSIDE).exists()
    assert not any(OUTSIDE in path.name for path in (tmp_path.parent, Path.cwd()) for path in path.iterdir())


@pytest.mark.soak
def test_a_repository_that_packs_gigabytes_of_nothing_takes_no_memory_for_them(tmp_path: Path, soak: int):
    """Two files of zeros, the second told as a change of the first: both are held in memory to be put together."""
    root = tmp_path / "repository"
    root.mkdir()
    run(root, "init", "--quiet", "--initial-branch=main")
    for name, more in (("a", 0), ("b", 1)):
        with (root / name).open("wb") as file:
            file.truncate((soak * 14 + more) << 20)
    commit(root)
    with processes.Pool(1) as pool:
        broken, peak = pool.apply(read_repository, (f"file://{root}", tmp_path / "kept"))
    packed = sum(path.stat().st_size for path in (root / ".git").rglob("*") if path.is_file())
    print(
        f"\n[measured] {soak * 28} MB packed as {packed >> 10} KB: git took {peak >> 20} MB; {broken or 'taken'}"
    )
    assert peak < MEMORY_BYTES + (64 << 20)
