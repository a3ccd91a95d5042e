"""Every inbound event comes through here once: is it ours, was it seen, what is it: a question, a click, a decision?"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chatops_bot.domain.errors import StoreUnavailable
from chatops_bot.domain.event import ControlUsed, DialogUsed, InboundEvent, MessageReceived, ModalSubmitted
from chatops_bot.domain.language import Language, Phrase, language_of, language_of_words
from chatops_bot.domain.people import Person
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.transcript import Entry, spoken_in
from chatops_bot.ports import Place, Platform, Store
from chatops_bot.rendering.notices import whisper_view
from chatops_bot.sessions.commands import (
    CancelWord,
    Command,
    DecideByCode,
    DecideSomething,
    DecideUnclear,
    StopWord,
    WithdrawWord,
    parse_command,
    reads_like_a_word,
)
from chatops_bot.sessions.conductor import Accepted, Conductor
from chatops_bot.sessions.decisions import Decisions
from chatops_bot.sessions.ending import let_go
from chatops_bot.sessions.followups import Followups, claim_of
from chatops_bot.sessions.forms import Forms, Taken
from chatops_bot.sessions.log_ids import bound
from chatops_bot.sessions.mailbox import WAITING_LIMIT, Mailboxes, TurnInput
from chatops_bot.sessions.peers import StopPressed, TurnHanded, Word, pass_on
from chatops_bot.sessions.proposal_cards import language_of as card_language
from chatops_bot.sessions.reading import Reading
from chatops_bot.sessions.reasons import Reasons
from chatops_bot.sessions.stopping import Stopping
from chatops_bot.sessions.store_away import StoreAway

_log = logging.getLogger(__name__)

MESSAGE_CHARS = 12_000
"""Longest question, about 4,000 tokens; a longer one is a log dump that belongs in a snippet, or a mistake."""

_EMPTY = Phrase(
    "您好，我在。可以问我例如：“最近有哪些任务失败了？”、“暂停 nightly-report”、“整体健康状况如何？”。",
    "I am here. Ask me, for example: “What failed recently?”, “pause nightly-report”, “How healthy is the scheduler?”.",
)
_ONLY_ATTACHMENT = Phrase(
    "我读不了附件；请把关键的几行文字贴到消息里再问一次。",
    "I cannot read attachments; paste the lines that matter into a message and ask again.",
)
_TOO_LONG = Phrase(
    "消息有 {length} 个字符，超过 {limit} 个字符的上限，没有处理；请只贴关键的几行再问一次。",
    "The message has {length} characters, over the limit of {limit}, so it was not read; paste the lines that matter and ask again.",
)
_NOT_KNOWN = Phrase("此控件已失效，未执行任何操作。", "This control is no longer valid; nothing was done.")
_FULL = Phrase(
    "此处已有 {limit} 条消息在排队，这一条没有处理；请等它们处理完再问。",
    "{limit} messages wait here already, so this one was not taken; ask again when they are done.",
)

_GO_ON = Phrase(
    "提案 {code} 的结果如何？接下来应该做什么？",
    "Proposal {code}: did it work? What should be done next?",
)


Overhears = Callable[[str, str, Sequence[Entry]], bool]
"""Whether a message (its text, its author's id, the thread's transcript) that calls nobody, in a thread of the bot, is one for the bot."""


def every_message(text: str, author_id: str, entries: Sequence[Entry]) -> bool:
    """A language model can tell from the conversation what is meant for it."""
    return True


Press = Callable[[ControlUsed], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Received:
    """What came of a message: the turn that it began, or what its author is still being told instead; neither when it was
    not for the bot, or was here before."""

    turn_id: str | None = None
    telling: asyncio.Task[None] | None = None


class Router:
    def __init__(
        self,
        *,
        store: Store,
        platform: Platform,
        decisions: Decisions,
        reading: Reading,
        reasons: Reasons,
        presses: Mapping[str, Press],
        looks: Mapping[str, Press],
        forms: Forms,
        followups: Followups,
        conductor: Conductor,
        policy: Policy,
        overhears: Overhears = every_message,
    ) -> None:
        """Who deals with a press on a card, by its control: `presses` ask themselves who may, `looks` are for all who may use the bot."""
        self._store = store
        self._platform = platform
        self._decisions = decisions
        self._reading = reading
        self._reasons = reasons
        self._presses = presses
        self._looks = looks
        self._forms = forms
        self._followups = followups
        self._conductor = conductor
        self._policy = policy
        self._overhears = overhears
        self._mailboxes = Mailboxes(conductor.conduct, conductor.wait)
        self._stopping = Stopping(self._mailboxes, conductor, platform, policy, store)
        self._under_way: set[asyncio.Task[None]] = set()
        self._store_away = StoreAway(platform)

    async def handle(self, event: InboundEvent) -> None:
        """Take one event. Returns when it is decided; a turn that it starts runs on."""
        match event:
            case MessageReceived():
                await self.message(event)
            case ControlUsed():
                with bound(session=event.session):
                    await self._control(event)
            case DialogUsed():
                await self._reading.press(event)

    async def message(self, event: MessageReceived) -> Received:
        """Take one message, as `handle` does."""
        with bound(session=event.session):
            try:
                return await self._message(event)
            except StoreUnavailable as error:
                _log.error("a message was not taken: %s", error)
                told = self._store_away.is_to_be_told(event)
                return Received(telling=self._beside(self._store_away.tell(event)) if told else None)

    async def submit(self, event: ModalSubmitted) -> Mapping[str, str]:
        """Take a dialog that was sent off; returns what is wrong with it by input, for the platform to show."""
        answered = await self._reasons.submitted(event, self._beside)
        if answered is not None:
            return answered
        taken = await self._forms.filled_in_dialog(event)
        self._beside(self._begin_filled(taken))
        return taken.problems or {}

    def resume(self, turns: Sequence[TurnInput]) -> None:
        """Start turns that another process had accepted and never started."""
        for turn in turns:
            self._mailboxes.put(turn)

    async def hear(self, word: Word) -> None:
        """Take what another process passes on."""
        match word:
            case TurnHanded(turn, refusal):
                if await self._store.turns.holder(turn.turn_id) == self._store.process:
                    self._begin_here(turn, refusal or self._policy.may_speak(turn.author))
            case StopPressed(session, turn_id, person):
                # Beside, since what a stop tells people may wait for Slack, and the next word must not.
                self._beside(self._stopping.by_button(session, turn_id, person))

    def held(self) -> Sequence[TurnInput]:
        """The turns that run or wait here."""
        return self._mailboxes.held()

    def let_go(self, turn: TurnInput) -> None:
        """Leave a turn to the process that has taken it over."""
        self._mailboxes.withdraw(turn)
        self._conductor.let_go(turn)

    async def _begin(self, accepted: Accepted, refusal: Phrase | None = None) -> None:
        """Run the turn, or end it with its refusal, here or in the process that has its session. Before the turn's first step if
        it runs here."""
        if accepted.holder == self._store.process:
            self._begin_here(accepted.turn, refusal)
        else:
            await pass_on(self._store, accepted.holder, TurnHanded(accepted.turn, refusal))

    def _begin_here(self, turn: TurnInput, refusal: Phrase | None) -> None:
        if refusal is None:
            self._mailboxes.put(turn)
        else:
            self._beside(self._conductor.refuse(turn, refusal))

    async def resume_forms(self) -> None:
        """Bring the messages of forms up to date, and begin the turns that the last process did not come to."""
        await self._forms.recover()
        await self.begin_filled()

    async def begin_filled(self) -> None:
        """Begin the turns of forms that were submitted and whose turn could not be stored; say of the others why not."""
        for taken in await self._forms.unbegun():
            await self._begin_filled(taken)

    async def drain(self, patience: float) -> None:
        """Start no turn any more, and wait up to `patience` seconds for running turns and decisions to come to their end."""
        deadline = asyncio.get_running_loop().time() + patience
        await self._mailboxes.close(patience)
        left = deadline - asyncio.get_running_loop().time()
        if self._under_way and left > 0:
            await asyncio.wait(self._under_way, timeout=left)

    async def cut(self, patience: float) -> None:
        """End what still runs within about `patience` seconds: turns say that they were interrupted, what waits says so too.

        A decision that is cut off here is settled by recovery at the next start.
        """
        waiting = [
            asyncio.create_task(self._conductor.hand_over(turn)) for turn in self._mailboxes.left_waiting()
        ]
        deadline = asyncio.get_running_loop().time() + patience
        await self._mailboxes.cut(patience)
        if waiting:
            await asyncio.wait(waiting, timeout=max(0.0, deadline - asyncio.get_running_loop().time()))
        await let_go([*waiting, *self._under_way])

    def _beside(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Decide, or tell, without holding up the session's next event: it may be a stop, and Slack may be slow for minutes."""
        task = asyncio.create_task(work, name="beside an event")
        self._under_way.add(task)
        task.add_done_callback(self._is_over)
        return task

    def _is_over(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        if not task.cancelled() and (failure := task.exception()) is not None:
            _log.error("what an event asked for was not carried out to its end", exc_info=failure)

    async def _message(self, event: MessageReceived) -> Received:
        command = await self._command(event)
        if not await self._is_for_us(event, command):
            return Received()
        text, language = event.text.strip(), await self._language(event)
        problem = _problem(text, event)
        is_question = command is None and problem is None and self._policy.may_speak(event.author) is None
        if is_question and not self._mailboxes.is_full(event.session):
            # Claimed in one step with the turn: a crash in between would lose a message that Slack does not send again.
            accepted = await self._conductor.accept(
                event.session, event.author, text, language=language, message_id=event.message_id, claim=event.dedupe_key,
                mentioned=event.mentioned,
            )  # fmt: skip
            if accepted is None:
                return Received()
            self._store_away.remember(event.session)
            await self._begin(accepted)
            return Received(turn_id=accepted.turn.turn_id)
        if not await self._store.inbox.claim(event.dedupe_key):
            return Received()
        # A stop takes effect in the first step of its task, which comes before the session's next message.
        return Received(telling=self._beside(self._answer_at_once(event, language, command, problem)))

    async def _command(self, event: MessageReceived) -> Command | None:
        """The command that the message is here: some are one only where something waits for them."""
        command = parse_command(event.text.strip())
        match command:
            case DecideByCode(_, code, _) | DecideUnclear(_, code) if reads_like_a_word(code):
                is_bare = isinstance(command, DecideByCode) and not command.reason
                return command if is_bare or await self._decisions.knows(event.session, code) else None
            case DecideSomething() if not await self._decisions.waiting(event.session):
                return None
            case CancelWord() if await self._forms.open_for(event.author, event.session):
                return command
            case CancelWord() | WithdrawWord():
                own = await self._decisions.waiting(event.session, event.author)
                return WithdrawWord() if own else None
        return command

    async def _is_for_us(self, event: MessageReceived, command: Command | None) -> bool:
        """Whether the bot is spoken to: called by its name, in private, or in a thread of its own where nobody else is called."""
        if event.mentions_bot or event.is_direct:
            return True
        if not await self._store.transcripts.known(event.session):
            return False
        if isinstance(command, (DecideByCode, DecideUnclear)):  # a reason may name others
            return True
        if event.mentions_others:
            return False
        if command is not None:
            return True
        entries = await self._store.transcripts.load(event.session)
        return self._overhears(event.text, event.author.id, entries)

    async def _language(self, event: MessageReceived) -> Language:
        """The language of the message, of the thread where the message does not tell."""
        said = language_of_words(event.text, event.names)
        if said is None and await self._store.transcripts.known(event.session):
            said = spoken_in(await self._store.transcripts.load(event.session))
        return said or "en"

    async def _answer_at_once(
        self,
        event: MessageReceived,
        language: Language,
        command: Command | None,
        problem: Phrase | None,
    ) -> None:
        """What is no question: a command, a message that cannot be one, or one question too many."""
        try:
            await self._answer(event, language, command, problem)
        except StoreUnavailable as error:
            _log.error("a message was not carried out: %s", error)
            await self._store_away.tell(event)

    async def _answer(
        self,
        event: MessageReceived,
        language: Language,
        command: Command | None,
        problem: Phrase | None,
    ) -> None:
        session, author = event.session, event.author
        if await self._refused(author, session, language):
            return
        match command:
            case DecideByCode(verdict, code, reason):
                await self._decisions.by_code(session, code, author, verdict, language, reason=reason)
            case DecideUnclear(verdict, code):
                await self._decisions.not_understood(session, code, author, verdict, language)
            case DecideSomething(verdict):
                if waiting := await self._decisions.waiting(session):
                    await self._decisions.ask_which(waiting, author, verdict, language)
            case WithdrawWord():
                if own := await self._decisions.waiting(session, author):
                    await self._decisions.ask_which(own, author, "reject", language)
            case CancelWord():
                await self._forms.cancel_by_word(author, session)
            case StopWord():
                await self._stopping.by_word(session, author, language)
            case None if problem is not None:
                is_empty = not event.text.strip()
                view = whisper_view(problem, None, "info") if is_empty else whisper_view(problem, language)
                await self._platform.post(Place(session.channel, session.thread), view)
            case None:
                await self._tell(session, author, _FULL.filled(limit=WAITING_LIMIT), language)

    async def _tell(
        self, session: SessionKey, person: Person, phrase: Phrase, language: Language | None
    ) -> None:
        place = Place(session.channel, session.thread)
        await self._platform.whisper(place, person.id, whisper_view(phrase, language))

    async def _control(self, event: ControlUsed) -> None:
        match event.control:
            case pressed if pressed in self._presses:
                await self._presses[pressed](event)
            case look if look in self._looks:
                if not await self._refused(event.person, event.session, None):
                    await self._looks[look](event)
            case "continue":
                await self._continue(event)
            case "form_submit":
                await self._begin_filled(await self._forms.filled(event))
            case "form_open":
                await self._forms.open_dialog(event)
            case "form_cancel":
                await self._forms.cancel(event)
            case "followup":
                await self._followup(event)
            case "stop":
                if not await self._refused(event.person, event.session, None):
                    await self._stopping.by_button(event.session, event.value, event.person)
            case _:
                _log.warning("control %r is not known", event.control)
                await self._tell(event.session, event.person, _NOT_KNOWN, None)

    async def _begin_filled(self, taken: Taken) -> None:
        """Begin the turn of a filled form, if it was one, and show what became of the form."""
        turn = taken.turn
        if turn and turn.filled and (accepted := await self._conductor.accept_filled(turn, turn.filled)):
            await self._begin(accepted, taken.refusal)
        if taken.form is not None:
            await self._forms.show_quietly(taken.form)

    async def _followup(self, event: ControlUsed) -> None:
        if not await self._may_begin(event):
            return
        question = await self._followups.question(event.value, event.person, event.session)
        if question is not None:
            await self._ask(event, question, language_of(question), claim_of(event.value))

    async def _continue(self, event: ControlUsed) -> None:
        """A turn that goes on from what came of a proposal: the session's memory has it. One for each showing of the card."""
        if not await self._may_begin(event):
            return
        found = await self._decisions.opened(event)
        if found is None:
            return
        proposal, how = found
        language = card_language(proposal)
        question = _GO_ON.filled(code=proposal.code).said_in(language)
        await self._ask(event, question, language, f"continue:{proposal.id}:{how.revision}")

    async def _may_begin(self, event: ControlUsed) -> bool:
        """Whether a press may begin a turn; otherwise its author is told why not."""
        if await self._refused(event.person, event.session, None):
            return False
        if self._mailboxes.is_full(event.session):
            await self._tell(event.session, event.person, _FULL.filled(limit=WAITING_LIMIT), None)
            return False
        return True

    async def _ask(self, event: ControlUsed, question: str, language: Language, claim: str) -> None:
        accepted = await self._conductor.accept(
            event.session, event.person, question, language=language, claim=claim
        )
        if accepted is None:
            await self._followups.tell_asked(question, event.person, event.session)
            return
        try:
            await self._followups.announce(question, event.person, event.session)
        finally:
            await self._begin(accepted)

    async def _refused(self, person: Person, session: SessionKey, language: Language | None) -> bool:
        """Whether the person may not use the bot at all; they alone are told."""
        refusal = self._policy.may_speak(person)
        if refusal is None:
            return False
        await self._conductor.turn_away(session, person, refusal)
        await self._tell(session, person, refusal, language)
        return True


def _problem(text: str, event: MessageReceived) -> Phrase | None:
    if not text:
        return _ONLY_ATTACHMENT if event.has_attachments else _EMPTY
    if len(text) > MESSAGE_CHARS:
        return _TOO_LONG.filled(length=f"{len(text):,}", limit=f"{MESSAGE_CHARS:,}")
    return None
