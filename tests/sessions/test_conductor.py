"""What the conductor tells of turns that do not start in this process."""

from typing import Any

from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.sessions.conductor import Conductor
from chatops_bot.sessions.mailbox import TurnInput
from tests.small_tools import OSCAR, SESSION


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
