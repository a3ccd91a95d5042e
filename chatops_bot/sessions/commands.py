"""The few messages that are commands, recognised by how they begin and end: anything else is for the model.

What begins with a verdict and a code is always one. A rejection takes any words behind its code, as its reason; an approval
takes none but `break-glass`, since "approve it, but …" approves nothing.
"""

import re
from dataclasses import dataclass
from typing import Literal

from chatops_bot.domain.proposal import CODE_LENGTH, CODE_LETTERS
from chatops_bot.domain.regex import regex

Verdict = Literal["approve", "reject"]


@dataclass(frozen=True, slots=True)
class DecideByCode:
    """`reason` is why somebody rejects, or approves in spite of a freeze, where they said so."""

    verdict: Verdict
    code: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class DecideUnclear:
    """A verdict on a code with more that it does not take: it decides nothing, and its author is told what to type."""

    verdict: Verdict
    code: str


@dataclass(frozen=True, slots=True)
class DecideSomething:
    """A verdict without a code: a command only where a proposal waits, and then one that is asked to say which."""

    verdict: Verdict


_LEAD = r"\A[^\w>~@#]*"
"""What may stand before a verdict: no word; no quote mark and no mark of a name, since others have said what stands behind
them; and no strike."""
_DECIDE = regex(
    rf"{_LEAD}(?:(approve|reject)\s+|(批准|拒绝)\s*)([{CODE_LETTERS}]{{{CODE_LENGTH}}})(?![A-Za-z0-9_])(.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_QUOTED = regex(r"""\A[^\w]*["'`“”„‘’「」『』《》«»]""")
"""Words behind a verdict that was quoted are about it."""
_WORDS = regex(r"\w")
_BECAUSE = regex(
    r"[\s,:;.，：；。]*(?:(?:because|since|reason)\b:?|因为|由于|原因(?:[是为]|[:：])?|[-–—]+(?=\s))?\s*(.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
_BREAK_GLASS = regex(
    r"[\s,:;.，：；。]*(?:break[- ]?glass\b|紧急)[\s,:;，：；]*(.*)\Z", re.IGNORECASE | re.DOTALL
)
_DECIDE_SOMETHING = regex(
    rf"{_LEAD}(approved?|yes|lgtm|批准|同意|可以|reject(?:ed)?|拒绝)\W*\Z", re.IGNORECASE
)
_STOP = regex(
    r"\A\W*(?:(?:please|pls) |请)?(?:stop|停|停止|停下|停一下)(?:,? (?:please|now)|吧)?\W*\Z", re.IGNORECASE
)
_CANCEL = regex(
    r"\A\W*(?:(?:please|pls)\s+|请)?(?:cancel(?:\s+(?:it|the form))?|取消(?:表单)?)(?:吧)?\W*\Z",
    re.IGNORECASE,
)
_WITHDRAW = regex(
    r"\A\W*(?:(?:please|pls)\s+|请)?(?:"
    r"(?:cancel|withdraw|retract|drop)(?:\s+(?:it|that|this|(?:the|my|that|this)\s+(?:change|proposal|request)))?"
    r"|take\s+(?:it|that|this)\s+back|never\s?mind"
    r"|(?:撤回|撤销|取消)(?:它|这个|那个|刚才的|我的)*(?:变更|提案|申请)?|算了)(?:吧|了|,? please)?\W*\Z",
    re.IGNORECASE,
)
_REJECTIONS = ("reject", "拒绝")


@dataclass(frozen=True, slots=True)
class StopWord:
    """The one word that ends the running turn."""


@dataclass(frozen=True, slots=True)
class CancelWord:
    """Takes back a form: a command only where one of the author's is open. Where none is, it is as good as `WithdrawWord`."""


@dataclass(frozen=True, slots=True)
class WithdrawWord:
    """Wants a change not to be made: a command only where a proposal of the author's waits."""


Command = DecideByCode | DecideUnclear | DecideSomething | StopWord | CancelWord | WithdrawWord


def parse_command(text: str) -> Command | None:
    """The command that `text` is, as a whole; None for an ordinary message."""
    if _STOP.match(text):
        return StopWord()
    if _CANCEL.match(text):
        return CancelWord()
    if _WITHDRAW.match(text):
        return WithdrawWord()
    if match := _DECIDE_SOMETHING.match(text):
        return DecideSomething(_verdict(match.group(1)))
    if match := _DECIDE.match(text):
        return _decided(
            _verdict(match[1] or match[2]), match[3], match[4], is_quoted=bool(_QUOTED.match(text))
        )
    return None


def _decided(verdict: Verdict, code: str, behind: str, *, is_quoted: bool) -> DecideByCode | DecideUnclear:
    if not _WORDS.search(behind):
        is_asked = verdict == "approve" and any(mark in behind for mark in "?？")
        return DecideUnclear(verdict, code) if is_asked else DecideByCode(verdict, code)
    found = (_BECAUSE if verdict == "reject" else _BREAK_GLASS).match(behind)
    if found is None or is_quoted:
        return DecideUnclear(verdict, code)
    # Words that only begin a reason give none.
    return DecideByCode(verdict, code, found[1].strip() if _WORDS.search(found[1]) else "")


def reads_like_a_word(code: str) -> bool:
    """Whether what stands where a code would is more likely a word, as in "reject change requests"."""
    return code.isalpha() and not code.isupper()


def _verdict(word: str) -> Verdict:
    return "reject" if word.lower().startswith(_REJECTIONS) else "approve"
