"""The nine kinds of intent: many phrasings of each in both languages, and the plan that each must lead to.

A plan is what reaches the tools: the write that is proposed, or the reads that answer a question, or a question back. The
negatives of a kind speak about its change without wishing it; none of them may propose anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tests.llm.offline_play import Scheduler, play, run, task

Call = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Rows:
    """Phrasings, one a line, that all lead to one plan.

    `writes`: the changes proposed, whole. `reads`: the reads in order, whole; for a change they may be any. `says`: a text
    that the answer holds.
    """

    kind: str
    texts: str
    writes: Sequence[Call] = ()
    reads: Sequence[Call] | None = None
    says: str = ""

    def __iter__(self):
        return (line.strip() for line in self.texts.strip().splitlines())


def scheduler() -> Scheduler:
    return Scheduler(
        tasks=[
            task(3, "nightly-report"),
            task(4, "etl-sync", status="disabled"),
            task(12, "delete-old-logs"),
            task(13, "pause-worker", status="disabled"),
            task(14, "数据备份"),
            task(15, "db.backup_v2"),
        ],
        runs=[
            run(30, 3, "success", "ok"),
            run(28, 3, "failed", "exit 1: disk full"),
            run(27, 4, "timeout"),
        ],
    )


NIGHTLY = ("query_tasks", {"name": "nightly-report"})
HEALTH: list[Call] = [
    ("get_system_health", {}),
    ("query_workers", {}),
    ("query_instances", {"status": "failed", "hours": 24, "limit": 20}),
    ("query_instances", {"status": "timeout", "hours": 24, "limit": 20}),
    ("query_tasks", {"limit": 200}),
]
FAILED = HEALTH[2:]
EXPLAINED: list[Call] = [
    NIGHTLY,
    ("query_instances", {"task_id": 3, "hours": 168, "limit": 50}),
    ("analyze_failure", {"instance_id": 28}),
]
DETAIL: list[Call] = [NIGHTLY, ("get_task_detail", {"task_id": 3})]
TASKS = [("query_tasks", {"limit": 50})]
LOAD: list[Call] = [
    ("query_workers", {}),
    ("get_worker_load_history", {"worker_id": "worker-1", "hours": 24}),
]
PAUSE = [("pause_task", {"task_id": 3, "action": "pause"})]
RESUME = [("pause_task", {"task_id": 4, "action": "resume"})]
TRIGGER = [("trigger_task", {"task_id": 3})]
RETRY = [("retry_failed_instance", {"instance_id": 28})]
DELETE = [("delete_task", {"task_id": 3})]
CREATE = [
    (
        "create_task",
        {"name": "clean-tmp", "type": "shell", "cron_expr": "0 2 * * *", "payload": "rm -rf /tmp/x"},
    )
]

POSITIVE = [
    Rows(
        "health",
        """
        系统健康吗
        健康概览
        整体情况怎么样
        现在一切正常吗
        帮我看下系统健康状况
        麻烦看一下整体状态
        调度器还好吗
        来个总览
        系统状态如何？？
        今晚整体怎么样
        大盘情况
        系统现在还行吗
        今天成功率怎么样
        health overview
        system health
        is everything ok?
        is everything alright
        hows everything
        how are things looking
        pls give me an overview
        scheduler status
        is the scheduler up
        everything fine?
        all good?
        quick health check please
        whats the overall status
        """,
        reads=HEALTH,
    ),
    Rows(
        "triage",
        """
        最近有哪些任务失败了？
        哪些 job 红了
        有没有任务挂了
        今天有报错吗
        谁挂了
        刚才有失败的吗
        看看失败的任务
        最近24小时有什么出错的
        帮我查一下最近失败的运行
        失败的有哪些
        哪些任务没跑成功
        有 job 炸了吗
        哪几个任务跑挂了
        what failed recently?
        whats failing
        any failures today?
        which jobs are red
        which tasks failed
        anything broken?
        show me failed runs pls
        list the failures
        did anything fail in the last 24 hours
        what's red right now
        what blew up
        any errors?
        are there failing jobs
        did any job fail
        """,
        reads=FAILED,
    ),
    Rows(
        "triage",
        """
        nightly-report 为什么失败了？
        为什么 nightly-report 挂了
        nightly-report 怎么又失败了
        nightly-report 咋回事
        帮我看看 nightly-report 为什么报错
        分析一下 nightly-report 的失败原因
        排查 nightly-report
        查一下 nightly-report 怎么回事
        nightly-report 出了什么问题
        `nightly-report` 红了，看一下
        nightly-report 挂了帮忙看下
        「nightly-report」失败原因是什么
        why did nightly-report fail?
        why is nightly-report failing
        nightly-report failed again why
        nightly-report is red, can you look into it?
        what went wrong with nightly-report
        what happened to "nightly-report"
        can you look into nightly-report
        pls investigate `nightly-report`
        whats wrong with nightly-report
        debug nightly-report for me
        nightly-report is broken, take a look
        root cause of the nightly-report failure?
        figure out why nightly-report failed
        """,
        reads=EXPLAINED,
    ),
    Rows(
        "inspect",
        """
        nightly-report 的配置
        看看 nightly-report 的详情
        nightly-report 依赖哪些任务
        nightly-report 的成功率
        nightly-report 下次什么时候跑
        nightly-report 现在什么状态
        查看任务 nightly-report
        帮我看一下 nightly-report
        给我看 `nightly-report` 的 cron
        nightly-report 超时时间是多少
        nightly-report 上次跑成功了吗
        nightly-report 还在跑吗
        config of nightly-report
        show me nightly-report
        details of nightly-report pls
        what does nightly-report depend on?
        success rate of nightly-report
        when does nightly-report run next?
        status of nightly-report
        whats the cron of nightly-report
        describe "nightly-report"
        how is nightly-report doing
        nightly-report?
        is nightly-report enabled
        did nightly-report run last night?
        """,
        reads=DETAIL,
    ),
    Rows(
        "inspect",
        """
        列出任务
        有哪些任务
        所有任务
        任务列表
        有哪些 job
        给我看看都有什么任务
        一共多少个任务
        查一下任务列表
        list tasks
        show all tasks
        what tasks do we have
        which jobs are there
        list jobs pls
        tasks?
        how many jobs are there
        show me the task list
        """,
        reads=TASKS,
    ),
    Rows(
        "load",
        """
        节点负载
        worker 负载怎么样
        各节点负载趋势
        看看机器负载
        执行器在线吗
        有哪些 worker
        节点利用率
        容量还够吗
        帮我看下 worker 状态
        哪些节点离线了
        负载高吗
        工作节点的情况
        worker load
        show workers
        load trend
        how busy are the workers
        are all workers online
        node utilization
        which workers are offline
        capacity?
        worker status pls
        how loaded are the nodes
        load of the workers over the last 24 hours
        whats the worker load
        """,
        reads=LOAD,
    ),
    Rows(
        "pause",
        """
        暂停 nightly-report
        请暂停 nightly-report
        麻烦把 nightly-report 停一下
        帮我把 nightly-report 停掉
        给我停了 nightly-report
        先别跑 nightly-report 了
        nightly-report 先别跑了
        别再跑 nightly-report 了
        让 nightly-report 停下来
        把 nightly-report 关掉
        nightly-report 关了吧
        停用任务 3
        暂停 #3
        暂停`nightly-report`
        暂停“nightly-report”这个任务
        能不能先暂停一下 nightly-report
        nightly-report 暂停下吧
        把任务nightly-report暂停
        不要再跑 nightly-report 了
        pause nightly-report
        pls pause nightly-report
        plz pause nightly-report thx
        pause "nightly-report"
        pause `nightly-report` please
        pause task 3
        pause #3
        can u pause nightly-report
        could somebody please pause nightly-report?
        nightly-report fails every night, pause it
        could you please pause nightly-report for now
        put nightly-report on hold
        please put nightly-report on hold
        turn nightly-report off
        turn off nightly-report
        switch nightly-report off
        disable nightly-report
        suspend nightly-report pls
        stop running nightly-report
        stop nightly-report
        stop scheduling nightly-report
        puase nightly-report
        pasue nightly-report pls
        nightly-report pause
        nightly-report is noisy, please pause it
        shut off nightly-report
        hold nightly-report
        PAUSE NIGHTLY-REPORT!!!
        """,
        writes=PAUSE,
    ),
    Rows(
        "resume",
        """
        恢复 etl-sync
        请恢复 etl-sync
        让 etl-sync 继续跑
        让 etl-sync 接着跑
        etl-sync 打开吧
        把 etl-sync 打开
        打开 etl-sync
        把 etl-sync 重新打开
        etl-sync 可以继续跑了
        etl-sync 可以恢复了
        etl-sync 修好了，恢复吧
        取消暂停 etl-sync
        重新启用 etl-sync
        麻烦启用一下 etl-sync
        帮我恢复任务 4
        恢复 #4 的运行
        开启 etl-sync
        etl-sync 恢复一下
        给我把 `etl-sync` 恢复了
        resume etl-sync
        pls resume etl-sync
        unpause etl-sync
        un-pause etl-sync
        turn etl-sync back on
        turn etl-sync on
        turn on etl-sync
        turn back on etl-sync
        bring etl-sync back
        enable etl-sync
        re-enable "etl-sync" please
        let etl-sync run again
        take etl-sync off hold
        switch etl-sync on
        resume task 4
        resume #4
        reusme etl-sync
        can you unpause `etl-sync`?
        activate etl-sync
        etl-sync resume
        """,
        writes=RESUME,
    ),
    Rows(
        "trigger",
        """
        触发 nightly-report
        立即执行 nightly-report
        现在跑一次 nightly-report
        nightly-report 跑一次
        手动跑一下 nightly-report
        马上运行 nightly-report
        麻烦触发一下 nightly-report
        帮我执行一下 nightly-report
        把 nightly-report 跑起来
        跑一下 nightly-report
        运行 nightly-report
        执行任务 3
        触发 #3
        给我跑一遍 `nightly-report`
        nightly-report 立刻跑一遍
        trigger nightly-report
        run nightly-report
        run nightly-report now
        pls run nightly-report
        run "nightly-report" once
        kick off nightly-report
        fire nightly-report now
        execute `nightly-report`
        start nightly-report
        can you run nightly-report for me
        could you trigger nightly-report please
        manually trigger nightly-report
        run task 3
        trigger #3
        triger nightly-report
        tirgger nightly-report
        give nightly-report a run
        nightly-report trigger
        """,
        writes=TRIGGER,
    ),
    Rows(
        "retry",
        """
        重试 nightly-report
        重跑 nightly-report
        nightly-report 重试一下
        把 nightly-report 重跑一遍
        麻烦重试 nightly-report
        帮我重跑一下 nightly-report
        再试一次 nightly-report
        nightly-report 再试一下
        重试运行 28
        重试 #28
        重跑实例 28
        重新跑 nightly-report
        nightly-report 重新执行
        重试 nightly-report 失败的那次
        给我重试 `nightly-report`
        retry nightly-report
        pls retry nightly-report
        rerun nightly-report
        re-run nightly-report
        retry run 28
        retry #28
        retry run #28 pls
        retry the failed run of nightly-report
        nightly-report broke, please rerun the last failed run
        try nightly-report again
        redo nightly-report
        can you rerun "nightly-report"?
        give nightly-report another try
        retyr nightly-report
        rety nightly-report
        nightly-report retry
        run nightly-report again
        """,
        writes=RETRY,
    ),
    Rows(
        "delete",
        """
        删除 nightly-report
        请删除任务 nightly-report
        把 nightly-report 删掉
        把 nightly-report 删了
        删掉 nightly-report
        删了 nightly-report 吧
        nightly-report 删了吧
        移除 nightly-report
        麻烦删除一下 `nightly-report`
        帮我删掉 nightly-report
        给我删了 nightly-report
        删除 #3
        删除任务 3
        清除任务 nightly-report
        nightly-report 不要了，删掉
        delete nightly-report
        pls delete nightly-report
        delete task 3
        delete #3
        remove nightly-report
        drop "nightly-report"
        get rid of nightly-report
        can you delete `nightly-report`
        please remove the nightly-report task
        delte nightly-report
        deltee nightly-report
        nightly-report delete
        erase nightly-report
        nightly-report is obsolete, delete it
        """,
        writes=DELETE,
    ),
    Rows(
        "create",
        """
        创建一个 shell 任务 clean-tmp，每天凌晨2点执行 `rm -rf /tmp/x`
        新建 shell 任务 clean-tmp 每天 02:00 跑 `rm -rf /tmp/x`
        帮我建个 shell 任务 clean-tmp，每天凌晨两点，命令 `rm -rf /tmp/x`
        麻烦加一个 shell 任务 clean-tmp，cron 0 2 * * *，内容 `rm -rf /tmp/x`
        添加任务 clean-tmp，类型 shell，每天凌晨2点，执行 `rm -rf /tmp/x`
        给我创建 shell 定时任务 clean-tmp，每天凌晨2点，脚本 `rm -rf /tmp/x`
        能不能建一个叫 clean-tmp 的 shell 任务，每天2点跑 `rm -rf /tmp/x`
        新增 shell job clean-tmp，每天 2:00，执行 `rm -rf /tmp/x`
        安排一个 shell 任务 clean-tmp，每天凌晨2点执行 `rm -rf /tmp/x`
        create a shell task named clean-tmp every night at 2 running `rm -rf /tmp/x`
        create shell task clean-tmp, daily at 2am, command `rm -rf /tmp/x`
        pls add a shell job called clean-tmp that runs `rm -rf /tmp/x` every day at 02:00
        set up a shell task clean-tmp: every night at 2, `rm -rf /tmp/x`
        schedule a shell task clean-tmp nightly at 2 to run `rm -rf /tmp/x`
        new shell task clean-tmp cron 0 2 * * * payload `rm -rf /tmp/x`
        make a shell job clean-tmp running `rm -rf /tmp/x` every day at 2 am
        can u create a shell task clean-tmp `rm -rf /tmp/x` at 2am every day
        creat a shell task clean-tmp every night at 2 running `rm -rf /tmp/x`
        """,
        writes=CREATE,
    ),
]

NEGATIVE = {
    "pause": """
        不要暂停 nightly-report
        别暂停 nightly-report
        先别暂停 nightly-report
        先别停 nightly-report
        为什么被暂停
        nightly-report 为什么被暂停
        谁把 nightly-report 停了
        nightly-report 是不是暂停了
        要不要暂停 nightly-report
        老王说暂停 nightly-report
        小李让我暂停 nightly-report
        如果暂停 nightly-report 会怎么样
        暂停 nightly-report 会影响谁
        nightly-report 已经停了
        别把 nightly-report 关掉
        nightly-report 怎么停了
        do not pause nightly-report
        don't pause nightly-report
        dont put nightly-report on hold
        why was nightly-report paused
        why was it paused
        who paused nightly-report?
        should I pause nightly-report?
        what would happen if I paused nightly-report
        what if we pause nightly-report
        Bob said pause nightly-report
        Bob: "pause nightly-report"
        Alice asked me to pause nightly-report
        is nightly-report on hold?
        nightly-report was put on hold
        did somebody turn nightly-report off
        is it ok to pause nightly-report?
        can I pause nightly-report?
        is nightly-report paused
        nightly-report stopped
        never stop nightly-report
    """,
    "resume": """
        不要恢复 etl-sync
        先别恢复 etl-sync
        别打开 etl-sync
        etl-sync 恢复了吗
        etl-sync 什么时候恢复
        谁恢复了 etl-sync
        该不该恢复 etl-sync
        etl-sync 已经恢复了
        恢复 etl-sync 会怎样
        老板说恢复 etl-sync
        别让 etl-sync 继续跑
        do not resume etl-sync
        don't turn etl-sync back on
        why was etl-sync resumed
        who enabled etl-sync
        should we resume etl-sync?
        what happens if I resume etl-sync
        Bob said to resume etl-sync
        is etl-sync back on
        etl-sync was turned back on
        when will etl-sync resume
        not yet, don't resume etl-sync
    """,
    "trigger": """
        不要触发 nightly-report
        别跑一次 nightly-report
        先不要执行 nightly-report
        nightly-report 被触发了吗
        谁触发了 nightly-report
        nightly-report 什么时候触发
        要不要跑一次 nightly-report
        运行 nightly-report 需要多久
        nightly-report 正在运行
        他说触发 nightly-report
        不能运行 nightly-report
        do not run nightly-report
        don't trigger nightly-report
        who triggered nightly-report
        why did nightly-report run twice
        when did nightly-report run
        should I run nightly-report now?
        what if I trigger nightly-report
        the runbook says run nightly-report
        did nightly-report run
        is it safe to run nightly-report
        nightly-report was triggered by hand
    """,
    "retry": """
        不要重试 nightly-report
        先别重试 nightly-report
        别重跑 nightly-report
        nightly-report 重试了几次
        为什么 nightly-report 没有重试
        nightly-report 会自动重试吗
        要不要重试 nightly-report
        重试 nightly-report 有用吗
        重试也失败了
        日志说重试 nightly-report
        do not retry nightly-report
        don't rerun nightly-report
        should I retry it?
        should I retry nightly-report
        why was nightly-report retried
        how often was nightly-report retried
        did the retry of nightly-report work?
        would a retry of nightly-report help
        he told me to retry nightly-report
        will nightly-report retry on its own
        what would happen if I retry nightly-report
    """,
    "delete": """
        不要删除 nightly-report
        先别删
        先别删 nightly-report
        别删 nightly-report
        为什么删除了 nightly-report
        谁删了 nightly-report
        nightly-report 被删了吗
        能删除 nightly-report 吗会有影响吗
        删除 nightly-report 有什么后果
        要不要删掉 nightly-report
        他说把 nightly-report 删了
        千万别删 nightly-report
        do not delete it
        do not delete nightly-report
        don't remove nightly-report
        who deleted nightly-report
        was nightly-report deleted
        should I delete nightly-report?
        what would happen if I deleted nightly-report
        Bob wants to delete nightly-report
        Bob told us to delete nightly-report
        is it safe to delete nightly-report
        check nightly-report without deleting it
        can nightly-report be deleted?
        nightly-report must not be deleted
    """,
    "create": """
        不要创建任务
        别创建任务 clean-tmp
        先不要新建任务
        怎么创建任务
        谁创建了 nightly-report
        nightly-report 是什么时候创建的
        要不要创建一个任务
        创建的任务有哪些
        老王说要创建一个任务 clean-tmp
        为什么要创建这个任务
        do not create a task
        don't create task clean-tmp
        who created nightly-report
        when was nightly-report created
        how do I create a task
        should we create a task for this?
        what would happen if I created a task
        Bob said to create a task clean-tmp
        did you create the task?
        the created task
    """,
    "health": """
        不用看系统健康状况了
        健康检查任务暂停了吗
        系统为什么不健康
        健康概览里说暂停 nightly-report
        谁说系统健康
        为什么整体状态变差了
        don't check the health
        is a healthy system possible without nightly-report
        why is the system unhealthy
        the health page says delete nightly-report
        was the scheduler healthy when nightly-report was paused
        who checks the health
    """,
    "triage": """
        为什么重试失败
        失败后会自动重试吗
        失败的任务删除了吗
        不要分析 nightly-report
        报错里写着删除 nightly-report
        失败是谁触发的
        why did the retry fail
        the error says "delete nightly-report"
        what failed after it was resumed
        don't analyse nightly-report
        did the deletion fail
        who triggered the failed run
    """,
    "inspect": """
        nightly-report 的重试策略
        nightly-report 的触发时间
        暂停的任务有哪些
        delete-old-logs 的配置
        查看 pause-worker
        nightly-report 为什么是停用状态
        retry policy of nightly-report
        which tasks are paused?
        show delete-old-logs
        config of pause-worker
        when was nightly-report resumed
        trigger time of nightly-report
    """,
    "load": """
        负载太高要不要暂停 nightly-report
        为什么节点停了
        节点为什么被停用
        pause-worker 的负载
        谁停用了节点
        节点负载高会触发重试吗
        why was the worker stopped
        should I pause nightly-report because of the load?
        does high load trigger a retry
        who disabled the worker
        is worker-1 disabled
        don't stop the workers
    """,
}


@pytest.mark.case("sched-P9a")
@pytest.mark.parametrize("rows", POSITIVE, ids=lambda rows: rows.kind)
async def test_each_phrasing_leads_to_its_plan(rows: Rows):
    for text in rows:
        played = await play(text, scheduler())
        assert played.writes == list(rows.writes), text
        if rows.reads is not None:
            assert played.calls == list(rows.reads), text
        assert rows.says in played.text, text


@pytest.mark.case("sched-P9a")
@pytest.mark.parametrize("kind", sorted(NEGATIVE))
async def test_speaking_of_a_change_is_no_wish_for_it(kind: str):
    for line in NEGATIVE[kind].strip().splitlines():
        played = await play(line.strip(), scheduler())
        assert not played.writes, line
        assert played.text, line


def _is_chinese(text: str) -> bool:
    return any("\u4e00" <= character <= "\u9fff" for character in text)


@pytest.mark.parametrize("kind", sorted(NEGATIVE))
def test_each_kind_stands_in_the_tables_in_both_languages(kind: str):
    """At least 8 phrasings and 6 negatives a kind and language; the commonest have many more."""
    positive = [text for rows in POSITIVE if rows.kind == kind for text in rows]
    negative = [line.strip() for line in NEGATIVE[kind].strip().splitlines()]
    for lines, least in ((positive, 8), (negative, 6)):
        chinese = sum(map(_is_chinese, lines))
        assert chinese >= least
        assert len(lines) - chinese >= least
