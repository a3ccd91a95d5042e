"""Skills there are, and the isolation in which their scripts run."""

from collections.abc import Sequence
from typing import Protocol

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.skill import BrokenSkill, ScriptRun, Skill


class Skills(Protocol):
    """All skills of all sources, read before anybody asks. A name stands for one skill; the first source that has it wins."""

    def visible_to(self, person: Person, channel: str) -> Sequence[Skill]:
        """Those that this person may see in this channel, sorted by name. Whatever cannot be decided is hidden."""

    @property
    def broken(self) -> Sequence[BrokenSkill]:
        """Those that could not be read, each with what is wrong."""


class ScriptRunner(Protocol):
    """Runs scripts of skills where they can do no harm, or not at all."""

    @property
    def disabled_because(self) -> Phrase | None:
        """Why no script is run here; None when the isolation was tried at start and holds."""

    async def run(self, skill: Skill, script: str, arguments: Sequence[str], stdin: str = "") -> ScriptRun:
        """Run one of `skill.scripts` to its end, at most for the time that scripts get.

        A script that fails is no error but a result. Raises ToolFailed when it cannot be started, or `disabled_because`.
        """
