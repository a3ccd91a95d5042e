"""The prompt is a pure function of its four inputs; nothing volatile stands in the prefix; no text can open a section."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.prompt_files import configured_texts
from chatops_bot.context.prompt_factory import ToolBrief, TurnContext, build_agent_system_prompt, inline
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.domain.language import Language

PROMPTS = PromptRegistry(configured_texts(AgentsConfig()))
AGENTS = {lang: PROMPTS.get("incident_responder", lang) for lang in ("zh", "en")}
TOOLS = (
    ToolBrief("query_tasks", "Find tasks.", needs_approval=False),
    ToolBrief("pause_task", "Pause.", needs_approval=True),
)
CONTEXT = TurnContext(
    "slack:T:C:1",
    "Oscar",
    "operator",
    "C1",
    datetime(2025, 3, 2, 14, 32, 50, tzinfo=timezone(timedelta(hours=8))),
)
TITLES = ["[AGENT IDENTITY]", "[CAPABILITIES]", "[AVAILABLE TOOLS]", "[CONSTRAINTS]"]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_five_sections_stand_once_each_in_order(language: Language):
    prompt = build_agent_system_prompt(AGENTS[language], TOOLS, CONTEXT, "what failed?")
    assert [line for line in prompt.prefix.splitlines() if line in TITLES] == TITLES
    assert prompt.suffix.splitlines()[0] == "[CONTEXT]"
    assert prompt.prefix.startswith("[AGENT IDENTITY]")


@pytest.mark.case("sched-V17")
def test_time_person_channel_and_intent_never_touch_the_prefix():
    first = build_agent_system_prompt(AGENTS["en"], TOOLS, CONTEXT, "what failed?")
    other = replace(
        CONTEXT, people="Ana", asker_role="admin", channel="C2", session_id="s", now=datetime.now(UTC)
    )
    second = build_agent_system_prompt(AGENTS["en"], TOOLS, other, "pause it")
    assert first.prefix == second.prefix
    assert first.suffix != second.suffix


@pytest.mark.case("sched-V18")
def test_a_naive_time_and_a_blank_intent_are_refused():
    with pytest.raises(ValueError, match="time zone"):
        build_agent_system_prompt(AGENTS["en"], TOOLS, replace(CONTEXT, now=datetime(2025, 3, 2)), "x")
    with pytest.raises(ValueError, match="intent"):
        build_agent_system_prompt(AGENTS["en"], TOOLS, CONTEXT, "  ")


def test_the_context_tells_time_with_weekday_and_zone():
    zh = build_agent_system_prompt(AGENTS["zh"], TOOLS, CONTEXT, "x").suffix
    en = build_agent_system_prompt(AGENTS["en"], TOOLS, CONTEXT, "x").suffix
    assert "2025年3月2日 14:32 星期日 (UTC+08:00)" in zh
    assert "2025-03-02 14:32 Sunday (UTC+08:00)" in en


@pytest.mark.case("sched-V16")
@given(st.text())
def test_no_channel_or_session_adds_a_line_or_a_bracket(name: str):
    hostile = replace(CONTEXT, channel=name, session_id=name, people="")
    prompt = build_agent_system_prompt(AGENTS["en"], TOOLS, hostile, "x")
    assert prompt.suffix.count("\n") == 5
    assert "[" not in inline(name)


def test_schemas_stay_out_of_the_text_and_names_stand_in_it():
    prompt = build_agent_system_prompt(AGENTS["en"], TOOLS, CONTEXT, "x")
    assert "- query_tasks: Find tasks." in prompt.prefix
    assert "pause_task (needs approval)" in prompt.prefix
    assert "properties" not in prompt.prefix


def test_both_languages_have_the_same_keys():
    assert AGENTS["zh"].model_fields_set == AGENTS["en"].model_fields_set
