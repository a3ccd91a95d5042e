"""What a model is told besides the conversation, through the whole product: the asker's local time, and what left the window."""

import re
from typing import Any

import pytest

from chatops_bot.app.config import EnvironmentConfig, ModelConfig
from chatops_bot.domain.model import ContextMessage, ModelRequest, SystemMessage, UserMessage
from chatops_bot.llm.scripted import ScriptedModel, calls, says
from tests.scenarios.conftest import Json, World, everything
from tests.scenarios.test_change import asked_for

SMALL = ModelConfig(context_tokens=4_000)
PAUSE = calls(("pause_task", {"task_id": 1, "action": "pause"}), text="I will ask.")


def context_of(request: ModelRequest) -> str:
    return next(m.text for m in request.messages if isinstance(m, ContextMessage))


def system_of(request: ModelRequest) -> str:
    return next(m.text for m in request.messages if isinstance(m, SystemMessage))


def code_of(card: Json) -> str:
    found = re.search(r"(?:approve|批准) ([A-Z0-9]{6})", everything(card))
    assert found is not None
    return found[1]


def block_under(context: str, label: str) -> list[str]:
    """The data lines under a label."""
    lines = context.splitlines()
    if f"{label}:" not in lines:
        return []
    found = []
    for line in lines[lines.index(f"{label}:") + 1 :]:
        if not line.startswith("| "):
            break
        found.append(line)
    return found


async def talk(world: World, thread: str, replies: int, *texts: str) -> int:
    """Say these one after the other; each is answered by one message."""
    for text in texts:
        replies += 2
        await world.says("oscar", f"{world.mention} {text}", thread)
        await world.settled(thread, replies)
    return replies


@pytest.mark.case("prompt-R5")
@pytest.mark.case("prompt-R38")
@pytest.mark.case("prompt-R39")
@pytest.mark.case("prompt-R46")
@pytest.mark.parametrize(
    ("asked", "summary", "waits", "again"),
    [
        ("pause nightly-report", "What matters of earlier messages (what waits there is not proposed again)", "waits for approval until", "and what about nightly-report?"),
        ("暂停 nightly-report", "此前消息的要点（其中等待批准的，不要再次提出）", "等待批准，截至", "nightly-report 怎么样了？"),
    ],
    ids=["en", "zh"],
)  # fmt: skip
async def test_a_proposal_whose_turn_left_the_window_is_still_told_and_so_are_the_ids(
    world: World, asked: str, summary: str, waits: str, again: str
):
    is_chinese = asked.startswith("暂停")
    long = (
        "运行 345 由 worker-7 执行，超时了。" + "一切如常。" * 400
        if is_chinese
        else "Run 345 on worker-7 timed out. " + "All is calm. " * 300
    )
    model = ScriptedModel([PAUSE, says(long), says(long), says("It waits.")])
    async with world.bot(model, config=world.config(model=SMALL)):
        thread, card = await asked_for(world, asked)
        question = "最近一次运行怎么了？" if is_chinese else "what about the last run?"
        replies = await talk(world, thread, 2, question, question)
        await talk(world, thread, replies, again)
    first, *_, last = model.requests
    assert block_under(context_of(first), summary) == []
    sent = [m.text for m in last.messages if isinstance(m, UserMessage)]
    assert not [text for text in sent if text.endswith(asked)], "the first turn is still in the window"
    lines = block_under(context_of(last), summary)
    oscar = world.people["oscar"]["id"]
    assert lines[0].startswith(f"| {code_of(card)} pause_task “task nightly-report (#1)”")
    assert waits in lines[0]
    assert f"@{oscar}" in lines[0]
    assert [line for line in lines if "worker-7" in line]
    assert sum(len(line) + 1 for line in lines) <= 800
    assert system_of(first) == system_of(last)


@pytest.mark.case("prompt-R15")
async def test_what_was_decided_out_of_sight_is_an_event_with_its_local_time(world: World):
    model = ScriptedModel(
        [PAUSE, says("All is calm. " * 400), says("All is calm. " * 400), says("It is paused.")]
    )
    async with world.bot(model, config=world.config(model=SMALL)):
        thread, card = await asked_for(world, "pause nightly-report")
        await world.click("ana", card, "approve")
        await world.becomes(thread, card, "Done: ")
        replies = await talk(world, thread, 2, "and now?", "and now?")
        await talk(world, thread, replies, "did it work?")
    context = context_of(model.requests[-1])
    [event] = block_under(context, "Key events")
    assert f"{code_of(card)} pause_task “task nightly-report (#1)”: applied, by “Ana Duarte”" in event
    assert "waits for approval" not in context


@pytest.mark.case("prompt-R40")
@pytest.mark.case("prompt-P10")
@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("what failed?", r"Current time: \d{4}-\d\d-\d\d \d\d:\d\d \w+day \((?P<zone>.+)\)"),
        ("哪些任务失败了？", r"当前时间: \d{4}年\d+月\d+日 \d\d:\d\d 星期. \((?P<zone>.+)\)"),
    ],
    ids=["en", "zh"],
)
async def test_each_asker_reads_the_time_of_their_own_zone_and_nobodys_prefix_differs(
    world: World, text: str, time: str
):
    model = ScriptedModel([says("Nothing failed."), says("Nothing failed.")])
    environment = EnvironmentConfig(deployment="night-shift", region="eu-1")
    async with world.bot(model, config=world.config(environment=environment)):
        thread = await world.says("oscar", f"{world.mention} {text}")
        await world.settled(thread, 1)
        await world.says("ana", f"{world.mention} {text}", thread)
        await world.settled(thread, 3)
    shanghai, lisbon = model.requests
    found: list[Any] = [re.search(time, context_of(request)) for request in (shanghai, lisbon)]
    assert found[0]["zone"] == "Asia/Shanghai, UTC+08:00"
    assert re.fullmatch(r"Europe/Lisbon, UTC\+0[01]:00", found[1]["zone"])
    assert system_of(shanghai) == system_of(lisbon)
    for request, who in ((shanghai, "oscar"), (lisbon, "ana")):
        assert world.people[who]["id"] in context_of(request)
        assert "deployment=night-shift, region=eu-1" in context_of(request)


@pytest.mark.case("prompt-P10")
@pytest.mark.parametrize(
    "text",
    [
        "create shell task clean-tmp every night at 2 running `ls -l`",
        "创建 shell 任务 clean-tmp，每天凌晨2点执行 `ls -l`",
    ],
    ids=["en", "zh"],
)
async def test_every_night_at_two_is_the_askers_night_and_the_card_says_both(world: World, text: str):
    config = world.config()
    config = config.model_copy(update={"scheduler": config.scheduler.model_copy(update={"timezone": "UTC"})})
    async with world.bot(config=config):
        _, card = await asked_for(world, text)
    shown = everything(card)
    assert "0 18 * * *" in shown
    assert re.search(r" 18:00 UTC = \d{4}-\d\d-\d\d 02:00 Asia/Shanghai\b", shown)
