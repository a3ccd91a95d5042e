"""Where a text may be cut so that no character falls apart: the parts of Unicode's segmentation that chat text needs.

Combining marks, variation selectors, emoji joined by ZWJ, skin tones, tag sequences, flags, conjoining Hangul and CR LF
(Unicode Annex 29, rules GB3-GB13). Only characters before the cut and the one right behind it matter, so a cut that was
sound stays sound as text is appended.
"""

import unicodedata

_ZWJ = "\u200d"
_MARKS = frozenset({"Mn", "Me", "Mc"})


def may_cut(text: str, at: int) -> bool:
    """True when cutting before `text[at]` leaves every grapheme cluster whole."""
    if at <= 0 or at >= len(text):
        return True
    left, right = text[at - 1], text[at]
    if left < "\u0300" and right < "\u0300":
        return not (left == "\r" and right == "\n")
    if _extends(right) or left == _ZWJ:
        return False
    if _is_flag_half(left) and _is_flag_half(right):
        return _flag_halves_before(text, at) % 2 == 0
    return not _is_one_syllable(left, right)


def clip(text: str, length: int) -> str:
    """`text` in at most `length` code points, ending in an ellipsis where something is missing."""
    if len(text) <= length:
        return text
    at = length - 1
    while at > 0 and not may_cut(text, at):
        at -= 1
    return text[:at].rstrip() + "…"


def _extends(character: str) -> bool:
    code = ord(character)
    return (
        character == _ZWJ
        or unicodedata.category(character) in _MARKS
        or 0x1F3FB <= code <= 0x1F3FF
        or 0xE0020 <= code <= 0xE007F
        or 0xDC00 <= code <= 0xDFFF
    )


def _is_flag_half(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_halves_before(text: str, at: int) -> int:
    start = at
    while start > 0 and _is_flag_half(text[start - 1]):
        start -= 1
    return at - start


def _is_one_syllable(left: str, right: str) -> bool:
    """Conjoining Hangul: a vowel or a final consonant right behind a part of the same syllable."""
    is_hangul = "\u1100" <= left <= "\u11ff" or "\uac00" <= left <= "\ud7ff"
    return is_hangul and "\u1160" <= right <= "\u11ff"
