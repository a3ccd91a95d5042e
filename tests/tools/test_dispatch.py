"""The one door: reads run, writes wait for a person, and whatever is wrong comes back as a result that says so."""

import asyncio
import json
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.cutting import cap_content
from chatops_bot.domain.errors import ToolArgumentsInvalid, ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Person, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.proposal import ProposalState
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.tool import Plan, ToolCall
from chatops_bot.ports import ToolContext
from chatops_bot.tools.asking import Asker
from chatops_bot.tools.dispatch import Dispatcher
from chatops_bot.tools.drafting import READABLE_CHARS
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.spilling import RESULT_CHARS
from chatops_bot.tools.validation import parse_arguments
from tests.audit_rows import read_audit
from tests.small_tools import (
    HOUR,
    LOOK,
    OSCAR,
    PHRASES,
    SESSION,
    SWITCH,
    WORDS,
    Switch,
    SwitchArgs,
    definitions_of,
    proposer_of,
)


async def test_a_read_runs_and_is_audited(bench, tmp_path: Path):
    done = await bench.call("look", '{"name": "night"}')
    assert (done.result.status, done.result.content) == ("ok", {"count": 1})
    ((_, row),) = read_audit(tmp_path / "bot.db")
    assert (row.tool, row.arguments, row.decision, row.status, row.role) == (
        "look",
        '{"name": "night"}',
        "auto",
        "ok",
        "operator",
    )
    assert row.result == '{"count":1}'
    assert len(row.result_sha256) == 64


@pytest.mark.case("prompt-R56")
@pytest.mark.case("prompt-R58")
async def test_a_write_becomes_a_proposal_and_nothing_runs(bench, tmp_path: Path):
    done = await bench.call("switch", '{"task_id": 3, "action": "pause"}')
    assert done.result.status == "waits"
    assert bench.switch.applied == []
    stored = await bench.store.proposals.get(done.proposal.id)
    assert stored.state is ProposalState.PENDING
    assert stored.arguments == {"task_id": 3, "action": "pause"}
    assert stored.requester_id == "U1"
    ((_, row),) = read_audit(tmp_path / "bot.db")
    assert (row.decision, row.proposal_id) == ("proposed", stored.id)


@pytest.mark.case("nightingale-T5")
async def test_an_equal_write_shares_one_proposal_whatever_its_key_order(bench):
    first = await bench.call("switch", '{"task_id": 3, "action": "pause"}')
    second = await bench.call("switch", ' {"action":"pause",\n"task_id":3}', call_id="c2")
    assert second.proposal is None
    assert second.result.content["proposal"] == first.result.content["proposal"]
    assert "not repeated" in second.result.content["note"]
    assert len(await bench.store.proposals.in_states(frozenset({ProposalState.PENDING}))) == 1


@pytest.mark.case("hitl-C16")
async def test_a_write_with_one_other_argument_is_another_proposal(bench):
    first = await bench.call("switch", '{"task_id": 3, "action": "pause"}')
    second = await bench.call("switch", '{"task_id": 3, "action": "resume"}', call_id="c2")
    assert second.proposal is not None
    assert second.proposal.id != first.proposal.id
    assert second.proposal.digest != first.proposal.digest


async def test_a_write_that_failed_may_be_tried_again(bench):
    assert (await bench.call("switch", '{"task_id": 9, "action": "pause"}')).result.status == "error"
    assert bench.memory.writes == {}


@pytest.mark.case("peer-T37")
async def test_reads_are_not_deduplicated(bench):
    await bench.call("look", "{}")
    await bench.call("look", "{}", call_id="c2")
    assert len(bench.look.runs) == 2


@pytest.mark.case("prompt-R58")
@pytest.mark.case("sched-V3")
async def test_a_viewer_is_refused_before_anything_is_proposed(bench, tmp_path: Path):
    done = await bench.call("switch", '{"task_id": 3, "action": "pause"}', Person("U9", "Vera", Role.VIEWER))
    assert done.result.status == "error"
    assert done.result.content["refused"] is True
    assert await bench.store.proposals.in_states(frozenset(ProposalState)) == []
    ((_, row),) = read_audit(tmp_path / "bot.db")
    assert row.decision == "refused"


@pytest.mark.case("peer-T26")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('{"name": "up', "not valid JSON"),
        ("[1]", "must be a JSON object"),
        ("[" * 60_000, "not valid JSON"),
        ('{"name": "' + "x" * 64_000 + '"}', "longer than 64000 characters"),
        (r'{"name": "\ud83d"}', "not valid JSON"),
        ('{"limit": "many"}', "limit:"),
        ('{"limit": 0}', "limit:"),
        ('{"nam": "x"}', "nam:"),
    ],
)
async def test_arguments_that_do_not_fit_never_run(bench, arguments: str, said: str):
    done = await bench.call("look", arguments)
    assert (done.result.status, done.decision) == ("error", "invalid")
    assert said in done.result.content["error"]
    assert bench.look.runs == []


@pytest.mark.case("peer-T25")
@pytest.mark.parametrize("arguments", ["", "  ", "null", "{}"])
async def test_no_arguments_means_none(bench, arguments: str):
    assert (await bench.call("look", arguments)).result.status == "ok"


@pytest.mark.case("peer-T34")
async def test_an_unknown_tool_gets_the_valid_names_nearest_first(bench):
    done = await bench.call("swich", "{}")
    assert done.result.content["error"] == "There is no tool 'swich'. Valid names: switch, look, search."


async def test_a_tool_that_hangs_is_stopped_at_its_own_timeout(bench):
    bench.look.spec = replace(LOOK, timeout=0.2)
    bench.look.gate = asyncio.Event()
    done = await bench.call("look", "{}")
    assert "did not return within 0.2 s" in done.result.content["error"]


async def test_a_bug_in_a_tool_is_a_result_and_not_the_end(bench):
    bench.look.fault = KeyError("x")
    done = await bench.call("look", "{}")
    assert "failed inside the bot" in done.result.content["error"]


async def test_secrets_are_gone_before_anyone_sees_them(bench, tmp_path: Path):
    token = "xoxb-1234567890-abcdefghij"
    bench.look.answer = {"log": f"login with {token}", "rows": [{"password": "hunter2-and-more"}]}
    done = await bench.call("look", json.dumps({"name": token}))
    rows = "".join(str(row) for row in read_audit(tmp_path / "bot.db"))
    for place in (str(done.result), rows):
        assert token not in place
        assert "hunter2-and-more" not in place
    bench.look.fault = ToolFailed(Phrase(token, f"refused for {token}"))
    assert token not in str((await bench.call("look", "{}")).result)


async def test_what_a_tool_does_and_is_called_is_known_before_it_is_called(bench):
    dispatcher = bench.dispatcher
    assert [dispatcher.effect_of(name) for name in ("look", "switch", "nothing")] == [
        Effect.READ,
        Effect.WRITE,
        Effect.READ,
    ]
    assert [dispatcher.label_of(ToolCall("c", name, "{}")).en for name in ("look", "nothing")] == [
        "looking",
        "unknown tool nothing",
    ]


class Dated(SwitchArgs):
    at: date = date(2026, 3, 2)


async def test_arguments_are_compared_as_they_are_stored(bench):
    """A day is text in JSON: in the store, and where a call is compared with those that wait or that were made before."""
    bench.switch.spec = replace(SWITCH, arguments=Dated)
    call = '{"task_id": 3, "action": "pause", "at": "2026-03-03"}'
    first = await bench.call("switch", call)
    assert first.proposal.arguments["at"] == "2026-03-03"
    assert "not repeated" in (await bench.call("switch", call, call_id="c2")).result.content["note"]
    bench.memory.writes.clear()
    again = await bench.call("switch", call, call_id="c3")
    assert (again.decision, again.proposal) == ("known", None)
    assert again.result.content["proposal"] == first.proposal.code


class Slow(Switch):
    """Its plan takes two seconds of `clock`."""

    clock: ManualClock

    async def plan(self, arguments: SwitchArgs, context: ToolContext) -> Plan:
        self.clock.advance(timedelta(seconds=2))
        return await Switch.plan(self, arguments, context)


async def test_the_audit_says_how_long_it_took_to_plan(
    bench, clock: ManualClock, ids: CountingIds, tmp_path: Path
):
    slow = Slow()
    slow.clock = clock
    clock.advance(timedelta(hours=1))
    dispatcher = Dispatcher(
        Registry([slow]), policy=Policy(), audit=bench.store.audit, proposer=proposer_of(bench.store, clock, ids),
        asker=Asker(bench.store.forms, clock, ids, Redactor(), HOUR), redactor=Redactor(), clock=clock, words=WORDS
    )  # fmt: skip
    call = ToolCall("c1", "switch", '{"task_id": 3, "action": "pause"}')
    await dispatcher.dispatch(call, ToolContext(OSCAR, SESSION, "turn_1"), bench.memory, "en")
    ((_, row),) = read_audit(tmp_path / "bot.db")
    assert row.milliseconds == 2000


async def test_what_waits_is_told_to_the_model_with_its_code_its_target_and_its_time(bench):
    first = await bench.call("switch", '{"task_id": 3, "action": "pause"}')
    told = {"proposal": first.proposal.code, "target": "task #3", "expires_at": "2026-03-02T15:32:00+00:00"}
    assert (first.result.status, first.decision, first.result.content) == (
        "waits",
        "proposed",
        {"status": "waits for approval; nothing has changed", **told},
    )
    bench.memory.writes.clear()
    again = await bench.call("switch", '{"task_id": 3, "action": "pause"}', call_id="c2")
    assert again.result.status == "waits"
    assert {key: again.result.content[key] for key in told} == told
    assert again.result.content["status"] == PHRASES.calls.waits_already


async def test_a_proposal_remembers_which_call_it_came_from_and_its_language(bench):
    proposal = (await bench.call("switch", '{"task_id": 3, "action": "pause"}', call_id="c7")).proposal
    assert (proposal.call_id, proposal.language, proposal.turn_id) == ("c7", "en", "turn_1")


@pytest.mark.case("peer-T38")
def test_definitions_keep_their_order_and_come_from_the_models(bench):
    told = definitions_of(bench.registry).of(bench.registry.names)
    assert [definition.name for definition in told] == ["look", "switch", "search"]
    schema = told[1].parameters
    assert schema["required"] == ["task_id", "action"]
    assert schema["properties"]["action"]["enum"] == ["pause", "resume"]
    assert "title" not in json.dumps(schema)


class Selection(BaseModel):
    names: list[str] = []
    near: list[str] | None = None
    limit: int = 1
    filter: dict[str, int] = {}


@pytest.mark.case("peer-T30")
@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ({"limit": "42"}, Selection(limit=42)),
        ({"names": '["a", "b"]'}, Selection(names=["a", "b"])),
        ({"names": "cpu", "near": "mem"}, Selection(names=["cpu"], near=["mem"])),
        ({"filter": '{"a": 1}'}, Selection(filter={"a": 1})),
    ],
)
def test_what_can_only_be_meant_in_one_way_is_taken_so(sent, meant):
    assert parse_arguments(json.dumps(sent), Selection) == meant


@pytest.mark.case("peer-T30")
@pytest.mark.parametrize(
    "sent",
    [
        {"limit": 3.7},
        {"limit": "many"},
        {"filter": "a"},
        {"names": "[1]"},
        {"names": 3},
        {"names": "a", "limit": 3.7},
    ],
)
def test_anything_else_stays_an_error(sent):
    with pytest.raises(ToolArgumentsInvalid):
        parse_arguments(json.dumps(sent), Selection)


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=20),
    max_leaves=60,
)


@pytest.mark.case("peer-T51")
@settings(max_examples=40)
@given(st.dictionaries(st.text(max_size=8), JSON, max_size=8), st.integers(800, 4000))
def test_a_capped_result_is_valid_json_and_says_what_was_cut(content: dict[str, object], limit: int):
    capped = cap_content(content, limit)
    json.loads(canonical_json(capped))
    if len(canonical_json(content)) <= limit:
        assert capped == content
    else:
        assert capped["cut"]


async def test_a_secret_at_the_cap_is_taken_out_before_the_cut(bench):
    bench.look.answer = {"log": "x" * (RESULT_CHARS // 2 - 9) + "hunter2-and-more" + "y" * RESULT_CHARS}
    assert "hunter2" not in str((await bench.call("look", "{}")).result)


async def test_a_call_that_is_stopped_is_audited_too(bench, tmp_path: Path):
    bench.look.gate = asyncio.Event()
    calling = asyncio.create_task(bench.call("look", "{}"))
    await bench.look.entered.get()
    calling.cancel()
    await asyncio.gather(calling, return_exceptions=True)
    ((_, row),) = read_audit(tmp_path / "bot.db")
    assert (row.tool, row.decision, row.status) == ("look", "stopped", "not_run")


async def test_a_write_that_could_not_be_proposed_is_not_audited_as_one_that_ran(bench, tmp_path: Path):
    await bench.call("switch", '{"task_id": 9, "action": "pause"}')
    ((_, row),) = read_audit(tmp_path / "bot.db")
    assert row.decision == "failed"


@pytest.mark.case("hitl-C49")
async def test_an_action_too_long_to_be_read_is_not_proposed(bench):
    bench.switch.details = ((Phrase("内容", "payload"), "x" * READABLE_CHARS + "rm -rf /"),)
    done = await bench.call("switch", '{"task_id": 3, "action": "pause"}')
    assert done.result.status == "error"
    assert "nobody reads more than 200,000 before they approve" in done.result.content["error"]
    assert await bench.store.proposals.in_states(frozenset(ProposalState)) == []
