"""Keeping what a process prints, bounded: the head, the tail, and how much there was."""

from __future__ import annotations

HALF_BYTES = 512 * 1024
MESSAGE_CHARS = 1_024


class Capture:
    """Collects bytes; holds at most `half` from the start and `half` from the end."""

    def __init__(self, half: int = HALF_BYTES) -> None:
        self._half = half
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def feed(self, data: bytes) -> None:
        self.total += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    @property
    def truncated(self) -> bool:
        return self.total > 2 * self._half

    def text(self) -> str:
        """What was kept, with a line in place of a lost middle; bytes that are no UTF-8 become U+FFFD."""
        head, tail = bytes(self._head), bytes(self._tail[-self._half :])
        if not self.truncated:
            return (head + tail).decode(errors="replace")
        lost = self.total - len(head) - len(tail)
        return f"{decode_cut_end(head)}\n... {lost} bytes left out ...\n{decode_cut_start(tail)}"

    def first_chars(self, count: int = MESSAGE_CHARS) -> str:
        return decode_cut_end(bytes(self._head[: count * 4]))[:count]

    def last_chars(self, count: int = MESSAGE_CHARS) -> str:
        end = bytes(self._head + self._tail)[-count * 4 :]
        return decode_cut_start(end).rstrip()[-count:]


def decode_cut_end(raw: bytes) -> str:
    """Decode bytes whose last character may be cut in half: the half is dropped."""
    for drop in range(min(4, len(raw) + 1)):
        try:
            return raw[: len(raw) - drop].decode()
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data":
                break
    return raw.decode(errors="replace")


def decode_cut_start(raw: bytes) -> str:
    """Decode bytes whose first character may be cut in half: continuation bytes at the start are dropped."""
    start = 0
    while start < min(3, len(raw)) and raw[start] & 0xC0 == 0x80:
        start += 1
    return raw[start:].decode(errors="replace")
