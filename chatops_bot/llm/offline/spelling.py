"""Slips of tired fingers in the words that change something: two letters swapped, one missing, one doubled.

Replaced letters are not mended, since they make other words ("remote"); neither is anything that is a word itself.
"""

from chatops_bot.domain.regex import regex

_VERBS = (
    "pause",
    "resume",
    "unpause",
    "trigger",
    "delete",
    "remove",
    "retry",
    "rerun",
    "enable",
    "disable",
    "create",
)
_WORDS = frozenset({"crate", "rigger", "tigger", *_VERBS})
_SHORT_FORMS = {
    "u": "you", "ur": "your", "whats": "what's", "hows": "how's", "pls": "please", "plz": "please", "plse": "please",
    "cant": "can't", "wont": "won't", "dont": "don't", "didnt": "didn't", "isnt": "isn't", "lets": "let's", "wanna": "want to",
    "gotta": "need to", "gonna": "going to",
}  # fmt: skip


def _slips(verb: str) -> set[str]:
    places = range(len(verb))
    swapped = {verb[:i] + verb[i + 1] + verb[i] + verb[i + 2 :] for i in places[:-1]}
    missing = {verb[:i] + verb[i + 1 :] for i in places}
    doubled = {verb[:i] + verb[i] + verb[i:] for i in places}
    return swapped | missing | doubled


_MENDED = {slip: verb for verb in _VERBS for slip in _slips(verb) if slip not in _WORDS} | _SHORT_FORMS
_WORD = regex(r"[a-z]+(?:'[a-z]+)?")


def mended(text: str) -> str:
    """Lower-case `text` with slips in changing verbs and short forms written out."""
    return _WORD.sub(lambda match: _MENDED.get(match.group(), match.group()), text)
