"""A turn from its first message to its rest: placeholder, request, loop, end. The turn border stands here."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from chatops_bot.agent.loop import Loop, Turn
from chatops_bot.context.hardening import inline
from chatops_bot.context.scanning import scan_untrusted
from chatops_bot.domain.errors import (
    ModelError,
    ModelTimeout,
    ModelUnavailable,
    PlatformError,
    StoreUnavailable,
    TurnLost,
)
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import RunningTurn, SessionKey, TurnOutcome
from chatops_bot.domain.transcript import Entry, FormFilled, TurnRested, UserSaid
from chatops_bot.domain.turn_event import Asked, Noted, Proposed, Rested, TurnEvent
from chatops_bot.ports import Clock, Consultations, Ids, Place, Platform, Store, ToolContext
from chatops_bot.rendering import notices
from chatops_bot.rendering.links import NO_LINKS, Links
from chatops_bot.rendering.turn_view import TurnView
from chatops_bot.sessions.answer import AnswerMessage
from chatops_bot.sessions.briefing import Briefer
from chatops_bot.sessions.followups import Followups
from chatops_bot.sessions.forms import Forms
from chatops_bot.sessions.log_ids import bound
from chatops_bot.sessions.mailbox import TurnInput, stored_input
from chatops_bot.sessions.memory import ThreadMemory
from chatops_bot.sessions.proposal_cards import ProposalCards
from chatops_bot.sessions.recording import asked_record, refused_record
from chatops_bot.sessions.resting import store_rest

NAME_CHARS = 80

_log = logging.getLogger(__name__)

_INSIDE = Phrase(
    "机器人内部出错，本轮已结束；详情见日志。",
    "Something inside the bot failed and ended this turn; its log has the details.",
)


def _tells_nobody(turn_id: str, outcome: TurnOutcome) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Accepted:
    """A turn that was recorded, and the process that holds it: this one, or another that has the session already."""

    turn: TurnInput
    holder: str


@dataclass(slots=True)
class _Progress:
    """What is known of a running turn when it comes to rest, however it does. One that has not started can start again.
    `is_outage`: it ended because the model, the platform or the store was away."""

    outcome: TurnOutcome = TurnOutcome.FAILED
    body: str = ""
    started: bool = False
    is_outage: bool = False


class Conductor:
    def __init__(
        self,
        *,
        platform: Platform,
        store: Store,
        loop: Loop,
        briefer: Briefer,
        cards: ProposalCards,
        forms: Forms,
        followups: Followups,
        redactor: Redactor,
        clock: Clock,
        ids: Ids,
        on_rest: Callable[[str, TurnOutcome], None] = _tells_nobody,
        links: Links = NO_LINKS,
    ) -> None:
        """`links` are those that answers may hold; `on_rest` is told of each turn, by its id, that came to rest, after its last message."""
        self._platform = platform
        self._store = store
        self._loop = loop
        self._briefer = briefer
        self._cards = cards
        self._forms = forms
        self._followups = followups
        self._redactor = redactor
        self._clock = clock
        self._ids = ids
        self._memory = ThreadMemory(platform, redactor, clock)
        self._answers: dict[str, AnswerMessage] = {}
        self._on_rest = on_rest
        self._links = links
        self._running: dict[str, asyncio.Task[None]] = {}
        self._stopped: dict[str, Person] = {}
        self._lost: set[str] = set()

    async def accept(
        self,
        session: SessionKey,
        author: Person,
        text: str,
        *,
        language: Language,
        message_id: str = "",
        claim: str = "",
        mentioned: Mapping[str, str] | None = None,
    ) -> Accepted | None:
        """Record a turn that is to run, so that the next process starts it if this one never does.

        None when the inbox key `claim` was claimed before: the turn is there already.
        """
        safe, now = self._redactor.text(text), self._clock.now()
        names = self._redactor.value(mentioned or {})
        turn = TurnInput(
            self._ids.new("turn"), session, author, safe, message_id, now, language=language, mentioned=names
        )
        return await self._accepted(turn, claim)

    async def accept_filled(self, turn: TurnInput, filled: FormFilled) -> Accepted | None:
        """Record the turn of a filled form, as `accept` does; None when it is there already."""
        return await self._accepted(turn, f"form:{filled.form_id}")

    async def _accepted(self, turn: TurnInput, claim: str) -> Accepted | None:
        snapshot = self._view(turn.turn_id, turn.language).snapshot()
        accepted = RunningTurn(turn.turn_id, turn.session, None, turn.language, snapshot, stored_input(turn))
        holder = await self._store.turns.begin(accepted, claim)
        return Accepted(turn, holder) if holder else None

    def wait(self, turn_input: TurnInput, ahead: int) -> None:
        """Show that an accepted turn waits for `ahead` others."""
        self._answer(turn_input).wait(ahead)

    async def conduct(self, turn_input: TurnInput) -> None:
        """Run one accepted turn to its rest. Whatever fails in it ends this turn and nothing else.

        Cancelled once, it still stores and shows that it was interrupted; cancelled twice, it lets go of everything.
        """
        with bound(session=turn_input.session, turn=turn_input.turn_id):
            _log.info("a turn begins")
            await self._conduct_bound(turn_input)

    async def _conduct_bound(self, turn_input: TurnInput) -> None:
        turn_id = turn_input.turn_id
        answer = self._answer(turn_input)
        work = asyncio.create_task(self._conduct(turn_id, turn_input, answer), name=turn_id)
        self._running[turn_id] = work
        try:
            await asyncio.wait({work})
            if work.cancelled() and (person := self._stopped.get(turn_id)) is not None:
                await self.withdraw(turn_input, person)  # stopped before its first step
        except asyncio.CancelledError:
            if self._running.pop(turn_id, None) is not None:
                work.cancel()  # one that already rests may finish showing its end
            try:
                await asyncio.wait({work})
            finally:
                work.cancel()
                answer.abandon()
            raise
        finally:
            self._running.pop(turn_id, None)
            self._answers.pop(turn_id, None)
            self._stopped.pop(turn_id, None)
            self._lost.discard(turn_id)
        if not work.cancelled() and (failure := work.exception()) is not None:
            _log.error("turn %s could not be brought to its end", turn_id, exc_info=failure)

    def stop(self, turn_id: str, person: Person) -> bool:
        """Stop a running turn for `person`; False when it is not running (any more)."""
        work = self._running.get(turn_id)
        if work is None:
            return False
        self._stopped.setdefault(turn_id, person)
        return work.cancel()

    def let_go(self, turn_input: TurnInput) -> None:
        """Leave a turn, running or not, to the process that has taken it over."""
        if (answer := self._answers.pop(turn_input.turn_id, None)) is not None:
            answer.abandon()
        if (work := self._running.get(turn_input.turn_id)) is not None:
            self._lost.add(turn_input.turn_id)
            work.cancel()

    async def withdraw(self, turn_input: TurnInput, person: Person) -> None:
        """End an accepted turn that never started, because `person` took it back."""
        taken_back = notices.WITHDRAWN_BY.filled(name=inline(person.name, NAME_CHARS))
        await self._end_unstarted(turn_input, taken_back, TurnOutcome.STOPPED)

    async def refuse(self, turn_input: TurnInput, why: Phrase) -> None:
        """End an accepted turn that may not start, and say why."""
        await self.turn_away(turn_input.session, turn_input.author, why, turn_input.turn_id)
        await self._end_unstarted(turn_input, why, TurnOutcome.FAILED)

    async def turn_away(self, session: SessionKey, person: Person, why: Phrase, turn_id: str = "") -> None:
        """Record that somebody may not use the bot, and so began nothing; telling them is for the caller."""
        record = refused_record(session, person, why, turn_id, self._clock.now(), self._redactor)
        await self._store.audit.record(record)

    async def _end_unstarted(self, turn_input: TurnInput, note: Phrase, outcome: TurnOutcome) -> None:
        answer = self._answer(turn_input)
        answer.show(Noted(note))
        answer.show(Rested(outcome, ""))
        await answer.rest()
        await self._finish(turn_input.turn_id, answer, outcome)
        self._answers.pop(turn_input.turn_id, None)
        self._on_rest(turn_input.turn_id, outcome)

    async def hand_over(self, turn_input: TurnInput) -> None:
        """Say in the message of a turn that waits, if it has one, that the next process starts it."""
        answer = self._answers.pop(turn_input.turn_id, None)
        if answer is None:
            self._on_rest(turn_input.turn_id, TurnOutcome.INTERRUPTED)
        else:
            await self._leave(turn_input, answer)

    async def _leave(self, turn_input: TurnInput, answer: AnswerMessage) -> None:
        """Leave a turn that has not started to the next process."""
        answer.view.hand_over()
        await answer.rest()
        try:
            await answer.finish()
        except PlatformError as error:
            turn_id = turn_input.turn_id
            _log.warning("turn %s: that it starts after the restart could not be shown: %s", turn_id, error)
        self._on_rest(turn_input.turn_id, TurnOutcome.INTERRUPTED)

    def _answer(self, turn_input: TurnInput) -> AnswerMessage:
        turn_id = turn_input.turn_id
        if turn_id not in self._answers:
            place = Place(turn_input.session.channel, turn_input.session.thread)
            view = self._view(turn_id, turn_input.language)
            self._answers[turn_id] = AnswerMessage(
                self._platform,
                self._store.turns,
                turn_id,
                place,
                view,
                self._clock,
                look_first=turn_input.resumed,
            )
        return self._answers[turn_id]

    async def _conduct(self, turn_id: str, turn_input: TurnInput, answer: AnswerMessage) -> None:
        try:
            await self._conduct_to_its_rest(turn_id, turn_input, answer)
        except TurnLost as error:
            _log.warning("%s", error)
            await self._give_way(turn_input, answer)

    async def _give_way(self, turn_input: TurnInput, answer: AnswerMessage) -> None:
        """Another process has the turn. If it ended it, show that end: an edit of this one may have come after."""
        answer.abandon()
        turn_id = turn_input.turn_id
        self._briefer.rested(turn_id, TurnOutcome.INTERRUPTED)
        self._on_rest(turn_id, TurnOutcome.INTERRUPTED)
        try:
            entries = await self._store.transcripts.load(turn_input.session)
        except StoreUnavailable as error:
            _log.warning("turn %s: whether its end is to be shown cannot be asked: %s", turn_id, error)
            return
        for entry in entries:
            if (
                isinstance(entry, TurnRested)
                and entry.turn_id == turn_id
                and entry.outcome is TurnOutcome.INTERRUPTED
            ):
                answer.view.interrupted()
                try:
                    await answer.finish()
                except PlatformError as error:
                    _log.warning("turn %s: its end could not be shown: %s", turn_id, error)

    async def _conduct_to_its_rest(self, turn_id: str, turn_input: TurnInput, answer: AnswerMessage) -> None:
        language = turn_input.language
        progress = _Progress()
        try:
            await answer.open()
            await self._run(turn_id, turn_input, language, answer, progress)
        except TurnLost:
            raise
        except asyncio.CancelledError:
            if turn_id in self._lost:
                raise TurnLost(turn_id) from None
            stopped_by = self._stopped.get(turn_id)
            if stopped_by is None and not progress.started:
                await self._leave(turn_input, answer)
                return
            if stopped_by is not None:
                said = notices.STOPPED_BY if answer.view.has_findings else notices.STOPPED_EARLY_BY
                answer.show(Noted(said.filled(name=inline(stopped_by.name, NAME_CHARS))))
            progress.outcome = TurnOutcome.STOPPED if stopped_by is not None else TurnOutcome.INTERRUPTED
            answer.show(Rested(progress.outcome, progress.body))
        except ModelError as error:
            _log.warning("turn %s: %s", turn_id, self._redactor.text(str(error)))
            progress.is_outage = isinstance(error, ModelUnavailable | ModelTimeout)
            answer.show(Noted(error.phrase))
            answer.show(Rested(progress.outcome, progress.body))
        except PlatformError as error:
            _log.warning("turn %s: the chat platform failed: %s", turn_id, error)
            progress.is_outage = True
            answer.show(Rested(progress.outcome, progress.body))
        except StoreUnavailable as error:
            _log.error("turn %s: %s", turn_id, error)
            progress.is_outage = True
            answer.show(Noted(notices.NOT_STORED))
            answer.show(Rested(progress.outcome, progress.body))
        except Exception:  # noqa: BLE001  # the turn border: whatever fails ends this turn and no other
            _log.exception("turn %s failed", turn_id)
            answer.show(Noted(_INSIDE))
            answer.show(Rested(progress.outcome, progress.body))
        self._running.pop(turn_id, None)  # from here on a Stop would only keep the end from being stored
        try:
            await self._rest(turn_id, turn_input, answer, progress)
        except StoreUnavailable as error:
            _log.error("turn %s: its end could not be stored: %s", turn_id, error)
            await self._show_unstored(turn_id, answer)
        finally:
            self._briefer.rested(turn_id, progress.outcome, is_outage=progress.is_outage)
            self._on_rest(turn_input.turn_id, progress.outcome)

    def _view(self, turn_id: str, language: Language) -> TurnView:
        return TurnView(
            language,
            self._platform.limits.text_chars,
            self._redactor,
            stop_value=turn_id,
            links=self._links,
        )

    async def _run(
        self,
        turn_id: str,
        turn_input: TurnInput,
        language: Language,
        answer: AnswerMessage,
        progress: _Progress,
    ) -> None:
        author, session = turn_input.author, turn_input.session
        entries = await self._store.transcripts.load(session)
        earlier, notice = await self._memory.recall(session, turn_id, turn_input.message_id, entries)
        if notice is not None:
            answer.show(Noted(notice))
        now = self._clock.now()
        said: Entry = turn_input.filled or UserSaid(
            turn_id,
            now,
            author.id,
            author.name,
            author.role.value,
            turn_input.text,
            language,
            turn_input.mentioned,
        )
        if turn_input.filled is None:  # a form that was filled in has been recorded
            await self._store.audit.record(
                asked_record(turn_input, now, self._redactor, scan_untrusted(turn_input.text))
            )
        progress.started = True
        await self._store.transcripts.append(session, [said] if earlier is None else [earlier, said])
        entries = await self._store.transcripts.load(session)
        briefing = self._briefer.brief(turn_input, entries, language)
        turn = Turn(
            context=ToolContext(
                author, session, turn_id, agents=(briefing.agent_id,), consultations=Consultations(language)
            ),
            language=language,
            briefing=briefing,
            asked=turn_input.text,
        )

        async def emit(event: TurnEvent) -> None:
            if isinstance(event, Rested):
                progress.outcome, progress.body = event.outcome, event.body
                questions = [self._redactor.text(question) for question in event.followups]
                answer.view.offer(await self._followups.offered(questions))
            answer.show(event)
            if isinstance(event, Proposed):
                await self._cards.show_new(event.proposal)
            elif isinstance(event, Asked):
                await self._forms.show(event.form)

        await self._loop.run_turn(turn, emit)

    async def _rest(
        self, turn_id: str, turn_input: TurnInput, answer: AnswerMessage, progress: _Progress
    ) -> None:
        """Store the end first, then show it: a crash in between leaves only an edit to catch up on."""
        await answer.rest()
        body = self._redactor.text(progress.body)
        await store_rest(self._store, turn_input.session, turn_id, progress.outcome, body, self._clock)
        _log.info("the turn rests: %s", progress.outcome)
        await self._finish(turn_id, answer, progress.outcome)

    async def _show_unstored(self, turn_id: str, answer: AnswerMessage) -> None:
        """Let nobody wait for an answer whose end the store did not take; the next start closes it."""
        if answer.view.outcome is None:
            return
        try:
            await answer.finish()
        except PlatformError as error:
            _log.warning("turn %s: its end could not be shown: %s", turn_id, error)

    async def _finish(self, turn_id: str, answer: AnswerMessage, outcome: TurnOutcome) -> None:
        try:
            await answer.finish()
        except PlatformError as error:
            # The store goes on calling it running, so that the next start brings the message to its end.
            _log.warning("turn %s: its final message could not be shown: %s", turn_id, error)
            return
        await self._store.turns.end(turn_id, outcome)
