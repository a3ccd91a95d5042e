"""One agent asks another through the whole product: text crosses the border, tools and prompts do not."""

import json
import logging
from pathlib import Path

import pytest

from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.skills_config import PreloadConfig, SkillsConfig
from chatops_bot.context.fence import unfence
from chatops_bot.domain.kept_prompt import digest, whole
from chatops_bot.domain.model import ContextMessage, ModelRequest, SystemMessage, ToolMessage, UserMessage
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.transcript import Prompted
from chatops_bot.llm.scripted import ScriptedModel, calls, says
from chatops_bot.ports import Store
from tests.scenarios.conftest import World, visible
from tests.small_tools import Look

ASK = calls(("consult_agent", {"agent_id": "scheduler_operator", "question": "Which runs of task 7 failed?"}))


def offered(request: ModelRequest) -> set[str]:
    return {tool.name for tool in request.tools}


def prefix(request: ModelRequest) -> str:
    return next(m.text for m in request.messages if isinstance(m, SystemMessage))


def suffix(request: ModelRequest) -> str:
    return next(m.text for m in request.messages if isinstance(m, ContextMessage))


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
    assert "```followups" in prefix(asker)
    assert "```followups" not in prefix(asked)
    assert "Hand over to agent" not in prefix(asked)
    assert "[SKILLS]" in prefix(asked)
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


@pytest.mark.case("prompt-R65")
async def test_what_a_consulted_agent_was_told_is_kept_under_the_hash_that_the_log_names(
    world: World, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    model = ScriptedModel([ASK, says("Run 42 failed."), says("It was run 42.")])
    stores: list[Store] = []

    def wrap(store: Store) -> Store:
        stores.append(store)
        return store

    agents = ("incident_responder", "scheduler_operator", "incident_responder")
    async with world.bot(model, wrap_store=wrap):
        ts = await world.says("oscar", f"{world.mention} what failed?")
        await world.settled(ts, 1)
        (store,) = stores
        for agent_id, request in zip(agents, model.requests, strict=True):
            told = digest(whole(prefix(request), suffix(request)))
            kept = await store.prompts.get(agent_id, told)
            assert kept is not None, f"what {agent_id} was told"
            assert kept.tools == tuple(tool.name for tool in request.tools)
        session = SessionKey("slack", world.workspace.ready()["team_id"], world.incidents, ts)
        entries = await store.transcripts.load(session)
    assert caplog.messages.count("the model is asked") == 3
    noted = {entry.agent_id for entry in entries if isinstance(entry, Prompted)}
    assert noted == {"incident_responder"}, "a thread keeps to the version and the tools of its own agent"


async def test_a_skill_that_the_consulted_agent_has_from_the_start_brings_its_tools_scripts_and_steps(
    world: World, tmp_path: Path
):
    skill = tmp_path / "skills" / "task-triage"
    (skill / "scripts").mkdir(parents=True)
    (skill / "scripts" / "count.py").write_text("print(40 + 2)\n", encoding="utf-8")
    (skill / "SKILL.md").write_text(
        "---\nname: task-triage\ndescription: Triage.\nbuiltin_tools: [query_workers]\nmax_iterations: 12\n---\nCount first.\n",
        encoding="utf-8",
    )
    script = calls(("run_skill_script", {"skill": "task-triage", "script": "scripts/count.py"}))
    steps = [ASK, *[script] * 11, says("Counted."), says("Done.")]
    model = ScriptedModel(steps)
    preload = PreloadConfig(agents={"scheduler_operator": ("task-triage",)})
    config = world.config(skills=SkillsConfig(folders=(tmp_path / "skills",), preload=preload))
    config = config.model_copy(update={"model": config.model.model_copy(update={"max_rounds": 4})})
    async with world.bot(model, config=config):
        ts = await world.says("oscar", f"{world.mention} count")
        await world.settled(ts, 1)
    asker, asked, again = model.requests[:3]
    assert "Count first." in prefix(asked)
    assert "Count first." not in prefix(asker)
    assert {"run_skill_script", "query_workers"} <= offered(asked)
    assert '"stdout":"42' in last_result(again).replace(" ", "")
    assert [request.may_call for request in model.requests] == [True] * len(steps)


async def test_without_a_model_the_rules_consult_the_agent_that_a_person_names(world: World):
    async with world.bot():
        ts = await world.says("oscar", f"{world.mention} ask the scheduler operator how the workers are")
        _, answer = await world.settled(ts, 1)
        nobody = await world.says("oscar", f"{world.mention} 问一下事件响应员：出了什么问题？")
        _, refused = await world.settled(nobody, 1)
    assert "scheduler_operator answered:" in visible(answer).replace("`", "")
    assert "workers are online" in visible(answer)
    assert "这里不能咨询" in visible(refused)
