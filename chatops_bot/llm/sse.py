"""Server-sent events: bytes in pieces of any size in, the data of whole events out. Knows nothing of models.

Only ASCII bytes are looked at, so a cut inside a character does no harm. A read that holds nothing but events of one `data`
line, which is what providers send, is recognised and cut without looking at its lines: this runs for every word of every
answer.
"""


class EventSplitter:
    """Cuts a byte stream into the data of its server-sent events.

    Lines end in CRLF, LF or CR; comments and fields other than `data` are skipped; the data lines of an event are joined
    by a line feed.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._after_cr = False

    @property
    def pending(self) -> int:
        """Bytes held back for the event that is not complete."""
        return len(self._rest)

    def feed(self, data: bytes) -> list[bytes]:
        """The events that `data` completes."""
        if not data:
            return []
        if self._after_cr or b"\r" in data:
            data = self._with_line_feeds(data)
        if self._rest:
            seen = len(self._rest)
            self._rest += data
            if self._rest.find(b"\n\n", seen - 1) < 0:  # looked at once only, however small the pieces
                return []
            data = bytes(self._rest)
            self._rest.clear()
        end = data.rfind(b"\n\n")
        self._rest += data[end + 2 :] if end >= 0 else data
        return _events_in(data[:end]) if end >= 0 else []

    def flush(self) -> list[bytes]:
        """The event that the end of the stream completes, for providers that omit the last blank line."""
        event = bytes(self._rest)
        self._rest.clear()
        found = _data_of(event)
        return [] if found is None else [found]

    def _with_line_feeds(self, data: bytes) -> bytes:
        if self._after_cr and data[:1] == b"\n":
            data = data[1:]  # the second half of a line end that was cut in two
        self._after_cr = data[-1:] == b"\r"
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _events_in(block: bytes) -> list[bytes]:
    """The data of the events in a block without its last blank line."""
    if block.startswith(b"data: "):
        events = block[6:].split(b"\n\ndata: ")
        if b"\n" not in b"".join(events):  # a line each, and nothing else
            return events
    return [found for event in block.split(b"\n\n") if (found := _data_of(event)) is not None]


def _data_of(event: bytes) -> bytes | None:
    """The data of one event without its last line end, or None where it has none."""
    fields = (line.partition(b":") for line in event.split(b"\n"))
    lines = [value.removeprefix(b" ") for name, _, value in fields if name == b"data"]
    return b"\n".join(lines) if lines else None
