"""Any sequence of calls, restarts and deaths of processes, against a plain model: both stores answer as the model does."""

import asyncio
import itertools
from collections import defaultdict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain import form as form_table
from chatops_bot.domain import proposal as proposal_table
from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.audit_chain import Sealed
from chatops_bot.domain.audit_check import Verified, verify
from chatops_bot.domain.errors import StoreError, TurnLost
from chatops_bot.domain.following import followed_until
from chatops_bot.domain.form import Form, FormState
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.session import MessageRef, RunningTurn, SessionKey, TurnOutcome
from chatops_bot.domain.transcript import Entry
from chatops_bot.ports import process_lease
from chatops_bot.stores.redis import RedisStore
from chatops_bot.stores.sqlite import SqliteStore
from tests.contracts.conftest import AUDIT_KEY
from tests.contracts.test_store import AT, ENTRIES, SESSION, a_form, a_proposal, a_record
from tests.redis_server import RedisServer

T = TypeVar("T")
AnyStore = SqliteStore | RedisStore
SESSIONS = st.sampled_from([SESSION, replace(SESSION, thread="other")])
CLIENTS = st.integers(0, 1)
PLACES = st.integers(0, 30)
"""Which of the things that there are, counted round."""
NAMES = st.sampled_from(["a", "b"])


@dataclass
class Turn:
    running: RunningTurn
    holder: str
    ended: bool = False


@dataclass
class Model:
    """What a store must know."""

    entries: dict[SessionKey, list[Entry]] = field(default_factory=lambda: defaultdict(list))
    known: set[SessionKey] = field(default_factory=set)
    claims: set[str] = field(default_factory=set)
    turns: dict[str, Turn] = field(default_factory=dict)
    proposals: dict[str, Proposal] = field(default_factory=dict)
    forms: dict[str, Form] = field(default_factory=dict)
    controls: dict[str, str] = field(default_factory=dict)
    audit: list[AuditRecord] = field(default_factory=list)
    leases: dict[str, str] = field(default_factory=dict)
    alive: set[str] = field(default_factory=set)

    def holder(self, turn_id: str) -> str:
        turn = self.turns.get(turn_id)
        return turn.holder if turn and not turn.ended and turn.holder in self.alive else ""

    def holder_of(self, session: SessionKey) -> str:
        mine = (
            self.holder(each.running.id) for each in self.turns.values() if each.running.session == session
        )
        return next(filter(None, mine), "")


class StoreMachine(RuleBasedStateMachine):
    """`open_store` opens the store anew, as another process does; `dies` lets the lease of a process run out."""

    def __init__(
        self,
        open_store: Callable[[str], Coroutine[Any, Any, AnyStore]],
        dies: Callable[[str], None],
        clients: int,
    ) -> None:
        super().__init__()
        self.open_store, self.dies = open_store, dies
        self.runner = asyncio.Runner()
        self.model = Model()
        self.numbers = itertools.count(1)
        self.versions: list[Proposal] = []
        self.form_versions: list[Form] = []
        self.stores: list[AnyStore] = []
        for _ in range(clients):
            self.stores.append(self.opened())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def opened(self) -> AnyStore:
        store = self.run(self.open_store(f"bot_{next(self.numbers)}"))
        self.run(store.leases.take(process_lease(store.process), store.process, 3600))
        self.model.alive.add(store.process)
        return store

    def store(self, client: int) -> AnyStore:
        return self.stores[client % len(self.stores)]

    # -- sessions ---------------------------------------------------------------------------------------------------

    @rule(client=CLIENTS, session=SESSIONS, claim=st.sampled_from(["", "k1", "k2", "k3"]))
    def begin(self, client: int, session: SessionKey, claim: str) -> None:
        store, model = self.store(client), self.model
        turn = RunningTurn(f"turn_{next(self.numbers)}", session, None, "zh", "{}", '{"q":1}')
        expected = "" if claim in model.claims else model.holder_of(session) or store.process
        assert self.run(store.turns.begin(turn, claim)) == expected
        if expected:
            model.claims |= {claim} - {""}
            model.known.add(session)
            model.turns[turn.id] = Turn(turn, expected)

    @rule(client=CLIENTS, key=st.sampled_from(["k1", "k2", "k3"]))
    def claim(self, client: int, key: str) -> None:
        assert self.run(self.store(client).inbox.claim(key)) is (key not in self.model.claims)
        self.model.claims.add(key)

    @precondition(lambda self: self.model.turns)
    @rule(client=CLIENTS, place=PLACES, what=st.sampled_from(["checkpoint", "append", "end"]))
    def go_on(self, client: int, place: int, what: str) -> None:
        """What the conductor of a turn does; in Redis only the one that holds it may."""
        store, turn = self.store(client), self.some(self.model.turns, place)
        session, turn_id = turn.running.session, turn.running.id
        entry = replace(ENTRIES[2], turn_id=turn_id)
        message = MessageRef("C1", str(place))
        match what:
            case "checkpoint":
                work = store.turns.checkpoint(turn_id, message, str(place))
            case "append":
                work = store.transcripts.append(session, [entry])
            case _:
                work = store.turns.end(turn_id, TurnOutcome.ANSWERED)
        if turn.holder != store.process and isinstance(store, RedisStore):
            with pytest.raises(TurnLost):
                self.run(work)
            return
        self.run(work)
        match what:
            case "checkpoint":
                turn.running = replace(turn.running, message=message, snapshot=str(place))
            case "append":
                self.model.entries[session].append(entry)
                self.model.known.add(session)
            case _:
                turn.ended = True

    @rule(client=CLIENTS, session=SESSIONS, first=st.integers(5, 7))
    def tell_of_a_decision(self, client: int, session: SessionKey, first: int) -> None:
        entries = [entry for entry in ENTRIES[first:] if entry.kind in ("decision", "form_closed")]
        self.run(self.store(client).transcripts.append(session, entries))
        if entries:
            self.model.entries[session] += entries
            self.model.known.add(session)

    @rule(client=CLIENTS)
    def take_over(self, client: int) -> None:
        store, model = self.store(client), self.model
        expected = []
        for turn in model.turns.values():
            free = model.holder_of(turn.running.session) in ("", store.process)
            if not turn.ended and turn.holder not in model.alive and free:
                expected.append(turn.running)
                turn.holder = store.process
        taken = self.run(store.turns.take_over())
        assert [each.id for each in taken] == [each.id for each in expected]

    @rule(client=CLIENTS)
    def restart(self, client: int) -> None:
        """A process dies; its successor has another name and finds everything."""
        store = self.store(client)
        self.model.alive.discard(store.process)
        self.run(store.aclose())
        self.dies(store.process)
        if isinstance(store, SqliteStore):
            self.model.leases.clear()
        self.stores[client % len(self.stores)] = self.opened()

    # -- what waits for people --------------------------------------------------------------------------------------

    @rule(client=CLIENTS, session=SESSIONS, audited=st.booleans())
    def propose(self, client: int, session: SessionKey, audited: bool) -> None:
        number = next(self.numbers)
        proposal = replace(a_proposal(number), session=session, code=f"CODE{number % 2}")
        record = a_record("proposed", number) if audited else None
        self.run(self.store(client).proposals.add(proposal, record))
        self.model.proposals[proposal.id] = proposal
        self.versions.append(proposal)
        self.model.audit += [record] if record else []

    @precondition(lambda self: self.versions)
    @rule(client=CLIENTS, place=PLACES, way=st.integers(0, 4), audited=st.booleans())
    def move(self, client: int, place: int, way: int, audited: bool) -> None:
        """From any version that somebody may still hold: only the newest moves."""
        before = self.versions[-1 - place % len(self.versions)]
        ways = sorted(proposal_table.EDGES[before.state])
        if not ways:
            return
        to, number = ways[way % len(ways)], next(self.numbers)
        record = a_record(to.value, number) if audited else None
        moved = self.run(self.store(client).proposals.move(before, to, AT, record, reason=str(number)))
        newest = self.model.proposals[before.id]
        assert (moved is not None) is ((before.state, before.revision) == (newest.state, newest.revision))
        if moved is not None:
            self.moved(before, moved, record)

    def moved(self, before: Proposal, moved: Proposal, record: AuditRecord | None) -> None:
        newest = self.model.proposals[before.id]
        self.model.proposals[before.id] = replace(
            moved, card=newest.card, shown_revision=newest.shown_revision
        )
        self.versions.append(moved)
        self.model.audit += [record] if record else []

    @precondition(lambda self: self.versions)
    @rule(place=PLACES)
    def many_move_at_once(self, place: int) -> None:
        before = self.versions[-1 - place % len(self.versions)]
        ways = sorted(proposal_table.EDGES[before.state])
        if not ways:
            return

        async def race() -> list[tuple[Proposal | None, AuditRecord]]:
            tries = []
            for number in range(6):
                record = a_record("raced", next(self.numbers))
                store = self.store(number)
                tries.append((store.proposals.move(before, ways[number % len(ways)], AT, record), record))
            moved = await asyncio.gather(*(work for work, _ in tries))
            return list(zip(moved, (record for _, record in tries), strict=True))

        newest = self.model.proposals[before.id]
        won = [(moved, record) for moved, record in self.run(race()) if moved is not None]
        is_current = (before.state, before.revision) == (newest.state, newest.revision)
        assert len(won) == int(is_current)
        for moved, record in won:
            self.moved(before, moved, record)

    @precondition(lambda self: self.model.proposals)
    @rule(client=CLIENTS, place=PLACES, revision=st.integers(0, 4))
    def show(self, client: int, place: int, revision: int) -> None:
        proposal = self.some(self.model.proposals, place)
        card = MessageRef("C1", str(place))
        self.run(self.store(client).proposals.shown(proposal.id, card, revision))
        if revision >= proposal.shown_revision:
            self.model.proposals[proposal.id] = replace(proposal, card=card, shown_revision=revision)

    @rule(client=CLIENTS, session=SESSIONS)
    def ask(self, client: int, session: SessionKey) -> None:
        form = replace(a_form(next(self.numbers)), session=session)
        self.run(self.store(client).forms.add(form))
        self.model.forms[form.id] = form
        self.form_versions.append(form)

    @precondition(lambda self: self.form_versions)
    @rule(client=CLIENTS, place=PLACES, to=st.sampled_from(list(FormState)), turn=PLACES)
    def answer(self, client: int, place: int, to: FormState, turn: int) -> None:
        before = self.form_versions[-1 - place % len(self.form_versions)]
        if to not in form_table.EDGES[before.state]:
            return
        answer_turn = f"turn_{turn}" if to is FormState.SUBMITTED else ""
        moved = self.run(self.store(client).forms.move(before, to, AT, answer_turn_id=answer_turn))
        newest = self.model.forms[before.id]
        assert (moved is not None) is (before.revision == newest.revision)
        if moved is not None:
            self.model.forms[before.id] = replace(
                moved, card=newest.card, shown_revision=newest.shown_revision
            )
            self.form_versions.append(moved)

    @precondition(lambda self: self.model.forms)
    @rule(client=CLIENTS, place=PLACES, revision=st.integers(0, 3))
    def show_form(self, client: int, place: int, revision: int) -> None:
        form, card = self.some(self.model.forms, place), MessageRef("C1", str(place))
        self.run(self.store(client).forms.shown(form.id, card, revision))
        if revision >= form.shown_revision:
            self.model.forms[form.id] = replace(form, card=card, shown_revision=revision)

    # -- the rest ---------------------------------------------------------------------------------------------------

    @rule(client=CLIENTS)
    def record(self, client: int) -> None:
        record = a_record(number=next(self.numbers))
        self.run(self.store(client).audit.record(record))
        self.model.audit.append(record)

    @rule(client=CLIENTS, token=NAMES, payload=st.text(max_size=5).filter(lambda text: "\0" not in text))
    def put(self, client: int, token: str, payload: str) -> None:
        try:
            payload.encode()
        except UnicodeEncodeError:
            return
        work = self.store(client).controls.put(token, payload)
        if token in self.model.controls:
            with pytest.raises(StoreError):
                self.run(work)
        else:
            self.run(work)
            self.model.controls[token] = payload

    @rule(client=CLIENTS, name=NAMES, holder=NAMES, what=st.sampled_from(["take", "renew", "drop"]))
    def lease(self, client: int, name: str, holder: str, what: str) -> None:
        leases, held_by = self.store(client).leases, self.model.leases.get(name)
        match what:
            case "take":
                fence = self.run(leases.take(name, holder, 3600))
                assert (fence is not None) is (held_by in (None, holder))
                self.model.leases.setdefault(name, holder)
            case "renew":
                assert self.run(leases.renew(name, holder, 3600)) is (held_by == holder)
            case _:
                self.run(leases.drop(name, holder))
                if held_by == holder:
                    del self.model.leases[name]
        assert self.run(leases.holder(name)) == self.model.leases.get(name)

    @rule(client=CLIENTS)
    def agree(self, client: int) -> None:
        self.run(self.agrees(self.store(client)))

    async def agrees(self, store: AnyStore) -> None:
        model = self.model
        for session in (SESSION, replace(SESSION, thread="other")):
            assert await store.transcripts.load(session) == model.entries[session]
            assert await store.transcripts.known(session) is (session in model.known)
            assert await store.turns.holder_of(session) == model.holder_of(session)
        running = [turn.running for turn in model.turns.values() if not turn.ended]
        assert await store.turns.running() == running
        for turn_id in model.turns:
            assert await store.turns.holder(turn_id) == model.holder(turn_id)
        await self.proposals_agree(store)
        forms = list(model.forms.values())
        assert await store.forms.open() == [each for each in forms if each.is_open]
        assert await store.forms.with_stale_card() == [f for f in forms if f.shown_revision < f.revision]
        submitted = [each for each in forms if each.state is FormState.SUBMITTED]
        assert await store.forms.unanswered() == [
            each for each in submitted if each.answer_turn_id not in model.turns
        ]
        for token in ("a", "b"):
            assert await store.controls.get(token) == model.controls.get(token)
        rows = await store.audit.page(0, 10_000)
        assert [row.record for row in rows if isinstance(row, Sealed)] == model.audit
        assert isinstance(verify([AUDIT_KEY], rows), Verified)

    async def proposals_agree(self, store: AnyStore) -> None:
        proposals = list(self.model.proposals.values())
        for proposal in proposals:
            assert await store.proposals.get(proposal.id) == proposal
        for states in (frozenset({ProposalState.PENDING}), frozenset(ProposalState)):
            expected = [each for each in proposals if each.state in states]
            assert await store.proposals.in_states(states) == expected
        assert await store.proposals.with_stale_card() == [
            each for each in proposals if each.shown_revision < each.revision
        ]
        assert await store.proposals.followed(AT) == [
            each for each in proposals if (followed_until(each) or AT) > AT
        ]
        for code in ("CODE0", "CODE1"):
            same = [each for each in proposals if each.code == code]
            assert await store.proposals.with_code(code) == same
            here = next((each for each in reversed(same) if each.session == SESSION), None)
            assert await store.proposals.by_code(SESSION, code) == here

    def some(self, things: dict[str, T], place: int) -> T:
        return list(things.values())[place % len(things)]

    def teardown(self) -> None:
        try:
            for store in self.stores:
                self.run(self.agrees(store))
        finally:
            for store in self.stores:
                self.run(store.aclose())
            self.runner.close()


def as_settings(soak: int) -> settings:
    return settings(
        phases=[Phase.generate],
        max_examples=8 * soak,
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


@pytest.mark.soak
def test_sqlite_answers_as_the_model_does(tmp_path: Path, clock: ManualClock, soak: int):
    numbers = itertools.count()

    def machine() -> StoreMachine:
        path = tmp_path / f"{next(numbers)}.db"

        async def opened(name: str) -> AnyStore:
            return await SqliteStore.open(path, clock, AUDIT_KEY)

        return StoreMachine(opened, lambda name: None, clients=1)

    run_state_machine_as_test(machine, settings=as_settings(soak))  # type: ignore[arg-type]  # a factory serves as well


@pytest.mark.soak
def test_redis_answers_as_the_model_does(redis: RedisServer, soak: int):
    async def opened(name: str) -> AnyStore:
        return await RedisStore.open(redis.url, name, AUDIT_KEY)

    def dies(name: str) -> None:
        redis.send("DEL", f"{{chatops}}:lease:{process_lease(name)}")

    def machine() -> StoreMachine:
        redis.flush()
        return StoreMachine(opened, dies, clients=2)

    run_state_machine_as_test(machine, settings=as_settings(soak))  # type: ignore[arg-type]  # a factory serves as well
