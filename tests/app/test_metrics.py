"""What a bot counts, read as Prometheus reads it, while a real workspace and scheduler stand behind it."""

import asyncio
import math
import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import Counter, Gauge, Histogram
from prometheus_client.parser import text_string_to_metric_families

from chatops_bot.app.bootstrap import Bot
from chatops_bot.app.metrics import LAG_EVERY, Metrics
from chatops_bot.domain.errors import ModelUnavailable, StoreError
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.model import TextDelta, Usage
from chatops_bot.llm.scripted import ScriptedModel, calls, fails, says
from tests.scenarios.conftest import World, action_ids, everything, until
from tests.scenarios.gateway import Fault
from tests.scenarios.test_restart import HeldAt
from tests.scenarios.test_stop import held_answer, shows

Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]


async def scraped(world: World, bot: Bot) -> Series:
    async with world.session.get(f"{bot.web_url}/metrics") as response:
        assert response.status == 200
        assert response.headers["Content-Type"].startswith("text/plain")
        return parsed(await response.text())


def parsed(text: str) -> Series:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(series: Series, name: str, **labels: str) -> float:
    return series.get((name, tuple(sorted(labels.items()))), 0.0)


async def test_a_turn_is_counted_from_its_event_to_its_tokens(world: World):
    half_shown = asyncio.Event()

    async def hold(delta: object) -> None:
        if delta == TextDelta("tasks."):
            await half_shown.wait()

    model = ScriptedModel(
        [
            calls(("query_tasks", {})),
            calls(("no_such_tool", {})),
            says(
                "Eight ",
                "tasks.",
                usage=Usage(prompt_tokens=900, completion_tokens=40, cached_tokens=700, reasoning_tokens=11),
            ),
        ],
        before_delta=hold,
    )
    async with world.bot(model) as bot:
        before = await scraped(world, bot)
        assert value(before, "chatops_turns_running") == 0
        ts = await world.says("oscar", f"{world.mention} which tasks are there?")

        async def shown() -> bool | None:
            return True if any("Eight" in everything(m) for m in await world.thread(ts)) else None

        await until(shown, "the first half of the answer")
        half_shown.set()
        await world.settled(ts, 1)

        async def rested() -> Series | None:
            series = await scraped(world, bot)
            is_watched = value(series, "chatops_loop_lag_seconds_count")
            return series if is_watched and value(series, "chatops_turns_total", outcome="answered") else None

        series: Series = await until(rested, "the turn's end and a look at the loop")
    assert value(series, "chatops_turns_total", outcome="answered") == 1
    assert value(series, "chatops_turn_seconds_count") == 1
    assert value(series, "chatops_turns_running") == 0
    assert value(series, "chatops_inbound_events_total", kind="MessageReceived") == 2, (
        "message and app_mention"
    )
    assert value(series, "chatops_tool_calls_total", tool="query_tasks", status="ok") == 1
    assert value(series, "chatops_tool_calls_total", tool="unknown", status="error") == 1
    assert value(series, "chatops_tool_call_seconds_count", tool="query_tasks") == 1
    assert value(series, "chatops_model_requests_total", model=model.name, result="ok") == 3
    assert value(series, "chatops_model_first_delta_seconds_count", model=model.name) == 3
    text = {"agent": "incident_responder", "version": "v1"}
    assert value(series, "chatops_prompts_total", **text) == 3
    assert value(series, "chatops_prompt_chars_count", **text) == 3
    assert value(series, "chatops_prompt_chars_sum", **text) > 3_000
    assert value(series, "chatops_prompt_turns_total", outcome="answered", **text) == 1
    tokens = {kind: value(series, "chatops_model_tokens_total", model=model.name, kind=kind) for kind in ("input", "output", "cached", "reasoning")}  # fmt: skip
    assert tokens == {"input": 900, "output": 40, "cached": 700, "reasoning": 11}
    assert value(series, "chatops_slack_calls_total", method="chat.postMessage", result="ok") == 1
    assert value(series, "chatops_slack_call_seconds_count", method="chat.postMessage") == 1
    assert value(series, "chatops_edits_wanted_total") >= 1
    assert [key for key in series if key[0] == "chatops_build_info"]
    assert value(series, "process_resident_memory_bytes") > 0


async def test_a_turn_that_is_taken_back_or_left_to_the_next_process_leaves_nothing_running(world: World):
    held, resumed = HeldAt("never"), HeldAt("Yes.")
    async with world.bot(ScriptedModel([says("Text ", "never")], before_delta=held)) as bot:
        ts, _ = await held_answer(world, held)
        await world.says("ana", "and then?", ts)
        waiting = await shows(world, ts, "Waiting – 1 before this")
        await world.says("ana", "and after that?", ts)
        await shows(world, ts, "Waiting – 2 before this")
        assert value(await scraped(world, bot), "chatops_turns_running") == 3
        await world.click("ana", waiting, "stop")

        async def counted() -> Series | None:
            series = await scraped(world, bot)
            return series if value(series, "chatops_turns_total", outcome="stopped") else None

        assert value(await until(counted, "the turn that was taken back"), "chatops_turns_running") == 2
    async with world.bot(ScriptedModel([says("Yes.")], before_delta=resumed)) as bot:
        await asyncio.wait_for(resumed.reached.wait(), 10)
        assert value(await scraped(world, bot), "chatops_turns_running") == 1


async def test_proposals_are_counted_as_they_stand_and_as_they_move(world: World):
    model = ScriptedModel([calls(("pause_task", {"task_id": 1, "action": "pause"}), text="I will ask.")])
    async with world.bot(model) as bot:
        ts = await world.says("oscar", f"{world.mention} pause nightly-report")
        card = next(message for message in await world.settled(ts, 2) if "approve" in action_ids(message))
        series = await scraped(world, bot)
        assert value(series, "chatops_proposals", state="pending") == 1
        assert value(series, "chatops_proposal_moves_total", state="pending") == 1
        await world.click("ana", card, "approve")
        await world.becomes(ts, card, "Done")
        series = await scraped(world, bot)
    assert value(series, "chatops_proposals", state="pending") == 0
    moves = {state: value(series, "chatops_proposal_moves_total", state=state) for state in ("approved", "claimed", "applied")}  # fmt: skip
    assert moves == {"approved": 1, "claimed": 1, "applied": 1}
    assert value(series, "chatops_inbound_events_total", kind="ControlUsed") == 1
    calls_of_tools = {key for key in series if key[0] == "chatops_tool_calls_total"}
    assert len(calls_of_tools) == 1, "a decision is no tool call"


async def test_a_429_and_a_lost_answer_of_slack_are_counted_apart(world: World):
    limited: dict[str, Any] = {"ok": False, "error": "ratelimited"}
    world.to_slack.faults.append(Fault("chat.postMessage", limited, status=429, headers={"Retry-After": "1"}))
    world.to_slack.faults.append(Fault("chat.postMessage", "reply_lost"))
    async with world.bot(ScriptedModel([says("Yes.")])) as bot:
        world.to_slack.faults[0].how = limited
        ts = await world.says("oscar", f"{world.mention} are you there?")
        await world.settled(ts, 1)
        series = await scraped(world, bot)
    found = {result: value(series, "chatops_slack_calls_total", method="chat.postMessage", result=result) for result in ("rate_limited", "unanswered")}  # fmt: skip
    assert found == {"rate_limited": 1, "unanswered": 1}


@pytest.mark.parametrize("after", [[], [TextDelta("Let me")]])
async def test_a_model_that_fails_is_counted_by_how_it_failed(world: World, after: list[Any]):
    model = ScriptedModel([fails(ModelUnavailable(Phrase("忙。", "Busy.")), after=after)])
    async with world.bot(model) as bot:
        ts = await world.says("oscar", f"{world.mention} hello")
        await world.settled(ts, 1)
        series = await scraped(world, bot)
    assert value(series, "chatops_model_requests_total", model=model.name, result="unavailable") == 1
    assert value(series, "chatops_model_first_delta_seconds_count", model=model.name) == len(after)


async def test_no_label_holds_a_person_a_text_or_a_secret(world: World):
    model = ScriptedModel([calls(("hunter2-as-a-tool", {})), says("Done, 林浩然.")])
    async with world.bot(model) as bot:
        ts = await world.says("oscar", f"{world.mention} my word is swordfish")
        await world.settled(ts, 1)
        series = await scraped(world, bot)
    labels = {text for _, pairs in series for _, text in pairs}
    assert len(labels) > 10
    forbidden = re.compile("|".join([*map(re.escape, world.secrets().values()), "hunter2", "swordfish", "林浩然", r"[UCTB][A-Z0-9]{10}"]))  # fmt: skip
    assert [label for label in labels if forbidden.search(label)] == []


async def test_two_bots_in_one_process_share_no_series():
    one, other = Metrics(), Metrics()
    one.turns.labels("answered").inc()
    assert other.registry.get_sample_value("chatops_turns_total", {"outcome": "answered"}) is None


def test_the_page_lists_every_series_with_its_labels():
    page = (Path(__file__).parents[2] / "docs" / "health.md").read_text(encoding="utf-8")
    table = page.split("<!-- series -->")[1].split("<!-- /series -->")[0]
    listed = {
        name: set(labels.replace(" ", "").split(",")) - {""}
        for name, labels in re.findall(r"(?m)^\| `(\w+)` \| ([\w, ]*)\|", table)
    }
    kept = {
        (f"{collector._name}_total" if isinstance(collector, Counter) else collector._name): set(
            collector._labelnames
        )
        for collector in vars(Metrics()).values()
        if isinstance(collector, Counter | Gauge | Histogram)
    }
    assert listed == kept | {"chatops_build_info": {"version", "python"}}


class _BrokenProposals:
    async def in_states(self, states: object) -> list[object]:
        raise StoreError("The store is broken.")


async def test_what_the_store_cannot_tell_is_not_told_from_memory():
    metrics = Metrics()
    metrics.proposals.labels("pending").set(3)
    series = parsed((await metrics.text(_BrokenProposals())).decode())  # type: ignore[arg-type]  # the one method that is asked
    assert math.isnan(value(series, "chatops_proposals", state="pending"))


async def test_a_held_up_loop_shows_as_lag():
    metrics = Metrics()
    watch = asyncio.create_task(metrics.watch_loop())
    await asyncio.sleep(0)
    loop = asyncio.get_running_loop()
    held_until = loop.time() + LAG_EVERY + 0.3
    while loop.time() < held_until:
        pass

    async def seen() -> float | None:
        return metrics.registry.get_sample_value("chatops_loop_lag_seconds_count") or None

    await until(seen, "a look at the loop")
    watch.cancel()
    await asyncio.gather(watch, return_exceptions=True)
    assert (metrics.registry.get_sample_value("chatops_loop_lag_seconds_sum") or 0) >= 0.29
