"""People on this machine: their questions go down the road of every message, their decisions down that of every decision.

The desk is the bot's side of the terminal, whether it is reached over the local API or within one process. A question is
an inbound event for the router, and what the turn shows comes back as frames. A decision by code is made by the same
engine as one in a chat; what they would whisper into the chat is the answer here.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from chatops_bot.domain.event import ControlUsed, MessageReceived
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.session import MessageRef, SessionKey, TurnOutcome
from chatops_bot.domain.thread import ThreadExcerpt
from chatops_bot.domain.view import Modal, View
from chatops_bot.domain.voting import vote_of
from chatops_bot.platforms.terminal.adapter import CHANNEL, NAME, WORKSPACE, TerminalPlatform
from chatops_bot.platforms.terminal.frames import Ended, Frame, Opened, Whispered
from chatops_bot.platforms.terminal.people import LocalPeople, LocalRefused
from chatops_bot.ports import Ids, Place, Platform, PlatformLimits, Store
from chatops_bot.rendering.channel_names import NameOf, unnamed, with_channel_names
from chatops_bot.rendering.escapes import exact
from chatops_bot.rendering.notices import whisper_view
from chatops_bot.sessions.commands import (
    DecideByCode,
    DecideUnclear,
    Verdict,
    parse_command,
    reads_like_a_word,
)
from chatops_bot.sessions.decisions import Decisions, not_understood
from chatops_bot.sessions.ending import let_go
from chatops_bot.sessions.reading import Reading
from chatops_bot.sessions.router import Router

T = TypeVar("T")
THREAD_ID_CHARS = 16
"""Of a fresh id: short enough to type again, with 56 random bits too long to guess."""

_UNKNOWN = Phrase(
    "找不到提案 {code}，未执行任何操作；请核对卡片上的代码。",
    "There is no proposal {code}, so nothing was run; check the code on the card.",
)
_AMBIGUOUS = Phrase(
    "有多个未决提案的代码是 {code}，未执行任何操作；请在卡片上操作。",
    "More than one open proposal has the code {code}, so nothing was run; decide on its card.",
)

_ENDS: dict[Verdict, ProposalState] = {"approve": ProposalState.APPLIED, "reject": ProposalState.REJECTED}


class Rests:
    """Who waits for the end of a turn is told of it: `tell` is the conductor's `on_rest`."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Future[TurnOutcome]] = {}

    def expect(self, turn_id: str) -> "asyncio.Future[TurnOutcome]":
        waiting = self._waiting[turn_id] = asyncio.get_running_loop().create_future()
        waiting.add_done_callback(lambda _: self._waiting.pop(turn_id, None))
        return waiting

    def tell(self, turn_id: str, outcome: TurnOutcome) -> None:
        waiting = self._waiting.get(turn_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(outcome)


@dataclass(frozen=True, slots=True)
class Decision:
    """`is_done`: the decision was this person's, and led where it should. `views` say what came of it."""

    is_done: bool
    views: tuple[View, ...]


@dataclass(frozen=True, slots=True)
class _Begun:
    """A turn that a question began, and the end that it comes to."""

    turn_id: str
    end: "asyncio.Future[TurnOutcome]"


@dataclass(slots=True)
class LocalDesk:
    """`platform` is all that the bot speaks through; `decisions_on` makes decisions that are told through another;
    `card` draws a proposal."""

    terminal: TerminalPlatform
    platform: Platform
    people: LocalPeople
    router: Router
    store: Store
    rests: Rests
    ids: Ids
    model_name: str
    decisions_on: Callable[[Platform], Decisions]
    reading: Reading
    card: Callable[[Proposal], View]
    channel_name: NameOf = unnamed
    _takes_no_more: bool = False
    _asked: dict[str, "asyncio.Task[_Begun | None]"] = field(default_factory=dict)
    """The question that is being answered in a thread."""
    _deciding: set[asyncio.Task[Any]] = field(default_factory=set)
    _under_way: set[asyncio.Task[Any]] = field(default_factory=set)

    async def ask(
        self, user: str, text: str, *, thread: str | None = None, role: Role | None = None
    ) -> AsyncGenerator[Frame, None]:
        """The frames of one question by a user of this machine: `Opened` first, `Ended` last.

        `thread` continues an earlier conversation, which must exist. Closing the generator stops the turn. Raises
        LocalRefused before the first frame.
        """
        self._require_open()
        role = role or Role.VIEWER
        author = self.people.acting(user, role)
        command = parse_command(text)
        if thread is not None and not await self.store.transcripts.known(_session(thread)):
            raise LocalRefused(f"There is no thread {thread} here; ask without a thread to begin one.")
        thread = thread or self.ids.new("t")[:THREAD_ID_CHARS]
        session = _session(thread)
        if self.terminal.is_taken(thread) or thread in self._asked:
            raise LocalRefused(
                f"Another question in thread {thread} is still being answered; wait for its end."
            )
        seat = self.terminal.sit(thread)
        yield Opened(thread, self.model_name)
        try:
            if isinstance(command, DecideByCode) and not (command.reason and reads_like_a_word(command.code)):
                decision = await self.decide(
                    user, command.code, command.verdict, role=role, reason=command.reason
                )
                for view in decision.views:
                    yield Whispered(view)
                yield Ended(TurnOutcome.ANSWERED if decision.is_done else None)
                return
            if isinstance(command, DecideUnclear) and await self.store.proposals.with_code(
                command.code.upper()
            ):
                yield Whispered(whisper_view(not_understood(command.verdict, command.code), "en"))
                yield Ended(None)
                return
            begun = self._asked[thread] = self._task(self._begin(session, author, text))
            turn = self._task(_end_of(begun))
            turn.add_done_callback(lambda _: self._asked.pop(thread))
            turn.add_done_callback(lambda _: seat.close())
            try:
                async for frame in seat.frames():
                    yield replace(frame, view=await with_channel_names(frame.view, self.channel_name))
                yield Ended(await turn)
            finally:
                if not turn.done():
                    self._task(self.stop(user, thread))
        finally:
            self.terminal.leave(thread)

    async def _begin(self, session: SessionKey, author: Person, text: str) -> _Begun | None:
        """Hand the question to the router; None when it began no turn, and its author was told why."""
        message_id = self.ids.new("local")
        received = await self.router.message(
            MessageReceived(message_id, session, message_id, author, text, mentions_bot=True, is_direct=True)
        )
        if received.turn_id is not None:
            # Before the turn's first step: the router has only just made its task.
            return _Begun(received.turn_id, self.rests.expect(received.turn_id))
        if received.telling is not None:
            await received.telling
        return None

    async def stop(self, user: str, thread: str) -> None:
        """Stop the turn of the question that is being answered in a thread, as its Stop button would."""
        asked = self._asked.get(thread)
        begun = await asyncio.shield(asked) if asked is not None else None
        if begun is not None:
            person = self.people.acting(user)
            await self.router.handle(
                ControlUsed(_session(thread), person, "stop", begun.turn_id, MessageRef(CHANNEL, thread))
            )

    async def decide(
        self, user: str, code: str, verdict: Verdict, *, role: Role | None = None, reason: str = ""
    ) -> Decision:
        """Approve or reject the proposal with this code, wherever it was made. Raises LocalRefused.

        The first approval of what no card shows whole answers with all of it, and counts as its reading; the next one decides.

        Carried out to its end even when the caller goes away.
        """
        self._require_open()
        person = self.people.acting(user, role)
        deciding = self._task(self._decide(person, code.upper(), verdict, reason))
        self._deciding.add(deciding)
        deciding.add_done_callback(self._deciding.discard)
        decision = await asyncio.shield(deciding)
        views = [await with_channel_names(view, self.channel_name) for view in decision.views]
        return replace(decision, views=tuple(views))

    async def _decide(self, person: Person, code: str, verdict: Verdict, reason: str) -> Decision:
        found = await self.store.proposals.with_code(code)
        candidates = [proposal for proposal in found if proposal.is_open] or found[-1:]
        if not candidates:
            return Decision(False, (whisper_view(_UNKNOWN.filled(code=exact(code)), "en"),))
        if len(candidates) > 1:
            return Decision(False, (whisper_view(_AMBIGUOUS.filled(code=exact(code)), "en"),))
        proposal = candidates[0]
        if verdict == "approve" and (whole := await self.reading.here(proposal, person)) is not None:
            return Decision(False, (whole,))
        heard = _Heard(self.platform)
        language: Language = "zh" if proposal.language == "zh" else "en"
        await self.decisions_on(heard).by_code(
            proposal.session, code, person, verdict, language, reason=reason, via="local"
        )
        after = await self.store.proposals.get(proposal.id) or proposal
        if heard.views:
            return Decision(False, tuple(heard.views))
        is_one_of_several = verdict == "approve" and after.is_open and vote_of(after, person.id) is not None
        return Decision(is_one_of_several or after.state is _ENDS[verdict], (self.card(after),))

    def _task(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work, name="local desk")
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return task

    def take_no_more(self) -> None:
        """Refuse every further question and decision; what was taken goes on."""
        self._takes_no_more = True

    def _require_open(self) -> None:
        if self._takes_no_more:
            raise LocalRefused("The bot is stopping and takes nothing more; try again when it has started.")

    async def drain(self, patience: float) -> None:
        """Wait up to `patience` seconds for decisions to be carried out; turns are the router's to wait for."""
        if self._deciding:
            await asyncio.wait(self._deciding, timeout=patience)

    async def aclose(self, patience: float) -> None:
        """Let what is under way come to its end for at most `patience` seconds, and cut it off then."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=patience)
            await let_go(self._under_way)


async def _end_of(begun: "asyncio.Task[_Begun | None]") -> TurnOutcome | None:
    turn = await begun
    return await turn.end if turn is not None else None


def _session(thread: str) -> SessionKey:
    return SessionKey(NAME, WORKSPACE, CHANNEL, thread)


class _Heard:
    """A platform on which whispers are kept for the caller: who decides at a terminal reads the answer there."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self.views: list[View] = []

    @property
    def limits(self) -> PlatformLimits:
        return self._platform.limits

    async def post(self, place: Place, view: View, key: str = "") -> MessageRef:
        return await self._platform.post(place, view, key)

    async def find(self, place: Place, key: str) -> MessageRef | None:
        return await self._platform.find(place, key)

    def edit(self, ref: MessageRef, view: View) -> None:
        self._platform.edit(ref, view)

    async def finish(self, ref: MessageRef, view: View) -> MessageRef:
        return await self._platform.finish(ref, view)

    async def link(self, ref: MessageRef) -> str:
        return await self._platform.link(ref)

    async def whisper(self, place: Place, person_id: str, view: View) -> None:
        self.views.append(view)

    async def open_modal(self, trigger: str, modal: Modal) -> None:
        await self._platform.open_modal(trigger, modal)

    async def update_modal(self, dialog: str, modal: Modal) -> None:
        await self._platform.update_modal(dialog, modal)

    async def earlier(self, place: Place, before: str, limit: int) -> ThreadExcerpt:
        return await self._platform.earlier(place, before, limit)
