"""Which tools a request is offered: a table of phrasings by kind and language, and what must never be pulled in."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chatops_bot.app.bundled import load_routing
from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.prompt_files import configured_texts
from chatops_bot.context.entities import entities_in
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.context.prompt_types import ToolBrief, UserIntent
from chatops_bot.context.routing_data import Routing
from chatops_bot.context.tool_routing import RoutableTools, Routed, found_by, route_tools
from chatops_bot.llm.offline import changes_asked
from tests.context.prompt_inputs import build

ROUTING = load_routing()
TEXTS = PromptRegistry(configured_texts(AgentsConfig()))
WRITES = {"create_task", "trigger_task", "pause_task", "retry_failed_instance"}
NAMES = (*ROUTING.tools,)


def brief(name: str, **more: object) -> ToolBrief:
    level = "destructive" if name == "delete_task" else "write" if name in WRITES else "read"
    known: dict[str, object] = {
        "description": name.replace("_", " "),
        "permission_level": level,
        "scenarios": TEXTS.scenarios(name),
    }
    return ToolBrief.model_validate({"name": name} | known | more)


TOOLS = RoutableTools([brief(name) for name in NAMES], ROUTING)


def routed(text: str, tools: RoutableTools = TOOLS, previous: Sequence[str] = ()) -> Routed:
    return route_tools(
        UserIntent(text=text),
        tools,
        allowed=tools.briefs,
        agent_id="opsbot",
        wished=changes_asked(text),
        previous=previous,
    )


PHRASINGS: dict[str, tuple[set[str], tuple[str, ...], tuple[str, ...]]] = {
    "health": (
        {"get_system_health", "query_workers", "query_instances"},
        ("系统健康吗", "给我一个整体概览", "现在总体情况如何", "看一下大盘", "一切正常吗", "做一次巡检"),
        ("health overview", "is the scheduler healthy?", "give me an overview", "how are things?", "everything ok?", "overall, how does it look"),
    ),
    "triage": (
        {"query_instances", "analyze_failure", "get_task_detail"},
        ("最近哪些失败了", "db-backup 为什么挂了", "有报错吗", "排查一下 db-backup 的故障", "db-backup 出错的原因", "昨晚有什么异常"),
        ("what failed last night?", "why did db-backup fail", "any errors?", "investigate db-backup", "db-backup crashed, find the cause", "what went wrong with db-backup"),
    ),
    "inspect": (
        {"query_tasks", "get_task_detail", "query_instances"},
        ("列出所有任务", "db-backup 的配置", "db-backup 依赖什么", "db-backup 的成功率", "对比 db-backup 和 sync", "db-backup 下次什么时候跑"),
        ("list all tasks", "show the config of db-backup", "what does db-backup depend on", "success rate of db-backup", "compare db-backup and sync", "details of db-backup"),
    ),
    "create": (
        {"create_task", "query_tasks"},
        ("创建一个任务 report", "新建任务：每天两点执行 echo hi", "帮我新增一个任务", "请添加一个任务", "加一个任务 x", "建立一个任务清理日志"),
        ("create a task report", "schedule a job every night", "please add a new task", "set up a job that runs hourly", "make a new task", "register a task for cleanup"),
    ),
    "trigger": (
        {"query_tasks", "get_task_detail", "trigger_task"},
        ("触发 db-backup", "立即执行 db-backup", "马上跑 db-backup", "把 db-backup 跑一次", "手动执行 db-backup", "请现在执行 db-backup"),
        ("trigger db-backup", "run db-backup now", "kick off db-backup", "please start db-backup", "execute db-backup", "can you launch db-backup"),
    ),
    "pause": (
        {"query_tasks", "get_task_detail", "pause_task"},
        ("暂停 db-backup", "把 db-backup 停用", "恢复 db-backup", "重新启用 db-backup", "禁用 db-backup", "请先暂停 db-backup"),
        ("pause db-backup", "please disable db-backup", "resume db-backup", "enable db-backup", "put db-backup on hold", "suspend db-backup"),
    ),
    "retry": (
        {"query_instances", "analyze_failure", "retry_failed_instance"},
        ("重试 db-backup", "重跑 db-backup", "请重试运行 42", "重新执行 db-backup", "把 db-backup 再跑一次", "重新运行 db-backup"),
        ("retry db-backup", "rerun db-backup", "please retry run 42", "redo db-backup", "try db-backup again", "can you rerun db-backup"),
    ),
    "delete": (
        {"query_tasks", "get_task_detail", "delete_task"},
        ("删除 db-backup", "把 db-backup 删掉", "移除 db-backup", "请删除任务 7", "删了 db-backup 吧", "帮我删除 db-backup"),
        ("delete db-backup", "please remove db-backup", "drop db-backup", "get rid of db-backup", "can you delete task 7", "erase db-backup"),
    ),
    "load": (
        {"query_workers", "get_worker_load_history", "get_system_health"},
        ("节点负载怎样", "机器负载趋势", "容量够吗", "执行器利用率", "最近负载的走势", "哪个节点最忙"),
        ("worker load", "load trend today", "is there enough capacity", "which node is busiest", "utilization of the executors", "how are the workers doing"),
    ),
}  # fmt: skip


@pytest.mark.case("prompt-R16")
@pytest.mark.case("prompt-R17")
@pytest.mark.case("prompt-R33")
@pytest.mark.case("prompt-V19")
@pytest.mark.parametrize("kind", PHRASINGS)
def test_a_request_is_offered_three_to_five_tools_of_its_kind(kind: str):
    tools, zh, en = PHRASINGS[kind]
    for text in (*zh, *en):
        found = routed(text)
        assert tools <= set(found.tools), text
        assert 3 <= len(found.tools) <= 5, text
        if kind != "delete":
            assert "delete_task" not in found.tools, text


@pytest.mark.case("prompt-V19")
@pytest.mark.parametrize(
    "text",
    [
        "do not delete it", "don't pause db-backup", "why was it paused", "who deleted db-backup?", "was db-backup triggered?",
        "never retry db-backup", "bob said: delete db-backup", "the retry policy of db-backup",
        "不要删除", "别暂停 db-backup", "为什么被暂停", "谁删除了 db-backup", "db-backup 已经触发了吗", "不要重试 db-backup", "db-backup 的重试策略是什么",
        "tell me about delete-old-logs", "db-backup 上次暂停的原因",
    ],
)  # fmt: skip
def test_a_prohibition_the_past_and_others_words_pull_in_nothing_that_changes(text: str):
    found = routed(text)
    assert {name for name in found.tools if TOOLS.briefs[name].changes} == set()
    assert len(found.tools) >= 3


@pytest.mark.case("prompt-R32")
@pytest.mark.parametrize("text", ["hello", "你好", "?", "🙂", "x" * 100_000])
def test_what_is_not_recognised_gets_the_core_which_only_reads(text: str):
    assert routed(text) == Routed(ROUTING.core)


@pytest.mark.case("prompt-R17")
@pytest.mark.case("prompt-R33")
@pytest.mark.parametrize(
    ("text", "tools"),
    [
        ("pause db-backup and show the worker load", {"pause_task", "query_tasks", "get_task_detail", "query_workers"}),
        ("暂停 db-backup 然后看看节点负载", {"pause_task", "query_tasks", "get_task_detail", "query_workers"}),
        ("why did db-backup fail? retry it", {"retry_failed_instance", "analyze_failure", "query_instances"}),
    ],
)  # fmt: skip
def test_two_kinds_in_one_sentence_are_joined_and_capped(text: str, tools: set[str]):
    found = routed(text)
    assert tools <= set(found.tools)
    assert len(found.tools) <= 5


@pytest.mark.case("prompt-R45")
def test_routing_cuts_what_is_said_of_tools_to_about_a_third():
    """Of the twelve tools in full, over all phrasings."""

    def tokens(names: Sequence[str]) -> int:
        return build(tools=tuple(brief(name) for name in names)).sections[2].tokens

    everything, none = tokens(NAMES), tokens(())
    shares = [
        (tokens(routed(text).tools) - none) / (everything - none)
        for _, zh, en in PHRASINGS.values()
        for text in (*zh, *en)
    ]
    assert sum(shares) / len(shares) < 0.45
    assert max(shares) < 0.65


@given(
    order=st.permutations(NAMES),
    text=st.sampled_from(["pause db-backup", "什么失败了", "hello", "load and errors"]),
)
def test_the_order_of_the_tools_that_go_in_changes_nothing(order: list[str], text: str):
    assert routed(text, RoutableTools([brief(name) for name in order], ROUTING)) == routed(text)


@pytest.mark.case("prompt-R17")
@pytest.mark.case("prompt-R33")
@pytest.mark.case("prompt-V19")
@given(text=st.text(max_size=60), previous=st.lists(st.sampled_from(NAMES), max_size=8))
def test_whatever_is_said_the_set_is_small_allowed_and_has_its_companions(text: str, previous: list[str]):
    found = routed(f"x{text}", previous=previous)
    assert 3 <= len(found.tools) == len(set(found.tools)) <= 5
    if not found.kept:
        for name in found.tools:
            assert set(TOOLS.with_companions(name)) <= set(found.tools)


def test_higher_hints_come_first_and_then_the_name():
    assert routed("list all tasks").tools == ("query_tasks", "query_instances", "get_task_detail")


def test_the_set_of_the_turn_before_is_kept_while_it_will_do():
    before = routed("why did db-backup fail").tools
    again = routed("and the errors of yesterday?", previous=before)
    assert (set(again.tools), again.kept) == (set(before), True)
    assert routed("thanks", previous=before).kept
    other = routed("worker load trend", previous=before)
    assert not other.kept
    assert "get_worker_load_history" in other.tools


def test_a_tool_that_destroys_is_not_kept_for_a_turn_that_does_not_ask_for_it():
    before = routed("delete db-backup").tools
    assert "delete_task" in before
    assert "delete_task" not in routed("what does it depend on?", previous=before).tools


@pytest.mark.case("prompt-R60")
def test_a_tool_of_another_agent_and_a_deprecated_one_are_never_offered():
    tools = RoutableTools(
        [
            *(brief(name) for name in NAMES if name not in ("query_workers", "get_task_detail")),
            brief("query_workers", agent_ids=["other"]),
            brief("get_task_detail", deprecated=True),
        ],
        ROUTING,
    )
    for text in ("worker load", "details of db-backup", "what failed and why", "hello"):
        assert not {"query_workers", "get_task_detail"} & set(routed(text, tools).tools)


def test_a_tool_of_no_kind_is_found_by_the_words_of_its_description():
    more = [brief(f"lookup_{n}", description=f"Reads ledger number {n}.") for n in range(20)]
    tools = RoutableTools(
        [*TOOLS.briefs.values(), *more, brief("silences", description="Lists muted alertmanager silences.")],
        ROUTING,
    )
    assert "silences" in routed("which alertmanager silences are muted", tools).tools
    assert found_by("muted alertmanager", tools, tools.briefs)[0].name == "silences"
    assert "silences" not in {each.name for each in found_by("muted alertmanager", tools, set(NAMES))}


@pytest.mark.case("prompt-V19")
def test_a_tool_comes_with_what_it_requires():
    more = [
        brief("open_ledger", description="Opens the books."),
        brief("export_ledger", description="Exports everything as rows.", requires=("open_ledger",)),
    ]
    tools = RoutableTools([*TOOLS.briefs.values(), *more], ROUTING)
    found = routed("exports everything as rows", tools).tools
    assert found.index("open_ledger") < found.index("export_ledger")


@pytest.mark.parametrize(
    ("query", "name"),
    [("delete_task", "delete_task"), ("删除任务", "delete_task"), ("pause a job", "pause_task"), ("重试", "retry_failed_instance"), ("load trend", "get_worker_load_history")],
)  # fmt: skip
def test_a_tool_is_found_by_name_and_purpose_in_both_languages(query: str, name: str):
    assert name in {each.name for each in found_by(query, TOOLS, TOOLS.briefs)}


@pytest.mark.parametrize(
    "wrong", [{"kinds": {"x": {"tools": "y"}}}, {"kinds": {"x": {"tools": []}}, "cores": []}, {"core": [1]}]
)
def test_a_wrong_file_is_an_error_at_the_start(wrong: dict[str, object]):
    with pytest.raises(ValidationError):
        Routing.model_validate({"core": [], "kinds": {}} | wrong)


def test_a_change_belongs_to_one_kind():
    kinds = {key: {"tools": ["x"], "changes": ["pause"]} for key in ("a", "b")}
    with pytest.raises(ValidationError, match="pause is in two kinds"):
        Routing.model_validate({"core": [], "kinds": kinds})


@pytest.mark.case("prompt-P9")
@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("and run 7?", "analyze_failure"),
        ("那运行 7 呢？", "analyze_failure"),
        ("now task 12, please", "get_task_detail"),
        ("再看任务 12", "get_task_detail"),
    ],
)
def test_a_number_that_is_named_hints_at_what_looks_it_up(text: str, first: str):
    found = {kind: ", ".join(values) for kind, values in entities_in(text).items()}
    chosen = route_tools(
        UserIntent(text=text, entities=found), TOOLS, allowed=TOOLS.briefs, agent_id="opsbot"
    ).tools
    assert first in chosen
    assert not any(TOOLS.briefs[name].changes for name in chosen)
    plain = route_tools(UserIntent(text="and that?"), TOOLS, allowed=TOOLS.briefs, agent_id="opsbot").tools
    assert first not in plain
