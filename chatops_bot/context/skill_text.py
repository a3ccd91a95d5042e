"""Skills in what a model reads: the catalogue of those that it can load, and the texts of those that are loaded.

A skill's text is know-how that the operator of this bot installed, so it stands in a frame of its own and not in the fence
of untrusted data, which would forbid to follow it. The frame has a nonce, as the fence has: a text cannot end its own frame
and go on as something else. Nothing relies on the model believing what the frame says: a skill gives no rights, and
whatever changes something is a proposal that people decide on.

What depends on the person stands in the volatile part of the prompt, so that one person's skills change nobody else's
cached prefix.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from chatops_bot.context.hardening import inline
from chatops_bot.domain.language import Language
from chatops_bot.domain.model import Message, ToolMessage
from chatops_bot.domain.skill import LOAD_SKILL, Skill

CATALOGUE_CHARS = 6_000
"""Of all descriptions of a catalogue. Where they are longer, each is cut, in these steps: a name alone can still be loaded, and a
catalogue that fills the prompt helps to choose none."""
DESCRIPTION_CHARS = (300, 120, 60, 30, 0)

_FRAME = re.compile(r"\[SKILL nonce=([0-9a-f]{32}) name=([a-z0-9][a-z0-9-]{0,63}), [^\n]*\]\n")


class SkillWords(BaseModel):
    """What is said of skills in one language: the rules for choosing one, the line over those of the person who asks, the line
    over the texts of those that are loaded from the start."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    choosing: tuple[str, ...]
    personal: str
    preloaded: str


@dataclass(frozen=True, slots=True)
class ShownSkills:
    """The skills of one turn: all that its asker may see in its channel, sorted by name, and the names of those that are
    loaded from the start, in their order."""

    visible: Sequence[Skill] = ()
    preloaded: Sequence[str] = ()

    @property
    def names(self) -> frozenset[str]:
        return frozenset(skill.name for skill in self.visible)

    @property
    def personal(self) -> frozenset[str]:
        """Those that not everybody in the channel may see."""
        return frozenset(skill.name for skill in self.visible if skill.audience.is_personal)

    @property
    def read_from_the_start(self) -> frozenset[str]:
        """Those of `personal` whose text stands in the prompt."""
        return self.personal.intersection(self.preloaded)

    def whole(self) -> list[Skill]:
        """Those that are loaded from the start, as far as the asker may see them."""
        by_name = {skill.name: skill for skill in self.visible}
        return [by_name[name] for name in dict.fromkeys(self.preloaded) if name in by_name]

    def listed(self, loaded: Collection[str] = ()) -> list[Skill]:
        """Those that can be loaded and are not."""
        return [
            skill for skill in self.visible if skill.name not in loaded and skill.name not in self.preloaded
        ]

    def at_work(self, loaded: Collection[str]) -> list[Skill]:
        """Those that are loaded, from the start or by the model."""
        return [*self.whole(), *(skill for skill in self.listed() if skill.name in loaded)]


def skill_section(shown: ShownSkills, loaded: Collection[str], words: SkillWords, language: Language) -> str:
    """The section of the stable prompt, empty where there is nothing to say."""
    lines = _whole(shown.whole(), words, personal=False)
    if shown.listed():
        lines += (f"- {rule}" for rule in words.choosing)
        lines += _catalogue(shown.listed(loaded), language, personal=False)
    return "\n".join(["[SKILLS]", *lines]) if lines else ""


def personal_skills(
    shown: ShownSkills, loaded: Collection[str], words: SkillWords, language: Language
) -> str:
    """The part of the volatile prompt about skills that not everybody in the channel may see; empty without any."""
    lines = _whole(shown.whole(), words, personal=True)
    catalogue = _catalogue(shown.listed(loaded), language, personal=True)
    return "\n".join([*lines, *((words.personal, *catalogue) if catalogue else ())])


def _catalogue(skills: Iterable[Skill], language: Language, *, personal: bool) -> list[str]:
    told = [
        (skill.name, inline(skill.described_in(language)))
        for skill in skills
        if skill.audience.is_personal is personal
    ]
    longest = next(
        (
            most
            for most in DESCRIPTION_CHARS
            if sum(min(len(said), most) for _, said in told) <= CATALOGUE_CHARS
        ),
        0,
    )
    return [f"- {name}: {_cut(said, longest)}".removesuffix(": ") for name, said in told]


def _cut(said: str, most: int) -> str:
    return said if len(said) <= most else f"{said[: most - 1].rstrip()}…" if most else ""


def _whole(skills: Iterable[Skill], words: SkillWords, *, personal: bool) -> list[str]:
    """The texts of preloaded skills. Each line is indented, so that none can pass for a title of the prompt or end its text."""
    texts = [
        f"{skill.name}:\n{_indented(skill.body)}"
        for skill in skills
        if skill.audience.is_personal is personal
    ]
    return [words.preloaded, *texts] if texts else []


def _indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.strip("\n").splitlines())


def framed(content: str, nonce: Callable[[], str], said: str) -> str | None:
    """The result of load_skill, as it is stored, as a model reads it; None when it is none. `said` is what the frame says of it."""
    try:
        value = json.loads(content)
        name, text = value["skill"], value["text"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not (isinstance(name, str) and isinstance(text, str)):
        return None
    mark = nonce()
    while mark in text:
        mark = nonce()
    return f"[SKILL nonce={mark} name={name}, {said}]\n{text}\n[END SKILL nonce={mark}]"


def unframed(text: str) -> str | None:
    """The skill's text inside a frame made by `framed`; None when `text` is not exactly one frame."""
    opening = _FRAME.match(text)
    closing = f"\n[END SKILL nonce={opening.group(1)}]" if opening else ""
    return text[opening.end() : -len(closing)] if opening and text.endswith(closing) else None


def loaded_in(messages: Iterable[Message]) -> frozenset[str]:
    """The names of the skills whose texts stand in what a model is sent."""
    frames = (_FRAME.match(m.text) for m in messages if isinstance(m, ToolMessage) and m.name == LOAD_SKILL)
    return frozenset(frame.group(2) for frame in frames if frame is not None)
