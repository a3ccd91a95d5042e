"""Bad input and bad weather: each ends in a sentence that a tired person understands, and the next message is answered."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from chatops_bot.app.config import ModelConfig, ModelEndpoint
from chatops_bot.domain.model import TextDelta, ToolCallDelta
from chatops_bot.llm.scripted import ScriptedModel, calls, says
from chatops_bot.ports import Store
from tests.llm.model_server import DONE, Answer, ModelServer, chunk, text
from tests.scenarios.conftest import Json, World, action_ids, everything, until, visible
from tests.scenarios.gateway import Fault
from tests.scenarios.tapped_store import tapped

UNBEGUN = ModelConfig(first_delta_seconds=0.3)
STALLED = ModelConfig(between_deltas_seconds=0.3)
"""Short only where the model really is silent, and only for that silence: on a busy machine a well model is slow too."""
ASKS = {"zh": "有哪些节点？", "en": "Which workers are there?"}
WELL = Answer([text("All is well."), chunk(finish="stop"), DONE])


async def answered(world: World, said: str, person: str = "oscar") -> Json:
    """The one reply to a mention, once it has come to rest."""
    ts = await world.says(person, f"{world.mention} {said}")
    messages = await world.settled(ts, 1)
    assert len(messages) == 2
    return messages[1]


async def still_answers(world: World) -> None:
    assert visible(await answered(world, "and now?")) == "All is well."


async def answers_again(world: World) -> None:
    """Every question is answered, and soon by the model itself, however often a busy machine lets it seem silent again."""

    async def well() -> bool | None:
        now = visible(await answered(world, "and now?"))
        assert now
        return True if now == "All is well." else None

    await until(well, "an answer of the model")


@asynccontextmanager
async def bot_with(world: World, *answers: Answer, model: ModelConfig | None = None) -> AsyncIterator[str]:
    """A bot whose model plays these answers over HTTP; yields the model's host."""
    async with ModelServer(*answers) as server:
        secrets = replace(world.secrets(), model=ModelEndpoint(server.base_url, "m", "key-of-the-tests"))
        async with world.bot(secrets=secrets, config=world.config(model=model or ModelConfig())):
            yield urlsplit(server.base_url).netloc


async def test_an_empty_mention_is_greeted_in_both_languages(world: World):
    async with world.bot(ScriptedModel([says("All is well.")])):
        said = everything(await answered(world, ""))
        assert (
            "您好，我在。可以问我例如：“最近有哪些任务失败了？”、“暂停 nightly-report”、“整体健康状况如何？”。"
            in said
        )
        assert (
            "I am here. Ask me, for example: “What failed recently?”, “pause nightly-report”, “How healthy is the scheduler?”."
            in said
        )
        await still_answers(world)


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_a_message_that_is_too_long_is_refused_with_both_numbers(world: World, language: str):
    async with world.bot(ScriptedModel([says("All is well.")])):
        said = everything(await answered(world, {"zh": "长", "en": "x"}[language] * 39_000))
        sentence = {
            "zh": "消息有 39,000 个字符，超过 12,000 个字符的上限，没有处理；请只贴关键的几行再问一次。",
            "en": "The message has 39,000 characters, over the limit of 12,000, so it was not read; "
            "paste the lines that matter and ask again.",
        }
        assert sentence[language] in said
        await still_answers(world)


async def test_a_mention_with_only_an_attachment_is_told_so(world: World):
    async with world.bot(ScriptedModel([says("All is well.")])):
        client = person_client(world, "oscar")
        attachment = {"fallback": "a log", "text": "line 1"}
        posted = await client.chat_postMessage(
            channel=world.incidents, text=world.mention, attachments=[attachment]
        )
        _, answer = await world.settled(str(posted["ts"]), 1)
        assert "我读不了附件；请把关键的几行文字贴到消息里再问一次。" in everything(answer)
        assert (
            "I cannot read attachments; paste the lines that matter into a message and ask again."
            in everything(answer)
        )
        await still_answers(world)


def person_client(world: World, person: str) -> AsyncWebClient:
    return AsyncWebClient(
        token=world.people[person]["token"], base_url=world.workspace.api_url, session=world.session
    )


async def test_a_click_that_means_nothing_is_answered_to_that_person_alone(world: World):
    not_valid = "此控件已失效，未执行任何操作。 This control is no longer valid; nothing was done."
    no_proposal = (
        "这个按钮不属于此处的任何提案，未执行任何操作；请输入卡片上的代码，或重新发起请求。 "
        "This button belongs to no proposal here, so nothing was run; type the code on the card, or ask for the change again."
    )
    expected = {
        "mystery": not_valid,
        "form": not_valid,
        "approve": no_proposal,
        "reject": no_proposal,
        "followup": "这个按钮已失效，请直接输入问题。 This button is no longer valid; type your question instead.",
        "form_open": "找不到这个表单，未执行任何操作。 There is no such form here; nothing was done.",
        "stop": "这一轮已经结束。 This turn is over already.",
    }
    buttons = [
        {
            "type": "button",
            "action_id": action,
            "value": "; DROP TABLE proposals",
            "text": {"type": "plain_text", "text": action},
        }
        for action in expected
    ]
    async with world.bot(ScriptedModel([says("All is well.")])):
        client = AsyncWebClient(
            token=world.secrets().slack_bot_token, base_url=world.workspace.api_url, session=world.session
        )
        blocks = [{"type": "actions", "elements": buttons}]
        posted = await client.chat_postMessage(channel=world.incidents, text="old", blocks=blocks)
        card = (await world.thread(str(posted["ts"])))[0]
        for count, (action, sentence) in enumerate(expected.items(), start=1):
            assert await world.click("ana", card, action) == {"ok": True}
            assert sentence == (await world.whispers("ana", count))[-1]["text"]
        assert len(await world.thread(str(posted["ts"]))) == 1
        await still_answers(world)


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_a_scheduler_that_is_down_is_named(world: World, language: str):
    async with world.bot():
        world.to_scheduler.faults.append(down := Fault(".", "refused", times=1000))
        asks = {"zh": "列出任务", "en": "list the tasks"}
        answer = await answered(world, asks[language])
        host = urlsplit(world.to_scheduler.url).netloc
        sentence = {
            "zh": f"调度服务 {host} 没有应答；未做任何改动",
            "en": f"The scheduler at {host} does not answer; nothing was changed",
        }
        assert sentence[language] in everything(answer)
        down.times = 0
        again = await answered(world, asks[language])
        assert sentence[language] not in everything(again)


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_without_the_model_the_fixed_rules_answer_and_say_why(
    world: World, language: str, unused_tcp_port: int
):
    endpoint = ModelEndpoint(f"http://127.0.0.1:{unused_tcp_port}/v1", "m", "key-of-the-tests")
    async with world.bot(secrets=replace(world.secrets(), model=endpoint)):
        answer = await answered(world, ASKS[language])
    sentence = {
        "zh": f"连不上 127.0.0.1:{unused_tcp_port} 的模型。请检查网络和地址。",
        "en": f"The model at 127.0.0.1:{unused_tcp_port} could not be reached. Check the network and the address.",
    }
    assert sentence[language] in everything(answer)
    assert sentence[language] not in visible(answer)
    assert visible(answer)


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_a_model_that_never_begins_is_replaced(world: World, language: str):
    async with bot_with(world, Answer([asyncio.Event()]), WELL, model=UNBEGUN) as host:
        answer = await answered(world, ASKS[language])
        sentence = {
            "zh": f"{host} 的模型在 0.3 秒内没有回答。",
            "en": f"The model at {host} did not answer within 0.3 s.",
        }
        assert sentence[language] in everything(answer)
        assert visible(answer)
        await answers_again(world)


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_a_model_that_stalls_midway_leaves_what_it_said_and_a_reason(world: World, language: str):
    stalls = Answer([text("So far so "), text("good"), asyncio.Event()])
    async with bot_with(world, stalls, WELL, model=STALLED) as host:
        answer = await answered(world, ASKS[language])
        sentence = {
            "zh": f"{host} 的模型答到一半停了，0.3 秒没有动静。",
            "en": f"The model at {host} stopped in the middle of its answer and stayed silent for 0.3 s.",
        }
        assert sentence[language] in everything(answer)
        assert visible(answer).startswith("So far so")
        await answers_again(world)


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_a_stream_that_is_cut_leaves_what_it_said_and_a_reason(world: World, language: str):
    async with bot_with(world, Answer([text("So far so "), text("good ")], torn=True), WELL) as host:
        answer = await answered(world, ASKS[language])
        sentence = {
            "zh": f"{host} 的模型答到一半断了。请再问一次。",
            "en": f"The model at {host} broke off in the middle of its answer. Ask again.",
        }
        assert sentence[language] in everything(answer)
        assert visible(answer).startswith("So far so")
        assert action_ids(answer) == []
        await still_answers(world)


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_rubbish_from_the_model_is_called_so_and_the_fixed_rules_answer(world: World, language: str):
    async with bot_with(world, Answer([b"data: {not json at all\n\n"]), WELL) as host:
        answer = await answered(world, ASKS[language])
        sentence = {
            "zh": f"{host} 返回的内容不是模型的回答。请检查 base URL；如果没错，请再问一次。",
            "en": f"{host} sent something that is not a model's answer. Check the base URL; if it is right, ask again.",
        }
        assert sentence[language] in everything(answer)
        assert visible(answer)
        await still_answers(world)


async def test_a_post_whose_reply_is_lost_is_looked_for_and_not_repeated(world: World):
    async with world.bot(ScriptedModel([says("All is well.")])):
        world.to_slack.faults.append(Fault("chat.postMessage", "reply_lost"))
        await still_answers(world)


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_a_post_that_slack_refuses_ends_that_turn_and_no_other(world: World, language: str):
    async with world.bot(ScriptedModel([says("All is well.")])):
        world.to_slack.faults.append(Fault("chat.postMessage", {"ok": False, "error": "restricted_action"}))
        answer = await answered(world, ASKS[language])
        sentence = {
            "zh": "本次回答没有成功，请稍后重试。",
            "en": "This answer could not be completed; please try again shortly.",
        }
        assert sentence[language] in everything(answer)
        assert action_ids(answer) == []
        await still_answers(world)


async def test_a_card_that_slack_refuses_is_no_card_and_the_turn_says_so(world: World):
    async def refuse_the_card(delta: Any) -> None:
        if isinstance(delta, ToolCallDelta) and not world.to_slack.faults:
            fault = Fault("chat.postMessage", {"ok": False, "error": "restricted_action"})
            world.to_slack.faults.append(fault)

    pause = calls(("pause_task", {"task_id": 1, "action": "pause"}))
    model = ScriptedModel([pause, says("All is well.")], before_delta=refuse_the_card)
    async with world.bot(model):
        answer = await answered(world, "pause it")
        assert "This answer could not be completed; please try again shortly." in everything(answer)
        assert action_ids(answer) == []
        await still_answers(world)
    async with world.bot(ScriptedModel([])):
        ts = answer["thread_ts"]
        card = (await world.thread(ts))[-1]
        assert "approve" in action_ids(card)


async def test_words_that_are_not_for_the_bot_get_no_answer(world: World):
    """Talk without a mention, an edit that adds one, a deleted message, the bot's own words, another bot's."""
    async with world.bot(ScriptedModel([says("All is well.")])):
        client = person_client(world, "oscar")
        plain = await world.says("oscar", "good morning everyone")
        edited = await world.says("oscar", "please lok")
        await client.chat_update(channel=world.incidents, ts=edited, text=f"{world.mention} please look")
        deleted = await world.says("oscar", "never mind")
        await client.chat_delete(channel=world.incidents, ts=deleted)
        own = AsyncWebClient(
            token=world.secrets().slack_bot_token, base_url=world.workspace.api_url, session=world.session
        )
        said = await own.chat_postMessage(channel=world.incidents, text=f"{world.mention} I said")
        await still_answers(world)
        for ts in (plain, edited, str(said["ts"])):
            assert len(await world.thread(ts)) == 1


async def test_a_stop_that_comes_as_the_turn_ends_does_not_keep_it_from_ending(world: World):
    ending, may_end = asyncio.Event(), asyncio.Event()
    stores: list[Store] = []

    async def hold_the_end(name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        if name == "turns.end":
            ending.set()
            await may_end.wait()
        return await call()

    def wrap(store: Store) -> Store:
        stores.append(store)
        return tapped(hold_the_end)(store)

    async with world.bot(ScriptedModel([says("All is well.")] * 2), wrap_store=wrap):
        ts = await world.says("oscar", f"{world.mention} quick")
        await asyncio.wait_for(ending.wait(), 10)
        (_, answer) = await world.thread(ts)
        versions = (await world.look("versions", channel=world.incidents, ts=answer["ts"]))["versions"]
        await world.click("ana", {**answer, "blocks": versions[0]["blocks"]}, "stop")
        assert "This turn is over already." in (await world.whispers("ana"))[-1]["text"]
        may_end.set()
        await still_answers(world)

        async def all_ended() -> bool | None:
            return True if not await stores[0].turns.running() else None

        await until(all_ended, "the end of both turns")
    assert visible(answer) == "All is well."


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_stop_ends_an_answer_with_what_it_had(world: World, language: str):
    reached, never = asyncio.Event(), asyncio.Event()

    async def hold(delta: Any) -> None:
        if isinstance(delta, TextDelta) and delta.text == "never":
            reached.set()
            await never.wait()

    model = ScriptedModel([says("So far so good. ", "never"), says("All is well.")], before_delta=hold)
    async with world.bot(model):
        ts = await world.says("oscar", f"{world.mention} {ASKS[language]}")
        await asyncio.wait_for(reached.wait(), 10)

        async def stoppable() -> Json | None:
            found = [m for m in await world.thread(ts) if "stop" in action_ids(m)]
            return found[0] if found else None

        answer = await until(stoppable, "an answer with a Stop button")
        await world.click("ana", answer, "stop")
        _, answer = await world.settled(ts, 1)
        sentence = {
            "zh": "已由 Ana Duarte 停止；上面是停止前得到的内容。",
            "en": "Stopped by Ana Duarte; what had been found until then stands above.",
        }
        assert sentence[language] in everything(answer)
        assert visible(answer).startswith("So far so")
        await still_answers(world)
