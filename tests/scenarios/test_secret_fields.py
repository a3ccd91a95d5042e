"""A secret argument: asked for in a dialog, sealed, opened for the tool alone, and nowhere else, in no spelling."""

import io
import json
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from typing import Any

from chatops_bot.app.logs import JsonFormatter
from chatops_bot.context.filled_form import filled_form_in
from chatops_bot.domain.model import (
    Finished,
    FinishReason,
    ModelDelta,
    ModelRequest,
    ToolCallDelta,
    UserMessage,
)
from chatops_bot.domain.secret_forms import forms as spellings
from chatops_bot.domain.withheld import Withheld
from tests.rotating import CANARY, Rotate
from tests.scenarios.conftest import Json, World, everything
from tests.scenarios.filling import inputs_of
from tests.scenarios.test_forms import asked_for, card_in, dialog, sends

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
        number = len(self.requests)
        if number > 4:
            yield ToolCallDelta(0, f"c{number}", "no_such_tool", "{}")
        yield ToolCallDelta(0, f"c{number}", "rotate_key", json.dumps(arguments))
        yield Finished(FinishReason.TOOL_CALLS)


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


def sealed_rows(world: World) -> list[Any]:
    import sqlite3

    with sqlite3.connect(world.folder / "bot" / "bot.db") as db:
        rows = db.execute("SELECT * FROM sealed_values").fetchall()
    db.close()
    return rows
