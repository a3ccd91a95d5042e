"""What is offered to ask next: what can be done, in the asker's language, and never what was just asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.context.followups import MAX_FOLLOWUPS
from chatops_bot.context.next_steps import about, wants_brevity, worth_offering
from chatops_bot.domain.followup import FollowUp
from chatops_bot.domain.language import Language

HERE = {"query_tasks", "analyze_failure", "task-failure-triage"}

WHY = FollowUp("analyze_failure", "Why did run #12 fail?")
LIST = FollowUp("query_tasks", "Which tasks are paused?")
ZH = FollowUp("query_tasks", "哪些任务被暂停了？")


def offered(*steps: FollowUp, asked: str = "is all well?", language: Language = "en") -> tuple[str, ...]:
    return worth_offering(steps, asked=asked, language=language, can=HERE.__contains__)


def test_what_can_be_done_is_offered_in_its_order():
    assert offered(WHY, LIST) == (WHY.question, LIST.question)


def test_what_no_tool_or_skill_of_the_asker_answers_is_left_out():
    gone = [FollowUp("restart_host", "Restart the host db-1?"), FollowUp("Query_Tasks", "Which tasks run?")]
    assert offered(*gone, LIST) == (LIST.question,)
    assert offered(FollowUp("task-failure-triage", "Triage run #12 step by step")) != ()


@pytest.mark.parametrize(
    ("language", "expected"), [("en", (LIST.question,)), ("zh", (ZH.question,))], ids=["en", "zh"]
)
def test_only_the_askers_language_is_offered(language: Language, expected: tuple[str, ...]):
    asked = {"en": "is all well?", "zh": "系统怎么样？"}[language]
    assert offered(LIST, ZH, asked=asked, language=language) == expected


@pytest.mark.parametrize(
    ("asked", "step", "language"),
    [
        ("why did run #12 fail?", WHY, "en"),
        ("Tell me why run 12 did fail and who started it", WHY, "en"),
        ("which TASKS are paused", LIST, "en"),
        ("请看一下哪些任务被暂停了", ZH, "zh"),
        ("哪些任务被暂停了？为什么？", ZH, "zh"),
    ],
)
def test_a_part_of_what_was_just_asked_is_no_next_step(asked: str, step: FollowUp, language: Language):
    assert offered(step, asked=asked, language=language) == ()


@pytest.mark.parametrize(
    ("asked", "step", "language"),
    [
        ("why did run #11 fail?", WHY, "en"),
        ("which tasks are there?", LIST, "en"),
        ("任务都正常吗？", ZH, "zh"),
    ],
)
def test_what_goes_on_from_what_was_asked_is_offered(asked: str, step: FollowUp, language: Language):
    assert offered(step, asked=asked, language=language) == (step.question,)


@pytest.mark.parametrize(
    "asked",
    [
        "briefly: is all well?",
        "just the number of failed runs",
        "how many failed? only the count please",
        "tl;dr of the night",
        "is it up, yes or no",
        "a one-line summary",
        "keep it short",
        "一句话说明现在的情况",
        "只要数字",
        "简短回答：健康吗",
        "不用解释，只说是或否",
        "what failed? just tell me the count",
        "why, in a few words",
        "is nightly-report paused? yes/no",
        "what failed? keep it short",
        "哪些失败了，一行",
        "用一行回答：哪些失败了",
        "一两句话说说为什么",
        "简单回答，为什么失败",
        "只要结论",
        "short answer please: did it run",
        "yes or no: is it paused",
        "y/n?",
        "一行",
        "一行就行，哪些失败了",
        "只给我一个数字就好",
        "只要名字列表",
        "只报数字",
        "a brief summary",
        "answer briefly",
    ],
)
def test_who_asks_for_brevity_is_offered_nothing(asked: str):
    assert wants_brevity(asked)
    assert offered(WHY, LIST, asked=asked) == ()


@pytest.mark.parametrize(
    "asked",
    [
        "what failed?",
        "the short-jobs queue",
        "just retry run #3",
        "list the numbers task",
        "只读副本怎么样了？",
        "why did it fail shortly after midnight?",
        "只要失败的任务列表",
        "日志最后一行是什么",
        "只要是失败的都列出来",
        "只要数据库的任务",
        "只要状态为失败的任务",
        "哪些任务只报警不失败",
        "why was there a brief outage at 3?",
        "it was down briefly before midnight, why?",
        "为什么失败",
    ],
)
def test_other_questions_do_not_ask_for_brevity(asked: str):
    assert not wants_brevity(asked)


@pytest.mark.parametrize(
    ("asked", "language", "question"),
    [
        ("失敗したタスクは何ですか", "zh", "どのタスクがまだとまっていますか"),
        ("どうなっていますか", "en", "他の失敗を見ますか"),
        ("nightly-report", "zh", "なぜしっぱいしましたか"),
        ("무엇이 실패했나요?", "en", "어떤 작업이 멈췄나요?"),
        ("Что сломалось?", "en", "Какие задачи приостановлены?"),
        ("Was ist heute Nacht schiefgelaufen?", "en", "Welche Aufgaben sind angehalten?"),
    ],
)
def test_who_writes_a_third_language_gets_the_steps_in_it(asked: str, language: Language, question: str):
    assert offered(FollowUp("query_tasks", question), asked=asked, language=language) == (question,)


def test_the_same_step_twice_is_one():
    again = FollowUp("query_tasks", "which tasks are paused")
    assert offered(LIST, again, WHY) == (LIST.question, WHY.question)


@given(
    st.lists(
        st.builds(FollowUp, st.sampled_from(sorted(HERE | {"", "other"})), st.text(max_size=30)), max_size=9
    ),
    st.text(max_size=60),
    st.sampled_from(["zh", "en"]),
)
def test_what_is_offered_was_suggested_can_be_done_and_is_not_too_much(
    steps: list[FollowUp], asked: str, language: Language
):
    said = worth_offering(steps, asked=asked, language=language, can=HERE.__contains__)
    assert len(said) <= MAX_FOLLOWUPS
    assert len(set(said)) == len(said)
    assert set(said) <= {step.question for step in steps if step.needs in HERE}


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("Nothing failed from 11-29 18:07 to 11-30 08:00 (UTC+07:00).", []),
        ("run 7 failed", [7]),
        ("运行7失败", [7]),
        ("task `x` (#7), run 71", [7, 71]),
        ("| 7 | failed |", [7]),
        ("worker-7 and 10.0.0.7 are fine", []),
    ],
)
def test_a_tools_step_is_about_what_the_answer_tells(answer: str, kept: list[int]):
    steps = [FollowUp("analyze_failure", f"Why did run #{run} fail?") for run in (7, 71)]
    assert list(about(answer, steps)) == [
        step for step, run in zip(steps, (7, 71), strict=True) if run in kept
    ]
    assert about(answer, [LOOSE]) == (LOOSE,)


LOOSE = FollowUp("query_instances", "Which tasks failed recently?")
