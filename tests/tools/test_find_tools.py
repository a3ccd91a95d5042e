"""A tool that was missed is found and offered; one of another agent is unknown; old names still reach their tool."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from chatops_bot.app.prompt_files import LANGUAGES
from chatops_bot.app.routing import with_finder
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.proposal import ProposalState
from chatops_bot.domain.tool import ToolCall, ToolText
from chatops_bot.ports import Consultations, Tool, ToolContext
from chatops_bot.tools.invocation import TurnMemory
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.toolbox import Toolbox
from tests.audit_rows import read_audit
from tests.small_tools import (
    LOOK,
    OSCAR,
    SEARCH,
    SESSION,
    SWITCH,
    Look,
    Search,
    Switch,
    definitions_of,
    texts_with,
)

LEVER = {
    "en": ToolText("To flip a lever.", "Switches.", {}),
    "zh": ToolText("开关任务", "切换。", {}),
}


def prompts_of(tools: Sequence[Tool]) -> PromptRegistry:
    texts = texts_with(*(tool.spec for tool in tools))
    own = {lang: {**told, "switch": LEVER[lang]} for lang, told in texts.tools.items()}
    return PromptRegistry(replace(texts, tools=own))


def rewired(bench, *tools) -> None:
    """Has the bench dispatch to these tools and the finder."""
    tools = tools or (bench.look, bench.switch, bench.search)
    bench.prompts = prompts_of(tools)
    bench.registry = Registry(with_finder(tools, bench.prompts))
    bench.dispatcher = bench.dispatcher_of(bench.registry)


def found(done) -> list[str]:
    return [each["name"] for each in done.result.content["tools"]]


@pytest.mark.parametrize("query", ["switch", "flip a lever", "开关一个任务"])
async def test_what_is_found_is_offered(bench, query: str):
    rewired(bench)
    bench.memory = TurnMemory(Toolbox(bench.registry, offered=["look", "find_tools"]))
    done = await bench.call("find_tools", json.dumps({"query": query}))
    assert found(done)[0] == "switch"
    assert done.result.offers[0] == "switch"
    assert done.result.content["tools"][0]["description"] == "Switches."


async def test_it_is_found_by_the_words_that_the_texts_have_now_and_told_in_the_language_of_the_turn(bench):
    rewired(bench)
    texts = prompts_of((bench.look, bench.switch, bench.search))
    call = ToolCall("c1", "find_tools", '{"query": "a widget"}')
    told: dict[Language, dict[str, ToolText]] = {}
    for lang in LANGUAGES:
        words = texts.tools(lang)
        told[lang] = {**words, "look": replace(words["look"], when="widget", what=f"Widgets, {lang}.")}
    assert found(await bench.call("find_tools", call.arguments)) == []
    bench.prompts.replace(replace(texts_with(LOOK, SWITCH, SEARCH), tools=told))
    context = ToolContext(OSCAR, SESSION, "turn_1", consultations=Consultations("zh"))
    done = await bench.dispatcher.dispatch(call, context, bench.memory, "zh")
    assert done.result.content["tools"] == [{"name": "look", "description": "Widgets, zh."}]


@pytest.mark.case("prompt-R60")
async def test_a_tool_of_another_agent_is_neither_found_nor_called_nor_offered(bench):
    rewired(bench)
    toolbox = Toolbox(bench.registry, allowed=["look", "find_tools"])
    bench.memory = TurnMemory(toolbox)
    toolbox.offer(["switch"])
    assert [tool.spec.name for tool in toolbox] == ["look", "find_tools"]
    assert found(await bench.call("find_tools", '{"query": "switch"}')) == []
    done = await bench.call("switch", '{"task_id": 3, "action": "pause"}')
    assert done.result.offers == ()
    assert done.result.content["error"] == "There is no tool 'switch'. Valid names: look, find_tools."
    assert not await bench.store.proposals.in_states(frozenset({ProposalState.PENDING}))


@pytest.mark.case("prompt-V19")
async def test_a_tool_that_was_not_on_offer_is_not_run_and_is_on_offer_afterwards(bench):
    bench.memory = TurnMemory(toolbox := Toolbox(bench.registry, offered=["search"]))
    done = await bench.call("look", "{}")
    assert (done.result.status, done.decision, bench.look.runs) == ("not_run", "invalid", [])
    assert "call it again" in done.result.content["error"]
    toolbox.offer(done.result.offers)
    assert (await bench.call("look", "{}")).result.status == "ok"


async def test_a_tool_that_only_a_skill_brings_is_unknown_until_it_does(bench):
    bench.memory = TurnMemory(toolbox := Toolbox(bench.registry, offered=["search"], brought=["look"]))
    assert "no tool 'look'" in (await bench.call("look", "{}")).result.content["error"]
    toolbox.offer(["look"])
    assert (await bench.call("look", "{}")).result.status == "ok"


@pytest.mark.case("prompt-R62")
@pytest.mark.parametrize("name", ["peek", "backend.look-v2", "look"])
async def test_an_old_name_and_that_of_the_back_end_reach_the_tool(bench, tmp_path: Path, name: str):
    look = Look(spec=replace(LOOK, aliases=("peek",), backend_name="backend.look-v2"))
    switch = Switch(spec=replace(SWITCH, aliases=("flip",)))
    rewired(bench, look, switch)
    bench.memory = TurnMemory(Toolbox(bench.registry))
    assert (await bench.call(name, "{}")).result.status == "ok"
    assert [row.tool for _, row in read_audit(tmp_path / "bot.db")] == ["look"], "the audit knows one name"
    proposed = await bench.call("flip", '{"task_id": 3, "action": "pause"}')
    assert proposed.proposal.tool == "switch"
    told = definitions_of(bench.registry).of(bench.registry.names)
    shown = str([(each.name, each.description, each.parameters) for each in told])
    assert "peek" not in shown
    assert "backend" not in shown


@pytest.mark.case("prompt-R62")
@pytest.mark.parametrize("other", [{"aliases": ("look",)}, {"backend_name": "look"}, {"aliases": ("peek",)}])
def test_a_name_that_would_stand_for_two_tools_is_an_error_at_the_start(other):
    look = Look(spec=replace(LOOK, aliases=("peek",)))
    with pytest.raises(ValueError, match=r"is a name of look and of search"):
        Registry([look, Search(spec=replace(SEARCH, **other))])


def test_one_name_may_stand_for_a_tool_in_two_ways():
    assert (
        Registry([Look(spec=replace(LOOK, backend_name="look", label=Phrase("看", "look")))]).canonical(
            "look"
        )
        == "look"
    )
