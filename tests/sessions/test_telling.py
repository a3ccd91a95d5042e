"""Who comes late reads the words of the card: what came of it and when, and who approved it when."""

from dataclasses import replace
from datetime import timedelta

from chatops_bot.domain.proposal import ProposalState
from chatops_bot.sessions.telling import Telling
from tests.sessions.panel import BEN, Panel


async def test_the_words_of_the_card_with_the_time_of_the_approval_and_that_of_the_end(panel: Panel):
    proposal = replace(
        await panel.propose(), state=ProposalState.OUTCOME_UNKNOWN, decided_by_name="Ana", language="zh",
        decided_at=panel.clock.now(), finished_at=panel.clock.now() + timedelta(minutes=8),
    )  # fmt: skip
    telling = Telling(panel.board)
    await telling.decided(proposal, BEN)
    await telling.decided(replace(proposal, language="en"), BEN)
    await telling.decided(
        replace(proposal, language="en", state=ProposalState.CLAIMED, finished_at=None), BEN
    )
    assert panel.board.heard(BEN) == [
        "此提案已有结论：结果未知（14:40 UTC）；由 Ana 于 14:32 UTC 批准。",
        "This proposal is decided already: outcome unknown (14:40 UTC); approved by Ana at 14:32 UTC.",
        "This proposal is decided already: running; approved by Ana at 14:32 UTC.",
    ]
