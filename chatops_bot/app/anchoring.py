"""The head of the audit's chain, noted down in a second place.

A chain cannot tell that its end was cut off: what is left of it is a good chain. Somebody who remembers its head can. So
the head goes to an append-only file, and to a chat channel where the configuration names one, once 64 records or 60
seconds have come together, and when the bot ends. Of records that are lost after the last note nobody knows, so much can
be lost at most.

A line of the file is the time, the number of the record and its seal: `2026-03-02T14:32:00+00:00 64 5ab0…`.
"""

import asyncio
import logging
import os
import re
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from datetime import datetime
from pathlib import Path

from chatops_bot.domain.audit_chain import Head, Sealed
from chatops_bot.domain.errors import ChatopsError, ConfigInvalid, PlatformError, StoreError
from chatops_bot.domain.view import Lines, View
from chatops_bot.ports import AuditReader, Clock, Place, Platform

_log = logging.getLogger(__name__)

ANCHOR_RECORDS = 64
ANCHOR_SECONDS = 60.0
LOOK_SECONDS = 1.0
POST_SECONDS = 2.0
"""What a post at the end gets; the file has the head by then."""

_LINE = re.compile(r"(?P<at>\S+) (?P<seq>[1-9][0-9]{0,17}) (?P<mac>[0-9a-f]{64})")
_NAMED = re.compile(r"(?P<seq>[1-9][0-9]{0,17}):(?P<mac>[0-9a-f]{64})")
Post = Callable[[Head], Awaitable[None]]


class Anchoring:
    """Notes heads down as long as the bot runs. Every failure is told in the log, once until another comes, and tried again."""

    def __init__(self, audit: AuditReader, clock: Clock, path: Path, post: Post | None = None) -> None:
        self._audit = audit
        self._clock = clock
        self._path = path
        self._post = post
        self._noted = 0
        self._noted_at = clock.monotonic()
        self._told = ""

    async def begin(self, known_keys: Collection[str] = ()) -> None:
        """Look at what the last process left, before it is buried: a tail that was cut since, and a key that is lost.

        Both are told in the log and stop nothing. `known_keys` are the ids of all keys that this bot has.
        """
        try:
            await self._tell_of_lost_key(known_keys)
            noted = await asyncio.to_thread(newest_anchor, self._path)
            if noted is not None and not await is_held(self._audit, noted):
                _log.error(
                    "the audit does not hold record %d as %s knows it: somebody changed it, or an older copy was put in its "
                    "place; look with `chatops-bot audit verify`",
                    noted.seq,
                    self._path,
                )
            self._noted = noted.seq if noted is not None else 0
        except (ChatopsError, OSError) as error:
            self._tell(f"the anchors of the audit could not be compared with it: {error}")

    async def _tell_of_lost_key(self, known_keys: Collection[str]) -> None:
        rows = await self._audit.page((await self._audit.head()).seq - 1, 1)
        if known_keys and rows and isinstance(rows[0], Sealed) and rows[0].key_id not in known_keys:
            _log.error(
                "the newest record of the audit was sealed with a key that this bot does not have (%s): put it into "
                "CHATOPS_KEY_OLD, or nothing before this start can be verified",
                rows[0].key_id,
            )

    async def keep(self) -> None:
        """Note heads down, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Note the head down if it is time to."""
        is_late = self._clock.monotonic() - self._noted_at >= ANCHOR_SECONDS
        await self._note(at_least=1 if is_late else ANCHOR_RECORDS)

    async def end(self) -> None:
        """Note the last head down."""
        await self._note(at_least=1)

    async def _note(self, at_least: int) -> None:
        """Note the head down when it is as many records away from the last one that was."""
        try:
            head = await self._audit.head()
            if abs(head.seq - self._noted) < at_least:
                return
            await asyncio.to_thread(_append, self._path, self._clock.now(), head)
            self._noted, self._noted_at, self._told = head.seq, self._clock.monotonic(), ""
        except (StoreError, OSError) as error:
            self._tell(f"the head of the audit could not be noted down in {self._path}: {error}")
            return
        if self._post is not None:
            try:
                async with asyncio.timeout(POST_SECONDS):
                    await self._post(head)
            except (PlatformError, StoreError, TimeoutError) as error:
                _log.warning("the head of the audit could not be posted: %s", error or "no answer")

    def _tell(self, what: str) -> None:
        if what != self._told:
            self._told = what
            _log.error("%s", what)


def posting(platform: Platform, channel: str, is_mine: Callable[[], Awaitable[bool]]) -> Post:
    """Posts heads to `channel`, each time only where `is_mine`: of several bots that share an audit one does."""

    async def post(head: Head) -> None:
        if not await is_mine():
            return
        text = f"audit head {head.seq}:{head.mac}"
        await platform.post(Place(channel), View((Lines((text,)),), text), key=f"audit-head-{head.seq}")

    return post


async def is_held(audit: AuditReader, anchor: Head) -> bool:
    """Whether the audit has the record that the anchor knows, with that seal; whether the seal is true is not asked."""
    rows = await audit.page(anchor.seq - 1, 1)
    return bool(rows) and isinstance(rows[0], Sealed) and rows[0].head == anchor


def read_anchors(lines: Iterable[str]) -> Iterator[Head]:
    """The heads in an anchor file. A line that is none is left out: the last one may have been cut off by a crash."""
    for line in lines:
        if match := _LINE.fullmatch(line.strip()):
            yield Head(int(match["seq"]), match["mac"])


def named_anchor(text: str) -> Head:
    """A head as somebody types it, `64:5ab0…`. Raises ConfigInvalid."""
    match = _NAMED.fullmatch(text)
    if match is None:
        raise ConfigInvalid(
            f"{text!r} is no head; give one as the bot posts it: RECORD:SEAL, the seal in 64 hex digits."
        )
    return Head(int(match["seq"]), match["mac"])


def newest_anchor(path: Path) -> Head | None:
    """The head that was noted down last; None without a file. Raises OSError."""
    try:
        with path.open(encoding="ascii", errors="replace") as file:
            return next(iter(deque(read_anchors(file), maxlen=1)), None)
    except FileNotFoundError:
        return None


def _append(path: Path, at: datetime, head: Head) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(
        path, "ab", opener=lambda name, flags: os.open(name, flags, 0o600)
    ) as file:  # Path.open takes no opener
        # On a line of its own, even if a crash cut off the line before.
        file.write(f"{'' if _ends_well(path) else chr(10)}{at.isoformat()} {head.seq} {head.mac}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def _ends_well(path: Path) -> bool:
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
