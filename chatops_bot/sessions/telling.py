"""What one person alone is told of what they did about a proposal."""

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.view import Tone
from chatops_bot.ports import Place, Platform
from chatops_bot.rendering.card_notices import HEADINGS
from chatops_bot.rendering.notices import whisper_view
from chatops_bot.sessions.proposal_cards import language_of

_WAITS = Phrase("此提案仍在等待决定。", "This proposal still waits to be decided.")
_REJECTED = Phrase(
    "此提案已有结论：{state_zh}（{who}，{when}）。",
    "This proposal is decided already: {state_en} ({who}, {when}).",
)
_APPROVED = Phrase(
    "此提案已有结论：{state_zh}；由 {who} 于 {when} 批准。",
    "This proposal is decided already: {state_en}; approved by {who} at {when}.",
)
_APPROVED_AND_ENDED = Phrase(
    "此提案已有结论：{state_zh}（{ended}）；由 {who} 于 {when} 批准。",
    "This proposal is decided already: {state_en} ({ended}); approved by {who} at {when}.",
)
_SUPERSEDED = Phrase(
    "此提案已被新的提案取代，未执行任何操作；请在新的卡片上操作。",
    "A newer proposal took the place of this one, so nothing was run; decide on the newer card.",
)


_ASKED_FOR_AGAIN = Phrase(
    "此变更已重新提出；请在新的卡片上操作。", "This was proposed again already; decide on the newer card."
)


class Telling:
    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def at(
        self,
        session: SessionKey,
        person: Person,
        said: Phrase,
        language: Language | None,
        tone: Tone = "warning",
    ) -> None:
        """Tell `person` in the session's thread; without a language, in both."""
        place = Place(session.channel, session.thread)
        await self._platform.whisper(place, person.id, whisper_view(said, language, tone))

    async def about(self, proposal: Proposal, person: Person, said: Phrase, tone: Tone = "warning") -> None:
        """Tell `person` in the language of the card."""
        await self.at(proposal.session, person, said, language_of(proposal), tone)

    async def decided(self, proposal: Proposal, person: Person) -> None:
        """That somebody was faster, or it is over: who, and what came of it. Nothing went wrong."""
        if proposal.state in (ProposalState.EXPIRED, ProposalState.WITHDRAWN):
            said = Phrase(proposal.outcome_text, proposal.outcome_text)
        elif proposal.state is ProposalState.SUPERSEDED:
            said = _SUPERSEDED
        elif proposal.superseded_by:
            said = _ASKED_FOR_AGAIN
        else:
            said = _told(proposal)
        await self.about(proposal, person, said, "info")


def _told(proposal: Proposal) -> Phrase:
    """The state in the words of the card, and whose the decision was; what came of an approval has a time of its own."""
    if proposal.is_open:
        return _WAITS
    heading = HEADINGS[proposal.state.value]
    state = Phrase(heading.zh.partition("：")[0], heading.en.partition(":")[0].lower())
    if proposal.state is ProposalState.REJECTED:
        phrase, who = _REJECTED, proposal.decided_by_name
    else:
        phrase = _APPROVED if proposal.finished_at is None else _APPROVED_AND_ENDED
        who = ", ".join(vote.person_name for vote in proposal.votes) or proposal.decided_by_name
    when = f"{proposal.decided_at or proposal.created_at:%H:%M} UTC"
    ended = f"{proposal.finished_at:%H:%M} UTC" if proposal.finished_at is not None else ""
    return phrase.filled(state_zh=state.zh, state_en=state.en, who=who, when=when, ended=ended)
