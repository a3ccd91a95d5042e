"""What one process passes on to another: a turn that may not begin begins nowhere, and a stop ends the turn that it names."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.session import RunningTurn
from chatops_bot.domain.transcript import FormFilled
from chatops_bot.sessions.conductor import Accepted
from chatops_bot.sessions.forms import Taken
from chatops_bot.sessions.mailbox import TurnInput
from chatops_bot.sessions.peers import StopPressed, TurnHanded
from chatops_bot.sessions.router import Router
from chatops_bot.stores.sqlite import SqliteStore
from tests.sessions.panel import Board
from tests.small_tools import OSCAR, SESSION

TURN = TurnInput("turn_1", SESSION, OSCAR, "what failed?")
NO = Phrase("不行", "Not any more.")


@dataclass
class Conducted:
    """In place of a conductor: `begun` turns run until they are stopped."""

    begun: list[str] = field(default_factory=list)
    refused: list[tuple[str, Phrase]] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    holder: str = ""
    over: dict[str, asyncio.Event] = field(default_factory=dict)

    async def conduct(self, turn: TurnInput) -> None:
        self.begun.append(turn.turn_id)
        await self.over.setdefault(turn.turn_id, asyncio.Event()).wait()

    def wait(self, turn: TurnInput, ahead: int) -> None:
        pass

    def stop(self, turn_id: str, person: Person) -> bool:
        self.stopped.append(turn_id)
        self.over.setdefault(turn_id, asyncio.Event()).set()
        return True

    async def refuse(self, turn: TurnInput, why: Phrase) -> None:
        self.refused.append((turn.turn_id, why))

    async def accept_filled(self, turn: TurnInput, filled: object) -> Accepted:
        return Accepted(turn, self.holder)


@pytest.fixture
async def store(tmp_path: Path, clock: ManualClock) -> AsyncIterator[SqliteStore]:
    opened = await SqliteStore.open(tmp_path / "bot.db", clock)
    yield opened
    await opened.aclose()


def router_of(store: SqliteStore, conducted: Conducted, board: Board | None = None) -> Router:
    unused: Any = None
    conductor: Any = conducted
    return Router(
        store=store, platform=board or Board(), decisions=unused, reading=unused, reasons=unused, presses={}, looks={},
        forms=unused, followups=unused, conductor=conductor, policy=Policy(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("author", "refusal", "begins"),
    [
        (OSCAR, None, True),
        (OSCAR, NO, False),
        (replace(OSCAR, role=Role.GUEST), None, False),
    ],
)
async def test_a_turn_that_is_handed_on_begins_only_if_it_may(
    store: SqliteStore, author: Person, refusal: Phrase | None, begins: bool
):
    await store.turns.begin(RunningTurn("turn_1", SESSION, None, "en", "{}", "{}"))
    conducted = Conducted()
    router = router_of(store, conducted)
    await router.hear(TurnHanded(replace(TURN, author=author), refusal))
    await asyncio.sleep(0)
    assert (conducted.begun == ["turn_1"], len(conducted.refused)) == (begins, 0 if begins else 1)
    await router.cut(1)


async def test_the_refusal_of_a_filled_form_goes_where_its_turn_is_held(
    store: SqliteStore, clock: ManualClock
):
    conducted = Conducted(holder="bot_b")
    sent: list[str] = []

    async def send(process: str, body: str) -> None:
        sent.append(body)

    store.relay.send = send  # type: ignore[method-assign]  # another process
    filled = FormFilled(
        "turn_1", clock.now(), "form_1", "flip", {}, "en", OSCAR.id, OSCAR.name, OSCAR.role.value
    )
    await router_of(store, conducted)._begin_filled(Taken(turn=replace(TURN, filled=filled), refusal=NO))
    assert "Not any more." in sent[0]
    assert conducted.begun == []


async def test_a_stop_that_is_heard_twice_stops_one_turn(store: SqliteStore):
    conducted = Conducted()
    router = router_of(store, conducted)
    for number in (1, 2):
        await store.turns.begin(RunningTurn(f"turn_{number}", SESSION, None, "en", "{}", "{}"))
        await router.hear(TurnHanded(replace(TURN, turn_id=f"turn_{number}")))
    await asyncio.sleep(0)
    for _ in range(2):
        await router.hear(StopPressed(SESSION, "turn_1", OSCAR))
    async with asyncio.timeout(5):
        while conducted.begun != ["turn_1", "turn_2"]:  # noqa: ASYNC110  # a mailbox tells nobody
            await asyncio.sleep(0.01)
    await router.drain(0)
    assert set(conducted.stopped) == {"turn_1"}
    await router.cut(1)
