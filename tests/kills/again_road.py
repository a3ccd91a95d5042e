"""The road on which a change expires, is proposed again and is then approved, and what must hold at its end."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from chatops_bot.domain.proposal import ProposalState
from tests.kills.light_bot import LightBot
from tests.kills.oracle import PAUSE, Judged, judge_card, judge_session
from tests.kills.roads import ANA, OSCAR, RUN, Road
from tests.scenarios.gateway import Gateway


@dataclass(frozen=True)
class AgainRoad(Road):
    """`presses` come after the time has run out."""

    @property
    def struck(self) -> Sequence[str]:
        return ("again", "decide again")


AGAIN = AgainRoad(
    "propose again", [(OSCAR, "again"), (ANA, "approve")],
    ("propose", "decide", "again", "decide again", "claim", "apply", "report"), RUN,
    expires_first=True,
)  # fmt: skip


async def judge_again(bot: LightBot, before: Set[str], gateway: Gateway, status: str) -> Judged:
    """The old proposal made way for one new one, which ran once; or, after a death in between, for none, and nothing ran."""
    proposals, pauses = await bot.proposals(), gateway.reached(PAUSE)
    judged = Judged(AGAIN, proposals, len(pauses))
    old, *new = proposals
    judged.holds(before <= {one.id for one in proposals}, "a proposal vanished")
    judged.holds(old.state is ProposalState.SUPERSEDED, f"the old one is {old.state}")
    judged.holds(len(new) <= 1, f"{len(new)} new proposals")
    judged.holds(len(pauses) <= 1, f"{len(pauses)} pauses")
    judged.holds(all(old.superseded_by == one.id for one in new), "the old one points elsewhere")
    judged.holds(all(one.state in RUN for one in new), f"it came to {judged.came_to}")
    judged.holds([one.key for one in pauses] in ([], [one.id for one in new]), "something else ran")
    applied = [one for one in new if one.state is ProposalState.APPLIED]
    judged.holds(len(pauses) >= len(applied), "it is called applied and did not run")
    judged.holds((status == "disabled") == bool(pauses), f"{len(pauses)} pauses, and the task is {status}")
    for one in proposals:
        judge_card(judged, bot, one)
    # It is told that the old one expired, and that another took its place.
    await judge_session(judged, bot, [old.id, *(one.id for one in proposals)])
    return judged
