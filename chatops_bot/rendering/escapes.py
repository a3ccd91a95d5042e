"""Characters that people cannot see, shown as `⟨U+202E⟩`.

Invisible and bidirectional characters let a text read as something else than it is. Prose and cards treat them
differently. In prose (`shown`) whatever languages and emoji need stays. On a card (`exact`, `exact_block`) everything
odd is shown, the bracket of the escapes included, so that two different values never look alike; and so are marks that
strike out or enclose the letter before them, that pile up, or that have no letter to stand on.
"""

import json
import re
import unicodedata

from chatops_bot.domain.regex import regex

_PICTOGRAPHS = "\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_SURROGATES = "\ud800-\udfff"
_FORMATS = (
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_BLANKS = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2028\u2029\u3164\uffa0"
_HIDDEN = _CONTROLS + _SURROGATES + _FORMATS + _BLANKS

_SELECTORS = "\ufe00-\ufe0f"
_ODD_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000"
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U0010ffff"
_BRACKET = "\u27e8"

WORD_JOINER = "\u2060"
"""Stands after a `<` inside code to defuse a token (see `sanitise`); there, and only there, `shown` lets it be."""

_IN_PROSE = regex(
    rf"(?P<emoji>(?<=[{_PICTOGRAPHS}\ufe0f])\u200d(?=[{_PICTOGRAPHS}]))"
    rf"|(?P<line_end>\r(?=\n))"
    rf"|(?P<defused>(?<=<){WORD_JOINER}(?=[!@#a-z]))"
    rf"|[{_HIDDEN}]|(?<=[{_SELECTORS}])[{_SELECTORS}]"
)
_ON_A_CARD = regex(f"[{_HIDDEN}{_SELECTORS}{_ODD_SPACES}{_PRIVATE}{_BRACKET}]")
_IN_JSON = regex(f"[{_HIDDEN}{_SELECTORS}]")
_ON_ONE_LINE = regex(f"[\t\n{_HIDDEN}{_SELECTORS}{_ODD_SPACES}{_PRIVATE}{_BRACKET}]")

_MARKED = regex("[\u0300-\U0010ffff]+")
"""All marks are in here."""
_OVERLAY = 1
"""The combining class of strokes through a letter (Unicode Standard, table 4-3)."""
MARKS_ON_A_LETTER = 3
"""More than any orthography in use puts on one (Unicode's stream-safe format allows 30, which cover the lines around it)."""

EMPTY = "⟨⟩"
"""How `exact` shows a text without any character."""


def shown(text: str) -> str:
    """Prose with hidden characters shown; emoji sequences, line ends, tabs and other scripts' spaces stay. Idempotent."""
    return _IN_PROSE.sub(lambda match: match.group() if match.lastgroup else _escape(match), text)


def exact(text: str) -> str:
    """One line of plain text for a card. Different texts give different lines, and none is empty."""
    return _without_covering_marks(_ON_ONE_LINE.sub(_escape, text)) or EMPTY


def exact_block(text: str) -> str:
    """Plain text for a monospaced block: like `exact`, with line ends and tabs kept."""
    return _without_covering_marks(_ON_A_CARD.sub(_escape, text)) or EMPTY


def one_line(text: str) -> str:
    """Prose on one line: runs of white space become one space, hidden characters are shown."""
    return shown(" ".join(text.split()))


def json_shown(text: str) -> str:
    """JSON text that holds no hidden character: each is spelled as JSON spells it, so the value stays the same."""
    return _IN_JSON.sub(lambda match: json.dumps(match.group())[1:-1], text)


def inert(text: str) -> str:
    """Plain text without angle brackets, for fallbacks: it holds no token, whoever forgets to escape it."""
    return text.replace("<", "‹").replace(">", "›")


def _without_covering_marks(text: str) -> str:
    has_marks = any(unicodedata.category(character).startswith("M") for character in set(text))
    return _MARKED.sub(_marks_escaped, text) if has_marks else text


def _marks_escaped(match: re.Match[str]) -> str:
    at, text = match.start(), match.string
    # A mark at the very beginning would stand on what a card writes before the value.
    marks = 0 if at > 0 and not text[at - 1].isspace() else MARKS_ON_A_LETTER
    kept: list[str] = []
    for character in match.group():
        category = unicodedata.category(character)
        if not category.startswith("M"):
            marks = 0
            kept.append(character)
            continue
        marks += 1
        covers = category == "Me" or unicodedata.combining(character) == _OVERLAY
        kept.append(_code_point(character) if covers or marks > MARKS_ON_A_LETTER else character)
    return "".join(kept)


def _escape(match: re.Match[str]) -> str:
    return _code_point(match.group())


def _code_point(character: str) -> str:
    return f"⟨U+{ord(character):04X}⟩"
