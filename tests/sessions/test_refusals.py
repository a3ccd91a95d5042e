"""A card that can never be shown again is not tried for ever."""

from datetime import timedelta

import pytest

from chatops_bot.domain.errors import PlatformError, PlatformUnavailable
from chatops_bot.domain.session import MessageRef
from chatops_bot.domain.view import View
from tests.sessions.panel import ANA, Panel


@pytest.fixture
def tries(panel: Panel) -> list[str]:
    """What was tried to be shown, all refused with the board's refusal if there is one."""
    tried: list[str] = []
    finish = panel.board.finish

    async def counted(ref: MessageRef, view: View) -> MessageRef:
        tried.append(ref.id)
        return await finish(ref, view)

    panel.board.finish = counted  # type: ignore[method-assign]  # to count
    return tried


async def swept(panel: Panel, times: int, every: timedelta) -> None:
    for _ in range(times):
        panel.clock.advance(every)
        await panel.one.applying.sweep()


async def test_an_archived_channel_is_tried_more_and_more_rarely_and_then_given_up(
    panel: Panel, tries: list[str]
):
    proposal = await panel.propose()
    panel.board.refusal = PlatformError("The channel is archived.", "is_archived")
    await panel.press(ANA, proposal, "reject")
    panel.clock.advance(timedelta(minutes=10))
    tries.clear()
    await swept(panel, 20, timedelta(seconds=5))
    assert 1 <= len(tries) <= 3, "of 20 sweeps in 100 seconds"
    await swept(panel, 30, timedelta(hours=1))
    assert await panel.store.proposals.with_stale_card() == []
    tries.clear()
    await swept(panel, 5, timedelta(hours=1))
    assert tries == []


async def test_a_platform_that_is_away_is_tried_again_each_time(panel: Panel, tries: list[str]):
    proposal = await panel.propose()
    panel.board.refusal = PlatformUnavailable("Slack is away.", "unreachable")
    await panel.press(ANA, proposal, "reject")
    panel.clock.advance(timedelta(days=2))
    tries.clear()
    await swept(panel, 5, timedelta(seconds=5))
    assert len(tries) == 5
    panel.board.refusal = None
    await swept(panel, 1, timedelta(seconds=5))
    assert await panel.store.proposals.with_stale_card() == []


async def test_a_card_that_was_refused_once_is_shown_when_it_can_be(panel: Panel, tries: list[str]):
    proposal = await panel.propose()
    panel.board.refusal = PlatformError("Not now.", "not_in_channel")
    await panel.press(ANA, proposal, "reject")
    panel.board.refusal = None
    await swept(panel, 1, timedelta(minutes=5))
    assert panel.board.cards[proposal.id].fallback.startswith("Rejected")
    assert await panel.store.proposals.with_stale_card() == []
