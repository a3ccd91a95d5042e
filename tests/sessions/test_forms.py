"""Answers to forms: what is said of them, and what becomes of those whose turn never began."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.domain.audit_chain import Sealed
from chatops_bot.domain.errors import PlatformError, StoreError, ToolFailed
from chatops_bot.domain.event import ControlUsed, ModalSubmitted
from chatops_bot.domain.form import Form, FormState
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Person, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.policy_rules import Rule, Scope, Who
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.secret_argument import form_of
from chatops_bot.domain.session import MessageRef
from chatops_bot.domain.tool import Plan
from chatops_bot.domain.transcript import FormClosed
from chatops_bot.domain.view import View
from chatops_bot.ports import Place
from chatops_bot.rendering import form_notices
from chatops_bot.rendering.form_card import form_card
from chatops_bot.sessions.forms import Forms, Taken
from chatops_bot.sessions.recovery import RESUMED_WITHIN
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.tools.form_fields import fields_of
from chatops_bot.tools.registry import Registry
from tests.audit_rows import close_audit
from tests.rotating import CANARY, Rotate, sealed_secrets
from tests.sessions.test_answer import Wall
from tests.small_tools import OSCAR, SESSION, Switch, SwitchArgs

SECRET = "Bearer abcdefghijklmnop1234"  # a made-up one


KNOWN = {"switch": ({"action": "pause"}, "task_id"), "rotate_key": ({"service": "payments"}, "key")}


@dataclass
class Quoting(Switch):
    """A tool whose service quotes a secret in its refusal."""

    async def plan(self, arguments: SwitchArgs, context: Any) -> Plan:
        why = Phrase(f"拒绝：{SECRET}", f"refused: {SECRET}")
        raise ToolFailed(why, problems={"task_id": why} if arguments.task_id == 1 else {})


@dataclass
class People:
    role: Role = Role.OPERATOR
    fault: PlatformError | None = None
    known: Person | None = None

    async def person(self, user_id: str, channel: str = "", *, fresh: bool = False) -> Person:
        if self.fault is not None:
            raise self.fault
        return self.known or Person(user_id, "Oscar", self.role)


class Room(Wall):
    """Where people may be told something alone."""

    async def whisper(self, place: Place, person_id: str, view: View) -> None:
        pass


@dataclass
class Counter:
    forms: Forms
    people: People
    store: SqliteStore
    clock: ManualClock
    form: Form

    async def send(self, task_id: str = "3") -> Any:
        return await self.forms.filled_in_dialog(ModalSubmitted(OSCAR, self.form.id, {"task_id": (task_id,)}))


@pytest.fixture
async def counter(
    tmp_path: Path, clock: ManualClock, request: pytest.FixtureRequest
) -> AsyncIterator[Counter]:
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    people = People()
    kind, policy = getattr(request, "param", (Switch, Policy()))
    tool = kind()
    known, missing = KNOWN[tool.spec.name]
    fields = fields_of(tool.spec.arguments, known, frozenset({missing}), {})
    assert fields is not None
    form = Form(
        id="form_1", session=SESSION, turn_id="turn_1", call_id="c1", tool=tool.spec.name, effect=Effect.WRITE,
        title=Phrase("切换", "Switch"), requester_id=OSCAR.id, requester_name=OSCAR.name, language="en",
        known=known, fields=fields, created_at=clock.now(), expires_at=clock.now() + timedelta(hours=1),
    )  # fmt: skip
    await store.forms.add(form)
    wall = Room()
    wall.replies.set()
    forms = Forms(
        store=store, platform=wall, directory=people, registry=Registry([tool]), redactor=Redactor(()), clock=clock,
        ids=CountingIds(), policy=policy, secrets=sealed_secrets(store),
    )  # fmt: skip
    yield Counter(forms, people, store, clock, form)
    await store.aclose()


@pytest.mark.parametrize("counter", [(Quoting, Policy())], indirect=True)
@pytest.mark.parametrize("task_id", ["1", "2"])
async def test_what_is_wrong_is_said_without_the_secret_that_a_service_quotes(counter: Counter, task_id: str):
    taken = await counter.send(task_id)
    (said,) = taken.problems.values()
    assert said.startswith("refused: ")
    assert SECRET not in said


async def test_a_filled_form_whose_turn_never_began_begins_it(counter: Counter):
    sent = await counter.send()
    (taken,) = await counter.forms.unbegun()
    assert taken.turn == sent.turn
    assert taken.refusal is None


async def test_it_does_not_begin_for_somebody_who_may_not_ask_for_the_change_any_more(counter: Counter):
    await counter.send()
    counter.people.role = Role.VIEWER
    (taken,) = await counter.forms.unbegun()
    assert taken.refusal is not None
    assert "may read but not ask for changes" in taken.refusal.en


async def test_one_whose_author_cannot_be_looked_up_waits_until_it_is_too_late(counter: Counter):
    await counter.send()
    counter.people.fault = PlatformError("Slack is away.", "unreachable")
    assert await counter.forms.unbegun() == []
    counter.clock.advance(RESUMED_WITHIN + timedelta(seconds=1))
    (taken,) = await counter.forms.unbegun()
    assert taken.refusal == form_notices.TOO_LATE
    assert taken.turn is not None
    assert taken.turn.author == replace(OSCAR, role=Role.GUEST)


ANA, VERA = Person("U2", "Ana", Role.APPROVER), Person("U5", "Vera", Role.VIEWER)
RELAXED = Policy(
    [
        Rule(
            "policy.rules.0",
            Scope(tools=frozenset({"switch"})),
            answer=Who(roles=(Role.APPROVER, Role.VIEWER)),
        )
    ]
)


def pressed(person: Person, control: str, value: str) -> ControlUsed:
    return ControlUsed(
        SESSION, person, control, value, MessageRef("C1", "1.2"), {"task_id": ("3",)}, "trigger"
    )


@pytest.mark.case("hitl-C15")
@pytest.mark.parametrize("value", ["prop_1", "prop_1.0.seal", "", "K7QFAB", '{"approved": true}', "turn_1"])
async def test_what_is_meant_for_a_card_fills_in_no_form(counter: Counter, value: str):
    assert await counter.forms.filled(pressed(OSCAR, "form_submit", value)) == Taken()
    sent = await counter.forms.filled_in_dialog(ModalSubmitted(OSCAR, value, {"task_id": ("3",)}))
    assert sent == Taken()
    await counter.forms.cancel(pressed(OSCAR, "form_cancel", value))
    assert await counter.store.forms.open() == [counter.form]


@pytest.mark.parametrize("person", [ANA, VERA])
async def test_nobody_but_the_asked_fills_in_or_cancels_and_the_audit_has_the_refusal(
    counter: Counter, person: Person
):
    assert await counter.forms.filled(pressed(person, "form_submit", "form_1")) == Taken()
    await counter.forms.cancel(pressed(person, "form_cancel", "form_1"))
    assert await counter.store.forms.open() == [counter.form]
    refused = [row.record for row in await counter.store.audit.page(0, 100) if isinstance(row, Sealed)]
    assert [(record.decision, record.person_id) for record in refused] == [("refused", person.id)] * 2


@pytest.mark.parametrize("counter", [(Switch, RELAXED)], indirect=True)
async def test_where_a_rule_says_so_others_fill_in_and_are_the_ones_who_ask(counter: Counter):
    assert await counter.forms.filled(pressed(VERA, "form_submit", "form_1")) == Taken(), (
        "with their own rights"
    )
    taken = await counter.forms.filled(pressed(ANA, "form_submit", "form_1"))
    assert taken.turn is not None
    assert taken.turn.filled is not None
    assert taken.form is not None
    assert (taken.turn.author, taken.turn.filled.author_id) == (ANA, ANA.id)
    assert (taken.form.closed_by_id, taken.form.closed_by_name) == (ANA.id, "Ana")
    counter.people.known = ANA
    (again,) = await counter.forms.unbegun()
    assert again.turn is not None
    assert again.turn.author == ANA, "after a crash, too"
    shown = form_card(taken.form)
    assert "Filled in by Ana" in repr(shown)


@pytest.mark.parametrize("counter", [(Switch, RELAXED)], indirect=True)
async def test_where_a_rule_says_so_others_cancel_and_are_named(counter: Counter):
    await counter.forms.cancel(pressed(ANA, "form_cancel", "form_1"))
    closed = await counter.store.forms.get("form_1")
    assert closed is not None
    assert closed.state is FormState.CANCELLED
    (entry,) = await counter.store.transcripts.load(SESSION)
    assert isinstance(entry, FormClosed)
    assert entry.person_name == "Ana"
    assert "Ana cancelled this" in repr(form_card(closed))


@pytest.mark.parametrize("counter", [(Rotate, Policy())], indirect=True)
async def test_a_message_takes_no_secret_and_a_dialog_does(counter: Counter):
    event = replace(pressed(OSCAR, "form_submit", "form_1"), inputs={"key": (CANARY,)})
    taken = await counter.forms.filled(event)
    assert set(taken.problems or ()) == {"key"}, "it counts as missing"
    assert CANARY not in repr(await counter.store.forms.get("form_1"))
    sent = await counter.forms.filled_in_dialog(ModalSubmitted(OSCAR, "form_1", {"key": (CANARY,)}))
    assert CANARY not in repr(sent)
    assert form_of(_key_of(sent)) == "form_1"
    assert CANARY not in repr(await counter.store.forms.get("form_1"))


@pytest.mark.parametrize("counter", [(Rotate, Policy())], indirect=True)
async def test_of_two_who_send_a_secret_at_once_one_is_kept_and_the_other_deleted(counter: Counter):
    sent = await asyncio.gather(
        *(
            counter.forms.filled_in_dialog(ModalSubmitted(OSCAR, "form_1", {"key": (f"{CANARY}{n}",)}))
            for n in range(5)
        )
    )
    (won,) = [taken for taken in sent if taken.form is not None]
    values = counter.store.secret_values
    kept = [ref for n in range(1, 12) if await values.get(ref := f"sealed:form_1:s_{n}") is not None]
    assert kept == [_key_of(won)]


def _key_of(taken: Taken) -> Any:
    """What stands in the place of the secret."""
    assert taken.form is not None
    assert taken.form.arguments is not None
    return taken.form.arguments["key"]


async def test_every_step_of_a_form_is_stored_with_its_audit_row_or_not_at_all(
    counter: Counter, tmp_path: Path
):
    close_audit(tmp_path / "bot.db")
    cancel = ControlUsed(SESSION, OSCAR, "form_cancel", counter.form.id, MessageRef("C1", "1"))
    for step in (counter.send(), counter.forms.cancel(cancel)):
        with pytest.raises(StoreError):
            await step
    counter.clock.advance(timedelta(hours=2))
    with pytest.raises(StoreError):
        await counter.forms.sweep()
    assert await counter.store.forms.get(counter.form.id) == counter.form
