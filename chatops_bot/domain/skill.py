"""A skill: know-how as text that a model loads when it needs it, the tools that belong to it, and scripts that may come with it."""

from dataclasses import dataclass, field
from pathlib import Path

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Person, Role

LOAD_SKILL = "load_skill"
"""The tool that loads one. What it brings into a conversation is the skill's text, whole: nothing shortens or clears it."""
RUN_SKILL_SCRIPT = "run_skill_script"
"""The tool that runs a script of one; its output is data like any other."""
NO_SUCH_SKILL = Phrase("没有这个技能", "no such skill")
"""Said of a skill that does not exist and of one that the asker may not see, so that nobody can tell them apart."""


@dataclass(frozen=True, slots=True)
class Audience:
    """Who may see a skill. Each list that is not empty has to be met; all empty: everybody who may use the bot.

    `people` and `groups` are one list: to be one of these, or in one of those.
    """

    roles: frozenset[Role] = frozenset()
    people: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()

    @property
    def is_personal(self) -> bool:
        """Whether two people of one channel may differ in what they see."""
        return bool(self.roles or self.people or self.groups)

    def includes(self, person: Person, channel: str) -> bool:
        named = not (self.people or self.groups) or person.id in self.people or self.groups & person.groups
        return bool(
            (not self.roles or person.role in self.roles)
            and named
            and (not self.channels or channel in self.channels)
        )


@dataclass(frozen=True, slots=True)
class Skill:
    """`body` is the text below the front matter, as written. `tools` are offered once it is loaded, and stand in the `tool_lines` of its file; `rounds` is how many
    steps with tools its work takes, 0 when it does not say. `description_zh` takes the place of `description` in Chinese, where it is
    given. `scripts` are paths below `folder` that may be run. `remarks` say
    what in its file nobody here reads, such as a key of another product."""

    name: str
    description: str
    body: str
    folder: Path
    source: str
    tools: tuple[str, ...] = ()
    tool_lines: tuple[int, ...] = ()
    rounds: int = 0
    scripts: tuple[str, ...] = ()
    audience: Audience = field(default_factory=Audience)
    remarks: tuple[Phrase, ...] = ()
    description_zh: str = ""

    def described_in(self, language: Language) -> str:
        """When to use it."""
        return self.description_zh if language == "zh" and self.description_zh else self.description


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
