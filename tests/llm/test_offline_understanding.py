"""Tables of phrasings: what people say, and what is understood."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.llm.offline.arguments import Target, count_in, hours_in, mask, number_of
from chatops_bot.llm.offline.cues import WRITES, Hold, Kind
from chatops_bot.llm.offline.schedules import cron_in
from chatops_bot.llm.offline.understanding import understand
from chatops_bot.llm.offline.verbs import CHINESE_ANY_VERB, ENGLISH_ANY_VERB, ENGLISH_VERBS

N = "nightly-report"

PHRASINGS: dict[Kind, str] = {
    Kind.CONDITION: """
        is nightly-report ok?
        is nightly-report working?
        are nightly-report and etl-sync fine?
        how is nightly-report doing?
        how's nightly-report
        so is nightly-report healthy
        status of nightly-report
        nightly-report status
        nightly-report 还好吗
        nightly-report 正常吗
        nightly-report 怎么样
        nightly-report 健康吗
        nightly-report 没问题吧
        nightly-report 的状态
        任务 3 还好吗
        看看 nightly-report 的状况
    """,
    Kind.THANKS: """
        thanks!
        thank you
        ok
        ok, thanks
        Great, thanks a lot!
        got it
        yes
        perfect
        谢谢！
        好的，谢谢
        好的
        收到
        行
        明白了
        辛苦了
        嗯
    """,
    Kind.FAILURES: """
        最近有哪些任务失败了？
        今天有失败的任务吗
        过去3小时有没有报错
        哪些任务超时了
        昨晚有任务挂了吗？
        最近出错的任务
        看看失败情况
        最近有什么异常吗
        列出失败的运行
        what failed recently?
        any failures in the last 3 hours?
        show me the failed tasks
        which jobs failed today
        what broke last night
        list failed runs
        did anything time out? any timeouts?
        anything failing right now?
        recent errors please
    """,
    Kind.PAUSE: """
        暂停 nightly-report
        请暂停 nightly-report
        把 nightly-report 暂停一下
        帮我停用 nightly-report
        nightly-report 先停掉
        能暂停 nightly-report 吗？
        麻烦把 nightly-report 禁用
        能不能把 nightly-report 暂停
        如果可以的话，请暂停 nightly-report
        nightly-report 没用了，暂停它
        pause nightly-report
        please pause nightly-report
        could you pause nightly-report?
        Pause the nightly-report task now!
        disable nightly-report
        suspend nightly-report please
        I'd like you to pause nightly-report
        ok, pause nightly-report.
        hey bot, can you stop nightly-report
        nightly-report keeps failing, pause it
        nightly-report: pause
        帮我 pause nightly-report
    """,
    Kind.RESUME: """
        恢复 nightly-report
        请恢复 nightly-report
        启用 nightly-report
        取消暂停 nightly-report
        把 nightly-report 重新启用
        解除暂停 nightly-report
        帮我恢复 nightly-report 吧
        可以恢复 nightly-report 吗
        resume nightly-report
        please resume nightly-report
        unpause nightly-report
        un-pause nightly-report
        enable nightly-report
        re-enable nightly-report
        can you resume the nightly-report job?
        let's resume nightly-report
        turn on nightly-report
    """,
    Kind.TRIGGER: """
        触发 nightly-report
        立即执行 nightly-report
        马上跑 nightly-report
        把 nightly-report 跑一次
        手动触发 nightly-report
        现在执行 nightly-report
        nightly-report 执行一次
        请立刻运行 nightly-report
        trigger nightly-report
        run nightly-report now
        please run nightly-report
        kick off nightly-report
        kick-off nightly-report
        execute nightly-report
        could you trigger nightly-report?
        start nightly-report
        we need to run nightly-report
    """,
    Kind.RETRY: """
        重试 nightly-report
        重跑 nightly-report
        重试最近失败的 nightly-report
        把 nightly-report 重试一下
        重新运行 nightly-report
        请重试 nightly-report 最近一次失败的运行
        重新执行 nightly-report
        能帮我重试 nightly-report 吗
        retry nightly-report
        rerun nightly-report
        re-run nightly-report
        retry the last failed run of nightly-report
        please retry nightly-report
        could you rerun nightly-report?
        retry nightly-report now
        go ahead and retry nightly-report
    """,
    Kind.DELETE: """
        删除 nightly-report
        删除任务 nightly-report
        请删除 nightly-report
        把 nightly-report 删掉
        移除 nightly-report
        把 nightly-report 删了
        帮我删除 nightly-report
        nightly-report 没用了，删除它
        delete nightly-report
        delete the task nightly-report
        please delete nightly-report
        remove nightly-report
        drop nightly-report
        could you delete nightly-report?
        get rid of nightly-report
        I want to delete nightly-report
    """,
    Kind.EXPLAIN: """
        nightly-report 为什么失败了？
        为什么 nightly-report 失败
        分析 nightly-report 的失败原因
        nightly-report 怎么失败的
        nightly-report 怎么回事
        排查一下 nightly-report
        nightly-report 怎么挂了
        诊断 nightly-report
        nightly-report 一直失败，为什么？
        why did nightly-report fail?
        why is nightly-report failing
        analyse nightly-report
        analyze the failure of nightly-report
        what went wrong with nightly-report
        what happened to nightly-report?
        what's wrong with nightly-report
        investigate nightly-report
        nightly-report failed again, why?
    """,
    Kind.LIST: """
        列出任务
        有哪些任务
        所有任务
        任务列表
        看看任务
        现在有多少个任务
        查一下任务
        显示全部任务
        查看所有任务的配置
        list tasks
        show all tasks
        what tasks are there?
        which jobs do we have
        list all jobs
        show me the tasks
        how many tasks are there
        tasks
    """,
    Kind.DETAIL: """
        nightly-report 的配置
        nightly-report 的超时时间
        看看 nightly-report 的详情
        nightly-report 依赖什么
        nightly-report 最近10次的成功率
        nightly-report 下次什么时候跑
        nightly-report 现在是什么情况
        对比 nightly-report 和 etl-sync
        nightly-report
        show nightly-report
        config of nightly-report
        what does nightly-report depend on?
        success rate of nightly-report
        when does nightly-report run next
        what is the timeout setting of nightly-report
        describe nightly-report
        details for nightly-report
        what about nightly-report?
        should I pause nightly-report?
    """,
    Kind.HEALTH: """
        系统健康吗
        整体健康情况怎么样
        健康概览
        调度器状态
        现在整体情况如何
        系统总览
        一切正常吗
        系统状况怎么样
        health overview
        system health
        is everything ok?
        how are things
        scheduler status
        give me an overview
        is the scheduler healthy? health please
        how is everything
        how is the system doing overall?
        how's the scheduler doing?
        are we ok overall?
        how does the system look?
        系统怎么样
        系统运行得怎么样？
        调度器还好吗
    """,
    Kind.WORKERS: """
        节点负载
        worker 负载
        有哪些节点
        看看 worker
        机器负载趋势
        执行器在线吗
        各节点利用率
        节点容量够吗
        worker load
        show workers
        how loaded are the nodes? node load
        worker utilization
        list workers
        load of the workers in the last 6 hours
        capacity
        are the workers online
    """,
    Kind.VERIFY: """
        成功了吗
        生效了吗？
        执行成功了吗
        暂停了吗
        完成了没有
        有没有生效
        搞定了吗
        恢复了吗
        谁批准的
        结果怎么样
        did it work?
        did that go through?
        was it applied?
        is it done
        did the pause take effect
        has it been approved?
        who approved it
        did this succeed
        was that executed
    """,
    Kind.HELP: """
        你好
        帮助
        你能做什么
        怎么用
        你会什么
        您好
        在吗
        如何暂停任务
        怎么删除 nightly-report
        hello
        help
        hi
        what can you do?
        how do I use this? how do i use you
        how can I pause a task?
        how to delete nightly-report
        who are you
        good morning
    """,
    Kind.WHY_CHANGED: """
        why was it paused?
        why was nightly-report paused?
        why is nightly-report disabled
        what is the reason it was stopped
        why did somebody delete nightly-report
        why was nightly-report resumed
        why did it get triggered
        why has it been suspended
        为什么被暂停
        为什么 nightly-report 被暂停了？
        nightly-report 为什么停用了
        为什么 nightly-report 被删除
        nightly-report 为什么恢复了
        它为什么被触发
        暂停的原因是什么
        分析一下为什么被禁用
    """,
}


SCHEDULES = """
    每天凌晨2点跑一次备份任务，帮我创建
    每天凌晨2点跑一次备份
    每晚跑一次备份
    每小时执行一次健康检查，加个任务
    每周一早上9点执行 report.sh，创建一个
    每天凌晨2点跑一次 nightly-report，帮我建个任务
    每隔 10 分钟跑一次清理，安排一下
    天天跑一次清理，弄一个
    run the backup every night at 2
    every night at 2 run cleanup.sh, set it up
    run cleanup.sh every 10 minutes, create it please
    run the cleanup daily
"""
"""Again and again is a schedule: what is asked for is a new task."""

OF_A_TASK = """
    每天凌晨2点跑一次 nightly-report
    每天触发 nightly-report
    每周一 9 点执行一次 nightly-report
    run nightly-report every night
    run nightly-report every night at 2
    trigger nightly-report daily
"""
"""A task that is there: neither a new one nor a run now."""

NOW = """
    跑一次每日报表
    把每日报表跑一次
    每天跑的备份现在跑一次
    run the nightly report
    run the daily backup now
"""


@pytest.mark.parametrize("text", [line.strip() for line in SCHEDULES.strip().splitlines()])
def test_what_is_to_run_again_and_again_is_a_new_task(text: str):
    (intent,) = understand(text)
    assert intent.kind is Kind.CREATE
    assert intent.new_task is not None
    assert intent.new_task.cron_expr or intent.new_task.likely_cron


@pytest.mark.parametrize("text", [line.strip() for line in OF_A_TASK.strip().splitlines()])
def test_another_schedule_for_a_task_that_is_there_is_neither_made_nor_run_now(text: str):
    (intent,) = understand(text)
    assert (intent.kind, intent.target) == (Kind.ALTER, Target((N,)))


@pytest.mark.parametrize("text", [line.strip() for line in NOW.strip().splitlines()])
def test_a_name_that_sounds_like_a_schedule_is_a_name(text: str):
    assert [intent.kind for intent in understand(text)] == [Kind.TRIGGER]


@pytest.mark.parametrize(
    "text",
    [
        "每天跑一次备份，不要创建",
        "如果失败就每天跑一次备份，创建一个",
        "每天凌晨2点跑的是什么",
        "run the cleanup daily but do not create it",
    ],
)
def test_a_schedule_that_nobody_asks_for_makes_nothing(text: str):
    assert not [intent for intent in understand(text) if intent.kind in WRITES]


@pytest.mark.parametrize(
    "text",
    [
        "那它的下游呢？",
        "那下游呢",
        "那么它的配置呢？",
        "还有它的依赖呢",
        "它下游是谁",
        "and its downstream?",
        "what about its upstream?",
        "so what depends on it?",
    ],
)
def test_a_question_that_goes_on_is_about_the_task_of_the_thread(text: str):
    (intent,) = understand(text)
    assert (intent.kind, intent.target) == (Kind.DETAIL, Target(is_reference=True))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("nightly-report is fine now", Kind.DETAIL),
        ("why is nightly-report not ok", Kind.EXPLAIN),
        ("is nightly-report broken?", Kind.FAILURES),
        ("is nightly-report paused?", Kind.VERIFY),
        ("is everything ok?", Kind.HEALTH),
        ("ok, pause nightly-report", Kind.PAUSE),
        ("thanks, now retry run 28", Kind.RETRY),
        ("好的，暂停 nightly-report", Kind.PAUSE),
        ("ok what failed?", Kind.FAILURES),
        ("thanks nightly-report", Kind.DETAIL),
        ("who changed nightly-report last?", Kind.WHY_CHANGED),
        ("who paused it?", Kind.WHY_CHANGED),
        ("谁改了 nightly-report", Kind.WHY_CHANGED),
        ("谁最近动过 nightly-report", Kind.WHY_CHANGED),
        ("谁批准的", Kind.VERIFY),
        ("are we overloaded?", Kind.WORKERS),
        ("who is overloaded", Kind.WORKERS),
        ("系统过载了吗", Kind.WORKERS),
        ("下线 nightly-report", Kind.PAUSE),
        ("把 nightly-report 下线", Kind.PAUSE),
        ("take nightly-report offline", Kind.PAUSE),
        ("上线 nightly-report", Kind.RESUME),
        ("nightly-report 下线了", Kind.DETAIL),
        ("take a look at nightly-report", Kind.DETAIL),
    ],
)
def test_what_is_near_to_another_question_is_told_from_it(text: str, kind: Kind):
    assert [intent.kind for intent in understand(text)] == [kind]


PAUSED = """
    what is paused?
    what's paused right now?
    which are paused?
    which ones are disabled?
    anything paused?
    is anything paused?
    are any tasks paused?
    what has been paused?
    show me what is still suspended
    list paused
    哪些任务暂停了
    暂停了哪些
    哪些是暂停的
    有没有暂停的
    有什么被暂停了吗
    现在停用了什么
    停用的有哪些
    谁被暂停了
    什么任务是暂停状态
"""
NOT_A_LIST = """
    why is it paused?
    who paused nightly-report?
    is nightly-report paused?
    what was paused by oscar?
    did you pause it?
    pause nightly-report
    为什么暂停了
    什么时候暂停的
    nightly-report 被暂停了吗
    暂停 nightly-report
    谁暂停了它
"""


def test_what_is_paused_is_a_list():
    for text in map(str.strip, PAUSED.strip().splitlines()):
        assert [(one.kind, one.scope.status) for one in understand(text)] == [(Kind.LIST, "disabled")], text
    for text in map(str.strip, NOT_A_LIST.strip().splitlines()):
        assert Kind.LIST not in [one.kind for one in understand(text)], text


def _cases(table: dict[Kind, str]) -> list[tuple[Kind, str]]:
    return [(kind, line.strip()) for kind, lines in table.items() for line in lines.strip().splitlines()]


@pytest.mark.parametrize("kind", PHRASINGS)
def test_each_phrasing_is_understood(kind: Kind):
    for _, text in _cases({kind: PHRASINGS[kind]}):
        assert kind in [intent.kind for intent in understand(text)], text


def test_each_intent_is_tried_in_at_least_eight_phrasings_of_each_language():
    for kind in PHRASINGS:
        lines = [line for one, line in _cases(PHRASINGS) if one is kind]
        chinese = [line for line in lines if any("\u4e00" <= c <= "\u9fff" for c in line)]
        assert len(chinese) >= 8, kind
        assert len(lines) - len(chinese) >= 8, kind


@pytest.mark.parametrize("kind", [kind for kind in PHRASINGS if kind in WRITES and N in PHRASINGS[kind]])
def test_a_change_knows_its_task(kind: Kind):
    for _, text in _cases({kind: PHRASINGS[kind]}):
        if N in text:
            intent = next(intent for intent in understand(text) if intent.kind is kind)
            assert intent.target == Target((N,)), text


@pytest.mark.parametrize("kind", [kind for kind in PHRASINGS if kind not in WRITES])
def test_a_question_is_never_a_change(kind: Kind):
    for _, text in _cases({kind: PHRASINGS[kind]}):
        assert not [intent for intent in understand(text) if intent.kind in WRITES], text


NO_CHANGE = """
    不要删除 nightly-report
    别暂停 nightly-report
    先不要重试 nightly-report
    请勿触发 nightly-report
    不用恢复 nightly-report 了
    没必要删除 nightly-report
    千万不要删除 nightly-report
    为什么被暂停
    谁暂停了 nightly-report
    nightly-report 被暂停了
    nightly-report 已暂停
    nightly-report 已经删除了
    刚刚触发了 nightly-report
    nightly-report 自动重试失败
    nightly-report 的重试次数
    暂停的任务有哪些
    要不要暂停 nightly-report？
    应该删除 nightly-report 吗
    删除 nightly-report 会怎样
    暂停 nightly-report 有什么影响
    如果再失败就暂停 nightly-report
    等 etl-sync 跑完后触发 nightly-report
    明天暂停 nightly-report
    两小时后恢复 nightly-report
    删除所有任务
    暂停全部任务
    暂停或者删除 nightly-report
    告警提示删除 nightly-report
    暂停 nightly-report，算了
    怎么创建任务
    看看 delete-old-logs
    日志里写着 `delete nightly-report`
    don't pause it
    do not delete nightly-report
    don't pause, delete or trigger nightly-report
    never delete nightly-report
    please don't retry nightly-report
    you should not delete nightly-report
    no need to resume nightly-report
    why was it paused?
    who deleted nightly-report
    did you pause nightly-report?
    was nightly-report deleted?
    is nightly-report paused?
    when was nightly-report triggered
    nightly-report was paused yesterday
    I paused nightly-report
    he said to delete nightly-report
    the runbook says we should delete nightly-report
    should I delete nightly-report?
    what happens if I delete nightly-report
    if it fails again, pause nightly-report
    when etl-sync is done, trigger nightly-report
    pause nightly-report tomorrow
    resume nightly-report in 2 hours
    trigger nightly-report at 5pm
    pause nightly-report for 30 minutes
    delete all tasks
    retry every failed run
    pause or delete nightly-report
    pause nightly-report. never mind
    pause nightly-report, no, don't
    the pause of nightly-report
    retry policy of nightly-report
    retry count of nightly-report?
    run history of nightly-report
    delete-old-logs status
    show me "delete nightly-report"
    the log says `pause nightly-report`
    how do I delete nightly-report
    can it be deleted
    stop it
    undelete
    deletion of nightly-report
"""


def test_what_is_no_wish_never_becomes_a_change():
    for text in map(str.strip, NO_CHANGE.strip().splitlines()):
        assert not [intent for intent in understand(text) if intent.kind in WRITES], text


@pytest.mark.parametrize(
    ("text", "hold"),
    [
        ("don't pause nightly-report", Hold.NEGATED),
        ("不要删除 nightly-report", Hold.NEGATED),
        ("if it fails, pause nightly-report", Hold.CONDITIONAL),
        ("如果失败就暂停 nightly-report", Hold.CONDITIONAL),
        ("pause nightly-report tomorrow", Hold.DEFERRED),
        ("明天恢复 nightly-report", Hold.DEFERRED),
        ("delete all tasks", Hold.BULK),
        ("暂停所有任务", Hold.BULK),
        ("pause or delete nightly-report", Hold.CHOICE),
        ("暂停或者删除 nightly-report", Hold.CHOICE),
    ],
)
def test_a_held_change_says_why(text: str, hold: Hold):
    assert [intent.hold for intent in understand(text)] == [hold]


@pytest.mark.parametrize(
    ("text", "kind", "target"),
    [
        ("pause #12", Kind.PAUSE, Target(task_ids=(12,))),
        ("pause task 12", Kind.PAUSE, Target(task_ids=(12,))),
        ("暂停任务 12", Kind.PAUSE, Target(task_ids=(12,))),
        ("恢复 12 号任务", Kind.RESUME, Target(task_ids=(12,))),
        ("retry run 88", Kind.RETRY, Target(run_ids=(88,))),
        ("retry #88", Kind.RETRY, Target(run_ids=(88,))),
        ("retry 88", Kind.RETRY, Target(run_ids=(88,))),
        ("重试运行 88", Kind.RETRY, Target(run_ids=(88,))),
        ("重试实例88", Kind.RETRY, Target(run_ids=(88,))),
        ("analyse run 12", Kind.EXPLAIN, Target(run_ids=(12,))),
        ("分析运行 12", Kind.EXPLAIN, Target(run_ids=(12,))),
        ("why did run #12 fail", Kind.EXPLAIN, Target(run_ids=(12,))),
        ("pause the nightly report", Kind.PAUSE, Target(("nightly report",))),
        ("暂停备份任务", Kind.PAUSE, Target(("备份",))),
        ("pause `Weird Name`", Kind.PAUSE, Target(("Weird Name",))),
        ("暂停「备份」", Kind.PAUSE, Target(("备份",))),
        ("pause it", Kind.PAUSE, Target(is_reference=True)),
        ("暂停它", Kind.PAUSE, Target(is_reference=True)),
        ("恢复这个任务", Kind.RESUME, Target(is_reference=True)),
        ("pause nightly-report and etl-sync", Kind.PAUSE, Target(("nightly-report", "etl-sync"))),
        ("compare nightly-report and etl-sync", Kind.DETAIL, Target(("nightly-report", "etl-sync"))),
        ("对比 nightly-report 和 etl-sync", Kind.DETAIL, Target(("nightly-report", "etl-sync"))),
        ("why did backup fail last night", Kind.EXPLAIN, Target(("backup",))),
    ],
)
def test_targets(text: str, kind: Kind, target: Target):
    assert [(intent.kind, intent.target) for intent in understand(text)] == [(kind, target)]


def test_two_wishes_of_one_message_keep_their_own_tasks():
    said = understand("暂停 nightly-report 并看看 etl-sync 最近10次的成功率")
    assert [(intent.kind, intent.target.names, intent.scope.count) for intent in said] == [
        (Kind.PAUSE, ("nightly-report",), None),
        (Kind.DETAIL, ("etl-sync",), 10),
    ]


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("last 3 hours", 3),
        ("past 3h", 3),
        ("in the last hour", 1),
        ("last 90 minutes", 2),
        ("last two days", 48),
        ("past week", 168),
        ("this week", 168),
        ("yesterday", 48),
        ("today", 24),
        ("last night", 24),
        ("最近3小时", 3),
        ("过去三个小时", 3),
        ("近两天", 48),
        ("最近一周", 168),
        ("这周", 168),
        ("30分钟内", 1),
        ("今天", 24),
        ("昨天", 48),
        ("最近", None),
        ("recently", None),
        ("what failed", None),
        ("last 10 runs", None),
    ],
)
def test_windows(text: str, hours: int | None):
    assert hours_in(text) == hours


@pytest.mark.parametrize(
    ("text", "count"),
    [("last 10 runs", 10), ("最近10次", 10), ("最近五次", 5), ("last 3 hours", None), ("recent", None)],
)
def test_counts(text: str, count: int | None):
    assert count_in(text) == count


@pytest.mark.parametrize(
    ("words", "number"),
    [("12", 12), ("十", 10), ("十二", 12), ("二十", 20), ("三十五", 35), ("两", 2), ("百", None), ("", None)],
)
def test_numbers(words: str, number: int | None):
    assert number_of(words) == number


@pytest.mark.parametrize(
    ("text", "cron"),
    [
        ("每天凌晨2点", "0 2 * * *"),
        ("每天凌晨两点半", "30 2 * * *"),
        ("每天 02:30", "30 2 * * *"),
        ("每天早上8点", "0 8 * * *"),
        ("每天下午3点15分", "15 15 * * *"),
        ("每天晚上10点", "0 22 * * *"),
        ("每晚十一点", "0 23 * * *"),
        ("每天中午", "0 12 * * *"),
        ("每天零点", "0 0 * * *"),
        ("每小时", "0 * * * *"),
        ("每小时第5分", "5 * * * *"),
        ("每5分钟", "*/5 * * * *"),
        ("每隔10分钟", "*/10 * * * *"),
        ("每2小时", "0 */2 * * *"),
        ("每分钟", "* * * * *"),
        ("每周一早上9点", "0 9 * * 1"),
        ("每周日 3:05", "5 3 * * 0"),
        ("工作日早上9点", "0 9 * * 1-5"),
        ("周一到周五 18:00", "0 18 * * 1-5"),
        ("每月1号凌晨3点", "0 3 1 * *"),
        ("每7分钟", None),
        ("每天", None),
        ("every night at 2", "0 2 * * *"),
        ("every night at 10", "0 22 * * *"),
        ("every day at 2am", "0 2 * * *"),
        ("every day at 12am", "0 0 * * *"),
        ("daily at 02:30", "30 2 * * *"),
        ("nightly at 2", "0 2 * * *"),
        ("every morning at 8", "0 8 * * *"),
        ("every evening at 6:30", "30 18 * * *"),
        ("every day at 3 pm", "0 15 * * *"),
        ("every day at midnight", "0 0 * * *"),
        ("daily at noon", "0 12 * * *"),
        ("every hour", "0 * * * *"),
        ("hourly", "0 * * * *"),
        ("every 15 minutes", "*/15 * * * *"),
        ("every minute", "* * * * *"),
        ("every 6 hours", "0 */6 * * *"),
        ("every monday at 9", "0 9 * * 1"),
        ("every sunday at 11pm", "0 23 * * 0"),
        ("weekdays at 9am", "0 9 * * 1-5"),
        ("on the 1st of every month at 3am", "0 3 1 * *"),
        ("every 7 minutes", None),
        ("every day at 25", None),
        ("cron 0 2 * * *", "0 2 * * *"),
        ("*/5 8-18 * * 1-5", "*/5 8-18 * * 1-5"),
        ("nothing", None),
    ],
)
def test_schedules(text: str, cron: str | None):
    assert cron_in(text) == cron


CREATIONS = [
    "创建一个 shell 任务 clean-tmp，每天凌晨2点执行 `rm -rf /tmp/x`",
    "新建 shell 任务 clean-tmp，每天凌晨2点运行 `rm -rf /tmp/x`",
    "帮我创建任务 clean-tmp，类型 shell，cron 0 2 * * *，内容 `rm -rf /tmp/x`",
    "请新增一个任务，名为 clean-tmp，每天 02:00 执行命令 `rm -rf /tmp/x`",
    "添加 shell 任务「clean-tmp」：每天凌晨两点，命令：`rm -rf /tmp/x`",
    "建一个 shell 任务叫 clean-tmp，每天凌晨2点跑 `rm -rf /tmp/x`",
    "能帮我创建一个名为 clean-tmp 的 shell 任务吗，每天凌晨2点，执行 `rm -rf /tmp/x`",
    "加个任务 clean-tmp，脚本 `rm -rf /tmp/x`，每天凌晨2点",
    "create a shell task named clean-tmp every night at 2 running `rm -rf /tmp/x`",
    "create shell task clean-tmp, daily at 2am, command `rm -rf /tmp/x`",
    "please add a shell job called clean-tmp that runs `rm -rf /tmp/x` every day at 2am",
    "could you create a task clean-tmp (shell) with cron `0 2 * * *` and payload `rm -rf /tmp/x`?",
    "set up a shell task clean-tmp: every night at 2, `rm -rf /tmp/x`",
    "new names: none. create task `clean-tmp` type shell cron 0 2 * * * payload `rm -rf /tmp/x`",
    "schedule a shell task clean-tmp nightly at 2 to run `rm -rf /tmp/x`",
    "Create a shell task clean-tmp. Run `rm -rf /tmp/x` every night at 2.",
    "I want to create a bash task named clean-tmp, 0 2 * * *, script: `rm -rf /tmp/x`",
]


@pytest.mark.parametrize("text", CREATIONS)
def test_a_task_with_all_facts_is_read_from_one_sentence(text: str):
    (intent,) = understand(text)
    assert intent.kind is Kind.CREATE
    assert intent.new_task is not None
    assert intent.new_task.arguments == {
        "name": "clean-tmp",
        "type": "shell",
        "cron_expr": "0 2 * * *",
        "payload": "rm -rf /tmp/x",
    }


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("create a task", ("name", "type", "cron_expr", "payload")),
        ("创建任务", ("name", "type", "cron_expr", "payload")),
        ("create a shell task named clean-tmp", ("cron_expr", "payload")),
        ("创建 shell 任务 clean-tmp，每天凌晨2点", ("payload",)),
        ("create task ping-api every 5 minutes calling https://example.com/health", ()),
        ("创建任务 ping-api，每5分钟访问 https://example.com/health", ()),
        ("create container task tidy-db every night at 2 args `-v a:b`", ("image",)),
        ("create container task tidy-db every night at 2 image `alpine:3` args `-v a:b`", ()),
    ],
)
def test_missing_facts_are_named_exactly(text: str, missing: tuple[str, ...]):
    (intent,) = understand(text)
    assert intent.new_task is not None
    assert intent.new_task.missing == missing


def test_a_payload_is_kept_as_it_was_written():
    (intent,) = understand('创建 shell 任务 clean-tmp，每天凌晨2点执行 `echo "Ａ：B" && Delete All`')
    assert intent.new_task is not None
    assert intent.new_task.payload == 'echo "Ａ：B" && Delete All'


WORDS = st.sampled_from(
    """pause resume delete trigger retry run stop create task job it nightly-report #12 run 88 please don't never not why
    was paused and or but if all last failed 3 hours , . ? ! ` " 暂停 恢复 删除 触发 重试 创建 任务 它 不要 别 为什么 被 了 吗 的 把 所有
    如果 失败 最近 每天 凌晨2点 成功了吗 健康 节点""".split()  # noqa: SIM905 - reads better
)
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(WORDS, max_size=12).map(" ".join),
    st.lists(WORDS, max_size=12).map("".join),
)


@given(TEXTS)
def test_any_text_is_read_without_error_and_without_a_verb_nothing_is_changed(text: str):
    kinds = [intent.kind for intent in understand(text)]
    masked = mask(text).text
    has_verb = ENGLISH_ANY_VERB.search(masked) or CHINESE_ANY_VERB.search(masked)
    if not has_verb:
        assert not WRITES & set(kinds)


@given(
    st.sampled_from([verb for verb in WRITES if verb is not Kind.CREATE]),
    st.lists(WORDS, max_size=6).map(" ".join),
)
def test_a_prohibition_at_the_start_holds_for_its_sentence(kind: Kind, rest: str):
    said = (
        rest.replace("but", "")
        .replace(".", "")
        .replace("?", "")
        .replace("!", "")
        .replace("`", "")
        .replace('"', "")
    )
    for text in (
        f"don't {kind} nightly-report {said}",
        f"不要{ {'pause': '暂停', 'resume': '恢复', 'trigger': '触发', 'retry': '重试', 'delete': '删除'}[kind] } nightly-report {said}",
    ):
        assert not WRITES & {intent.kind for intent in understand(text)}


def test_every_english_verb_of_the_table_stands_for_one_kind():
    assert {kind for kind, _ in ENGLISH_VERBS} == WRITES
