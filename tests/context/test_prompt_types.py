"""What is missing, blank, ambiguous or left over from a template is an error that names its field, before any model is called."""

from datetime import datetime
from typing import Any

import pytest

from chatops_bot.context.prompt_factory import build_agent_system_prompt
from chatops_bot.domain.errors import PromptInvalid
from tests.context.prompt_inputs import NOON, SHIPPED, a_session, a_tool, an_agent, build

AGENT: dict[str, Any] = {
    "agent_id": "opsbot",
    "lang": "en",
    "role_name": "opsbot",
    "role_description": "the assistant of a scheduler",
    "constraints": [],
    "phrases": SHIPPED["en"].phrases,
}
SESSION: dict[str, Any] = {"session_id": "s", "current_time": NOON}
TOOL: dict[str, Any] = {"name": "look", "description": "to look"}


def problems(agent: Any = AGENT, tools: Any = (TOOL,), session: Any = SESSION, intent: Any = "x") -> str:
    with pytest.raises(PromptInvalid) as caught:
        build_agent_system_prompt(agent, tools, session, intent)
    return "\n".join(caught.value.problems)


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth - 1):
        value = {"items": value}
    return value


def doubled(depth: int) -> dict[str, Any]:
    """Small where it stands, and two to the power of `depth` once it is walked through."""
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value, "b": value}
    return value


@pytest.mark.case("prompt-R18")
@pytest.mark.case("prompt-V18")
@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"agent": AGENT | {"role_name": " "}}, "agent_config.role_name"),
        ({"agent": AGENT | {"role_name": "{{name}}"}}, "agent_config.role_name"),
        ({"agent": AGENT | {"role_name": "<name>"}}, "agent_config.role_name"),
        ({"agent": AGENT | {"role_description": "TODO: write who this is"}}, "agent_config.role_description"),
        ({"agent": AGENT | {"role_description": "short"}}, "agent_config.role_description"),
        ({"agent": AGENT | {"persona": "xxx"}}, "agent_config.persona"),
        ({"agent": AGENT | {"capabilities": ["${skill}"]}}, "agent_config.capabilities.0"),
        ({"agent": AGENT | {"agent_id": "Ops Bot"}}, "agent_config.agent_id"),
        ({"agent": AGENT | {"lang": "fr"}}, "agent_config.lang"),
        ({"agent": AGENT | {"unknown": 1}}, "agent_config.unknown"),
        ({"agent": {k: v for k, v in AGENT.items() if k != "phrases"}}, "agent_config.phrases"),
        ({"tools": [TOOL | {"name": "2look"}]}, "tool_specs.0.name"),
        ({"tools": [TOOL | {"name": "look\n"}]}, "tool_specs.0.name"),
        ({"tools": [TOOL | {"description": ""}]}, "tool_specs.0.description"),
        ({"tools": [TOOL | {"permission_level": "maybe"}]}, "tool_specs.0.permission_level"),
        ({"tools": [TOOL | {"parameters": {"type": "array", "properties": {}}}]}, "tool_specs.0"),
        (
            {"tools": [TOOL | {"parameters": {"properties": {"q": {"enum": ["a\nb"]}}}}]},
            "tool_specs.look.parameters",
        ),
        ({"tools": [TOOL | {"parameters": nested(33)}]}, "tool_specs.0.parameters"),
        ({"tools": [TOOL | {"parameters": nested(100_000)}]}, "tool_specs.0.parameters"),
        ({"tools": [TOOL | {"parameters": doubled(40)}]}, "tool_specs.0.parameters"),
        ({"tools": [TOOL | {"parameters": {"default": float("nan")}}]}, "tool_specs.0.parameters"),
        ({"tools": [TOOL | {"parameters": {"default": {1, 2}}}]}, "tool_specs.0.parameters"),
        ({"tools": [TOOL | {"parameters": {"default": "\ud800"}}]}, "tool_specs.0.parameters"),
        ({"tools": [TOOL | {"return_schema": nested(33)}]}, "tool_specs.0.return_schema"),
        ({"session": SESSION | {"current_time": datetime(2025, 3, 2)}}, "session_context.current_time"),
        ({"session": SESSION | {"timezone": "Mars/Olympus"}}, "session_context.timezone"),
        ({"session": SESSION | {"session_id": ""}}, "session_context.session_id"),
        ({"session": SESSION | {"env": {"API_KEY": "x"}}}, "session_context.env"),
        ({"session": SESSION | {"agent_id": "other"}}, "session_context.agent_id"),
        ({"intent": "  "}, "user_intent.text"),
        ({"intent": {"text": "x", "mood": "bad"}}, "user_intent.mood"),
    ],
)
def test_the_error_names_the_field(wrong: dict[str, Any], field: str):
    assert problems(**wrong).startswith(f"{field}:")


def test_all_problems_are_told_at_once():
    said = problems(AGENT | {"role_name": ""}, [TOOL | {"name": "a b"}], SESSION | {"session_id": ""}, "")
    for field in (
        "agent_config.role_name",
        "tool_specs.0.name",
        "session_context.session_id",
        "user_intent.text",
    ):
        assert field in said


@pytest.mark.case("prompt-R51")
@pytest.mark.case("prompt-V18")
@pytest.mark.parametrize(
    "tools",
    [
        [TOOL, TOOL],
        [TOOL, TOOL | {"name": "LOOK"}],
        [TOOL, {"name": "see", "description": "to see", "aliases": ["Look"]}],
        [
            {"name": "a", "description": "x", "aliases": ["c"]},
            {"name": "b", "description": "x", "aliases": ["c"]},
        ],
    ],
)
def test_two_tools_never_share_a_name_or_an_alias(tools: list[Any]):
    assert "is a name of" in problems(tools=tools)


@pytest.mark.case("prompt-R60")
@pytest.mark.case("prompt-V18")
def test_a_tool_of_another_agent_is_refused():
    assert "belongs to risk, not to opsbot" in problems(tools=[TOOL | {"agent_ids": ["risk"]}])
    assert "not among the tools" in problems(AGENT | {"tool_allow": ["other"]})


@pytest.mark.case("prompt-R7")
def test_typed_values_and_plain_mappings_make_the_same_prompt():
    agent, tools, session = (
        an_agent(persona="calm"),
        (a_tool(), a_tool("look")),
        a_session(env={"region": "eu"}),
    )
    plain = build_agent_system_prompt(
        agent.model_dump(mode="python"), [tool.model_dump(mode="python") for tool in tools], session.model_dump(mode="python"),
        {"text": "what failed?"},
    )  # fmt: skip
    typed = build(agent=agent, tools=tools, session=session)
    assert plain == typed
    assert (plain.prompt_hash, plain.config_hash) == (typed.prompt_hash, typed.config_hash)


@pytest.mark.case("prompt-R50")
def test_inputs_are_values_that_no_build_changes():
    agent, tools, session = an_agent(), (a_tool(),), a_session(key_events=["a"], env={"region": "eu"})
    before = (agent.model_dump_json(), tools[0].model_dump_json(), session.model_dump_json())
    build(agent=agent, tools=tools, session=session)
    assert (agent.model_dump_json(), tools[0].model_dump_json(), session.model_dump_json()) == before


def test_json_samples_in_rules_are_no_placeholders():
    rule = 'When asked for JSON, answer {"state": "ok"} and nothing else.'
    assert rule in build(agent=an_agent(constraints=[rule]))
