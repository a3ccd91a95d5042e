"""What one person alone is told of what they did about a proposal."""

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.view import Tone
from chatops_bot.ports import Place, Platform
from chatops_bot.rendering.notices import whisper_view
from chatops_bot.sessions.proposal_cards import language_of

_DECIDED = Phrase(
    "此提案已有结论：{state}（{who}，{when}）。", "This proposal is decided already: {state} ({who}, {when})."
)
_SUPERSEDED = Phrase(
    "此提案已被新的提案取代，未执行任何操作；请在新的卡片上操作。",
    "A newer proposal took the place of this one, so nothing was run; decide on the newer card.",
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
        else:
            when = f"{proposal.decided_at or proposal.created_at:%H:%M} UTC"
            said = _DECIDED.filled(state=proposal.state.value, who=proposal.decided_by_name, when=when)
        await self.about(proposal, person, said, "info")
