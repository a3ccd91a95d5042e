"""Answers to forms: what is said of them, and what becomes of those whose turn never began."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.domain.errors import PlatformError, ToolFailed
from chatops_bot.domain.event import ModalSubmitted
from chatops_bot.domain.form import Form
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Person, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.tool import Plan
from chatops_bot.rendering import form_notices
from chatops_bot.sessions.forms import Forms
from chatops_bot.sessions.recovery import RESUMED_WITHIN
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.tools.form_fields import fields_of
from chatops_bot.tools.registry import Registry
from tests.rotating import sealed_secrets
from tests.sessions.test_answer import Wall
from tests.small_tools import OSCAR, SESSION, Switch, SwitchArgs

SECRET = "Bearer abcdefghijklmnop1234"  # a made-up one


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

    async def person(self, user_id: str, channel: str = "", *, fresh: bool = False) -> Person:
        if self.fault is not None:
            raise self.fault
        return Person(user_id, "Oscar", self.role)


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
    fields = fields_of(SwitchArgs, {"action": "pause"}, frozenset({"task_id"}), {})
    assert fields is not None
    form = Form(
        id="form_1", session=SESSION, turn_id="turn_1", call_id="c1", tool="switch", effect=Effect.WRITE,
        title=Phrase("切换", "Switch"), requester_id=OSCAR.id, requester_name=OSCAR.name, language="en",
        known={"action": "pause"}, fields=fields, created_at=clock.now(), expires_at=clock.now() + timedelta(hours=1),
    )  # fmt: skip
    await store.forms.add(form)
    wall = Wall()
    wall.replies.set()
    tool = getattr(request, "param", Switch)()
    forms = Forms(
        store=store, platform=wall, directory=people, registry=Registry([tool]), redactor=Redactor(()), clock=clock,
        ids=CountingIds(), policy=Policy(), secrets=sealed_secrets(store),
    )  # fmt: skip
    yield Counter(forms, people, store, clock, form)
    await store.aclose()


@pytest.mark.parametrize("counter", [Quoting], indirect=True)
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
