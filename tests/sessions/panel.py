"""The decision engine over a real store, with a board in place of a chat, and switches in place of a scheduler."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict

from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.audit_check import Unreadable
from chatops_bot.domain.errors import PlatformError, ToolFailed, ToolImpossible
from chatops_bot.domain.event import ControlUsed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Person, Role
from chatops_bot.domain.policy import Policy, Subject
from chatops_bot.domain.proposal import Proposal, Via
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.sealed_button import sealed_button
from chatops_bot.domain.sealed_vote import VoteSeals
from chatops_bot.domain.session import MessageRef, SessionKey
from chatops_bot.domain.thread import ThreadExcerpt
from chatops_bot.domain.tool import Change, Outcome, Plan, ToolCall
from chatops_bot.domain.view import Button, Buttons, Modal, View
from chatops_bot.ports import Place, PlatformLimits, Store, ToolContext, ToolSpec
from chatops_bot.rendering.card import proposal_card
from chatops_bot.sessions.applying import Applying
from chatops_bot.sessions.decisions import Decisions
from chatops_bot.sessions.proposal_cards import ProposalCards
from chatops_bot.sessions.renewals import Renewals
from chatops_bot.sessions.target_lock import TargetLock
from chatops_bot.sessions.telling import Telling
from chatops_bot.tools.apply import Applier
from chatops_bot.tools.asking import Asker
from chatops_bot.tools.dispatch import Dispatcher
from chatops_bot.tools.drafting import Drafter
from chatops_bot.tools.invocation import Dispatched, TurnMemory
from chatops_bot.tools.proposal_moves import ProposalMoves
from chatops_bot.tools.proposing import Proposer
from chatops_bot.tools.registry import Registry
from tests.small_tools import HOUR, KEY, OSCAR, SESSION, WORDS

ANA = Person("U2", "Ana", Role.APPROVER)
BEN = Person("U3", "Ben", Role.APPROVER)
ADAM = Person("U4", "Adam", Role.ADMIN)
VERA = Person("U5", "Vera", Role.VIEWER)
SEALS = VoteSeals([KEY])
BUTTONS = b"the key of buttons, 32 bytes...."


class FlipArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")
    task_id: int
    action: str
    note: str = ""


WANTED = {"pause": "disabled", "resume": "enabled", "archive": "archived"}
FLIP = ToolSpec("flip", FlipArgs, Effect.WRITE, Phrase("切换", "flipping"), timeout=5)


class OtherArgs(FlipArgs):
    force: bool = False


@dataclass
class Switches:
    """Writes: every task is on at first. `gate` holds an action up after it took effect; `fault` is raised then; one
    that `sticks` stays as it was."""

    states: dict[int, str] = field(default_factory=dict)
    applied: list[tuple[str, int, str]] = field(default_factory=list)
    ran_as: list[Person] = field(default_factory=list)
    planned: int = 0
    gate: asyncio.Event | None = None
    entered: asyncio.Queue[int] = field(default_factory=asyncio.Queue)
    under_way: set[int] = field(default_factory=set)
    fault: Exception | None = None
    sticks: bool = False
    summary: str = ""
    spec: ToolSpec = FLIP

    async def plan(self, arguments: FlipArgs, context: ToolContext) -> Plan:
        self.planned += 1
        task, before = arguments.task_id, self.state(arguments.task_id)
        after = WANTED[arguments.action]
        if before == after:
            raise ToolImpossible(Phrase(f"任务 #{task} 已经是 {after}", f"Task #{task} is {after} already"))
        if task < 1:
            raise ToolFailed(Phrase("没有这个任务", f"There is no task {task}."))
        return Plan(
            f"task #{task}", Phrase("切换", self.summary or f"{arguments.action} task #{task}"), (Change("status", before, after),), "low",
            {"status": before},
        )  # fmt: skip

    async def apply(self, arguments: FlipArgs, context: ToolContext) -> Outcome:
        task = arguments.task_id
        assert task not in self.under_way, "two changes of one target at once"
        self.applied.append((context.idempotency_key, task, arguments.action))
        self.ran_as.append(context.person)
        if not self.sticks:
            self.states[task] = WANTED[arguments.action]
        self.under_way.add(task)
        try:
            self.entered.put_nowait(task)
            if self.gate is not None:
                await self.gate.wait()
            if self.fault is not None:
                raise self.fault
        finally:
            self.under_way.discard(task)
        is_done = self.state(task) == WANTED[arguments.action]
        return Outcome(is_done, True, Phrase("已切换", "flipped"), {"status": self.state(task)})

    async def probe(self, arguments: FlipArgs, plan: Plan, context: ToolContext) -> Outcome | None:
        done = self.state(arguments.task_id) == WANTED[arguments.action]
        return Outcome(True, True, Phrase("已切换", "flipped"), {}) if done else None

    def state(self, task: int) -> str:
        return self.states.get(task, "enabled")


@dataclass
class Board:
    """A platform in memory that shows at once; `slow` holds up the next card only. `told` are whispers: who, and what."""

    limits: PlatformLimits = field(default_factory=lambda: PlatformLimits(text_chars=1000, edit_interval=0))
    cards: dict[str, View] = field(default_factory=dict)
    posted: list[str] = field(default_factory=list)
    told: list[tuple[str, View]] = field(default_factory=list)
    on_show: Callable[[str, View], None] = lambda key, view: None
    refusal: PlatformError | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    slow: asyncio.Event | None = None

    async def post(self, place: Place, view: View, key: str = "") -> MessageRef:
        if self.refusal is not None:
            raise self.refusal
        self.posted.append(key)
        return await self.finish(MessageRef(place.channel, key), view)

    async def find(self, place: Place, key: str) -> MessageRef | None:
        return MessageRef(place.channel, key) if key in self.cards else None

    def edit(self, ref: MessageRef, view: View) -> None:
        self.cards[ref.id] = view

    async def finish(self, ref: MessageRef, view: View) -> MessageRef:
        if self.refusal is not None:
            raise self.refusal
        slow, self.slow = self.slow, None
        if slow is not None:
            self.changed.set()
            await slow.wait()
        self.on_show(ref.id, view)
        self.cards[ref.id] = view
        self.changed.set()
        return ref

    async def link(self, ref: MessageRef) -> str:
        return f"https://chat.example/{ref.id}"

    async def whisper(self, place: Place, person_id: str, view: View) -> None:
        self.told.append((person_id, view))

    async def open_modal(self, trigger: str, modal: Modal) -> None:
        raise AssertionError("no dialog is opened")

    async def update_modal(self, dialog: str, modal: Modal) -> None:
        raise AssertionError("no dialog is open")

    async def earlier(self, place: Place, before: str, limit: int) -> ThreadExcerpt:
        return ThreadExcerpt()

    async def comes_to_show(self, key: str, text: str) -> None:
        async with asyncio.timeout(10):
            while text not in str(self.cards[key]):
                self.changed.clear()
                await self.changed.wait()

    def heard(self, person: Person) -> list[str]:
        """What this person alone was told, in order."""
        return [view.fallback for person_id, view in self.told if person_id == person.id]

    def buttons(self, proposal_id: str) -> dict[str, Button]:
        rows = [block for block in self.cards[proposal_id].blocks if isinstance(block, Buttons)]
        return {button.control: button for row in rows for button in row.buttons}


@dataclass
class People:
    """Who everybody is now. `asked` are the ids that were asked for afresh; `gate` holds the answer up; of the `silent` none comes."""

    known: dict[str, Person]
    asked: list[str] = field(default_factory=list)
    fault: PlatformError | None = None
    silent: set[str] = field(default_factory=set)
    gate: asyncio.Event | None = None
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def person(self, user_id: str, channel: str = "", *, fresh: bool = False) -> Person:
        if self.fault is not None:
            raise self.fault
        if user_id in self.silent:
            raise PlatformError("Slack does not answer.")
        if fresh:
            self.asked.append(user_id)
            self.reached.set()
            if self.gate is not None:
                await self.gate.wait()
        return self.known.get(user_id, Person(user_id, user_id, Role.GUEST))


NO = Phrase("不行", "No.")


class Says(Policy):
    """Refuses from the `nos`th question on; `asked` are those who were asked about, and how they came."""

    def __init__(self, nos: int = 0) -> None:
        super().__init__()
        self.nos = nos
        self.asked: list[tuple[str, Via | None]] = []

    def may_approve(
        self, person: Person, subject: Subject, now: datetime, *, break_glass: str = "", via: Via = "button"
    ) -> Phrase | None:
        return self._answer(person, via)

    def may_reject(self, person: Person, subject: Subject) -> Phrase | None:
        return self._answer(person, None)

    def _answer(self, person: Person, via: Via | None) -> Phrase | None:
        self.asked.append((person.id, via))
        return NO if len(self.asked) > self.nos else None


class TwoMust(Policy):
    """Two people must approve; `edition` is what changes when the rules do."""

    def __init__(self, needed: int = 2) -> None:
        super().__init__()
        self.edition, self.needed = "1", needed

    @property
    def version(self) -> str:
        return self.edition

    def quorum(self, subject: Subject) -> int:
        return self.needed


@dataclass
class Process:
    """One process of several that share the store."""

    name: str
    applying: Applying
    decisions: Decisions
    renewals: Renewals
    cards: ProposalCards

    async def press(self, event: ControlUsed) -> None:
        await (self.renewals if event.control == "again" else self.decisions).press(event)


@dataclass
class Panel:
    """The engine with everything around it in reach of the test."""

    store: Store
    clock: ManualClock
    ids: CountingIds = field(default_factory=CountingIds)
    board: Board = field(default_factory=Board)
    switches: Switches = field(default_factory=Switches)
    policy: Policy = field(default_factory=Policy)
    people: People = field(default_factory=lambda: People({p.id: p for p in (OSCAR, ANA, BEN, ADAM, VERA)}))
    dead: set[str] = field(default_factory=set)
    memory: TurnMemory = field(default_factory=TurnMemory)

    def __post_init__(self) -> None:
        self.redactor = Redactor(["hunter2-and-more"])
        self.registry = Registry([self.switches])
        self.moves = ProposalMoves(self.store.proposals, self.store.audit, self.clock, self.redactor)
        self.one = self.process("process_1")

    def over(self, store: Store) -> "Panel":
        """The same people, board and switches over another way to the store."""
        return replace(self, store=store)

    @property
    def drafter(self) -> Drafter:
        return Drafter(self.policy, self.clock, self.ids, HOUR, KEY, self.store.proposals)

    def process(self, name: str) -> Process:
        """One more process over the same store, which believes of others what `dead` says."""
        store = self.store
        card = partial(proposal_card, redact=self.redactor.text, sealed=partial(sealed_button, BUTTONS))
        cards = ProposalCards(store, self.board, card, self.clock)

        async def is_dead(other: str) -> bool:
            return other in self.dead

        applying = Applying(
            proposals=store.proposals, directory=self.people, policy=self.policy, moves=self.moves, cards=cards,
            applier=Applier(self.registry, self.redactor, self.policy, [KEY]), process=name, is_dead=is_dead,
            lock=TargetLock(store.leases, name, is_dead, self.clock), clock=self.clock, seals=SEALS,
        )  # fmt: skip
        decisions = Decisions(
            proposals=store.proposals, telling=Telling(self.board), policy=self.policy, moves=self.moves, cards=cards,
            applying=applying, redactor=self.redactor, clock=self.clock, keys=[BUTTONS], seals=SEALS,
        )  # fmt: skip
        renewals = Renewals(
            proposals=store.proposals, registry=self.registry, drafter=self.drafter, policy=self.policy, moves=self.moves,
            cards=cards, decisions=decisions, telling=Telling(self.board), redactor=self.redactor,
            clock=self.clock,
        )  # fmt: skip
        return Process(name, applying, decisions, renewals, cards)

    async def call(
        self, arguments: str, *, person: Person = OSCAR, turn: str = "turn_1", session: SessionKey = SESSION
    ) -> Dispatched:
        """A call of the model, and the card if it became a proposal."""
        dispatcher = Dispatcher(
            self.registry, policy=self.policy, audit=self.store.audit, asker=Asker(self.store.forms, self.clock, self.ids, self.redactor, HOUR),
            proposer=Proposer(self.store.proposals, self.moves, self.drafter, self.clock), redactor=self.redactor,
            clock=self.clock, words=WORDS
        )  # fmt: skip
        context = ToolContext(person, session, turn)
        done = await dispatcher.dispatch(
            ToolCall(self.ids.new("c"), "flip", arguments), context, self.memory, "en"
        )
        if done.proposal is not None:
            await self.one.cards.show_new(done.proposal)
        return done

    async def propose(self, task: int = 1, action: str = "pause", **more: Any) -> Proposal:
        """A proposal whose card is on the board."""
        done = await self.call(f'{{"task_id": {task}, "action": "{action}"}}', **more)
        assert done.proposal is not None, done.result
        return await self.now(done.proposal)

    async def now(self, proposal: Proposal) -> Proposal:
        return await self.now_of(proposal.id)

    async def now_of(self, proposal_id: str) -> Proposal:
        found = await self.store.proposals.get(proposal_id)
        assert found is not None
        return found

    def event(
        self, person: Person, proposal: Proposal, control: str, value: str | None = None
    ) -> ControlUsed:
        """A press on a button of the card, or on one that it had; with a value, on one that looks like it."""
        drawn = self.board.buttons(proposal.id)
        sealed = (
            drawn[control].value
            if control in drawn
            else sealed_button(BUTTONS, control, proposal.id, proposal.revision)
        )
        carried = sealed if value is None else value
        return ControlUsed(proposal.session, person, control, carried, MessageRef("C1", proposal.id))

    async def press(
        self, person: Person, proposal: Proposal, control: str = "approve", *, at: Process | None = None
    ) -> Proposal:
        """Press, and the proposal as it is afterwards."""
        await (at or self.one).press(self.event(person, proposal, control))
        return await self.now(proposal)

    async def rows(self, proposal: Proposal | None = None) -> list[AuditRecord]:
        """The audit, of one proposal or whole, oldest first; without what was shown."""
        kept: list[AuditRecord] = []
        for row in await self.store.audit.page(0, 100_000):
            assert not isinstance(row, Unreadable)
            if row.record.decision != "shown" and (proposal is None or row.record.proposal_id == proposal.id):
                kept.append(row.record)
        return kept

    async def steps(self, proposal: Proposal) -> list[str]:
        return [row.decision for row in await self.rows(proposal)]

    def flips(self, proposal: Proposal | None = None) -> list[tuple[int, str]]:
        """What was applied, of one proposal or of all."""
        return [
            (task, action)
            for key, task, action in self.switches.applied
            if proposal is None or key == proposal.id
        ]


def drifted(proposal: Proposal) -> Mapping[str, Any]:
    assert proposal.outcome is not None
    found: Mapping[str, Any] = proposal.outcome["drifted"]
    return found
