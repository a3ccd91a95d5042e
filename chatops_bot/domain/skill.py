"""A skill: know-how as text that a model loads when it needs it, the tools that belong to it, and scripts that may come with it."""

from dataclasses import dataclass, field
from pathlib import Path

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person, Role


@dataclass(frozen=True, slots=True)
class Audience:
    """Who may see a skill. Each list that is not empty has to be met; all empty: everybody who may use the bot.

    `people` and `groups` are one list: to be one of these, or in one of those.
    """

    roles: frozenset[Role] = frozenset()
    people: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()

    def includes(self, person: Person, channel: str) -> bool:
        named = not (self.people or self.groups) or person.id in self.people or self.groups & person.groups
        return bool(
            (not self.roles or person.role in self.roles)
            and named
            and (not self.channels or channel in self.channels)
        )


@dataclass(frozen=True, slots=True)
class Skill:
    """`body` is the text below the front matter, as written. `tools` are offered once it is loaded; `rounds` is how many
    steps with tools its work takes, 0 when it does not say. `scripts` are paths below `folder` that may be run."""

    name: str
    description: str
    body: str
    folder: Path
    source: str
    tools: tuple[str, ...] = ()
    rounds: int = 0
    scripts: tuple[str, ...] = ()
    audience: Audience = field(default_factory=Audience)


@dataclass(frozen=True, slots=True)
class BrokenSkill:
    """A skill that cannot be used: where it lies, the line that is wrong (0 when no line is), and what to do about it."""

    name: str
    path: str
    line: int
    problem: Phrase


@dataclass(frozen=True, slots=True)
class ScriptRun:
    """What came of a script: `exit_code` is None when it was killed; `notes` say why and what was cut; text is redacted by nobody yet.
    `isolation` names what kept it from doing harm."""

    exit_code: int | None
    stdout: str
    stderr: str
    notes: tuple[Phrase, ...] = ()
    seconds: float = 0.0
    isolation: str = ""
