"""What the conductor tells of turns that do not start in this process, and of those that fail in it."""

from types import SimpleNamespace
from typing import Any

import pytest

from chatops_bot.agent.loop import Turn
from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.domain.errors import (
    ModelBroke,
    ModelTimeout,
    ModelUnavailable,
    PlatformUnavailable,
    StoreUnavailable,
    TurnLost,
)
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.ports import Store
from chatops_bot.sessions.conductor import Conductor
from chatops_bot.sessions.mailbox import TurnInput
from tests.sessions.panel import Board
from tests.small_tools import OSCAR, SESSION

WORDS = Phrase("不行", "no")


class Fails:
    """A briefer, and a loop whose turn ends by `error`; `rested` is what the briefer was told of it."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.told: list[tuple[TurnOutcome, bool]] = []

    def brief(self, *given: object) -> SimpleNamespace:
        return SimpleNamespace(agent_id="one", toolbox=(), read=(), history=())

    def rested(self, turn_id: str, outcome: TurnOutcome, *, is_outage: bool = False) -> None:
        self.told.append((outcome, is_outage))

    async def run_turn(self, turn: Turn, emit: object) -> None:
        raise self.error


async def conduct(store: Store, clock: ManualClock, error: Exception) -> list[tuple[TurnOutcome, bool]]:
    """What the briefer is told of a turn that ends by `error`."""
    part: Any = Fails(error)
    unused: Any = None
    conductor = Conductor(
        platform=Board(), store=store, loop=part, briefer=part, cards=unused, forms=unused, followups=unused,
        redactor=Redactor(()), clock=clock, ids=CountingIds(),
    )  # fmt: skip
    accepted = await conductor.accept(SESSION, OSCAR, "hello", language="en", message_id=SESSION.thread)
    assert accepted is not None
    await conductor.conduct(accepted.turn)
    told: list[tuple[TurnOutcome, bool]] = part.told
    return told


@pytest.mark.parametrize(
    ("error", "is_outage"),
    [
        (ModelUnavailable(WORDS), True),
        (ModelTimeout(WORDS), True),
        (PlatformUnavailable("away"), True),
        (StoreUnavailable("away"), True),
        (ModelBroke(WORDS), False),
        (KeyError("x"), False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
async def test_a_turn_that_ends_because_something_is_away_is_not_held_against_its_text(
    store: Store, clock: ManualClock, error: Exception, is_outage: bool
):
    assert await conduct(store, clock, error) == [(TurnOutcome.FAILED, is_outage)]


async def test_a_turn_that_another_process_took_over_is_forgotten_by_its_briefer(
    store: Store, clock: ManualClock
):
    assert await conduct(store, clock, TurnLost("turn_1")) == [(TurnOutcome.INTERRUPTED, False)]


async def test_a_turn_that_is_handed_over_before_it_had_a_message_rests_for_who_waits_for_it(
    clock: ManualClock,
):
    rested: list[tuple[str, TurnOutcome]] = []
    unused: Any = None
    conductor = Conductor(
        platform=unused, store=unused, loop=unused, briefer=unused, cards=unused, forms=unused,
        followups=unused, redactor=Redactor(()), clock=clock, ids=CountingIds(),
        on_rest=lambda turn_id, outcome: rested.append((turn_id, outcome)),
    )  # fmt: skip
    await conductor.hand_over(TurnInput("turn_1", SESSION, OSCAR, "hello"))
    assert rested == [("turn_1", TurnOutcome.INTERRUPTED)]
