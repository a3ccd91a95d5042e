"""A suggested next step: what a person would ask, and the tool or skill that would answer it."""

from dataclasses import dataclass

from chatops_bot.domain.language import Phrase


@dataclass(frozen=True, slots=True)
class FollowUp:
    """As a model wrote it: `needs` names the tool or skill, `question` is what its button says and asks."""

    needs: str
    question: str


@dataclass(frozen=True, slots=True)
class Suggestion(Phrase):
    """A next step that a tool suggests, in both languages. `needs` names the tool that would answer it."""

    needs: str
