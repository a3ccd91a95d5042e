"""Stop: by the button of a message, or by the word `stop`.

A stop ends one turn, and what waits behind it runs next; each waiting message has a Stop of its own, which takes it back.
Who asked may stop, and whoever may ask for changes; anybody else is told privately. Proposals outlive their turn. A turn that
another process holds is stopped there.
"""

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.session import SessionKey
from chatops_bot.ports import Place, Platform, Store
from chatops_bot.rendering.notices import whisper_view
from chatops_bot.sessions.conductor import Conductor
from chatops_bot.sessions.mailbox import Mailboxes, TurnInput
from chatops_bot.sessions.peers import StopPressed, pass_on

_OVER = Phrase("这一轮已经结束。", "This turn is over already.")
_NOTHING = Phrase("现在没有正在处理的问题。", "Nothing is running here at the moment.")


class Stopping:
    def __init__(
        self, mailboxes: Mailboxes, conductor: Conductor, platform: Platform, policy: Policy, store: Store
    ) -> None:
        self._mailboxes = mailboxes
        self._conductor = conductor
        self._platform = platform
        self._policy = policy
        self._store = store

    async def by_button(self, session: SessionKey, turn_id: str, person: Person) -> None:
        """Stop the turn whose message the button stands on, or take it back while it waits."""
        turn = self._mailboxes.find(session, turn_id)
        if turn is not None:
            await self._stop(turn, person, turn.language)
        elif not await self._is_passed_on(
            await self._store.turns.holder(turn_id), StopPressed(session, turn_id, person)
        ):
            await self._tell(session, person, _OVER, None)

    async def by_word(self, session: SessionKey, person: Person, language: Language) -> None:
        """Stop what runs in the session."""
        turn = self._mailboxes.running(session)
        if turn is not None:
            await self._stop(turn, person, language)
        elif not await self._is_stopped_elsewhere(session, person):
            await self._tell(session, person, _NOTHING, language)

    async def _is_stopped_elsewhere(self, session: SessionKey, person: Person) -> bool:
        """Whether what runs in the session runs in another process, which is told to stop it."""
        oldest = next((turn for turn in await self._store.turns.running() if turn.session == session), None)
        if oldest is None:
            return False
        stop = StopPressed(session, oldest.id, person)
        return await self._is_passed_on(await self._store.turns.holder(oldest.id), stop)

    async def _is_passed_on(self, holder: str, stop: StopPressed) -> bool:
        if holder in ("", self._store.process):
            return False
        await pass_on(self._store, holder, stop)
        return True

    async def _stop(self, turn: TurnInput, person: Person, language: Language) -> None:
        refusal = self._policy.may_stop(person, asker_id=turn.author.id)
        if refusal is not None:
            await self._tell(turn.session, person, refusal, language)
        elif self._mailboxes.withdraw(turn):
            await self._conductor.withdraw(turn, person)
        elif not self._conductor.stop(turn.turn_id, person):
            await self._tell(turn.session, person, _OVER, language)

    async def _tell(
        self, session: SessionKey, person: Person, phrase: Phrase, language: Language | None
    ) -> None:
        place = Place(session.channel, session.thread)
        await self._platform.whisper(place, person.id, whisper_view(phrase, language))
