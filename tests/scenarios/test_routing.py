"""Routing through the whole product: what is offered is what the prompt names, what the wire carries and what can be called."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from chatops_bot.app.bundled import bundled, load_routing
from chatops_bot.app.config import ModelConfig, ModelEndpoint
from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.prompt_files import configured_texts
from chatops_bot.app.prompt_sizes import NOON
from chatops_bot.context.prompt_factory import build_agent_system_prompt
from chatops_bot.domain.model import ContextMessage, ModelRequest, SystemMessage, ToolMessage
from chatops_bot.llm.scripted import ScriptedModel, calls, says
from tests.llm.model_server import DONE, Answer, ModelServer, chunk, complaint, text
from tests.scenarios.conftest import World, everything
from tests.small_tools import LOOK, Look

DEMO = {
    "is the scheduler healthy?": "get_system_health",
    "系统健康吗": "get_system_health",
    "what failed last night and why?": "analyze_failure",
    "昨晚哪些失败了，什么原因": "analyze_failure",
    "show the config of db-backup": "get_task_detail",
    "db-backup 的配置和依赖": "get_task_detail",
    "create a task that runs every night": "create_task",
    "创建一个任务，每天凌晨两点执行": "create_task",
    "run db-backup now": "trigger_task",
    "立即执行 db-backup": "trigger_task",
    "pause db-backup": "pause_task",
    "暂停 db-backup": "pause_task",
    "retry db-backup": "retry_failed_instance",
    "重试 db-backup": "retry_failed_instance",
    "delete db-backup": "delete_task",
    "删除 db-backup": "delete_task",
    "worker load trend": "get_worker_load_history",
    "节点负载趋势": "get_worker_load_history",
}
KIND = re.compile(r"^(?:Kind of the request|请求类别): (\S+)$", re.MULTILINE)
KINDS = {
    "get_system_health": "health", "analyze_failure": "triage", "get_task_detail": "inspect", "create_task": "create",
    "trigger_task": "trigger", "pause_task": "pause", "retry_failed_instance": "retry", "delete_task": "delete",
    "get_worker_load_history": "load",
}  # fmt: skip
RANKS = {name: rank.sort_hint for name, rank in load_routing().tools.items()}
OF_AGENT = {"find_tools", "load_skill", "read_result", "consult_agent"}
SAYS = Answer([text("Done."), chunk("stop"), DONE])


def named_in(system: str) -> list[str]:
    """The tools that a prompt lists, in its order."""
    section = system.split("[AVAILABLE TOOLS]")[1].split("\n[")[0].split("\n\n")[0]
    return re.findall(r"^- ([a-z_]+)(?=[:：( （\[])", section, re.MULTILINE)


def system_of(request: ModelRequest) -> str:
    return next(m.text for m in request.messages if isinstance(m, SystemMessage))


def context_of(request: ModelRequest) -> str:
    return next(m.text for m in request.messages if isinstance(m, ContextMessage))


def offered(request: ModelRequest) -> set[str]:
    return {tool.name for tool in request.tools}


def results(request: ModelRequest) -> list[str]:
    return [m.text for m in request.messages if isinstance(m, ToolMessage)]


async def asked(world: World, *texts: str) -> list[dict[str, Any]]:
    """The last answers in one thread."""
    thread = await world.says("oscar", f"{world.mention} {texts[0]}")
    replies = await world.settled(thread, 1)
    for number, more in enumerate(texts[1:], start=1):
        await world.says("oscar", f"{world.mention} {more}", thread)
        replies = await world.settled(thread, 1 + 2 * number)
    return replies


@asynccontextmanager
async def with_model(
    world: World, *answers: Answer, routing: str = "auto", agents: AgentsConfig | None = None
) -> AsyncIterator[ModelServer]:
    """A bot whose language model is a real server that plays `answers`."""
    model = ModelConfig.model_validate({"routing": routing})
    config = world.config(model=model, agents=agents or AgentsConfig())
    async with ModelServer(*answers) as server:
        secrets = replace(world.secrets(), model=ModelEndpoint(server.base_url, "m", "key-of-the-tests"))
        async with world.bot(secrets=secrets, config=config):
            yield server


@pytest.mark.case("prompt-V19")
@pytest.mark.case("prompt-R16")
@pytest.mark.case("prompt-R32")
@pytest.mark.case("prompt-R33")
@pytest.mark.case("prompt-R45")
async def test_each_demo_request_is_offered_few_tools_the_same_in_prompt_and_wire(world: World):
    async with with_model(world, SAYS) as server:
        await asyncio.gather(*(asked(world, request) for request in DEMO))
    assert len(server.received) == len(DEMO)
    said = []
    for received in server.received:
        messages = received.body["messages"]
        question = next(m["content"] for m in messages if m["role"] == "user")
        needed = next(tool for request, tool in DEMO.items() if request in question)
        wire = [tool["function"]["name"] for tool in received.body["tools"]]
        assert wire == named_in(messages[0]["content"])
        assert wire == sorted(wire, key=lambda name: (-RANKS.get(name, 0), name))
        routed = [name for name in wire if name not in OF_AGENT]
        assert needed in routed
        assert 3 <= len(routed) <= 5
        assert set(wire) >= {"find_tools"}
        assert ("delete_task" in wire) == (needed == "delete_task")
        context = messages[-1]["content"]
        assert needed in context
        [kinds] = KIND.findall(context)
        assert KINDS[needed] in kinds.split("+")
        assert "name=db-backup" not in context, "a hyphen alone makes no fact"
        said.append([tool for tool in received.body["tools"] if tool["function"]["name"] not in OF_AGENT])
    assert sum(map(size_of, said)) / len(said) < 0.45 * size_of(await every_tool(world))


def size_of(tools: Sequence[Any]) -> int:
    """How much is said of tools on the wire."""
    return len(json.dumps(tools, ensure_ascii=False))


async def every_tool(world: World) -> list[Any]:
    """The tools of the scheduler on the wire where nothing chooses among them."""
    async with with_model(world, SAYS, routing="off") as server:
        await asked(world, "hello")
    return [each for each in server.received[0].body["tools"] if each["function"]["name"] not in OF_AGENT]


@pytest.mark.case("prompt-V19")
async def test_what_the_prompt_has_no_room_for_is_not_on_the_wire_either(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    texts = configured_texts(AgentsConfig())
    bare = build_agent_system_prompt(
        texts.agents["incident_responder", "en", "v1"], (), {"session_id": "s", "current_time": NOON}, "hello"
    )
    for lang in ("en", "zh"):
        name = f"agents/incident_responder.{lang}.yaml"
        path = tmp_path / "texts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shipped = (bundled("prompts") / name).read_text(encoding="utf-8")
        path.write_text(f"{shipped}\n  limits: {{hard_chars: {len(bare) + 600}}}\n", encoding="utf-8")
    agents = AgentsConfig(folder=tmp_path / "texts")
    async with with_model(world, SAYS, routing="off", agents=agents) as server:
        await asked(world, "what failed?")
    [received] = server.received
    wire = [tool["function"]["name"] for tool in received.body["tools"]]
    assert wire == named_in(received.body["messages"][0]["content"])
    assert 3 <= len(wire) < len(RANKS)
    assert wire[:3] == ["query_tasks", "query_instances", "get_system_health"]
    assert "so these tools are not on offer: " in caplog.text


@pytest.mark.case("prompt-R3")
async def test_who_may_not_ask_for_changes_is_offered_none_and_the_model_is_told(world: World):
    async with with_model(world, SAYS) as server:
        for person in ("vera", "oscar"):
            thread = await world.says(person, f"{world.mention} delete db-backup")
            await world.settled(thread, 1)
    viewer, operator = (received.body for received in server.received)
    offered_to = [
        {tool["function"]["name"] for tool in body["tools"]} - OF_AGENT for body in (viewer, operator)
    ]
    assert "delete_task" in offered_to[1]
    assert len(offered_to[0]) >= 3
    assert not offered_to[0] & {
        "create_task",
        "trigger_task",
        "pause_task",
        "retry_failed_instance",
        "delete_task",
    }
    assert "The asker may not ask for changes here" in viewer["messages"][-1]["content"]
    assert "may not ask for changes" not in operator["messages"][-1]["content"]


async def test_switched_off_every_tool_goes_along(world: World):
    async with with_model(world, SAYS, routing="off") as server:
        await asked(world, "is the scheduler healthy?")
    names = {tool["function"]["name"] for tool in server.received[0].body["tools"]}
    assert "delete_task" in names
    assert "find_tools" not in names


async def test_a_missed_tool_is_found_and_can_be_called_from_the_next_step_on(world: World):
    model = ScriptedModel(
        [
            calls(("find_tools", {"query": "worker load"})),
            calls(("query_workers", {})),
            says("Two workers."),
        ]
    )
    async with world.bot(model, routed=True):
        await asked(world, "pause db-backup")
    first, second, third = model.requests
    assert "query_workers" not in offered(first)
    assert "query_workers" in offered(second)
    assert "query_workers" in named_in(system_of(second))
    assert '"online"' in results(third)[-1] or "online" in results(third)[-1]


async def test_a_call_of_a_tool_that_was_not_on_offer_is_answered_with_the_offer(world: World):
    model = ScriptedModel([calls(("query_workers", {})), calls(("query_workers", {})), says("Two workers.")])
    async with world.bot(model, routed=True):
        await asked(world, "pause db-backup")
    _, second, third = model.requests
    assert "call it again" in results(second)[0]
    assert "query_workers" in offered(second)
    assert "online" in results(third)[-1]


@pytest.mark.case("prompt-V17")
@pytest.mark.case("prompt-P9")
async def test_the_set_stays_while_it_will_do_and_a_change_of_it_is_counted(world: World):
    model = ScriptedModel([says("One."), says("Two."), says("Three.")])
    async with world.bot(model, routed=True) as bot:
        await asked(world, "what failed last night?", "and which errors before that?", "worker load trend")
        async with aiohttp.ClientSession() as session, session.get(f"{bot.web_url}/metrics") as page:
            metrics = await page.text()
    first, second, third = model.requests
    assert second.tools == first.tools
    assert system_of(second) == system_of(first)
    assert "get_worker_load_history" in offered(third)
    assert "chatops_tools_rerouted_total 1.0" in metrics


@pytest.mark.parametrize("ask", ["describe {}", "{} 什么时候执行", "retry {}", "重试 {}", "pause {}"])
async def test_the_rules_find_what_they_miss_when_the_model_fails_in_a_routed_turn(world: World, ask: str):
    """What these ask for needs a tool that routing does not foresee for them, all but the last."""
    async with with_model(world, Answer([complaint("bad key")], status=401)):
        replies = await asked(world, ask.format("nightly-report"))
    said = "".join(everything(reply) for reply in replies[1:])
    assert "nightly-report" in said
    assert not re.search(r"is not available to you|不能使用它", said)


@pytest.mark.case("prompt-R62")
async def test_a_back_end_that_renames_a_tool_changes_no_byte_of_the_prompt(world: World):
    seen: list[str] = []
    for spec in (LOOK, replace(LOOK, backend_name="look-v2", aliases=("peek",))):
        model = ScriptedModel([calls(("peek" if spec.aliases else "look", {})), says("Seen.")])
        look = Look(spec=spec)
        async with world.bot(model, tools=[look]):
            await asked(world, "look around")
        assert len(look.runs) == 1
        seen.append(system_of(model.requests[0]) + shape(model.requests[0].tools))
    assert seen[0] == seen[1]


def shape(tools: Sequence[Any]) -> str:
    return json.dumps([(tool.name, tool.description, tool.parameters) for tool in tools])


async def test_tools_of_the_agent_itself_go_along_whatever_is_asked(world: World):
    model = ScriptedModel([says("One.")])
    async with world.bot(model, routed=True):
        await asked(world, "pause db-backup")
    assert offered(model.requests[0]) >= OF_AGENT
