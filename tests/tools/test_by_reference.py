"""Secret arguments at the door of tools: never literally, and by reference for the one call that a form asked for."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.domain.audit_check import Unreadable
from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.form import FormState
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.proposal import ProposalState
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.sealed_value import seal
from chatops_bot.domain.secret_argument import SecretArgument
from chatops_bot.domain.tool import ToolCall
from chatops_bot.domain.withheld import Withheld
from chatops_bot.ports import ToolContext, ToolSpec
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.tools.apply import Applier
from chatops_bot.tools.asking import Asker
from chatops_bot.tools.dispatch import Dispatcher
from chatops_bot.tools.invocation import Dispatched, TurnMemory
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.sealed_secrets import GIVEN_FOR, HIDDEN_AFTERWARDS, SealedSecrets
from tests.rotating import CANARY, Rotate, RotateArgs, sealed_secrets
from tests.small_tools import HOUR, KEY, OSCAR, SESSION, WORDS, Look, Switch, proposer_of


class Door:
    def __init__(self, store: SqliteStore, clock: ManualClock, ids: CountingIds) -> None:
        self.store, self.clock, self.rotate = store, clock, Rotate()
        self.secrets = sealed_secrets(store)
        other = replace(self.rotate.spec, name="other_key")
        self.dispatcher = self.dispatching([self.rotate, Rotate(spec=other)], self.secrets, ids)

    def dispatching(self, tools: list[Any], secrets: SealedSecrets | None, ids: CountingIds) -> Dispatcher:
        return Dispatcher(
            Registry([*tools, Switch()]), policy=Policy(), audit=self.store.audit, proposer=proposer_of(self.store, self.clock, ids),
            asker=Asker(self.store.forms, self.clock, ids, Redactor(), HOUR, secrets), redactor=Redactor(), clock=self.clock, words=WORDS
        )  # fmt: skip

    async def call(self, arguments: Any, name: str = "rotate_key", thread: str = "1.1") -> Dispatched:
        return await self.spelled(json.dumps(arguments), name, thread)

    async def spelled(self, arguments: str, name: str, thread: str = "1.1") -> Dispatched:
        context = ToolContext(OSCAR, replace(SESSION, thread=thread), "turn_1")
        return await self.dispatcher.dispatch(ToolCall("c1", name, arguments), context, TurnMemory(), "en")

    async def filled(self) -> dict[str, Any]:
        """The arguments of a form that was asked for and filled in."""
        form = (await self.call({"service": "payments"})).form
        assert form is not None
        arguments = {
            "service": "payments",
            "key": await self.secrets.keep(form.id, CANARY, "rotate_key", form.session),
        }
        now = self.clock.now()
        await self.store.forms.move(form, FormState.SUBMITTED, now, arguments=arguments, closed_at=now)
        return arguments


@pytest.fixture
async def door(tmp_path: Path, clock: ManualClock, ids: CountingIds) -> AsyncIterator[Door]:
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    yield Door(store, clock, ids)
    await store.aclose()


async def test_the_call_of_its_form_is_proposed_with_the_reference_and_says_that_it_holds_a_secret(
    door: Door,
):
    arguments = await door.filled()
    proposal = (await door.call(arguments)).proposal
    assert proposal is not None
    assert proposal.arguments == arguments
    assert (Phrase("新密钥", "New key"), "given in a form, sealed until it runs") in proposal.plan.details
    assert CANARY not in repr(proposal)


@pytest.mark.parametrize("given", [None, "", "  "])
async def test_a_blank_is_asked_for(door: Door, given: str | None):
    done = await door.call({"service": "payments", "key": given})
    assert done.decision == "asked_back"
    assert done.form is not None
    assert next((field.name, field.kind) for field in done.form.fields if field.is_required) == (
        "key",
        "secret",
    )


@pytest.mark.parametrize(
    "given", ["hunter2", ["hunter2"], 42, "sealed:typed", "sealed:hunter2", {"ref": "x"}]
)
async def test_a_literal_is_refused(door: Door, given: Any):
    done = await door.call({"service": "payments", "key": given})
    assert (done.decision, done.form, done.proposal) == ("invalid", None, None)
    assert "a person gives it in a form" in done.result.content["error"]
    rows = [row.record for row in await door.store.audit.page(0, 10) if not isinstance(row, Unreadable)]
    assert [row.decision for row in rows] == ["invalid"]
    assert not any(literal in rows[0].arguments for literal in ("hunter2", "42", "ref"))


@pytest.mark.parametrize(
    "changes",
    [{"service": "attacker"}, {"extra": 1}, {"key": "sealed:form_9:s_1"}],
)  # fmt: skip
async def test_a_reference_is_good_for_no_other_call(door: Door, changes: dict[str, Any]):
    done = await door.call({**await door.filled(), **changes})
    assert done.decision == "invalid"
    assert "good only for the call" in done.result.content["error"]


async def test_a_reference_is_good_for_no_other_tool_and_no_other_conversation(door: Door):
    arguments = await door.filled()
    for done in (await door.call(arguments, name="other_key"), await door.call(arguments, thread="2.2")):
        assert done.decision == "invalid"
        assert "good only for the call" in done.result.content["error"]


@pytest.mark.parametrize("around", ["{}", "note: {} for you", " {}"])
@pytest.mark.parametrize("tool", ["switch", "rotate_key"])
async def test_a_reference_in_an_argument_that_is_no_secret_is_refused(door: Door, tool: str, around: str):
    arguments = await door.filled()
    hidden = around.format(arguments["key"])
    for given in ({"note": hidden}, {"payload": {"env": [{"KEY": hidden}]}}, {"env": {hidden: 1}}):
        done = await door.call({**arguments, **given} if tool == "rotate_key" else given, name=tool)
        assert (done.decision, done.proposal) == ("invalid", None)
        assert "is no secret argument" in done.result.content["error"]


async def test_a_reference_that_json_spells_with_an_escape_is_one_all_the_same(door: Door):
    plain = json.dumps({"note": (await door.filled())["key"]})
    spelled = plain.replace("sealed", "\\u0073ealed")
    assert json.loads(spelled) == json.loads(plain)
    assert spelled != plain
    assert "is no secret argument" in (await door.spelled(spelled, "switch")).result.content["error"]


@pytest.mark.parametrize("other", [{"tool": "other_key"}, {"session": replace(SESSION, thread="2.2")}])
async def test_a_stored_action_of_another_call_opens_and_deletes_nothing(door: Door, other: dict[str, Any]):
    arguments = await door.filled()
    whose: dict[str, Any] = {"tool": "rotate_key", "session": SESSION, **other}
    asked = RotateArgs.model_validate(arguments)
    with pytest.raises(ToolFailed):
        await door.secrets.opened(asked, **whose)
    await door.secrets.forget(arguments, **whose)
    assert await door.secrets.is_kept(arguments["key"])
    assert await door.secrets.opened(asked, "rotate_key", SESSION) == asked.model_copy(update={"key": CANARY})


async def test_a_tool_without_secrets_never_gets_one(door: Door):
    class Note(BaseModel):
        note: str

    arguments = Note(note=(await door.filled())["key"])
    assert await door.secrets.opened(arguments, "rotate_key", SESSION) == arguments


async def test_what_was_used_stays_hidden_beyond_the_last_look(door: Door):
    arguments, withheld = await door.filled(), Withheld()
    secrets = sealed_secrets(door.store, withheld, clock=door.clock)
    await secrets.opened(RotateArgs.model_validate(arguments), "rotate_key", SESSION)
    await secrets.forget(arguments, "rotate_key", SESSION)
    assert not await secrets.is_kept(arguments["key"])
    for _ in range(5):
        await secrets.sweep()
        assert CANARY not in withheld.text(f"the log says {CANARY}")
        door.clock.advance(HOUR)


@pytest.mark.parametrize("how", ["used", "late", "no keeper"])
async def test_a_reference_to_what_is_gone_leads_to_no_card(door: Door, ids: CountingIds, how: str):
    arguments = await door.filled()
    if how == "used":
        await door.secrets.forget(arguments, "rotate_key", SESSION)
    elif how == "late":
        door.clock.advance(GIVEN_FOR)
    else:
        door.dispatcher = door.dispatching([door.rotate], None, ids)
    done = await door.call(arguments)
    assert done.decision == "invalid"
    assert "is deleted" in done.result.content["error"]


def test_a_tool_that_only_looks_takes_no_secret():
    class Args(BaseModel):
        key: Annotated[str, SecretArgument()]

    spec = ToolSpec("peek", Args, Effect.READ, Phrase("看", "peeking"))
    with pytest.raises(ValueError, match="can take no secret argument"):
        Registry([Look(spec=spec)])


async def test_what_is_overdue_is_deleted_and_hidden_no_more(door: Door):
    withheld = Withheld(["configured-one"])
    secrets = sealed_secrets(door.store, withheld, clock=door.clock)
    await secrets.keep("form_1", CANARY, "rotate_key", SESSION)
    assert (
        withheld.text(f"it is {CANARY}, configured-one")
        == "it is [redacted:configured], [redacted:configured]"
    )
    await secrets.sweep()
    assert len(withheld.hidden) == 1
    door.clock.advance(GIVEN_FOR + HOUR + timedelta(minutes=6))
    await secrets.sweep()
    assert len(withheld.hidden) == 1, "whoever was given it may repeat it yet"
    door.clock.advance(HIDDEN_AFTERWARDS)
    await secrets.sweep()
    assert withheld.text(f"it is {CANARY}, configured-one") == f"it is {CANARY}, [redacted:configured]"


def applier_of(door: Door, withheld: Withheld) -> Applier:
    return Applier(door.dispatcher.registry, withheld, Policy(), [KEY], sealed_secrets(door.store, withheld))


async def test_the_tool_alone_gets_the_value_and_what_it_repeats_is_redacted(door: Door):
    proposal = (await door.call(await door.filled())).proposal
    assert proposal is not None
    applied = await applier_of(door, Withheld()).apply(proposal, OSCAR)
    assert applied.state is ProposalState.APPLIED
    assert door.rotate.got == [CANARY]
    assert CANARY not in repr(applied)
    assert not any(CANARY in planned for planned in door.rotate.planned)


async def test_what_reading_back_repeats_after_a_crash_is_redacted_too(door: Door):
    proposal = (await door.call(await door.filled())).proposal
    assert proposal is not None
    door.rotate.got.append(CANARY)  # as the process that died had done it
    applied = await applier_of(door, Withheld()).recover(proposal, OSCAR)
    assert applied.summary.en == "it holds [redacted:configured]"


@pytest.mark.parametrize("how", ["deleted", "altered", "another key"])
async def test_a_secret_that_cannot_be_opened_runs_nothing(door: Door, how: str):
    arguments = await door.filled()
    proposal = (await door.call(arguments)).proposal
    assert proposal is not None
    applier = applier_of(door, Withheld())
    await door.store.secret_values.drop([arguments["key"]])
    if how == "altered":
        await door.store.secret_values.put(arguments["key"], "00" * 96, 60)
    elif how == "another key":
        await door.store.secret_values.put(
            arguments["key"], seal(b"x" * 32, f"{arguments['key']}\0rotate_key\0{SESSION}", "evil key"), 60
        )
    applied = await applier.apply(proposal, OSCAR)
    assert applied.state is ProposalState.FAILED
    assert applied.summary.en.startswith(
        "Nothing ran: What was typed into the form has expired or was deleted"
    )
    assert door.rotate.got == []
