"""One agent asks another through the whole product: text crosses the border, tools and prompts do not."""

import json

import pytest

from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.context.fence import unfence
from chatops_bot.domain.model import ModelRequest, SystemMessage, ToolMessage, UserMessage
from chatops_bot.llm.scripted import ScriptedModel, calls, says
from tests.scenarios.conftest import World, visible
from tests.small_tools import Look

ASK = calls(("consult_agent", {"agent_id": "scheduler_operator", "question": "Which runs of task 7 failed?"}))


def offered(request: ModelRequest) -> set[str]:
    return {tool.name for tool in request.tools}


def prefix(request: ModelRequest) -> str:
    return next(m.text for m in request.messages if isinstance(m, SystemMessage))


def last_result(request: ModelRequest) -> str:
    return [m.text for m in request.messages if isinstance(m, ToolMessage)][-1]


@pytest.mark.case("prompt-R59")
@pytest.mark.case("prompt-R60")
async def test_the_other_agent_answers_with_its_own_prompt_and_tools(world: World):
    model = ScriptedModel(
        [ASK, calls(("look", {"name": "x"})), says("Run 42 failed."), says("It was run 42.")]
    )
    async with world.bot(model, tools=[Look()]):
        ts = await world.says("oscar", f"{world.mention} what failed?")
        _, answer = await world.settled(ts, 1)
    assert "It was run 42." in visible(answer)
    asker, asked, again, last = model.requests
    assert {"look", "consult_agent"} <= offered(asker)
    assert "look" not in offered(asked)  # its list of tools does not name it
    assert "consult_agent" not in offered(asked)
    assert "- look" not in prefix(asked)
    assert "the operator of a task scheduler" in prefix(asked)
    assert "the operator of a task scheduler" not in prefix(last)
    assert offered(last) == offered(asker)
    (question,) = (m for m in asked.messages if isinstance(m, UserMessage))
    assert unfence(question.text) == "Which runs of task 7 failed?"
    assert "There is no tool 'look'" in last_result(again)
    told = json.loads(unfence(last_result(last)))
    assert told == {"agent": "scheduler_operator", "answer": "Run 42 failed.", "tools_called": ["look"]}


async def test_a_consulted_agent_proposes_nothing(world: World):
    write = calls(("delete_task", {"task_id": 1}))
    model = ScriptedModel(
        [ASK, write, says("Propose to delete task 1."), says("Shall I?"), says("Nothing waits.")]
    )
    async with world.bot(model):
        ts = await world.says("adam", f"{world.mention} clean up")
        await world.settled(ts, 1)
        await world.says("adam", f"{world.mention} and now?", thread=ts)
        messages = await world.settled(ts, 3)
    assert "tell the asking agent what to propose" in last_result(model.requests[2])
    assert len([m for m in messages if "delete" in visible(m) and "Approve" in visible(m)]) == 0
    sent = model.requests[4].messages
    assert not any(isinstance(m, ToolMessage) and m.name == "delete_task" for m in sent)


@pytest.mark.case("prompt-R61")
async def test_only_who_is_named_can_be_asked_and_only_twice(world: World):
    def ask(agent: str, question: str):
        return calls(("consult_agent", {"agent_id": agent, "question": question}))

    model = ScriptedModel(
        [
            ask("nobody", "?"), ask("incident_responder", "me?"), ask("scheduler_operator", "1"), says("one"),
            ask("scheduler_operator", "2"), says("two"), ask("scheduler_operator", "3"), says("Done."),
        ]
    )  # fmt: skip
    async with world.bot(model):
        ts = await world.says("oscar", f"{world.mention} what failed?")
        await world.settled(ts, 1)
    assert "Valid agent ids: scheduler_operator." in last_result(model.requests[1])
    assert "takes part in this consultation already" in last_result(model.requests[2])
    assert "at most 2 times" in last_result(model.requests[7])


async def test_depth_nought_takes_the_tool_away(world: World):
    model = ScriptedModel([says("Nothing.")])
    async with world.bot(model, config=world.config(agents=AgentsConfig(consult_depth=0))):
        ts = await world.says("oscar", f"{world.mention} what failed?")
        await world.settled(ts, 1)
    assert "consult_agent" not in offered(model.requests[0])
