"""A secret argument: asked for in a dialog, sealed, opened for the tool alone, and nowhere else, in no spelling."""

import io
import json
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from typing import Any

import pytest

from chatops_bot.app.logs import JsonFormatter
from chatops_bot.app.policy_config import PolicyConfig
from chatops_bot.context.filled_form import filled_form_in
from chatops_bot.domain.model import (
    Finished,
    FinishReason,
    ModelDelta,
    ModelRequest,
    TextDelta,
    ToolCallDelta,
    ToolMessage,
    UserMessage,
)
from chatops_bot.domain.secret_forms import forms as spellings
from chatops_bot.domain.withheld import Withheld
from chatops_bot.llm.scripted import ScriptedModel, says
from chatops_bot.stores.sqlite_file import open_read_only
from tests.audit_rows import read_audit
from tests.rotating import CANARY, Rotate
from tests.scenarios.conftest import Json, ShiftedClock, World, action_ids, everything, until
from tests.scenarios.filling import inputs_of
from tests.scenarios.test_forms import asked_for, card_in, dialog, sends

MADE_UP = "no real key at all"
SPELLED = spellings([CANARY])


class Caller:
    """A model that asks for the tool, and makes the call of a filled form as it stands there, `spoiled` by what a test says."""

    name = "caller"

    def __init__(self, first: Json, spoiled: Json | None = None) -> None:
        self.first, self.spoiled = first, spoiled or {}
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        self.requests.append(request)
        newest = [m for m in request.messages if isinstance(m, UserMessage)][-1]
        form = filled_form_in(newest.text)
        arguments = self.first if form is None else {**form.arguments, **self.spoiled}
        if isinstance(request.messages[-1], ToolMessage):  # which was refused
            yield TextDelta("It was refused.")
            yield Finished(FinishReason.STOP)
            return
        yield ToolCallDelta(0, f"c{len(self.requests)}", "rotate_key", json.dumps(arguments))
        yield Finished(FinishReason.TOOL_CALLS)


class Teller(Caller):
    """A model that gives the secret itself, as one does that was told it in the chat."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        self.requests.append(request)
        if len(self.requests) == 1:
            yield ToolCallDelta(0, "c1", "rotate_key", json.dumps({**self.first, "key": MADE_UP}))
            yield Finished(FinishReason.TOOL_CALLS)
            return
        yield TextDelta("It goes into a form.")
        yield Finished(FinishReason.STOP)


@contextmanager
def log_lines(logs: Withheld) -> Iterator[io.StringIO]:
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonFormatter(logs))
    logging.getLogger().addHandler(handler)
    try:
        yield written
    finally:
        logging.getLogger().removeHandler(handler)


def leaks(text: str) -> list[str]:
    return [spelled for spelled in SPELLED if spelled in text]


def leaking_files(world: World) -> list[str]:
    """The files of bot and workspace that hold the secret in any spelling."""
    return [
        str(path.relative_to(world.folder))
        for path in world.folder.rglob("*")
        if path.is_file() and any(spelled.encode() in path.read_bytes() for spelled in SPELLED)
    ]


def sealed_rows(world: World) -> list[Any]:
    with closing(open_read_only(world.folder / "bot" / "bot.db")) as db:
        return db.execute("SELECT * FROM sealed_values").fetchall()


async def whole_workspace(world: World, ts: str) -> str:
    """All that anybody could see of the workspace: the thread with its blocks, everybody's page state and whispers."""
    seen: list[Any] = [await world.thread(ts)]
    for person in world.people:
        seen += [await world.look("state", person=person), await world.look("ephemerals", person=person)]
    return json.dumps(seen, ensure_ascii=False)


async def given(world: World, ts: str, form: Json, person: str = "oscar") -> Json:
    view = await dialog(world, person, form)
    assert (await sends(world, person, view, {"New key": CANARY}))["ok"]
    return await card_in(world, ts)


async def test_a_secret_reaches_the_tool_and_nothing_else(world: World):
    tool, model, logs = Rotate(), Caller({"service": "payments"}), Withheld()
    with log_lines(logs) as log:
        async with world.bot(model, tools=[tool], logs=logs):
            ts, form = await asked_for(world, "rotate the key of payments")
            assert not inputs_of(form["blocks"]), "no message asks for it, only a dialog"
            view = await dialog(world, "oscar", form)
            (block,) = [b for b in view["blocks"] if b.get("label", {}).get("text") == "New key"]
            assert "it goes to rotate_key alone" in block["hint"]["text"]
            short = await sends(world, "oscar", view, {"New key": "short"})
            assert "8 to 3000" in str(short["errors"])

            assert (await sends(world, "oscar", view, {"New key": CANARY}))["ok"]
            card = await card_in(world, ts)
            assert "given in a form, sealed until it runs" in everything(card)
            assert await world.click("ana", card, "approve") == {"ok": True}
            done = await world.becomes(ts, card, "Done: ")
            assert "[redacted:configured]" in everything(done), "what the careless tool repeats"
            seen = await whole_workspace(world, ts)
            closed = next(m for m in await world.thread(ts) if m["ts"] == form["ts"])
            assert "given, sealed, and shown nowhere again" in everything(closed)
    assert tool.got == [CANARY]
    assert not any(CANARY in planned for planned in tool.planned)
    assert leaks(seen) == []
    assert leaks(log.getvalue()) == []
    assert leaks(repr(model.requests)) == []
    assert leaking_files(world) == []
    schema = next(t for t in model.requests[0].tools if t.name == "rotate_key").parameters
    assert "you never see it" in str(schema["properties"])
    assert schema["required"] == ["service"]
    assert sealed_rows(world) == [], "deleted once it was used"


async def test_it_survives_a_restart_and_is_still_taken_out_of_what_the_tool_repeats(world: World):
    tool, model = Rotate(), Caller({"service": "payments"})
    async with world.bot(model, tools=[tool]):
        ts, form = await asked_for(world, "rotate the key of payments")
        card = await given(world, ts, form)
        assert len(sealed_rows(world)) == 1
    async with world.bot(model, tools=[tool]):
        assert await world.click("ana", card, "approve") == {"ok": True}
        done = await world.becomes(ts, card, "Done: ")
        assert "[redacted:configured]" in everything(done)
    assert tool.got == [CANARY]
    assert leaking_files(world) == []


async def test_after_a_restart_it_is_hidden_before_anything_touches_it(world: World):
    async with world.bot(Caller({"service": "payments"}), tools=[Rotate()]):
        ts, form = await asked_for(world, "rotate the key of payments")
        await given(world, ts, form)
    async with world.bot(ScriptedModel([says(f"I heard of {CANARY}.")]), tools=[Rotate()]):
        other = await world.says("oscar", f"{world.mention} what did you hear?")
        (*_, answer) = await world.settled(other, 1)
        assert "I heard of [redacted:configured]." in everything(answer), (
            "though nobody touched it since the start"
        )


async def test_a_tool_that_breaks_with_the_secret_in_its_error_tells_it_to_no_log(world: World):
    tool, model, logs = Rotate(fault=KeyError(CANARY)), Caller({"service": "payments"}), Withheld()
    with log_lines(logs) as log:
        async with world.bot(model, tools=[tool], logs=logs):
            ts, form = await asked_for(world, "rotate the key of payments")
            card = await given(world, ts, form)
            assert await world.click("ana", card, "approve") == {"ok": True}
            await world.becomes(ts, card, "Outcome unknown")
    assert "failed in a way it should not" in log.getvalue()
    assert leaks(log.getvalue()) == []
    assert leaking_files(world) == []


@pytest.mark.parametrize("end", ["reject", "expire"])
async def test_it_is_deleted_with_a_proposal_that_never_runs(world: World, end: str):
    tool, model, clock = Rotate(), Caller({"service": "payments"}), ShiftedClock()
    async with world.bot(model, tools=[tool], clock=clock):
        ts, form = await asked_for(world, "rotate the key of payments")
        card = await given(world, ts, form)
        assert len(sealed_rows(world)) == 1
        if end == "reject":
            assert await world.click("ana", card, "reject") == {"ok": True}
        else:
            clock.ahead = timedelta(hours=1)

        async def deleted() -> bool | None:
            return True if sealed_rows(world) == [] else None

        await until(deleted, "the deletion of what was typed")
        if end == "expire":
            card = await world.becomes(ts, card, "Expired")
            assert await world.click("oscar", card, "again") == {"ok": True}
            assert "is deleted; ask for the change again" in (await world.whispers("oscar"))[0]["text"]
    assert tool.got == []


async def test_what_was_typed_for_a_call_that_nobody_made_is_deleted_in_time(world: World):
    model, clock = Caller({"service": "payments"}, spoiled={"service": "attacker"}), ShiftedClock()
    tool = Rotate()
    async with world.bot(model, tools=[tool], clock=clock):
        ts, form = await asked_for(world, "rotate the key of payments")
        view = await dialog(world, "oscar", form)
        assert (await sends(world, "oscar", view, {"New key": CANARY}))["ok"]

        async def refused() -> bool | None:
            rows = [
                r
                for _, r in read_audit(world.folder / "bot" / "bot.db")
                if "good only for the call" in r.result
            ]
            return True if rows else None

        await until(refused, "the refusal of another call with this reference")
        assert not any("approve" in action_ids(m) for m in await world.thread(ts))
        assert len(sealed_rows(world)) == 1
        clock.ahead = timedelta(hours=3)

        async def deleted() -> bool | None:
            return True if sealed_rows(world) == [] else None

        await until(deleted, "the deletion of what was typed")
    assert tool.got == []
    assert leaking_files(world) == []


async def test_somebody_else_fills_in_where_a_rule_says_so_and_is_named_everywhere(world: World):
    tool, model = Rotate(), Caller({"service": "payments"})
    rules = {"rules": [{"tools": ["rotate_key"], "answer": ["approver", "admin"]}]}
    config = world.config(policy=PolicyConfig.model_validate(rules))
    async with world.bot(model, config=config, tools=[tool]):
        ts, form = await asked_for(world, "rotate the key of payments")
        card = await given(world, ts, form, person="ana")
        closed = next(m for m in await world.thread(ts) if m["ts"] == form["ts"])
        ana = world.people["ana"]["id"]
        filled = [r for _, r in read_audit(world.folder / "bot" / "bot.db") if r.decision == "filled"]
        assert [row.person_id for row in filled] == [ana]
        assert filled[0].person_name in everything(closed)
        assert await world.click("ana", card, "approve") == {"ok": True}
        assert "another" in (await world.whispers("ana"))[0]["text"], "who filled it in asked for it"
    newest = [m for m in model.requests[-1].messages if isinstance(m, UserMessage)][-1]
    assert newest.author == ana
    assert filled[0].person_name in repr(model.requests[-1].messages)


async def test_a_secret_that_a_model_gives_itself_is_refused_and_not_recorded(world: World):
    model = Teller({"service": "payments"})
    async with world.bot(model, tools=[Rotate()]):
        ts = await world.says("oscar", f"{world.mention} rotate the key of payments")
        await world.settled(ts, 1)
        rows = [row for _, row in read_audit(world.folder / "bot" / "bot.db") if row.tool == "rotate_key"]
    assert [row.decision for row in rows] == ["invalid"]
    assert "a person gives it in a form, never you" in rows[0].result
    assert MADE_UP not in rows[0].arguments
    assert "redacted:secret-argument" in rows[0].arguments
