"""The few messages that are commands, recognised exactly: anything else is for the model."""

import re
from dataclasses import dataclass
from typing import Literal

from chatops_bot.domain.proposal import CODE_LENGTH, CODE_LETTERS

Verdict = Literal["approve", "reject"]


@dataclass(frozen=True, slots=True)
class DecideByCode:
    verdict: Verdict
    code: str


_DECIDE = re.compile(
    rf"\A\W*(approve|reject|批准|拒绝)\s+([{CODE_LETTERS}]{{{CODE_LENGTH}}})\W*\Z", re.IGNORECASE
)
_STOP = re.compile(r"\A\W*(stop|停|停止|停下|停一下)\W*\Z", re.IGNORECASE)
_APPROVALS = {"approve", "批准"}


@dataclass(frozen=True, slots=True)
class StopWord:
    """The one word that ends the running turn."""


def parse_command(text: str) -> DecideByCode | StopWord | None:
    """The command that `text` is, as a whole; None for an ordinary message."""
    if _STOP.match(text):
        return StopWord()
    match = _DECIDE.match(text)
    if match is None:
        return None
    verdict: Verdict = "approve" if match.group(1).lower() in _APPROVALS else "reject"
    return DecideByCode(verdict, match.group(2))
