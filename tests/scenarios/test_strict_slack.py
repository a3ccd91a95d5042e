"""Whole turns on a Slack that is as strict as it gets: rate limits, lost replies, events that come twice, late or again."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from chatops_bot.app.bootstrap import Beats
from chatops_bot.domain.errors import ModelError
from chatops_bot.domain.model import ModelDelta
from chatops_bot.llm.scripted import ScriptedModel, says
from tests.scenarios.conftest import World, open_world, until, visible

AT_ONCE = 8
WORDS = 300


@pytest.fixture
async def strict(tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(tmp_path, rate_limits="slack") as opened:
        yield opened


async def test_several_answers_at_once_lose_no_text_to_the_rate_limits(strict: World):
    spoken = [[f"answer{number}.{word} " for word in range(WORDS)] for number in range(AT_ONCE)]
    ended: list[float] = []

    async def slowly(delta: ModelDelta | ModelError) -> None:
        await asyncio.sleep(0.02)
        ended.append(time.time())

    model = ScriptedModel([says(*words) for words in spoken], before_delta=slowly)
    async with strict.bot(model):
        asked = [await strict.says("oscar", f"{strict.mention} question {n}") for n in range(AT_ONCE)]
        threads = await asyncio.gather(*(strict.settled(ts, 1) for ts in asked))
        calls = (await strict.look("calls"))["calls"]
    assert sorted(visible(answer) for _, answer in threads) == sorted(
        "".join(words).strip() for words in spoken
    )
    assert [len(thread) for thread in threads] == [2] * AT_ONCE
    last = max(call["at"] for call in calls if call["method"] == "chat.update" and call["ok"])
    assert last - ended[-1] < 5, "a final waited longer than five seconds"
    made = Counter(call["method"] for call in calls)
    limited = Counter(call["method"] for call in calls if call["error"] == "ratelimited")
    print(f"{dict(made)}; 429: {dict(limited)}; the last final {last - ended[-1]:.2f} s after the last word")


@pytest.mark.case("slack-16")
async def test_a_reply_that_is_lost_after_each_post_leaves_one_message_each(strict: World):
    await strict.sim("fault", method="chat.postMessage", fault="reset_after", times=2)
    async with strict.bot(ScriptedModel([says("first"), says("second")])):
        asked = [await strict.says("oscar", f"{strict.mention} question {n}") for n in range(2)]
        threads = await asyncio.gather(*(strict.settled(ts, 1) for ts in asked))
    assert sorted(visible(answer) for _, answer in threads) == ["first", "second"]
    assert [len(thread) for thread in threads] == [2, 2]


async def test_a_final_edit_that_is_refused_or_whose_reply_is_broken_is_made_again(strict: World):
    await strict.sim("fault", method="chat.update", fault="ratelimited", seconds=1)
    await strict.sim("fault", method="chat.update", fault="status")
    await strict.sim("fault", method="chat.update", fault="truncated")
    async with strict.bot(ScriptedModel([says("the whole answer")])):
        ts = await strict.says("oscar", f"{strict.mention} hello")
        _, answer = await strict.settled(ts, 1)
    assert visible(answer) == "the whole answer"


@pytest.mark.case("slack-17")
async def test_events_that_come_twice_late_or_again_make_one_turn_each(tmp_path: Path):
    async with open_world(tmp_path, ack_seconds=0.3) as world:
        for fault in ("duplicate", "twice", "drop", "delay"):
            await world.sim("fault", event="app_mention", fault=fault, seconds=0.5)
            await world.sim("fault", event="message", fault=fault, seconds=0.2)
            async with world.bot(ScriptedModel([says("once")])):
                ts = await world.says("oscar", f"{world.mention} {fault}")
                messages = await world.settled(ts, 1)
                await until(lambda: _none_left(world), "no fault that still waits")
            assert [visible(message) for message in messages[1:]] == ["once"], fault


async def _none_left(world: World) -> bool | None:
    return None if (await world.look("fault"))["faults"] else True


@pytest.mark.case("slack-20")
async def test_a_question_that_slack_tells_of_again_as_changed_is_answered_once(strict: World):
    async with strict.bot(ScriptedModel([says("once")])):
        text = f"{strict.mention} hello"
        ts = await strict.says("oscar", text)
        oscar = AsyncWebClient(
            token=strict.people["oscar"]["token"], base_url=strict.workspace.api_url, session=strict.session
        )
        await oscar.chat_update(channel=strict.incidents, ts=ts, text=text)
        await strict.settled(ts, 1)
        await oscar.chat_update(channel=strict.incidents, ts=ts, text=f"{text} again")
        await asyncio.sleep(1.0)
        assert len(await strict.thread(ts)) == 2


@pytest.mark.case("slack-49")
async def test_the_bots_own_posts_and_edits_and_other_bots_start_no_turn(strict: World):
    async with strict.bot(ScriptedModel([says(*(f"word{n} " for n in range(50)))])):
        ts = await strict.says("oscar", f"{strict.mention} hello")
        await strict.settled(ts, 1)
        await strict.sim(
            "app_post", app="CI", channel=strict.incidents, text=f"{strict.mention} again", thread_ts=ts
        )
        later = await strict.says("oscar", "nothing for the bot here")
        await asyncio.sleep(1.0)
        assert len(await strict.thread(ts)) == 3
        assert len(await strict.thread(later)) == 1


@pytest.mark.case("slack-59")
@pytest.mark.parametrize("do", ["disconnect", "reset"])
async def test_a_mention_is_answered_though_the_socket_was_just_lost(strict: World, do: str):
    strict.beats = Beats(ping=1.0)
    async with strict.bot(ScriptedModel([says("here")])):
        await strict.sim("socket", do=do)
        ts = await strict.says("oscar", f"{strict.mention} still there?")
        _, answer = await strict.settled(ts, 1)
    assert visible(answer) == "here"
