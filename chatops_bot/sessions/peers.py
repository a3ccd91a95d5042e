"""The other processes that share this one's store.

Each process says by a lease that it lives, and renews it at a beat. A session's unfinished turns are all held by one process:
what comes in elsewhere for that session is handed to it, and a Stop that is pressed elsewhere is passed on to it. A process
whose lease ran out is dead to the others, and one of them takes its turns over: what it began is closed as interrupted, what
it never started starts. If it was only paused, it finds its turns gone when it wakes up, and lets go of them.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from chatops_bot.domain.errors import ChatopsError
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.session import RunningTurn, SessionKey
from chatops_bot.ports import Store
from chatops_bot.sessions.liveness import Liveness
from chatops_bot.sessions.mailbox import TurnInput

_log = logging.getLogger(__name__)

BEATS = 3
"""How often in the time of a lease it is renewed: one lost beat, or two, must not kill a process."""
MISSED_BEATS = BEATS + 1
"""A turn that was accepted may take its time until it waits here, since what asked for it is shown first."""


@dataclass(frozen=True, slots=True)
class TurnHanded:
    """A turn of a session that the receiver holds. One with a `refusal` may not begin any more: it ends with that."""

    turn: TurnInput
    refusal: Phrase | None = None
    kind: Literal["turn"] = "turn"


@dataclass(frozen=True, slots=True)
class StopPressed:
    """Stop of a turn that the receiver holds, by its button or by word. It names the turn: heard twice, it stops no other."""

    session: SessionKey
    turn_id: str
    person: Person
    kind: Literal["stop_pressed"] = "stop_pressed"


Word = TurnHanded | StopPressed
_WORD: TypeAdapter[Word] = TypeAdapter(
    Annotated[Word, Field(discriminator="kind")], config=ConfigDict(defer_build=True)
)


async def pass_on(store: Store, process: str, word: Word) -> None:
    """Tell another process; it hears it as long as it lives."""
    await store.relay.send(process, _WORD.dump_json(word).decode())


class Peers:
    """`go_on` takes over what dead processes left, and starts those of this one's own turns that it was never told of; `hear`
    takes what others pass on; `held` are the turns that run or wait here; `let_go` is told of those that another has taken."""

    def __init__(
        self,
        store: Store,
        *,
        go_on: Callable[[Sequence[RunningTurn]], Awaitable[None]],
        hear: Callable[[Word], Awaitable[None]],
        held: Callable[[], Sequence[TurnInput]],
        let_go: Callable[[TurnInput], None],
        alive: Liveness,
    ) -> None:
        self._store = store
        self._go_on = go_on
        self._missed: dict[str, int] = {}
        self._hear = hear
        self._held = held
        self._let_go = let_go
        self._alive = alive
        self._leaving = False

    async def keep_renewing(self) -> None:
        """Say that this process lives, until cancelled. Nothing else is done here: whatever could take its time would make a
        healthy process look dead."""
        while True:
            await asyncio.sleep(self._alive.seconds / BEATS)
            try:
                await self._alive.renew()
                if self._alive.was_unheard():
                    _log.warning(
                        "this process was silent for over %g s and may have been taken for dead",
                        self._alive.seconds,
                    )
                    await self._leave_what_others_took()
            except ChatopsError as error:
                _log.error("this process could not say that it lives, and tries again: %s", error)

    async def keep_taking_over(self) -> None:
        """Take over what the dead left, at the same beat, until cancelled."""
        while True:
            await asyncio.sleep(self._alive.seconds / BEATS)
            try:
                if not self._leaving:
                    await self._go_on(await self._unheard())
            except ChatopsError as error:
                _log.error("what dead processes left could not be taken over and is tried again: %s", error)

    async def _unheard(self) -> list[RunningTurn]:
        """Turns that the store says are held here, and has said so for MISSED_BEATS, but are not."""
        me, here = self._store.process, {turn.turn_id for turn in self._held()}
        running = [turn for turn in await self._store.turns.running() if turn.id not in here]
        missed = [turn for turn in running if await self._store.turns.holder(turn.id) == me]
        self._missed = {turn.id: self._missed.get(turn.id, 0) + 1 for turn in missed}
        return [turn for turn in missed if self._missed[turn.id] >= MISSED_BEATS]

    async def _leave_what_others_took(self) -> None:
        for turn in self._held():
            if await self._store.turns.holder(turn.turn_id) != self._store.process:
                self._let_go(turn)

    async def keep_hearing(self) -> None:
        """Take what other processes pass on, until cancelled."""
        async with aclosing(self._store.relay.receive()) as bodies:
            async for body in bodies:
                try:
                    await self._hear(_WORD.validate_json(body))
                except ValidationError:
                    _log.warning("another process, perhaps of another version, sent what cannot be read")
                except ChatopsError as error:
                    _log.error("what another process passed on was not carried out: %s", error)

    def stop_taking_over(self) -> None:
        """This process is about to end: it keeps what it has and takes no more."""
        self._leaving = True
