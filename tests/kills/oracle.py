"""What must hold once the dust has settled, whatever died and when."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, field

from chatops_bot.context.fence import fresh_marks
from chatops_bot.context.history import project
from chatops_bot.domain.audit_chain import ChainKey
from chatops_bot.domain.audit_check import Row, Unreadable, Verified, verify
from chatops_bot.domain.model import AssistantMessage, ToolMessage
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.transcript import ProposalDecided
from chatops_bot.rendering.card_notices import HEADINGS
from tests.kills.light_bot import SESSION, LightBot
from tests.kills.roads import RUN, Road
from tests.kills.wall import buttons_of
from tests.scenarios.gateway import Gateway
from tests.small_tools import PHRASES

PAUSE, RESUME = "POST /api/v1/tasks/1/pause", "POST /api/v1/tasks/1/resume"
BESIDE = {"shown", "refused", "undone", "undo_lost", "undo_ended", "taken_back"}
"""Rows that are no step of a proposal, or one that may be made again."""
DECIDABLE = {"approve", "reject", "stop"}


@dataclass
class Judged:
    """`wrong` is all that does not hold, in words."""

    road: Road
    proposals: list[Proposal]
    effects: int
    wrong: list[str] = field(default_factory=list)
    records: int = 0

    def holds(self, fact: bool, otherwise: str) -> None:
        if not fact:
            self.wrong.append(otherwise)

    @property
    def came_to(self) -> str:
        return ", ".join(proposal.state.value for proposal in self.proposals)

    def judge_audit(self, rows: Sequence[Row], keys: Sequence[ChainKey]) -> None:
        """The chain is whole, and holds each step of each proposal once."""
        found = verify(keys, rows)
        self.holds(isinstance(found, Verified), f"the audit is not what was sealed: {found}")
        self.records = len(rows)
        for proposal in self.proposals:
            steps = Counter(
                row.record.decision
                for row in rows
                if not isinstance(row, Unreadable)
                and row.record.proposal_id == proposal.id
                and row.record.decision not in BESIDE
            )
            self.holds(steps == _steps(proposal), f"its steps are on record as {dict(steps)}")


async def judge(bot: LightBot, road: Road, before: Set[str], gateway: Gateway, status: str) -> Judged:
    """`before` are the proposals that were stored when the process died; `status` is the task's, as the scheduler says it."""
    proposals = await bot.proposals()
    pauses, resumes = gateway.reached(PAUSE), gateway.reached(RESUME)
    judged = Judged(road, proposals, len(pauses) + len(resumes))
    holds = judged.holds
    vanished = before - {proposal.id for proposal in proposals}
    holds(not vanished, f"{vanished} vanished")
    undone = road.undoes and proposals[0].state is ProposalState.APPLIED
    first_undo = proposals[
        1:-1
    ]  # one that came to nothing that is known, so that Undo was offered and pressed again
    holds(all(one.state is ProposalState.OUTCOME_UNKNOWN for one in first_undo), f"undone by {first_undo}")
    holds(len(proposals) - len(first_undo) == (2 if undone else 1), f"{len(proposals)} proposals")
    proposals = [proposals[0], *proposals[1:][-1:]]
    holds(len(pauses) <= 1, f"{len(pauses)} pauses")
    holds(len(resumes) <= len(pauses), f"{len(resumes)} resumes")
    is_paused = bool(pauses) and not resumes
    holds((status == "disabled") == is_paused, f"{judged.effects} effects, and the task is {status}")
    for proposal, reached, other in zip(
        proposals, (pauses, resumes), (proposals[1:], proposals[:1]), strict=False
    ):
        ran = [passed for passed in reached if passed.key == proposal.id]
        state = proposal.state
        holds(state in road.ends, f"it came to {state}")
        holds(state is not ProposalState.APPLIED or len(ran) == 1, f"{state} with {len(ran)} effects")
        holds(state in RUN or not ran, f"{state}, and yet it ran")
        holds(not ran or len(proposal.votes) == road.quorum, f"it ran with {len(proposal.votes)} approvals")
        holds(proposal.undone_by + proposal.inverse_of == "".join(one.id for one in other), "pair")
        judge_card(judged, bot, proposal)
    await judge_session(judged, bot, [one.id for one in (proposals[0], *first_undo, *proposals[1:])])
    return judged


def judge_card(judged: Judged, bot: LightBot, proposal: Proposal) -> None:
    cards = bot.wall.messages(proposal.id)
    judged.holds(len(cards) == 1, f"{len(cards)} cards")
    heading = HEADINGS[proposal.state.value].en.split("{")[0]
    for card in cards:
        judged.holds(heading in str(card), f"the card of what is {proposal.state} does not say {heading!r}")
    judged.holds(proposal.shown_revision == proposal.revision, "the card is behind")


async def judge_session(judged: Judged, bot: LightBot, ends: Sequence[str]) -> None:
    """Nothing waits or works any more, every tool call has its answer, and each of the `ends`, by proposal, is told to the session once."""
    judged.holds(await bot.store.turns.running() == [], "a turn runs")
    offered = {button.control for view in bot.wall.messages("%") for button in buttons_of(view)}
    judged.holds(not offered & DECIDABLE, f"the chat still offers {offered & DECIDABLE}")
    entries = await bot.store.transcripts.load(SESSION)
    told = [entry.proposal_id for entry in entries if isinstance(entry, ProposalDecided)]
    judged.holds(told == list(ends), f"the session was told of {len(told)} ends")
    history = project(entries, marks=fresh_marks(lambda: "0" * 32), words=PHRASES.calls)
    for place, message in enumerate(history):
        if isinstance(message, AssistantMessage):
            answers = [
                m for m in history[place + 1 : place + 1 + len(message.calls)] if isinstance(m, ToolMessage)
            ]
            judged.holds(
                [a.call_id for a in answers] == [c.id for c in message.calls], "a call has no answer"
            )


def _steps(proposal: Proposal) -> Counter[str]:
    """What must be on record, once each, but an approval for each that was given."""
    ran = proposal.state in RUN
    ends = Counter(["proposed", proposal.state.value, *(["claimed"] if ran else [])])
    ends += Counter(["expired"] if proposal.superseded_by else [])  # nothing else makes way here
    return ends + Counter({"approved": len(proposal.votes)})
