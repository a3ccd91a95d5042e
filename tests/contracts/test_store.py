"""What every store promises, whichever engine keeps it."""

import asyncio
import json
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain import form as forms
from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.audit_chain import GENESIS, Sealed
from chatops_bot.domain.audit_check import Row, Verified, verify
from chatops_bot.domain.errors import StoreError
from chatops_bot.domain.form import Choice, Form, FormField, FormState
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.model import Reasoning, Usage
from chatops_bot.domain.people import Effect, Risk
from chatops_bot.domain.proposal import EDGES, GUARDED_BY_EXPIRY, Check, Proposal, ProposalState
from chatops_bot.domain.session import MessageRef, RunningTurn, SessionKey, TurnOutcome
from chatops_bot.domain.thread import EarlierMessage
from chatops_bot.domain.tool import Change, Plan, ToolCall
from chatops_bot.domain.transcript import (
    EarlierRead,
    Entry,
    FormClosed,
    FormFilled,
    ModelSaid,
    Prompted,
    ProposalDecided,
    ToolReturned,
    TurnRested,
    UserSaid,
)
from chatops_bot.platforms.slack.blocks import payload
from chatops_bot.ports import Store, process_lease
from chatops_bot.rendering.card import proposal_card
from tests.contracts.conftest import AUDIT_KEY, Aged
from tests.rendering.proposals import CODES, LIFE, PROPOSAL

AT = datetime(2026, 3, 2, 14, 32, tzinfo=UTC)
SESSION = SessionKey("slack", "T1", "C1", "1700000000.000100")
CARD = MessageRef("C1", "1700000001.000200")


def a_proposal(number: int = 1) -> Proposal:
    return Proposal(
        id=f"prop_{number}",
        code=f"CODE{number:02}",
        session=SESSION,
        turn_id="turn_1",
        call_id="call_1",
        tool="pause_task",
        effect=Effect.WRITE,
        arguments={"task_id": 3, "action": "pause", "note": "夜间 \u202e"},
        plan=Plan(
            "task nightly-report (#3)",
            Phrase("暂停", "pause"),
            (Change("status", "enabled", "disabled"), Change("next run", "02:00", None)),
            "low",
            {"status": "enabled"},
            ((Phrase("负载", "payload"), "echo hi"),),
        ),
        risk=Risk.LOW,
        requester_id="U1",
        requester_name="Oscar",
        language="zh",
        created_at=AT,
        expires_at=AT + timedelta(hours=1),
        digest="d" * 64,
    )


def a_form(number: int = 1) -> Form:
    return Form(
        id=f"form_{number}",
        session=SESSION,
        turn_id="turn_1",
        call_id="call_1",
        tool="create_task",
        effect=Effect.WRITE,
        title=Phrase("创建任务", "Create a task"),
        requester_id="U1",
        requester_name="奥斯卡",
        language="zh",
        known={"cron_expr": "0 2 * * *"},
        fields=(
            FormField("name", Phrase("名称", "Name"), "text", True, text="夜间 \u202e", problem=Phrase("错", "wrong")),
            FormField("type", Phrase("类型", "Type"), "single", True, choices=(Choice("shell", Phrase("脚本", "script")),
                      Choice(3, Phrase("三", "three"), Phrase("细节", "detail"))), chosen=(1,)),
        ),
        created_at=AT,
        expires_at=AT + timedelta(hours=1),
    )  # fmt: skip


ENTRIES: list[Entry] = [
    EarlierRead("turn_1", AT, (EarlierMessage("Alertmanager", AT, "disk full"),), 3),
    EarlierRead("turn_1", AT, (), problem="missing_scope"),
    UserSaid("turn_1", AT, "U1", "奥斯卡", "operator", "暂停 nightly-report"),
    ModelSaid(
        "turn_1",
        AT,
        "text",
        Reasoning("why", "reasoning", '{"a": [1]}'),
        (ToolCall("c1", "pause_task", '{"task_id": 3', '{"b": 2}'),),
        "m at host",
        Usage(9, 2, 4, 1),
    ),
    ModelSaid("turn_1", AT, "text", Reasoning(), (), "m", Usage(), ("told", "read"), ("read",), "shown"),
    ToolReturned("turn_1", AT, "c1", "pause_task", "waits", '{"proposal":"K7QFAB"}'),
    ToolReturned("turn_1", AT, "c2", "consult_agent", "ok", "{}", ("read",)),
    Prompted("turn_1", AT, "opsbot", "3", "a" * 64, "b" * 64, ("pause_task", "read_result")),
    ProposalDecided("turn_1", AT, "prop_1", "K7QFAB", "pause_task", "task x", "applied", "Ana", "done"),
    FormFilled(
        "turn_2", AT, "form_1", "create_task", {"name": "归档", "n": 1}, "zh", "U1", "奥斯卡", "operator"
    ),
    FormClosed("turn_1", AT, "form_2", "create_task", "cancelled", "奥斯卡"),
    TurnRested("turn_1", AT, TurnOutcome.WAITING, "body"),
]


async def test_entries_come_back_as_they_were_in_order(store: Store):
    assert not await store.transcripts.known(SESSION)
    await store.transcripts.append(SESSION, ENTRIES[:2])
    await store.transcripts.append(SESSION, ENTRIES[2:])
    await store.transcripts.append(replace(SESSION, thread="other"), [ENTRIES[0]])
    assert await store.transcripts.load(SESSION) == ENTRIES
    assert await store.transcripts.known(SESSION)


def test_the_contract_knows_every_kind_of_entry():
    assert {type(entry) for entry in ENTRIES} == set(get_args(Entry))


async def test_a_long_result_is_kept_whole_under_its_handle_in_its_session(store: Store):
    whole = "行 \n" * 500_000
    await store.results.put(SESSION, "call_1", "older", 3600)
    await store.results.put(SESSION, "call_1", whole, 3600)
    assert await store.results.get(SESSION, "call_1") == whole
    assert await store.results.get(SESSION, "call_2") is None
    assert await store.results.get(replace(SESSION, thread="other"), "call_1") is None


async def test_a_long_result_is_gone_when_its_time_is_over(store: Store, clock: ManualClock):
    await store.results.put(SESSION, "call_1", "short lived", 0.05)
    await store.results.put(SESSION, "call_2", "kept", 3600)
    clock.advance(timedelta(seconds=0.05))  # SQLite's; Redis has a clock of its own
    async with asyncio.timeout(5):
        while await store.results.get(SESSION, "call_1") is not None:  # noqa: ASYNC110  # Redis tells nobody
            await asyncio.sleep(0.01)
    assert await store.results.get(SESSION, "call_2") == "kept"


async def test_a_key_is_claimed_once_by_fifty_at_once(store: Store):
    won = await asyncio.gather(*(store.inbox.claim("slack:T1:C1:1.1") for _ in range(50)))
    assert won.count(True) == 1


async def test_a_turn_and_its_claim_are_stored_together_or_not_at_all(store: Store):
    turns = [RunningTurn(f"turn_{number}", SESSION, None, "en", "", '{"text":"q"}') for number in range(10)]
    won = await asyncio.gather(*(store.turns.begin(turn, "slack:T1:C1:1.1") for turn in turns))
    assert sorted(won) == [""] * 9 + [store.process]
    assert await store.turns.running() == [turns[won.index(store.process)]]
    assert not await store.inbox.claim("slack:T1:C1:1.1")
    assert await store.inbox.claim("slack:T1:C1:2.2")
    assert not await store.turns.begin(turns[0], "slack:T1:C1:2.2")
    await store.turns.begin(RunningTurn("turn_x", SESSION, None, "en", ""), "slack:T1:C1:3.3")
    with pytest.raises(StoreError):
        await store.turns.begin(RunningTurn("turn_x", SESSION, None, "en", ""), "slack:T1:C1:4.4")
    assert await store.inbox.claim("slack:T1:C1:4.4")


async def test_turns_that_never_rested_are_found(store: Store):
    first = RunningTurn("turn_1", SESSION, None, "zh", "")
    await store.turns.begin(first)
    await store.turns.begin(RunningTurn("turn_2", SESSION, None, "en", ""))
    await store.turns.checkpoint("turn_1", CARD, '{"text":"half"}')
    await store.turns.end("turn_2", TurnOutcome.ANSWERED)
    assert await store.turns.running() == [replace(first, message=CARD, snapshot='{"text":"half"}')]


async def test_a_session_is_known_from_the_moment_its_turn_is_accepted(store: Store):
    await store.turns.begin(RunningTurn("turn_1", SESSION, None, "zh", ""))
    assert await store.transcripts.known(SESSION)
    assert not await store.transcripts.known(replace(SESSION, thread="other"))


async def test_a_card_never_goes_back_to_an_older_revision(store: Store):
    await store.proposals.add(a_proposal())
    await store.proposals.shown("prop_1", CARD, 2)
    await store.proposals.shown("prop_1", MessageRef("C1", "older"), 0)
    proposal = await store.proposals.get("prop_1")
    assert proposal is not None
    assert (proposal.card, proposal.shown_revision) == (CARD, 2)


@pytest.mark.case("hitl-C27")
async def test_the_card_of_a_reloaded_proposal_is_the_same_to_the_byte(store: Store):
    for number, life in enumerate(LIFE.values()):
        proposal = replace(PROPOSAL, id=f"prop_{number}", **life)
        await store.proposals.add(proposal)
        reloaded = await store.proposals.get(proposal.id)
        assert reloaded is not None
        cards = (payload(proposal_card(one, codes=CODES)) for one in (proposal, reloaded))
        assert len({json.dumps(one, ensure_ascii=False).encode() for one in cards}) == 1


async def test_a_proposal_comes_back_as_it_was(store: Store):
    await store.proposals.add(a_proposal())
    assert await store.proposals.get("prop_1") == a_proposal()
    assert await store.proposals.by_code(SESSION, "CODE01") == a_proposal()
    assert await store.proposals.by_code(replace(SESSION, thread="other"), "CODE01") is None
    elsewhere = replace(a_proposal(2), session=replace(SESSION, thread="other"), code="CODE01")
    await store.proposals.add(elsewhere)
    assert await store.proposals.with_code("CODE01") == [a_proposal(), elsewhere]
    assert await store.proposals.with_code("CODE09") == []
    assert await store.proposals.get("prop_9") is None


@pytest.mark.parametrize("state", ProposalState)
async def test_a_proposal_moves_only_along_the_table(store: Store, state: ProposalState):
    for number, to in enumerate(ProposalState):
        proposal = replace(a_proposal(number), state=state)
        await store.proposals.add(proposal)
        if to not in EDGES[state]:
            with pytest.raises(ValueError, match="does not go from"):
                await store.proposals.move(proposal, to, AT)
            continue
        moved = await store.proposals.move(proposal, to, AT, decided_by_name="Ana")
        assert moved == replace(proposal, state=to, revision=1, decided_by_name="Ana")
        assert await store.proposals.get(proposal.id) == moved


@pytest.mark.case("hitl-C34")
@pytest.mark.parametrize("to", sorted(EDGES[ProposalState.PENDING]))
@pytest.mark.parametrize(("late", "in_time"), [(-0.001, True), (0, False), (0.001, False)])
async def test_expiry_guards_approval_to_the_millisecond_and_nothing_else(
    store: Store, to: ProposalState, late: float, in_time: bool
):
    proposal = a_proposal()
    await store.proposals.add(proposal)
    moved = await store.proposals.move(proposal, to, proposal.expires_at + timedelta(seconds=late))
    assert (moved is not None) is (in_time or to not in GUARDED_BY_EXPIRY)


@pytest.mark.case("hitl-C01")
async def test_of_many_who_move_at_once_one_wins(store: Store):
    proposal = a_proposal()
    await store.proposals.add(proposal)
    ways = [ProposalState.APPROVED, ProposalState.REJECTED] * 25
    moved = await asyncio.gather(
        *(store.proposals.move(proposal, to, AT, decided_by_id=str(n)) for n, to in enumerate(ways))
    )
    winners = [m for m in moved if m is not None]
    assert len(winners) == 1
    assert await store.proposals.get("prop_1") == winners[0]


async def test_a_card_is_stale_until_it_shows_the_newest_revision(store: Store):
    proposal = a_proposal()
    await store.proposals.add(proposal)
    await store.proposals.add(a_proposal(2))
    assert [p.id for p in await store.proposals.with_stale_card()] == ["prop_1", "prop_2"]
    await store.proposals.shown("prop_1", CARD, 0)
    await store.proposals.shown("prop_2", CARD, 0)
    assert await store.proposals.with_stale_card() == []
    shown = await store.proposals.get("prop_1")
    assert shown == replace(proposal, card=CARD, shown_revision=0)
    moved = await store.proposals.move(proposal, ProposalState.REJECTED, AT)
    assert moved is not None
    assert [(p.id, p.card) for p in await store.proposals.with_stale_card()] == [("prop_1", CARD)]


async def test_proposals_are_found_by_state(store: Store):
    for number in (1, 2, 3):
        await store.proposals.add(a_proposal(number))
    await store.proposals.move(a_proposal(2), ProposalState.REJECTED, AT)
    pending = await store.proposals.in_states(frozenset({ProposalState.PENDING}))
    assert [p.id for p in pending] == ["prop_1", "prop_3"]


async def test_only_what_somebody_has_to_come_back_to_is_read(store: Store):
    async def run(number: int, **changes: Any) -> Proposal:
        proposal: Proposal | None = a_proposal(number)
        assert proposal is not None
        await store.proposals.add(proposal)
        for state in (ProposalState.APPROVED, ProposalState.CLAIMED):
            assert proposal is not None
            proposal = await store.proposals.move(proposal, state, AT)
        assert proposal is not None
        done = await store.proposals.move(proposal, ProposalState.APPLIED, AT, finished_at=AT, **changes)
        assert done is not None
        return done

    async def followed(minutes: float) -> list[str]:
        return [each.id for each in await store.proposals.followed(AT + timedelta(minutes=minutes))]

    await store.proposals.add(a_proposal(1))
    looked_at, kept, undone = await run(2), await run(3, keep_until=AT), await run(4, undone_by="prop_9")
    assert await followed(2) == ["prop_2", "prop_3", "prop_4"]
    for minutes in (1, 5):
        check = Check(AT + timedelta(minutes=minutes), "unknown", "", "")
        moved = await store.proposals.move(looked_at, ProposalState.APPLIED, AT, checks=(check,))
        assert moved is not None
        looked_at = moved
        assert await followed(5) == (["prop_2"] if minutes < 5 else []) + ["prop_3", "prop_4"]
    assert await store.proposals.move(kept, ProposalState.APPLIED, AT, kept_by_id="U2")
    assert await followed(59) == ["prop_3", "prop_4"]
    assert await followed(60) == ["prop_4"]
    assert await followed(60 * 24 * 365) == ["prop_4"]
    assert await store.proposals.move(undone, ProposalState.APPLIED, AT, taken_back_at=AT)
    assert await followed(61) == []


async def test_a_control_means_what_was_put(store: Store):
    await store.controls.put("ask_1", "为什么失败？")
    assert await store.controls.get("ask_1") == "为什么失败？"
    assert await store.controls.get("ask_2") is None


async def test_what_nobody_needs_for_ever_is_let_go_by_itself(store: Store, aged: Aged):
    """Buttons after 30 days, claims and turns that ended after 7; a turn that did not end stays."""
    running, ended = (RunningTurn(f"turn_{n}", SESSION, None, "en", "", "{}") for n in (1, 2))
    for turn in (running, ended):
        await store.turns.begin(turn)
    await store.turns.end(ended.id, TurnOutcome.ANSWERED)
    await store.controls.put("ask_1", "why?")
    assert await store.inbox.claim("event_1")

    await aged(6)
    assert not await store.inbox.claim("event_1")
    assert await aged.is_there("turn_2")
    await aged(1)
    assert await store.inbox.claim("event_1")
    await store.turns.end("turn_3", TurnOutcome.ANSWERED)
    assert not await aged.is_there("turn_2")
    assert [turn.id for turn in await store.turns.running()] == ["turn_1"]
    await aged(22)
    assert await store.controls.get("ask_1") == "why?"
    await aged(1)
    assert await store.controls.get("ask_1") is None
    await store.controls.put("ask_1", "anew")
    assert await store.controls.get("ask_1") == "anew"


def a_record(decision: str = "auto", number: int = 0) -> AuditRecord:
    return AuditRecord(
        AT, "U1", "Oscar", "operator", str(SESSION), "turn_1", f"tool_{number}", "{}", decision, "ok", "{}", "s", "", number
    )  # fmt: skip


async def audit_rows(store: Store, size: int = 100) -> list[Row]:
    rows: list[Row] = []
    while page := await store.audit.page(rows[-1].seq if rows else 0, size):
        assert len(page) <= size
        rows += page
    return rows


async def audited(store: Store) -> list[AuditRecord]:
    return [row.record for row in await audit_rows(store) if isinstance(row, Sealed)]


async def test_audit_rows_are_read_in_order_page_by_page(store: Store):
    assert (await store.audit.head(), await audit_rows(store)) == (GENESIS, [])
    rows = [a_record(number=n) for n in range(5)]
    for row in rows:
        await store.audit.record(row)
    assert await audited(store) == rows
    assert await audit_rows(store, size=2) == await audit_rows(store)


async def test_the_audit_is_one_chain_whoever_records_in_it(store: Store):
    await store.audit.record(a_record("auto"))
    await store.proposals.add(a_proposal(), a_record("proposed"))
    await asyncio.gather(*(store.audit.record(a_record(number=n)) for n in range(10)))
    moved = await store.proposals.move(a_proposal(), ProposalState.REJECTED, AT, a_record("rejected"))
    assert moved is not None
    assert verify([AUDIT_KEY], await audit_rows(store)) == Verified(await store.audit.head())
    assert (await store.audit.head()).seq == 13


async def test_a_form_comes_back_as_it_was(store: Store):
    await store.forms.add(a_form())
    await store.forms.add(a_form(2))
    assert await store.forms.get("form_1") == a_form()
    assert await store.forms.get("form_9") is None
    assert await store.forms.open() == [a_form(), a_form(2)]


@pytest.mark.parametrize("state", FormState)
@pytest.mark.parametrize("to", FormState)
async def test_a_form_moves_only_along_the_table(store: Store, state: FormState, to: FormState):
    form = replace(a_form(), state=state)
    await store.forms.add(form)
    if to not in forms.EDGES[state]:
        with pytest.raises(ValueError, match="does not go from"):
            await store.forms.move(form, to, AT)
        return
    moved = await store.forms.move(form, to, AT, arguments={"name": "x"})
    assert moved == replace(form, state=to, revision=1, arguments={"name": "x"})
    assert await store.forms.get("form_1") == moved
    assert await store.forms.move(form, to, AT) is None, "the same move again is lost"


@pytest.mark.parametrize("to", FormState)
@pytest.mark.parametrize(("late", "in_time"), [(-0.001, True), (0, False), (0.001, False)])
async def test_a_form_is_answered_in_time_or_not_at_all(
    store: Store, to: FormState, late: float, in_time: bool
):
    form = a_form()
    await store.forms.add(form)
    moved = await store.forms.move(form, to, form.expires_at + timedelta(seconds=late))
    assert (moved is not None) is (in_time or to not in forms.GUARDED_BY_EXPIRY)


async def test_of_many_who_answer_a_form_at_once_one_wins(store: Store):
    form = a_form()
    await store.forms.add(form)
    ways = [FormState.SUBMITTED, FormState.CANCELLED, FormState.OPEN] * 15
    moved = await asyncio.gather(*(store.forms.move(form, to, AT) for to in ways))
    assert len([each for each in moved if each is not None]) == 1


async def test_a_forms_message_is_stale_until_it_shows_the_newest_revision(store: Store):
    form = a_form()
    await store.forms.add(form)
    assert await store.forms.with_stale_card() == [form]
    await store.forms.shown("form_1", CARD, 0)
    assert await store.forms.with_stale_card() == []
    moved = await store.forms.move(replace(form, card=CARD, shown_revision=0), FormState.CANCELLED, AT)
    assert moved is not None
    assert [(each.id, each.card) for each in await store.forms.with_stale_card()] == [("form_1", CARD)]
    await store.forms.shown("form_1", CARD, 1)
    await store.forms.shown("form_1", MessageRef("C1", "older"), 0)
    assert await store.forms.with_stale_card() == []
    assert await store.forms.open() == []


async def test_a_submitted_form_is_unanswered_until_its_turn_began(store: Store):
    for number in (1, 2):
        await store.forms.add(a_form(number))
    moved = await store.forms.move(a_form(), FormState.SUBMITTED, AT, answer_turn_id="turn_9")
    assert await store.forms.unanswered() == [moved]
    await store.turns.begin(RunningTurn("turn_9", SESSION, None, "zh", ""))
    assert await store.forms.unanswered() == []
    await store.turns.end("turn_9", TurnOutcome.WAITING)
    assert await store.forms.unanswered() == []


async def test_a_sealed_value_is_kept_under_its_reference_until_it_is_dropped(store: Store):
    for ref in ("sealed:form_1:s_1", "sealed:form_1:s_2"):
        await store.secret_values.put(ref, f"of {ref}", 60)
    assert await store.secret_values.get("sealed:form_1:s_1") == "of sealed:form_1:s_1"
    with pytest.raises(StoreError, match="reference must be new"):
        await store.secret_values.put("sealed:form_1:s_1", "another", 60)
    await store.secret_values.drop(["sealed:form_1:s_1", "sealed:form_9:s_9"])
    assert await store.secret_values.get("sealed:form_1:s_1") is None
    assert await store.secret_values.get("sealed:form_1:s_2") == "of sealed:form_1:s_2"


async def test_a_sealed_value_is_gone_when_its_time_is_over(store: Store, clock: ManualClock):
    await store.secret_values.put("sealed:form_1:s_1", "sealed", 0.05)
    await store.secret_values.put("sealed:form_1:s_2", "sealed", 3600)
    clock.advance(timedelta(seconds=0.05))  # SQLite's; Redis has a clock of its own
    async with asyncio.timeout(5):
        while await store.secret_values.get("sealed:form_1:s_1") is not None:  # noqa: ASYNC110  # Redis tells nobody
            await asyncio.sleep(0.01)
    await store.secret_values.drop_overdue()
    assert await store.secret_values.get("sealed:form_1:s_2") == "sealed"


async def test_a_lease_has_one_holder_and_a_higher_fence_for_each_new_one(store: Store):
    assert await store.leases.take("target", "a", 60) == 1
    assert await store.leases.take("target", "b", 60) is None
    assert await store.leases.take("target", "a", 60) == 1
    assert await store.leases.renew("target", "a", 60)
    assert not await store.leases.renew("target", "b", 60)
    await store.leases.drop("target", "b")
    assert await store.leases.holder("target") == "a"
    await store.leases.drop("target", "a")
    assert await store.leases.holder("target") is None
    assert await store.leases.take("target", "b", 60) == 2


async def test_a_lease_that_is_not_renewed_ends_by_itself(store: Store):
    assert await store.leases.take("target", "a", 0) == 1
    assert not await store.leases.renew("target", "a", 60)
    assert await store.leases.take("target", "b", 60) == 2
    assert await store.leases.holder("target") == "b"


async def test_a_move_and_its_audit_row_are_one(store: Store):
    await store.proposals.add(a_proposal(1), a_record("proposed"))
    pending = await store.proposals.get(a_proposal(1).id)
    assert pending is not None
    moved = await store.proposals.move(pending, ProposalState.REJECTED, AT, a_record("rejected"))
    lost = await store.proposals.move(pending, ProposalState.APPROVED, AT, a_record("approved"))
    assert (moved is not None, lost) == (True, None)
    assert [row.decision for row in await audited(store)] == ["proposed", "rejected"]


async def test_a_form_and_its_audit_row_are_one(store: Store):
    form = a_form()
    await store.forms.add(form, a_record("asked_back"))
    with pytest.raises(StoreError):
        await store.forms.add(form, a_record("asked_back"))
    moved = await store.forms.move(form, FormState.CANCELLED, AT, a_record("cancelled"))
    lost = await store.forms.move(form, FormState.SUBMITTED, AT, a_record("filled"))
    late = await store.forms.move(form, FormState.SUBMITTED, form.expires_at, a_record("filled"))
    assert (moved is not None, lost, late) == (True, None, None)
    assert [row.decision for row in await audited(store)] == ["asked_back", "cancelled"]


async def test_a_move_changes_nothing_that_the_digest_covers(store: Store):
    await store.proposals.add(a_proposal(1))
    with pytest.raises(ValueError, match="arguments"):
        await store.proposals.move(a_proposal(1), ProposalState.REJECTED, AT, arguments={})


async def test_of_many_who_take_a_lease_at_once_one_has_it(store: Store):
    fences = await asyncio.gather(*(store.leases.take("sweep", f"p{n}", 60) for n in range(30)))
    assert len([fence for fence in fences if fence is not None]) == 1


async def test_what_is_sent_arrives_in_order_and_once(store: Store):
    for number in range(3):
        await store.relay.send(store.process, f"{number} 停")
    await store.relay.send("nobody", "lost")
    heard = []
    async with asyncio.timeout(5), aclosing(store.relay.receive()) as bodies:
        async for body in bodies:
            heard.append(body)
            if len(heard) == 3:
                await store.relay.send(store.process, "last")
            if body == "last":
                break
    assert heard == ["0 停", "1 停", "2 停", "last"]


async def test_a_turn_is_held_by_the_process_that_began_it_until_it_ends(store: Store):
    await store.leases.take(process_lease(store.process), store.process, 60)
    assert await store.turns.begin(RunningTurn("turn_1", SESSION, None, "en", "")) == store.process
    assert await store.turns.holder("turn_1") == await store.turns.holder_of(SESSION) == store.process
    assert await store.turns.take_over() == []
    await store.turns.end("turn_1", TurnOutcome.ANSWERED)
    assert await store.turns.holder("turn_1") == await store.turns.holder_of(SESSION) == ""
    assert await store.turns.holder("turn_9") == ""
