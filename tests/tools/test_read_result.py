"""A result that was too long is kept whole, redacted, and read back in pieces by the session that it belongs to."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.model import Reasoning
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.tool import ToolCall, ToolResult
from chatops_bot.domain.transcript import ModelSaid, ToolReturned
from chatops_bot.ports import ToolContext
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.tools.asking import Asker
from chatops_bot.tools.dispatch import Dispatcher
from chatops_bot.tools.invocation import TurnMemory
from chatops_bot.tools.read_result import ANSWER_CHARS, ReadResult
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.result_lines import LINE_CHARS, as_lines, plainly
from chatops_bot.tools.spilling import KEPT_SECONDS, RESULT_CHARS
from tests.small_tools import OSCAR, SESSION, WORDS, Look, proposer_of

ELSEWHERE = replace(SESSION, thread="another")


@dataclass
class Door:
    """The dispatcher with a tool that looks and one that reads back; `does` is one call, stored as the loop stores it."""

    store: SqliteStore
    look: Look
    dispatcher: Dispatcher
    clock: ManualClock

    async def does(
        self, call_id: str, name: str, arguments: dict[str, Any], session: Any = SESSION
    ) -> ToolResult:
        call = ToolCall(call_id, name, json.dumps(arguments))
        said = ModelSaid("turn_1", self.clock.now(), "", Reasoning(), (call,))
        await self.store.transcripts.append(session, [said])
        done = await self.dispatcher.dispatch(call, ToolContext(OSCAR, session, "turn_1"), TurnMemory(), "en")
        content = canonical_json(done.result.content)
        returned = ToolReturned("turn_1", self.clock.now(), call_id, name, done.result.status, content)
        await self.store.transcripts.append(session, [returned])
        return done.result

    async def reads(self, handle: str, session: Any = SESSION, **how: Any) -> ToolResult:
        return await self.does("r", "read_result", {"handle": handle, **how}, session)


@pytest.fixture
async def door(tmp_path: Path, clock: ManualClock, ids: CountingIds) -> AsyncIterator[Door]:
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    look, redactor = Look(), Redactor(["hunter2-and-more"])
    dispatcher = Dispatcher(
        Registry([look, ReadResult(store.transcripts, store.results)]),
        policy=Policy(),
        audit=store.audit,
        proposer=proposer_of(store, clock, ids),
        asker=Asker(store.forms, clock, ids, redactor, timedelta(hours=1)),
        redactor=redactor,
        clock=clock,
        results=store.results,
        words=WORDS,
    )
    yield Door(store, look, dispatcher, clock)
    await store.aclose()


async def test_a_long_result_is_cut_at_the_door_and_its_whole_is_read_by_its_handle(door: Door):
    door.look.answer = {"log": "\n".join(f"line {n}" for n in range(1, 200_001)), "count": 200_000}
    result = await door.does("c1", "look", {})
    assert len(canonical_json(result.content)) <= RESULT_CHARS
    assert result.content["read_result"] == {"handle": "c1"}
    [cut] = result.content["cut"]
    assert (cut["key"], cut["of_characters"], cut["of_lines"]) == ("log", 2288894, 200000)
    assert result.content["log"].endswith("line 200000")
    tail = await door.reads("c1", tail=2)
    assert tail.content["lines"] == ["200001: line 199999", "200002: line 200000"]
    head = await door.reads("c1", head=3)
    assert head.content["lines"] == ["1: count: 200000", "2: log:", "3: line 1"]
    middle = await door.reads("c1", from_line=100_000, lines=2)
    assert middle.content["lines"] == ["100000: line 99998", "100001: line 99999"]
    assert middle.content["next_from_line"] == 100_002
    found = await door.reads("c1", search="LINE 1234")
    assert (found.content["matching_lines"], found.content["lines"][0]) == (111, "1236: line 1234")


async def test_a_result_that_was_short_enough_is_read_from_the_transcript(door: Door):
    door.look.answer = {"rows": [{"id": 1}, {"id": 2}], "note": "two"}
    result = await door.does("c1", "look", {})
    assert result.content == door.look.answer
    assert (await door.reads("c1")).content["lines"] == [
        "1: note: two",
        "2: rows: 2 rows",
        '3: {"id":1}',
        '4: {"id":2}',
    ]


async def test_it_is_on_offer_whatever_the_request_is_about(door: Door):
    """Notes may name a handle in any turn, and a tool that comes and goes would change the cached prefix."""
    assert door.dispatcher.registry.find("read_result").spec.of_agent


async def test_a_pattern_is_searched_as_it_stands_and_never_run(door: Door):
    door.look.answer = {"log": "\n".join(["a" * 900] * 2_000 + ["(a+)+$"])}
    await door.does("c1", "look", {})
    found = await door.reads("c1", search="(a+)+$")
    assert found.content["lines"] == ["2002: (a+)+$"]


async def test_other_sessions_and_unknown_handles_have_no_results(door: Door):
    door.look.answer = {"log": "x\n" * 50_000}
    await door.does("c1", "look", {})
    for result in (await door.reads("c1", session=ELSEWHERE), await door.reads("c9")):
        assert result.status == "error"
        assert "no result with the handle" in result.content["error"]


async def test_what_is_kept_holds_no_secret(door: Door):
    door.look.answer = {"log": "x\n" * 50_000 + "password hunter2-and-more"}
    await door.does("c1", "look", {})
    kept = await door.store.results.get(SESSION, "c1")
    assert kept is not None
    assert "hunter2" not in kept
    assert len(kept) > 100_000


async def test_when_its_time_is_over_what_the_transcript_has_is_read_and_told_as_shortened(door: Door):
    door.look.answer = {"log": "x\n" * 50_000 + "the end"}
    await door.does("c1", "look", {})
    assert "is_whole" not in (await door.reads("c1", tail=1)).content
    door.clock.advance(timedelta(seconds=KEPT_SECONDS))
    result = await door.reads("c1", tail=1)
    assert result.status == "ok"
    assert result.content["total_lines"] < 50_000
    assert (result.content["is_whole"], result.content["whole_kept_days"]) == (False, 30)
    assert "is not kept any more" in result.summary.en
    door.look.answer = {"log": "short"}
    await door.does("c2", "look", {})
    assert "is_whole" not in (await door.reads("c2")).content


async def test_what_is_read_back_is_bounded_and_goes_on_where_it_ended(door: Door):
    door.look.answer = {"rows": ["\u0007" * 990] * 400}
    await door.does("c1", "look", {})
    first = await door.reads("c1", head=400)
    assert len(canonical_json(first.content)) < ANSWER_CHARS + 500
    rest = await door.reads("c1", from_line=first.content["next_from_line"])
    assert rest.content["lines"][0].startswith(f"{first.content['next_from_line']}: ")


async def test_two_ends_at_once_are_an_error_that_says_so(door: Door):
    result = await door.reads("c1", head=1, tail=1)
    assert "head, tail and from_line" in result.content["error"]


@pytest.mark.parametrize(
    ("rows", "search"),
    [
        (["x" * (LINE_CHARS - 5) + "Connection refused" + "y" * LINE_CHARS], "Connection refused"),
        ([{"message": 'lost connection at "db-primary"\tport 5432'}], 'at "db-primary"\tport'),
        ([{"at": {"why": "one\ntwo"}}], "one\ntwo"),
        (["caf\u00e9"], "cafe\u0301"),
        (["STRASSE"], "straße"),
    ],
)
async def test_what_stands_in_a_result_is_found_however_it_is_cut_and_spelled(
    door: Door, rows: list[Any], search: str
):
    door.look.answer = {"rows": [*rows, "another"]}
    await door.does("c1", "look", {})
    found = await door.reads("c1", search=search)
    assert found.content["matching_lines"] >= 1
    assert not any("another" in line for line in found.content["lines"])


async def test_lists_within_objects_are_rows_too(door: Door):
    door.look.answer = {"a": {"logs": ["one", "two"], "of": {"text": "three\nfour"}}, "b": {"c": 1}}
    await door.does("c1", "look", {})
    read = await door.reads("c1")
    assert [line.partition(": ")[2] for line in read.content["lines"]] == [
        "a.logs: 2 rows", "one", "two", "a.of.text:", "three", "four", 'b: {"c":1}'
    ]  # fmt: skip


_TEXTS = st.text(max_size=3 * LINE_CHARS)


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.recursive(
            _TEXTS | st.lists(st.text()),
            lambda held: st.dictionaries(st.text(max_size=5), held),
            max_leaves=4,
        ),
        max_size=4,
    )
)
def test_all_of_a_result_stands_in_its_lines_and_is_found(content: dict[str, Any]):
    lines = list(as_lines(canonical_json(content)))
    pieces = [piece for line in lines for piece in line.pieces]
    assert all(len(piece) <= LINE_CHARS and "\n" not in piece for piece in pieces)
    for text in leaves(content):
        for line in text.split("\n"):
            assert any(any(each.has(plainly(line[:200]))) for each in lines)


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    else:
        for held in value.values() if isinstance(value, dict) else value:
            yield from leaves(held)
