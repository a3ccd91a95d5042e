"""A folder of a skill whose scripts each test writes, and sandboxes on a host that was probed once."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.skill import Skill
from chatops_bot.sandbox.host import Host, find_host
from chatops_bot.sandbox.limits import Limits
from chatops_bot.sandbox.probe import probed
from chatops_bot.sandbox.runner import Sandboxes
from chatops_bot.sandbox.seccomp import filter_for_this_machine


def skill_in(folder: Path) -> Skill:
    """The skill whose files lie in `folder`."""
    return Skill("triage", "Looks at failures.", "# Triage", folder, "tests")


@dataclass(frozen=True, slots=True)
class SkillFolder:
    skill: Skill

    def write(self, script: str, text: str) -> str:
        path = self.skill.folder / script
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return script


@pytest.fixture
def folder(tmp_path: Path) -> SkillFolder:
    return SkillFolder(skill_in(tmp_path / "triage"))


@pytest.fixture(scope="session")
def host() -> Host:
    """This machine, where the isolation was seen to hold. Where no sandbox can be built the test is skipped, and says why; one that
    is built and does not hold is a failure."""
    found = find_host()
    if not isinstance(found, Phrase):
        found = asyncio.run(probed(found, Limits(), filter_for_this_machine()))
    if isinstance(found, Phrase):
        assert "does not hold" not in found.en, found.en
        pytest.skip(found.en)
    return found


@pytest.fixture
def sandboxes(host: Host) -> Callable[..., Sandboxes]:
    """Sandboxes with these limits."""

    def make(**limits: float) -> Sandboxes:
        return Sandboxes(host, Limits(**limits), filter_for_this_machine())  # type: ignore[arg-type]

    return make
