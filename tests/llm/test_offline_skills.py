"""Skills and agents without a language model: what people say of them, and what the rules do about it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chatops_bot.app.bundled import bundled
from chatops_bot.context.skill_file import Place, parse_skill
from chatops_bot.domain.model import UserMessage
from chatops_bot.domain.people import Role
from chatops_bot.domain.skill import LOAD_SKILL, Audience, Skill
from chatops_bot.domain.tool import CONSULT_AGENT
from chatops_bot.llm.offline.cues import Hold, Kind
from chatops_bot.llm.offline.understanding import understand, with_skills
from tests.llm.offline_play import WRITE_TOOLS, Content, Scheduler, play

ASKED_AFTER = """
    which skills do you have?
    what skills are there
    list your skills
    show me all skills
    skills
    do you have any skills?
    what can your skills do?
    is there a skill for handover?
    how many skills do you know
    what can you do with skills
    which skill should I use?
    你的技能
    技能怎么用
    有哪些技能
    你会哪些技能？
    技能列表
    列出技能
    有什么技能可以用
    有没有交接班的技能
    看看你的技能
    技能有哪些
    支持哪些技能？
"""
USED = """
    use the skill shift-handover
    please use the shift-handover skill
    use the skill `shift-handover` for the last 12 hours
    run the skill shift-handover
    load skill shift-handover
    could you apply the skill shift-handover?
    shift-handover skill please
    follow the skill named shift-handover
    use shift-handover
    go with the skill "shift-handover"
    用 shift-handover 技能
    请用 shift-handover 技能
    使用技能 shift-handover
    执行 shift-handover 技能
    加载技能 shift-handover
    按 shift-handover 技能来
    帮我跑一下 shift-handover 技能
    用“shift-handover”技能
    用一下 shift-handover 技能吧
    用 shift-handover
"""
ABOUT_A_TASK = """
    use the skill task-failure-triage for nightly-report
    use the task-failure-triage skill on the task nightly-report
    with the skill task-failure-triage, why did nightly-report fail?
    use task-failure-triage on nightly-report
    load the skill task-failure-triage and look at nightly-report
    用 task-failure-triage 技能看看 nightly-report
    按照 task-failure-triage 技能看看 nightly-report 为什么失败
    用 task-failure-triage 技能，nightly-report 为什么失败
    对 nightly-report 用 task-failure-triage 技能
"""
OF_TASKS = """
    the task named skill-sync | detail
    skill-sync | detail
    pause skill-sync | pause
    pause the skills task | pause
    why did skill-sync fail? | explain
    why did the skills job fail | explain
    run skill-sync | trigger
    what failed in skill-sync | failures
    暂停 skill-sync | pause
    触发 skill-sync | trigger
    skill-sync 为什么失败 | explain
    delete the skill shift-handover | delete
    把 skill-sync 的配置给我看看 | detail
    让 skill_sync 停下来 | pause
    use nightly-report | detail
    用 nightly-report | detail
    use worker-2, why did nightly-report fail? | detail explain
    use nightly-report, why did it fail? | explain
"""
FORBIDDEN = """
    don't use the skill shift-handover
    do not load the shift-handover skill
    never use the skill shift-handover
    please don't run the skill shift-handover
    不要用 shift-handover 技能
    别用 shift-handover 技能
    别用交接班技能
    先不用 shift-handover 技能
    don't consult the scheduler operator
    do not ask the incident responder
    不要问调度员
    别咨询 scheduler_operator
"""
CONSULTED = """
    consult the scheduler operator
    ask the scheduler operator why nightly-report failed
    please ask the scheduler operator: any failures today?
    consult scheduler_operator about worker load
    ask scheduler_operator what failed
    check with the scheduler operator
    can you ask the scheduler operator?
    have the scheduler operator look at run 88
    get a second opinion from the scheduler operator
    问一下调度员
    问问调度员 nightly-report 为什么失败
    咨询 scheduler_operator：最近有什么失败
    请咨询一下调度员
    让调度员看看 nightly-report
    问下调度助手最近有什么失败
    帮我问一下调度智能体
    转交给调度员
"""
NOT_CONSULTED = """
    ask Bob to pause nightly-report
    ask bob.smith to look at run 88
    the operator said to pause nightly-report
    let db_backup run
    have etl_sync run again
    query db_backup
    问一下小王
    小王问我 nightly-report 为什么失败
    找一下 nightly_report 的失败
"""


def lines(table: str) -> list[str]:
    return [line.strip() for line in table.strip().splitlines()]


def shipped(name: str) -> Skill:
    folder = bundled("skills") / name
    files = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    place = Place(folder, f"skills/{name}/SKILL.md", "shipped", files, name)
    skill = parse_skill((folder / "SKILL.md").read_bytes(), place)
    assert isinstance(skill, Skill)
    return skill


NAMES = {path.name for path in bundled("skills").iterdir() if path.is_dir()}
SHIPPED = [shipped(path.name) for path in sorted(bundled("skills").iterdir()) if path.is_dir()]


def skill(name: str, *, body: str = "", **audience: Any) -> Skill:
    return Skill(name, f"About {name}.", body, Path(), "test", audience=Audience(**audience))


def example(*steps: str) -> str:
    called = "\n".join(f"  - {step}" for step in steps)
    return (
        f"```yaml example\nasked: what now?\nsteps:\n{called}\nends: {{answer: This., facts: [This]}}\n```\n"
    )


@pytest.mark.parametrize("text", lines(ASKED_AFTER))
def test_asked_after_all_skills(text: str):
    (intent,) = understand(text)
    assert (intent.kind, intent.said) == (Kind.SKILLS, "")


@pytest.mark.parametrize("text", lines(USED))
def test_a_skill_is_asked_for(text: str):
    (intent,) = with_skills(understand(text), NAMES)
    assert (intent.kind, intent.said, intent.target.names) == (Kind.SKILL, "shift-handover", ())


@pytest.mark.parametrize("text", lines(ABOUT_A_TASK))
def test_what_else_is_said_is_what_the_skill_is_for(text: str):
    (intent,) = with_skills(understand(text), NAMES)
    assert (intent.kind, intent.said) == (Kind.SKILL, "task-failure-triage")
    assert intent.target.names == ("nightly-report",)


@pytest.mark.parametrize("text", lines(OF_TASKS))
def test_a_task_that_is_called_like_a_skill_is_a_task(text: str):
    text, kind = text.split(" | ")
    assert [intent.kind.value for intent in with_skills(understand(text), NAMES)] == kind.split()


@pytest.mark.parametrize("text", lines(FORBIDDEN))
async def test_what_is_forbidden_is_not_done(text: str):
    (intent,) = understand(text)
    assert (intent.kind, intent.hold) == (Kind.HELD, Hold.NEGATED)
    assert (await play(text, skills=SHIPPED, agents=["scheduler_operator"])).calls == []


@pytest.mark.parametrize("text", lines(CONSULTED))
def test_an_agent_is_called_upon(text: str):
    assert [intent.kind for intent in understand(text)] == [Kind.CONSULT]


@pytest.mark.parametrize("text", lines(NOT_CONSULTED))
def test_people_and_tasks_are_no_agents(text: str):
    assert Kind.CONSULT not in [intent.kind for intent in understand(text)]


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("which skills do you have?", "`shift-handover` — The handover at the end of a shift"),
        ("有哪些技能", "`shift-handover` — 交接班：现状"),
        ("which skills do you have?", "`in-two` — Say it twice."),
        ("有哪些技能", "`in-two` — 说两遍。"),
    ],
)
async def test_skills_are_listed_in_the_askers_language_with_what_needs_a_model(text: str, about: str):
    in_two = replace(skill("in-two", body=SHIPPED[0].body), description="Say it twice. 说两遍。")
    played = await play(text, skills=[*SHIPPED, in_two, skill("prose-only", body="# How\n\nThink.")])
    assert played.calls == []
    assert about in played.text
    marked = [line for line in played.text.splitlines() if "(needs a" in line or "（需要" in line]
    assert [line[:14] for line in marked if line.startswith("- ")] == ["- `prose-only`"]


async def test_a_skill_that_others_may_not_see_is_named_to_its_person_alone():
    secret = skill("payroll-repair", roles=frozenset({Role.ADMIN}))
    shared = await play("which skills do you have?", skills=[*SHIPPED, secret])
    assert "payroll" not in shared.text
    assert "1 more" in shared.text
    alone = await play("which skills do you have?", skills=[*SHIPPED, secret], is_shared=False)
    assert "`payroll-repair`" in alone.text
    for text in ("use the payroll skill", "use the skill payrol-repair", "run payroll-repair", "help"):
        assert "payroll-repair" not in (await play(text, skills=[secret])).text.replace(
            "`payroll-repair`", ""
        )
    by_name = await play("use the skill payroll-repair", skills=[*SHIPPED, secret])
    assert by_name.calls == [(LOAD_SKILL, {"name": "payroll-repair"})]


@pytest.mark.parametrize("text", ["which skills do you have?", "use the skill shift-handover", "help", "zzz"])
async def test_who_sees_no_skill_is_told_of_none(text: str):
    played = await play(text)
    assert "shift-handover" not in played.text.replace("`shift-handover`", "")
    assert LOAD_SKILL not in dict(played.calls)


@pytest.mark.parametrize(
    "text",
    [
        "use the skill shift-handover",
        "用 shift-handover 技能",
        "用交接班技能",
        "交接班技能跑一下",
        "use the handover skill",
    ],
)
async def test_the_handover_is_loaded_and_its_lookups_are_made(text: str):
    played = await play(text, skills=SHIPPED)
    assert played.steps[0] == [(LOAD_SKILL, {"name": "shift-handover"})]
    assert [tool for tool, _ in played.steps[1]] == [
        "get_system_health", "query_instances", "query_instances", "query_tasks",
    ]  # fmt: skip
    assert "`exit 1: disk full`" in played.text
    assert "etl-sync" in played.text
    assert "language model" in played.text or "语言模型" in played.text


async def test_hours_that_are_named_take_the_place_of_the_examples():
    played = await play("use the skill shift-handover for the last 12 hours", skills=SHIPPED)
    assert {arguments["hours"] for tool, arguments in played.calls if tool == "query_instances"} == {12}
    assert "In the last 12 hours: 1 failed, 1 timed out" in played.text


@pytest.mark.parametrize("one", SHIPPED, ids=lambda one: one.name)
async def test_every_shipped_skill_does_something_and_changes_nothing(one: Skill):
    played = await play(f"use the skill {one.name} for nightly-report", skills=SHIPPED)
    looked = [tool for tool, _ in played.calls if tool != LOAD_SKILL]
    assert looked
    assert set(looked) <= {*one.tools, "query_tasks"} - WRITE_TOOLS  # which names the tasks of runs
    assert len(played.text.splitlines()) > 4


async def test_the_askers_task_takes_the_place_of_the_examples():
    played = await play("use task-failure-triage on nightly-report", skills=SHIPPED)
    assert ("analyze_failure", {"instance_id": 28}) in played.calls
    assert "Run 28 of task `nightly-report` (#3): failed." in played.text
    unnamed = await play("use task-failure-triage", skills=SHIPPED)
    assert "begin with a task" in unnamed.text
    for name in ("nightly-report", "3"):
        replied = await play(name, skills=SHIPPED, history=unnamed.history)
        assert ("analyze_failure", {"instance_id": 28}) in replied.calls
    pronoun = await play("use the skill task-failure-triage on it", skills=SHIPPED, history=played.history)
    assert ("analyze_failure", {"instance_id": 28}) in pronoun.calls


async def test_without_a_failure_nothing_that_rests_on_one_is_called():
    played = await play("use task-failure-triage on etl-sync", Scheduler(runs=[]), skills=SHIPPED)
    assert "analyze_failure" not in dict(played.calls)
    assert "None of the 0 runs of task `etl-sync` (#4)" in played.text


async def test_a_tool_that_nobody_here_knows_is_not_called_and_neither_is_what_follows():
    body = example(
        "{call: get_system_health}", "{call: drop_table, with: {name: x}}", "{call: query_workers}"
    )
    played = await play("use the skill mine", skills=[skill("mine", body=body)])
    assert [tool for tool, _ in played.calls] == [LOAD_SKILL, "get_system_health"]
    assert "`drop_table`, `query_workers` was not called" in played.text


@pytest.mark.parametrize(
    "body",
    [
        "",
        "```yaml example\nnot: {an: example}\n```",
        "```yaml example\n" + "a: &a [*a]\n```",
        "```yaml example\n" + f"asked: {'long ' * 3000}\n```",
        "```yaml example\n: : :\n```",
        example("{call: delete_task, with: {task_id: 3}}"),
        example("{call: query_tasks, with: {status: 2001-01-01}}"),
        example("{call: query_instances, with: {hours: .inf}}"),
        example("{call: query_instances, with: {? [a] : b}}"),
    ],
)
async def test_a_skill_without_lookups_is_loaded_and_said_to_need_a_model(body: str):
    played = await play("use the skill mine", skills=[skill("mine", body=body)])
    assert played.calls == [(LOAD_SKILL, {"name": "mine"})]
    assert "needs a language model" in played.text


@pytest.mark.parametrize(
    "text",
    [
        "how do I use the skill shift-handover?",
        "what does the skill shift-handover do?",
        "shift-handover 技能怎么用",
        "介绍一下 shift-handover 技能",
        "explain the skill shift-handover",
    ],
)
async def test_who_asks_about_a_skill_is_told_what_it_is_for(text: str):
    played = await play(text, skills=SHIPPED)
    assert played.calls == []
    assert "end of a shift" in played.text or "交接班" in played.text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("用容量检查技能", "capacity-check"),
        ("use the capacity check skill", "capacity-check"),
        ("用依赖关系技能看 nightly-report", "dependency-map"),
        ("use the triage skill for nightly-report", "task-failure-triage"),
        ("用失败排查技能看 nightly-report", "task-failure-triage"),
        ("use the timeline skill for nightly-report", "incident-timeline"),
    ],
)
async def test_a_skill_is_known_by_words_of_its_name_and_of_what_it_says_of_itself(text: str, name: str):
    assert (await play(text, skills=SHIPPED)).calls[0] == (LOAD_SKILL, {"name": name})


@pytest.mark.parametrize(
    "text", ["use the skill retry-campaign for nightly-report", "用 retry-campaign 技能看 nightly-report"]
)
async def test_lookups_for_failed_runs_are_narrowed_to_the_task_that_is_named(text: str):
    played = await play(text, skills=SHIPPED)
    assert ("query_instances", {"task_id": 3, "hours": 168, "limit": 50}) in played.calls
    assert ("analyze_failure", {"instance_id": 28}) in played.calls
    assert ("get_task_detail", {"task_id": 3}) in played.calls
    assert "etl-sync" not in played.text
    assert not played.writes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("use the skill capacity-check for nightly-report", "they were not narrowed to `nightly-report`."),
        ("用 capacity-check 技能看 nightly-report", "没有按 `nightly-report` 缩小范围。"),
    ],
)
async def test_a_task_that_the_lookups_are_not_about_is_said_to_be_left_out(text: str, said: str):
    assert said in (await play(text, skills=SHIPPED)).text
    assert said not in (await play(text.replace("nightly-report", ""), skills=SHIPPED)).text


@pytest.mark.parametrize(
    "text",
    ["do the retry campaign", "please do a retry campaign", "let's do the retry campaign now", "start retry-campaign",
     "perform the retry campaign.", "来一个 retry-campaign", "做一下 retry-campaign 吧", "进行 retry-campaign"],
)  # fmt: skip
async def test_a_skill_that_is_to_be_done_need_not_be_called_one(text: str):
    scheduler = Scheduler()
    played = await play(text, scheduler, skills=SHIPPED)
    assert played.calls[0][0] == LOAD_SKILL or "use the skill retry-campaign" in played.text


@pytest.mark.parametrize(
    "text", ["run the script draw.py of dependency-map", "运行 dependency-map 的脚本 draw.py"]
)
async def test_a_script_of_a_skill_is_no_task(text: str):
    played = await play(text, skills=SHIPPED)
    assert played.calls == []
    assert "draw.py" not in played.text
    assert "dependency-map" in played.text


@pytest.mark.parametrize("text", ["don't use any skill", "no skills please", "不要用任何技能", "别用技能"])
async def test_no_skill_at_all_is_no_question(text: str):
    played = await play(text, skills=SHIPPED)
    assert played.calls == []
    assert "You can ask" not in played.text
    assert "可以这样问" not in played.text


@pytest.mark.parametrize(
    "path", ["\u00b2", "9" * 5000, "count.3", "instances.0.nowhere.more", "instances.7.id", ""]
)
async def test_what_a_result_has_not_is_not_kept_and_nothing_rests_on_it(path: str):
    first = f"{{call: query_instances, with: {{status: failed, hours: 8}}, keep: {{run: '{path}'}}}}"
    body = example(first, "{call: analyze_failure, with: {instance_id: $run}}")
    played = await play("use the skill mine", skills=[skill("mine", body=body)])
    assert [tool for tool, _ in played.calls if tool != "query_tasks"] == [LOAD_SKILL, "query_instances"]
    assert "run 28" in played.text


async def test_a_name_that_no_skill_bears_gets_the_nearest_and_a_task_is_told_of_the_skill():
    assert (
        "Did you mean `shift-handover`?" in (await play("use the skill shift-handovr", skills=SHIPPED)).text
    )
    assert "use the skill shift-handover" in (await play("trigger shift-handover", skills=SHIPPED)).text
    task = await play("use nightly-report", skills=SHIPPED)
    assert [tool for tool, _ in task.calls] == ["query_tasks", "get_task_detail"]


class Asked(Scheduler):
    """Another agent answers beside the scheduler."""

    def consult_agent(self, agent_id: str, question: str) -> Content:
        return {"agent": agent_id, "answer": f"Heard: {question}", "tools_called": []}


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("ask the scheduler operator why nightly-report failed", "why nightly-report failed"),
        ("consult scheduler_operator about worker load", "worker load"),
        ("please ask the scheduler operator: any failures today?", "any failures today?"),
        ("问问调度员 nightly-report 为什么失败", "nightly-report 为什么失败"),
        ("咨询 scheduler_operator：最近有什么失败", "最近有什么失败"),
        ("让调度员看看 nightly-report", "nightly-report"),
        ("问一下调度员，节点负载怎么样？", "节点负载怎么样？"),
        ("ask another agent what failed", "what failed"),
    ],
)
async def test_the_question_goes_to_the_agent_and_its_answer_comes_back(text: str, question: str):
    played = await play(text, Asked(), agents=["scheduler_operator"])
    assert played.calls == [(CONSULT_AGENT, {"agent_id": "scheduler_operator", "question": question})]
    assert f"Heard: {question}" in played.text


async def test_without_a_question_the_one_before_is_passed_on_and_without_one_it_is_asked_for():
    first = await play("问一下调度员", Asked(), agents=["scheduler_operator"])
    assert first.calls == []
    assert "问一下 scheduler_operator" in first.text
    before = [UserMessage("why did nightly-report fail?")]
    asked = await play("ask the scheduler operator", Asked(), before, agents=["scheduler_operator"])
    assert [arguments["question"] for _, arguments in asked.calls] == ["why did nightly-report fail?"]


async def test_where_nobody_can_be_consulted_that_is_said():
    assert "No other agent can be consulted here" in (await play("consult the scheduler operator")).text
    for text in ("which other agents can you ask?", "who can you consult?", "你能咨询谁", "有哪些智能体"):
        told = await play(text, agents=["scheduler_operator"])
        assert (told.calls, "`scheduler_operator`" in told.text) == ([], True)
    other = await play("问一下事件响应员：出了什么问题", agents=["scheduler_operator"])
    assert "`scheduler_operator`" in other.text
    assert other.calls == []
