"""No package writes outside of its folder, none loads, and each is refused within a second and 64 MiB."""

import re
import time
from pathlib import Path

from chatops_bot.domain.skill import BrokenSkill
from chatops_bot.skillpacks.archive import SkillArchive
from tests.skillpacks.hostile_packages import FAMILIES, OUTSIDE

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
