"""Ready or not, and why: what a load balancer, a deployment and a person at night ask of a running bot.

Alive is simple: the event loop answers. Ready means that a message sent now would be heard, worked on and kept.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from chatops_bot.domain.errors import StoreError

_log = logging.getLogger(__name__)

STORE_SECONDS = 2.0
"""A write that takes longer is a disk in trouble; a probe that waits longer is given up by its sender."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """`red` maps each thing that is not well (`chat`, `store`, `life`) to a sentence; empty means ready."""

    red: dict[str, str]

    @property
    def ready(self) -> bool:
        return not self.red

    def as_json(self) -> dict[str, Any]:
        return {"ready": self.ready, "red": self.red}


class Health:
    """`deaf_because` says why the chat platform does not hear us, or nothing; `check_store` writes to the store.

    `check_store` raises StoreError when it cannot; `remedy` is what to do about one that hangs. Not ready until `recovered`, and not any more from `drain` on.
    """

    def __init__(
        self, deaf_because: Callable[[], str], check_store: Callable[[], Awaitable[None]], remedy: str
    ) -> None:
        self._deaf_because = deaf_because
        self._check_store = check_store
        self._life = "The bot is starting: what its last process left open is not settled yet."
        self._remedy = remedy
        self._pending: asyncio.Task[str] | None = None
        self.failed = asyncio.Event()
        """Set when a part died without which the bot must not go on."""

    def recovered(self) -> None:
        if not self.failed.is_set():
            self._life = ""

    def fail(self, part: str) -> None:
        """Red from now on: a part died."""
        self._life = f"The {part} died, so the bot comes to rest; its log says why."
        self.failed.set()

    def drain(self) -> None:
        self._life = "The bot was told to end: it finishes its turns and takes in nothing more."

    async def readiness(self) -> Readiness:
        red = {"life": self._life, "chat": self._deaf_because(), "store": await self._store_failure()}
        return Readiness({name: why for name, why in red.items() if why})

    async def _store_failure(self) -> str:
        """One check at a time: a write that hangs stays in the store's queue, so each probe waits for the same."""
        if self._pending is None or self._pending.done():
            self._pending = asyncio.create_task(self._checked(), name="store check")
        await asyncio.wait({self._pending}, timeout=STORE_SECONDS)
        if not self._pending.done():
            return f"The store did not take a write within {STORE_SECONDS:g} s; {self._remedy}."
        return self._pending.result()

    async def _checked(self) -> str:
        try:
            await self._check_store()
        except StoreError as error:
            _log.warning("the store took no write: %s", error)
            return "The store took no write; the bot's log says why."
        return ""
