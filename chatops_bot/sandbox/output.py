"""What a script writes, read to the end and kept within a bound: its beginning and its end, where errors stand."""


class Kept:
    """Of all that is taken, the first and the last half of `limit` bytes. `seen` counts everything."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.seen = 0

    def take(self, chunk: bytes) -> None:
        self.seen += len(chunk)
        room = self._half - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[max(room, 0) :]
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    @property
    def cut(self) -> int:
        """How many bytes in the middle are not kept."""
        return max(0, self.seen - len(self._head) - self._half)

    @property
    def text(self) -> str:
        """As UTF-8, with what is none replaced."""
        head, tail = bytes(self._head), bytes(self._tail[-self._half :])
        if not self.cut:
            return (head + tail).decode(errors="replace")
        gap = f"\n… {self.cut} bytes left out …\n"
        return head.decode(errors="replace") + gap + tail.decode(errors="replace")
