"""Behind the one door: a call that only lacks facts becomes a stored form, and nothing else does."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.domain.errors import StoreError, ToolFailed
from chatops_bot.domain.form import FormState
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.redaction import Redactor
from chatops_bot.ports import ToolContext
from chatops_bot.tools.asking import Asker
from tests.audit_rows import close_audit, read_audit
from tests.small_tools import HOUR, SEARCH, texts_with

AT = datetime(2026, 3, 2, 14, 32, tzinfo=UTC)


async def test_a_write_that_lacks_facts_waits_as_a_form(bench, tmp_path: Path):
    done = await bench.call("switch", '{"action": "pause"}')
    assert (done.result.status, done.decision, done.proposal) == ("waits", "asked_back", None)
    assert done.result.content["missing"] == ["task_id"]
    stored = await bench.store.forms.get(done.form.id)
    assert stored == done.form
    assert stored.state is FormState.OPEN
    assert (stored.tool, stored.requester_id, stored.known) == ("switch", "U1", {"action": "pause"})
    assert stored.expires_at == AT + timedelta(hours=1)
    assert [field.name for field in stored.missing] == ["task_id"]
    assert stored.title.en == "Switch"
    ((_, row),) = read_audit(tmp_path / "bot.db")
    assert (row.decision, row.status, row.proposal_id) == ("asked_back", "waits", done.form.id)


async def test_no_form_is_stored_without_its_audit_row_in_the_same_step(bench, tmp_path: Path):
    close_audit(tmp_path / "bot.db")
    with pytest.raises(StoreError):
        await bench.call("switch", '{"action": "pause"}')
    assert await bench.store.forms.open() == []


@pytest.mark.parametrize(
    "arguments", ['{"action":"pause","task_id":null}', '{"action":"pause","task_id":" "}']
)
async def test_a_blank_counts_as_missing(bench, arguments: str):
    assert (await bench.call("switch", arguments)).form is not None


@pytest.mark.parametrize(
    "arguments",
    [
        '{"action": "explode"}',
        '{"task_id": "x"}',
        '{"action": "pause", "task": 3}',
        '{"action": "pause"',
        "[]",
        '{"action": "pause", "task_id": 9}',
    ],
)
async def test_a_wrong_value_goes_back_to_the_model(bench, arguments: str):
    done = await bench.call("switch", arguments)
    assert (done.result.status, done.form) == ("error", None)
    assert await bench.store.forms.open() == []


@pytest.mark.case("sched-V3")
@pytest.mark.case("prompt-R58")
async def test_a_viewer_gets_the_refusal_and_no_form(bench):
    done = await bench.call("switch", "{}", Person("U9", "Vera", Role.VIEWER))
    assert done.result.content["refused"] is True
    assert await bench.store.forms.open() == []


async def test_a_read_asks_only_where_its_tool_says_so(bench):
    done = await bench.call("search", '{"groups": ["web"]}', Person("U9", "Vera", Role.VIEWER))
    fields = {field.name: field for field in done.form.fields}
    assert list(fields)[:2] == ["hosts", "deep"]
    assert [choice.value for choice in fields["hosts"].choices] == ["web-1", "web-2", "db-1"]
    assert (fields["groups"].kind, fields["groups"].chosen) == ("multi", (0,))
    assert bench.search.runs == []


async def test_a_list_that_cannot_be_had_is_typed(bench):
    bench.search.fault = ToolFailed(Phrase("坏了", "broken"))
    done = await bench.call("search", "{}")
    hosts = next(field for field in done.form.fields if field.name == "hosts")
    assert (hosts.kind, hosts.choices) == ("text", ())


async def test_an_argument_that_says_nothing_itself_is_asked_for_in_the_words_of_the_texts(
    bench, clock: ManualClock, ids: CountingIds
):
    hints = PromptRegistry(texts_with(SEARCH)).hints
    asker = Asker(bench.store.forms, clock, ids, Redactor(), HOUR, hints=hints)
    bench.dispatcher = bench.dispatcher_of(bench.registry, asker=asker)
    form = (await bench.call("search", "{}")).form
    said = {each.name: each.hint for each in form.fields}
    assert said["lines"] == Phrase("The lines of it.", "The lines of it.")
    assert said["deep"] is None, "its tool says how people are asked for it"


@pytest.mark.case("nightingale-T5")
async def test_equal_calls_of_a_turn_share_one_form_and_others_do_not(bench):
    first = await bench.call("switch", '{"action": "pause"}')
    again = await bench.call("switch", ' {"task_id": "", "action":"pause"}', call_id="c2")
    other = await bench.call("switch", '{"action": "resume"}', call_id="c3")
    assert again.form is None
    assert "one form for both" in again.result.content["note"]
    assert [form.id for form in await bench.store.forms.open()] == [first.form.id, other.form.id]


async def test_what_the_schema_lets_be_blank_and_the_tool_does_not_is_asked_with_its_reason(bench):
    bench.search.refusal = ToolFailed(
        Phrase("缺", "lacks"), problems={"since": Phrase("要写时间。", "Say since when.")}
    )
    whole = {"groups": ["web"], "hosts": ["a"], "deep": True}
    done = await bench.call("search", json.dumps(whole))
    assert done.result.content["missing"] == ["since"]
    assert done.form.fields[0].name == "since"
    assert done.form.fields[0].problem.en == "Say since when."
    refused = await bench.call("search", json.dumps({**whole, "since": "noon"}), call_id="c2")
    assert (refused.result.status, refused.form) == ("error", None)


async def test_a_form_for_a_blank_says_what_is_wrong_with_the_rest_too(bench):
    since, lines = Phrase("要写时间。", "Say since when."), Phrase("太多了。", "Too many.")
    bench.search.refusal = ToolFailed(Phrase("缺", "lacks"), problems={"since": since, "lines": lines})
    done = await bench.call("search", '{"groups": ["web"], "hosts": ["a"], "deep": true, "lines": 500}')
    assert done.result.content["missing"] == ["since"]
    assert {field.name: field.problem for field in done.form.fields if field.problem} == {
        "since": since, "lines": lines,
    }  # fmt: skip
    assert done.form.known["lines"] == 500


async def test_a_form_says_at_once_what_is_wrong_with_the_values_that_came_with_the_call(bench):
    too_many = Phrase("太多了。", "Too many.")

    async def checked(tool: Any, given: Mapping[str, Any], context: ToolContext) -> Mapping[str, Phrase]:
        return {"lines": too_many} if given.get("lines") == 500 else {}

    bench.search.spec = replace(bench.search.spec, check=checked)
    done = await bench.call("search", '{"groups": ["web"], "lines": 500}')
    problems = {field.name: field.problem for field in done.form.fields if field.problem}
    assert problems == {"lines": too_many}
    fine = await bench.call("search", '{"groups": ["web"], "lines": 20}', call_id="c2")
    assert not any(field.problem for field in fine.form.fields)


async def test_what_waits_is_told_to_the_model_as_json(bench):
    done = await bench.call("switch", "{}")
    assert "nothing has run" in json.dumps(done.result.content)
