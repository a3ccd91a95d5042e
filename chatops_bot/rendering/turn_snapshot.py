"""A turn view as it is stored while the turn runs, so that a restart can still show what had been found."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.rendering.tool_lines import Call


class Snapshot(BaseModel):
    """Everything that `TurnView` shows, redacted. `text` is the Markdown of all rounds, less a tail that was held back."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    version: Literal[1] = 1
    language: Language
    text_chars: int
    stop_value: str
    text: str
    calls: tuple[Call, ...]
    first_notes: tuple[Phrase, ...] = ()
    notes: tuple[Phrase, ...]
    outcome: TurnOutcome | None
    offered: tuple[tuple[str, str], ...]
