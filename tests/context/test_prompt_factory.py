"""The prompt is a pure function of its four inputs; nothing volatile stands in the prefix; no text can open a section."""

import os
import random
import subprocess
import sys
from datetime import UTC, datetime
from itertools import permutations
from typing import Any

import pytest

from chatops_bot.context.prompt_factory import build_agent_system_prompt, confidential
from chatops_bot.context.prompt_types import PromptOptions, UserIntent
from chatops_bot.context.tokens import estimate
from chatops_bot.domain.errors import PromptInvalid
from chatops_bot.domain.language import Language
from tests.conftest import SOAK_SIZE
from tests.context.prompt_inputs import (
    NOON,
    SHIPPED,
    TITLES,
    TOOLS,
    a_session,
    a_tool,
    an_agent,
    build,
    headings,
)
from tests.context.test_hardening import hostile
from tests.tracked import ROOT

HOSTILE = {"": 1_000, "ci": 10_000, "full": 200_000}[SOAK_SIZE]


@pytest.mark.case("prompt-R12")
def test_the_call_that_the_third_seed_shows_works():
    prompt = build_agent_system_prompt(
        agent_config={
            "agent_id": "aftersales",
            "role_name": "售后助手",
            "role_description": "面向平台注册用户的订单售后问题处理代理，只负责订单查询，其他问题转交人工",
            "persona": "直接、准确、不推诿",
            "language_style": "使用简洁中文，先给结论，再说依据",
            "constraints": ["当工具没有返回物流信息时，回复“暂时无法获取”，不得编造物流节点。"],
            "phrases": SHIPPED["zh"].phrases,
        },
        tool_specs=[
            {"name": "tool_a", "description": "查询订单状态与物流信息", "parameters": {"order_id": "string"}},
            {"name": "tool_b", "description": "查询运输轨迹", "parameters": {"tracking_no": "string"}},
        ],
        session_context={
            "session_id": "s1",
            "current_time": NOON,
            "summary": "昨天已发起退款申请 RB20250115",
        },
        user_intent="查询订单状态",
    )
    assert "[AGENT IDENTITY]" in prompt
    assert "[AVAILABLE TOOLS]" in prompt
    assert "tool_a" in prompt
    assert "不得编造物流节点" in prompt
    assert "RB20250115" in prompt
    assert '{"properties":{"order_id":{"type":"string"}},"type":"object"}' in prompt


@pytest.mark.case("prompt-R1")
@pytest.mark.case("prompt-R19")
@pytest.mark.case("prompt-R20")
@pytest.mark.case("prompt-R28")
@pytest.mark.case("prompt-R51")
@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_five_sections_stand_once_each_in_order_and_identity_first(language: Language):
    prompt = build(agent=SHIPPED[language])
    assert headings(prompt) == TITLES
    assert prompt.startswith("[AGENT IDENTITY]\n")
    assert prompt == f"{prompt.prefix}\n\n{prompt.suffix}"
    assert all(f"\n\n{title}\n" in prompt for title in TITLES[1:])
    assert [section.title for section in prompt.sections if section.title != "FOLLOW-UPS"] == [
        title.strip("[]") for title in TITLES
    ]
    assert not any(line != line.rstrip() or "\r" in line for line in prompt.split("\n"))
    assert "\n\n\n" not in prompt
    assert not prompt.endswith("\n")


@pytest.mark.case("prompt-R2")
@pytest.mark.case("prompt-R6")
@pytest.mark.case("prompt-R50")
@pytest.mark.case("prompt-V15")
def test_equal_inputs_give_equal_bytes_in_every_order_of_tools_process_and_hash_seed():
    tools = [a_tool(name, sort_hint=hint) for name, hint in (("c", 1), ("a", 1), ("b", 9))]
    prompts = {str(build(tools=tuple(each))) for each in permutations(tools)}
    assert len(prompts) == 1
    code = (
        "from tests.context.prompt_inputs import build, a_tool, a_session\n"
        "p = build(tools=(a_tool('b', sort_hint=9), a_tool('a', sort_hint=1), a_tool('c', sort_hint=1)),\n"
        "  session=a_session(env={'region': 'eu', 'stage': 'prod'}))\n"
        "print(p.prompt_hash, p.prefix_hash, p.tools_hash, p.config_hash)"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "TZ": zone, "LC_ALL": "C"},
        ).stdout
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    }
    assert len(seen) == 1


@pytest.mark.case("prompt-R47")
@pytest.mark.case("prompt-V17")
@pytest.mark.parametrize(
    "session",
    [
        a_session(current_time=datetime(2026, 1, 1, tzinfo=UTC)),
        a_session(user_id="U9"),
        a_session(summary="all is lost"),
        a_session(channel="C9"),
        a_session(key_events=("one",), env={"region": "eu"}),
        a_session(user_role="admin", session_id="other"),
        a_session(timezone="America/New_York", schedule_zone="UTC"),
        a_session(previous_tools=("query_workers",), reads_only=True),
    ],
)
def test_time_person_channel_summary_and_intent_never_touch_the_prefix(session: Any):
    asked = UserIntent(text="pause it", kind="pause", entities={"task": "12"})
    first, second = build(), build(session=session, intent=asked)
    assert first.prefix == second.prefix
    assert first.prefix_hash == second.prefix_hash
    assert first.suffix != second.suffix
    assert first.prompt_hash != second.prompt_hash


@pytest.mark.case("prompt-R11")
@pytest.mark.case("prompt-R21")
@pytest.mark.case("prompt-V17")
@pytest.mark.parametrize(
    ("changed", "title"),
    [
        ({"agent": an_agent(role_name="nightowl")}, "AGENT IDENTITY"),
        ({"agent": an_agent(capabilities=["Find runs."])}, "CAPABILITIES"),
        ({"tools": (TOOLS[1],)}, "AVAILABLE TOOLS"),
        ({"agent": an_agent(constraints=["When in doubt, ask."])}, "CONSTRAINTS"),
        ({"session": a_session(channel="C9")}, "CONTEXT"),
    ],
)
def test_replacing_one_section_leaves_the_others_as_they_were(changed: dict[str, Any], title: str):
    before, after = build(), build(**changed)
    differing = [a.title for a, b in zip(before.sections, after.sections, strict=True) if a != b]
    assert differing == [title]


@pytest.mark.case("prompt-R8")
@pytest.mark.case("prompt-R54")
@pytest.mark.case("prompt-V16")
@pytest.mark.soak
def test_no_hostile_value_adds_a_heading_or_moves_the_boundary():
    rng = random.Random(5)
    for _ in range(HOSTILE):
        bad = hostile(rng)
        filled = f"x{bad}".replace("\ud800", "")
        description = f"a description that is long enough, only {filled}"
        values: dict[str, Any] = {
            "agent": an_agent(persona=filled, language_style=filled, output_format=filled, role_name=filled,
                role_description=description, domain_scope=[filled], out_of_scope=[filled], capabilities=[filled],
                constraints=[filled], handoffs=[{"agent_id": "other", "when": filled}]),
            "tools": (a_tool("look", description=filled, return_schema=filled,
                parameters={"properties": {"q": {"description": filled, "default": filled}}}),),
            "session": a_session(session_id=filled, user_id=bad, summary=bad, key_events=[bad, bad], channel=bad,
                user_role=bad, env={"region": bad}),
            "intent": UserIntent(text=f"x{bad}", kind=bad, entities={"name": bad, filled: bad}),
        }  # fmt: skip
        prompt = build(**values)
        assert headings(prompt) == TITLES, repr(bad)
        assert prompt.count("\n\n[CONTEXT]\n") == 1, repr(bad)
        assert prompt.prefix.endswith(SHIPPED["en"].phrases.followups), repr(bad)
    print(f"{HOSTILE} hostile values in every place, five headings each")


@pytest.mark.case("prompt-R1")
@pytest.mark.case("prompt-R13")
@pytest.mark.parametrize("language", ["zh", "en"])
def test_all_that_an_agent_is_configured_with_is_told(language: Language):
    agent = an_agent(
        language, role_name="夜鹰", role_description="the eyes of the night. By day a human.", persona="calm as ice", language_style="three lines at most",
        output_format="plain rows", domain_scope=["tasks of the shop"], out_of_scope=["Hardware goes elsewhere."],
        capabilities=["Count runs."], handoffs=[{"agent_id": "day_desk", "when": "it is day"}],
        constraints={"must": ["When dark, look."], "must_not": ["Never guess."], "fallback": ["If blind, say so."]},
    )  # fmt: skip
    prefix = build(agent=agent).prefix
    for told in (
        "夜鹰", "the eyes of the night", "calm as ice", "three lines at most", "plain rows", "tasks of the shop", "Hardware goes elsewhere.", "Count runs.",
        "day_desk", "it is day", "When dark, look.", "Never guess.", "If blind, say so.",
    ):  # fmt: skip
        assert prefix.count(told) == 1, told


@pytest.mark.case("prompt-R24")
@pytest.mark.case("prompt-R26")
def test_what_is_not_configured_leaves_no_line():
    bare, full = build(), build(agent=an_agent(persona="calm", output_format="plain", language_style="short"))
    assert len(bare.sections[0].text.splitlines()) == 2
    assert full.sections[0].text.splitlines()[2:] == ["Persona: calm", "Style: short", "Format: plain"]


@pytest.mark.case("prompt-R23")
@pytest.mark.case("prompt-R61")
def test_what_goes_to_a_human_or_another_agent_is_named_with_its_trigger():
    agent = an_agent(
        out_of_scope=["Hardware goes to the data centre."],
        handoffs=[{"agent_id": "scheduler_operator", "when": "a schedule is to be written"}],
    )
    text = build(agent=agent).sections[1].text
    assert "- Hand over: Hardware goes to the data centre." in text
    assert "- Hand over to agent scheduler_operator: a schedule is to be written" in text


@pytest.mark.case("prompt-R14")
@pytest.mark.case("prompt-R29")
@pytest.mark.case("prompt-R30")
@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_protocol_stands_over_the_tools_and_each_has_name_mark_and_scenario(language: Language):
    agent = an_agent(language)
    scenarios = {"zh": ["查任务"], "en": ["to find tasks"]}
    tools = (
        a_tool(scenarios=scenarios, return_schema="rows"),
        a_tool("pause_task", permission_level="write"),
    )
    lines = build(agent=agent, tools=tools).sections[2].text.splitlines()
    words = agent.phrases.tools
    assert lines[1 : 1 + len(words.protocol)] == list(words.protocol)
    assert f"- query_tasks: {scenarios[language][0]}" in lines
    assert any(line.startswith(f"- pause_task {words.needs_approval}: ") for line in lines)
    assert f"  {words.returns}: rows" in lines
    schema = {
        "type": "object",
        "required": ["id"],
        "properties": {"id": {"type": "integer", "description": "编号"}},
    }
    gone = a_tool("delete_task", permission_level="destructive", parameters=schema)
    said = build(agent=agent, tools=(gone,)).sections[2].text
    assert said.splitlines()[-2].startswith(f"- delete_task {words.needs_approval}: ")
    assert said.splitlines()[-1].endswith(
        '{"properties":{"id":{"description":"编号","type":"integer"}},"required":["id"],"type":"object"}'
    )


def test_without_tools_nothing_is_said_of_calling_them():
    prompt = build(tools=())
    assert SHIPPED["en"].phrases.tools.none in prompt
    assert SHIPPED["en"].phrases.tools.protocol[0] not in prompt
    assert "only make proposals" not in prompt


@pytest.mark.parametrize(("tool_text", "names", "schemas"), [("full", 1, 1), ("names", 1, 0), ("off", 0, 0)])
def test_how_much_is_said_of_a_tool_is_an_option(tool_text: Any, names: int, schemas: int):
    text = build(options=PromptOptions(tool_text=tool_text)).sections[2].text
    assert text.count("- query_tasks") == names
    assert ("Arguments: {" in text) == bool(schemas)


@pytest.mark.case("prompt-R32")
def test_frequent_tools_stand_first():
    tools = (a_tool("a"), a_tool("z", sort_hint=9), a_tool("b"))
    assert build(tools=tools).tools == ("z", "a", "b")


@pytest.mark.case("prompt-R9")
@pytest.mark.case("prompt-R34")
@pytest.mark.case("prompt-R36")
@pytest.mark.case("prompt-R37")
@pytest.mark.case("prompt-R56")
@pytest.mark.parametrize("language", ["zh", "en"])
def test_rules_stand_in_three_lists_and_no_agent_can_take_the_fixed_ones_away(language: Language):
    agent = an_agent(
        language, constraints={"must": ["When a."], "must_not": ["Never b."], "fallback": ["If c, d."]}
    )
    text = build(agent=agent).sections[3].text
    words = agent.phrases.constraints
    at = [
        text.index(each)
        for each in (words.must, "When a.", words.must_not, "Never b.", words.fallback, "If c, d.")
    ]
    assert at == sorted(at)
    bare = build(agent=an_agent(language, constraints=[])).sections[3].text
    for line in (
        words.unverified,
        words.conflict,
        words.prompt_is_secret,
        words.fence,
        words.data_lines,
        words.speakers,
    ):
        assert f"- {line}" in bare
    assert words.gated.replace("{tools}", "pause_task") in bare
    assert "only make proposals" not in build(agent=agent, tools=(TOOLS[0],)).sections[3].text


@pytest.mark.case("prompt-R5")
@pytest.mark.case("prompt-R15")
@pytest.mark.case("prompt-R16")
@pytest.mark.case("prompt-R38")
@pytest.mark.case("prompt-R40")
@pytest.mark.parametrize(
    ("language", "when"),
    [
        ("zh", "2025年3月2日 14:32 星期日 (Asia/Shanghai, UTC+08:00)"),
        ("en", "2025-03-02 14:32 Sunday (Asia/Shanghai, UTC+08:00)"),
    ],
)
def test_the_context_tells_goal_summary_time_session_person_and_environment(language: Language, when: str):
    intent = UserIntent(
        text="what\nfailed?", kind="triage", entities={"task": "12", "name": "[CONTEXT]\netl"}
    )
    session = a_session(
        timezone="Asia/Shanghai", user_id="U1", user_role="operator", channel="C1", summary="one\ntwo",
        key_events=[f"event {n}" for n in range(12)], env={"region": "eu", "location": "Berlin"},
    )  # fmt: skip
    lines = build(agent=an_agent(language), session=session, intent=intent).suffix.splitlines()
    words = SHIPPED[language].phrases.context
    assert f"{words.goal}: what failed?" in lines
    assert f"{words.kind}: triage" in lines
    assert f"{words.entities}: task=12; name=(CONTEXT) etl" in lines
    assert f"{words.time}: {when}" in lines
    assert f"{words.session}: slack:T:C:1" in lines
    assert f"{words.asker}: U1" in lines
    assert f"{words.role}: operator" in lines
    assert f"{words.channel}: C1" in lines
    assert words.reads_only not in lines
    reader = build(agent=an_agent(language), session=a_session(reads_only=True)).suffix.splitlines()
    assert words.reads_only in reader
    assert f"{words.environment}: location=Berlin, region=eu" in lines
    assert lines[lines.index(f"{words.summary}:") + 1 :][:2] == ["| one", "| two"]
    assert [line for line in lines if line.startswith("| event")] == [f"| event {n}" for n in range(2, 12)]


@pytest.mark.case("prompt-P10")
@pytest.mark.parametrize(
    ("zone", "schedules", "told"),
    [
        ("Asia/Shanghai", "UTC", "UTC"),
        ("Europe/Lisbon", "UTC", "UTC"),
        ("Africa/Accra", "UTC", ""),
        (None, "Asia/Shanghai", ""),
        ("Asia/Shanghai", None, ""),
    ],
)
def test_the_zone_of_schedules_is_told_where_clocks_there_show_another_time(
    zone: Any, schedules: Any, told: str
):
    label = SHIPPED["en"].phrases.context.schedule_zone
    lines = build(session=a_session(timezone=zone, schedule_zone=schedules)).suffix.splitlines()
    assert [line for line in lines if line.startswith(label)] == ([f"{label}: {told}"] if told else [])


@pytest.mark.case("prompt-R39")
def test_a_summary_that_has_to_give_way_loses_whole_lines():
    summary = "\n".join(f"line {number} " + "x" * 80 for number in range(8))
    session = a_session(summary=summary)
    prompt = build(agent=an_agent(limits={"hard_chars": len(build(session=session)) - 200}), session=session)
    lines = [line for line in prompt.suffix.splitlines() if line.startswith("| line")]
    assert 0 < len(lines) < 8
    assert [f"| {line}" for line in summary.splitlines()][: len(lines)] == lines


@pytest.mark.case("prompt-R46")
def test_a_summary_is_cut_at_800_characters():
    lines = build(session=a_session(summary="x" * 3_000)).suffix.splitlines()
    assert max(map(len, lines)) <= 800 + len("| ")


@pytest.mark.parametrize(
    ("mode", "titles", "has_persona"),
    [("full", TITLES, True), ("minimal", TITLES, False), ("none", [TITLES[0], TITLES[4]], False)],
)
def test_the_mode_says_how_much_there_is(mode: Any, titles: list[str], has_persona: bool):
    agent = an_agent(persona="calm", handoffs=[{"agent_id": "x", "when": "y"}])
    options = PromptOptions(mode=mode, skills="[SKILLS]\n- a: b")
    prompt = build(agent=agent, options=options)
    expected = [*titles[:3], "[SKILLS]", *titles[3:]] if mode != "none" else titles
    assert headings(prompt) == expected
    assert ("Persona: calm" in prompt) == has_persona
    assert ("Hand over to agent x" in prompt) == (mode == "full")
    assert (agent.phrases.followups in prompt) == (mode == "full")


@pytest.mark.case("prompt-R10")
@pytest.mark.parametrize(
    ("options", "title"),
    [
        (PromptOptions(skills="[SKILLS]\n- a: b"), "SKILLS"),
        (PromptOptions(extra_context=("people: two",)), "CONTEXT"),
        (PromptOptions(suggested_tools=("query_tasks",)), "CONTEXT"),
        (PromptOptions(flags=("override",)), "CONTEXT"),
        (PromptOptions(followups=False), "FOLLOW-UPS"),
    ],
)
def test_the_text_is_its_sections_and_what_is_added_stays_in_one(options: PromptOptions, title: str):
    before, after = build(), build(options=options)
    for prompt in (before, after):
        assert prompt == "\n\n".join(section.text for section in prompt.sections)
    old, new = ({section.title: section.text for section in each.sections} for each in (before, after))
    assert [name for name in old | new if old.get(name) != new.get(name)] == [title]


def test_the_follow_up_rule_closes_the_stable_part_and_can_be_left_out():
    rule = SHIPPED["en"].phrases.followups
    assert build().prefix.endswith(rule)
    assert rule not in build(options=PromptOptions(followups=False))


@pytest.mark.case("prompt-R44")
@pytest.mark.case("prompt-R49")
def test_a_prompt_over_its_soft_budget_warns_and_over_the_hard_one_is_trimmed_in_order_then_refused():
    big = a_session(env={"region": "eu"}, key_events=["e" * 160] * 10, summary="s" * 800)
    tools = tuple(a_tool(f"tool_{n}", return_schema="r" * 200, description="d" * 250) for n in range(8))
    whole = build(session=big, tools=tools)
    total = sum(section.chars for section in whole.sections)
    warned = "".join(whole.warnings)
    assert f"{total} characters, over the soft limit of 6000" in warned
    assert f"about {whole.tokens} tokens, over the soft limit of 2000" in warned

    def limited(hard: int) -> Any:
        return build(agent=an_agent(limits={"hard_chars": hard}), session=big, tools=tools)

    assert "region=eu" not in limited(total - 1)
    assert limited(total - 400).count("| e") < 10
    assert "sss" not in limited(total - 2_600)
    assert 3 <= len(limited(total - 4_800).tools) < 8
    with pytest.raises(PromptInvalid, match="nothing is left that may be cut"):
        limited(500)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_skills_and_extra_context_of_any_size_leave_every_tool_in_its_place(language: Language):
    tools = tuple(a_tool(f"tool_{n}") for n in range(8))
    text = "把" if language == "zh" else "w"
    options = PromptOptions(
        skills=f"[SKILLS]\n- a: {text * 40_000}", extra_context=(f"people: {text * 20_000}",)
    )
    prompt = build(
        agent=an_agent(language), tools=tools, session=a_session(env={"region": "eu"}), options=options
    )
    assert len(prompt.tools) == 8
    assert "region=eu" in prompt.suffix
    assert prompt.suffix.endswith(options.extra_context[0])
    assert any("soft limit" in warning for warning in prompt.warnings)


@pytest.mark.case("prompt-V20")
def test_skills_count_toward_the_hard_limit_and_give_way_before_any_tool():
    tools = tuple(a_tool(f"tool_{n}") for n in range(8))
    shorter = "[SKILLS]\n- a"
    for chars, told in ((5_000, "w" * 5_000), (40_000, shorter)):
        options = PromptOptions(skills=f"[SKILLS]\n- a: {'w' * chars}", less_skills=(shorter,))
        prompt = build(tools=tools, options=options)
        assert told in prompt.prefix
        assert len(prompt) <= an_agent().limits.hard_chars
        assert len(prompt.tools) == 8
    full = build(tools=tools, options=PromptOptions(skills="[SKILLS]\n- a: " + "w" * 40_000))
    assert "[SKILLS]" not in full.prefix


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a" * 10, 3), ("汉" * 10, 8), ("汉字ab", 3)])
def test_tokens_are_estimated_by_kind_of_character(text: str, tokens: int):
    assert estimate(text) == tokens


@pytest.mark.case("prompt-R65")
def test_each_hash_answers_to_its_own_part():
    base = build()
    assert len({base.prompt_hash, base.prefix_hash, base.tools_hash, base.config_hash}) == 4
    other_tool = build(tools=(TOOLS[0],))
    assert other_tool.tools_hash != base.tools_hash
    assert other_tool.config_hash == base.config_hash
    assert build(agent=an_agent(version="v2")).config_hash != base.config_hash


@pytest.mark.case("prompt-R25")
@pytest.mark.case("prompt-R27")
@pytest.mark.case("prompt-R31")
@pytest.mark.case("prompt-R35")
@pytest.mark.parametrize(
    ("values", "finding"),
    [
        ({"agent": an_agent(role_description="a helpful and friendly assistant")}, "says no boundary"),
        ({"agent": an_agent(language_style="professional and warm")}, "nobody could check it"),
        ({"agent": an_agent(constraints=["Do not lie."])}, "says neither when"),
        ({"tools": (a_tool("look", description="Parameters: order_id"),)}, "say when to use it"),
    ],
)
def test_an_editor_is_told_what_a_model_could_not_follow(values: dict[str, Any], finding: str):
    assert build().warnings == ()
    assert any(finding in warning for warning in build(**values).warnings)


@pytest.mark.case("prompt-R58")
def test_the_rules_are_kept_from_answers_and_what_the_bot_can_do_is_not():
    secret = confidential(SHIPPED["en"])
    assert SHIPPED["en"].phrases.constraints.unverified in secret
    assert SHIPPED["en"].phrases.loop.sum_up in secret
    assert SHIPPED["en"].phrases.tools.none in secret
    assert SHIPPED["en"].phrases.context.flagged.partition("{")[0] in secret
    assert not set(SHIPPED["en"].capabilities) & set(secret)


def test_both_languages_have_the_same_keys():
    assert SHIPPED["zh"].model_fields_set == SHIPPED["en"].model_fields_set
