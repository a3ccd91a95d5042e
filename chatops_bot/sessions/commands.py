"""The few messages that are commands, recognised exactly: anything else is for the model."""

import re
from dataclasses import dataclass
from typing import Literal

from chatops_bot.domain.proposal import CODE_LENGTH, CODE_LETTERS

Verdict = Literal["approve", "reject"]


@dataclass(frozen=True, slots=True)
class DecideByCode:
    """`reason` is why somebody rejects, or approves in spite of a freeze, where they said so."""

    verdict: Verdict
    code: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DecideSomething:
    """A verdict without a code: a command only where a proposal waits, and then one that is asked to say which."""

    verdict: Verdict


_LEAD = r"\A[^\w>~@#]*"
"""What may stand before a verdict: no word; no quote mark and no mark of a name, since others have said what stands behind
them; and no strike."""
_DECIDE = re.compile(
    rf"{_LEAD}(approve|reject|批准|拒绝)\s+([{CODE_LETTERS}]{{{CODE_LENGTH}}})\W*\Z", re.IGNORECASE
)
_REJECT_BECAUSE = re.compile(
    rf"{_LEAD}(?:reject|拒绝)\s+([{CODE_LETTERS}]{{{CODE_LENGTH}}})[\s,:;.，：；。]+"
    r"(?:because:?|since|reason:?|因为|由于|原因(?:[是为]|[:：])?)\s*(\S.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_APPROVE_FROZEN = re.compile(
    rf"{_LEAD}(?:approve|批准)\s+([{CODE_LETTERS}]{{{CODE_LENGTH}}})[\s,;，；]+(?:break[- ]?glass|紧急)\s*[:：]\s*(\S.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_DECIDE_SOMETHING = re.compile(
    rf"{_LEAD}(approved?|yes|lgtm|批准|同意|可以|reject(?:ed)?|拒绝)\W*\Z", re.IGNORECASE
)
_STOP = re.compile(
    r"\A\W*(?:(?:please|pls) |请)?(?:stop|停|停止|停下|停一下)(?:,? (?:please|now)|吧)?\W*\Z", re.IGNORECASE
)
_CANCEL = re.compile(
    r"\A\W*(?:(?:please|pls)\s+|请)?(?:cancel(?:\s+(?:it|the form))?|取消(?:表单)?)(?:吧)?\W*\Z",
    re.IGNORECASE,
)
_REJECTIONS = ("reject", "拒绝")


@dataclass(frozen=True, slots=True)
class StopWord:
    """The one word that ends the running turn."""


@dataclass(frozen=True, slots=True)
class CancelWord:
    """Takes back a form: a command only where one of the author's is open."""


Command = DecideByCode | DecideSomething | StopWord | CancelWord


def parse_command(text: str) -> Command | None:
    """The command that `text` is, as a whole; None for an ordinary message."""
    if _STOP.match(text):
        return StopWord()
    if _CANCEL.match(text):
        return CancelWord()
    if match := _DECIDE_SOMETHING.match(text):
        return DecideSomething(_verdict(match.group(1)))
    if match := _DECIDE.match(text):
        return DecideByCode(_verdict(match.group(1)), match.group(2))
    if match := _REJECT_BECAUSE.match(text):
        return DecideByCode("reject", match.group(1), match.group(2).strip())
    if match := _APPROVE_FROZEN.match(text):
        return DecideByCode("approve", match.group(1), match.group(2).strip())
    return None


def _verdict(word: str) -> Verdict:
    return "reject" if word.lower().startswith(_REJECTIONS) else "approve"
