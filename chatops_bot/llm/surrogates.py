"""Halves of a character that a gateway sent in two events.

JSON escapes a character outside the basic plane as a pair of surrogates. Who cuts a text between UTF-16 units, as JavaScript does,
sends each half in an event of its own, and no strict parser reads either.
"""

import re

_ESCAPE = re.compile(rb"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_HIGH, _LOW = range(0xD800, 0xDC00), range(0xDC00, 0xE000)
_UNKNOWN = b"\\ufffd"


class SurrogateMender:
    """Mends the events of one answer, in order, of those that a parser refused."""

    def __init__(self) -> None:
        self._high = b""

    def mend(self, event: bytes) -> bytes:
        """The event with whole characters. A first half at the end of a text waits for the second one, in an event to come;
        a half that stays alone becomes the sign for an unknown character. Equal to `event` if nothing was to mend."""
        mended, end = bytearray(), 0
        pending, self._high = self._high, b""
        for found in _ESCAPE.finditer(event):
            value = int(found[1], 16) if found[1] else 0
            if value not in _HIGH and value not in _LOW:
                continue
            if found.start() < end:
                continue  # the second half of a pair that is whole
            mended += event[end : found.start()]
            end = found.end()
            if value in _LOW:
                mended += pending + found[0] if pending else _UNKNOWN
                pending = b""
            elif (pair := _ESCAPE.match(event, end)) and pair[1] and int(pair[1], 16) in _LOW:
                mended += found[0] + pair[0]
                end = pair.end()
            elif event[end : end + 1] == b'"':
                self._high = found[0]
            else:
                mended += _UNKNOWN
        return bytes(mended + event[end:])
