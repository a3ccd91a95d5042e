"""Server-sent events: bytes in pieces of any size in, the data of whole events out. Knows nothing of models."""

import re
from collections.abc import Iterator

_LINE_END = re.compile(rb"\r\n|\r|\n")


class EventSplitter:
    """Cuts a byte stream into the data of its server-sent events.

    Lines end in CRLF, LF or CR; comments and fields other than `data` are skipped; the data lines of an event are joined
    by a line feed. Only ASCII bytes are looked at, so a cut inside a character does no harm.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._after_cr = False

    @property
    def pending(self) -> int:
        """Bytes held back for the event that is not complete."""
        return len(self._rest) + self._size

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The events that `data` completes. Consume them all before feeding more."""
        if not data:
            return
        if self._after_cr and data[:1] == b"\n":
            data = data[1:]
        self._after_cr = data[-1:] == b"\r"
        *lines, rest = _LINE_END.split(data)
        for line in lines:
            if self._rest:
                line = bytes(self._rest) + line
                self._rest.clear()
            yield from self._line(line)
        self._rest += rest

    def flush(self) -> Iterator[bytes]:
        """The event that the end of the stream completes, for providers that omit the last blank line."""
        yield from self._line(bytes(self._rest))
        self._rest.clear()
        yield from self._line(b"")

    def _line(self, line: bytes) -> Iterator[bytes]:
        if line:
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
                self._size += len(value)
        elif self._data:
            event = b"\n".join(self._data)
            self._data.clear()
            self._size = 0
            yield event
