"""query_tasks and get_task_detail."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from chatops_bot.domain.followup import Suggestion
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.tool import ToolResult
from chatops_bot.ports import Clock, ToolContext, ToolSpec
from chatops_bot.toolsets.scheduler.api import SchedulerApi
from chatops_bot.toolsets.scheduler.arguments import GetTaskDetailArguments, QueryTasksArguments
from chatops_bot.toolsets.scheduler.client import SchedulerClient
from chatops_bot.toolsets.scheduler.formatting import counted, cut, stamp, task_title
from chatops_bot.toolsets.scheduler.lookup import find_task
from chatops_bot.toolsets.scheduler.rows import TEXT_LIMIT, run_row
from chatops_bot.toolsets.scheduler.suggestions import (
    ask_for_details,
    ask_to_resume,
    ask_to_trigger,
    ask_why_failed,
)
from chatops_bot.toolsets.scheduler.wire import DagNode, Run, Task

_RECENT_RUNS = 10
_RECENT = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class QueryTasks:
    client: SchedulerClient
    clock: Clock

    spec = ToolSpec(
        name="query_tasks",
        arguments=QueryTasksArguments,
        effect=Effect.READ,
        label=Phrase("正在查询任务列表…", "querying tasks…"),
    )

    async def run(self, arguments: QueryTasksArguments, context: ToolContext) -> ToolResult:
        wanted = arguments.name.strip().casefold()
        matched = [
            task
            for task in await SchedulerApi(self.client, context.person.role).tasks()
            if wanted in task.name.casefold() and arguments.status in (None, task.status)
        ]
        shown = matched[: arguments.limit]
        return ToolResult(
            status="ok",
            content={
                "count": len(shown),
                "total_matched": len(matched),
                "truncated": len(shown) < len(matched),
                "as_of": stamp(self.clock.now()),
                "tasks": [_task_row(task) for task in shown],
            },
            summary=Phrase(f"找到 {len(matched)} 个任务", f"{counted(len(matched), 'task')} found"),
            suggestions=_next_after_list(matched, bool(wanted)),
        )


@dataclass(frozen=True, slots=True)
class GetTaskDetail:
    client: SchedulerClient
    clock: Clock

    spec = ToolSpec(
        name="get_task_detail",
        arguments=GetTaskDetailArguments,
        effect=Effect.READ,
        label=Phrase("正在查询任务详情…", "reading the task…"),
    )

    async def run(self, arguments: GetTaskDetailArguments, context: ToolContext) -> ToolResult:
        api = SchedulerApi(self.client, context.person.role)
        task = await find_task(api, arguments.task_id)
        nodes = await api.dag()
        page = await api.run_page(limit=_RECENT_RUNS, task_id=task.id)
        runs = sorted(page.instances, key=lambda run: run.id, reverse=True)[:_RECENT_RUNS]
        since = self.clock.now() - _RECENT
        recent = [run for run in runs if run.moment is None or run.moment >= since]
        return ToolResult(
            status="ok",
            content={
                **_task_row(task),
                "payload": cut(task.payload, TEXT_LIMIT),
                "image": task.image,
                "retry_policy": task.retry_policy,
                "route_strategy": task.route_strategy,
                "timezone": task.timezone,
                "labels": task.labels,
                **_dependencies(task, nodes),
                "recent_instances": [run_row(run) for run in recent],
                "last_run": run_row(runs[0]) if runs else None,
                "as_of": stamp(self.clock.now()),
            },
            summary=_detail_summary(task, recent),
            suggestions=_next_after_detail(task, runs),
            answers=(ask_for_details(task.id),),
        )


def _task_row(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "name": task.name,
        "type": task.type,
        "cron_expr": task.cron_expr,
        "status": task.status,
        "next_trigger_time": stamp(task.next_trigger_time),
        "max_retry": task.max_retry,
        "timeout_seconds": task.timeout_seconds,
    }


def _dependencies(task: Task, nodes: tuple[DagNode, ...]) -> dict[str, Any]:
    names = {node.id: node.name for node in nodes}
    waits_for = next((node.depends_on for node in nodes if node.id == task.id), ())
    return {
        "upstream_deps": [{"id": other, "name": names.get(other)} for other in waits_for],
        "downstream_deps": [
            {"id": node.id, "name": node.name} for node in nodes if task.id in node.depends_on
        ],
    }


def _detail_summary(task: Task, recent: list[Run]) -> Phrase:
    failed = sum(run.has_failed for run in recent)
    title = task_title(task.name, task.id)
    return Phrase(
        f"{title}，近 24 小时运行 {len(recent)} 次，失败 {failed} 次",
        f"{title}: {counted(len(recent), 'run')} in 24 h, {failed} failed",
    )


def _next_after_list(matched: list[Task], by_name: bool) -> tuple[Suggestion, ...]:
    if not matched:
        return (Suggestion("列出所有任务", "List all tasks", "query_tasks"),) if by_name else ()
    if len(matched) == 1:
        return (ask_for_details(matched[0].id),)
    return (Suggestion("最近有哪些任务失败了？", "Which tasks failed recently?", "query_instances"),)


def _next_after_detail(task: Task, runs: list[Run]) -> tuple[Suggestion, ...]:
    failed = next((run for run in runs if run.has_failed), None)
    about_failure = () if failed is None else (ask_why_failed(failed.id),)
    return (*about_failure, ask_to_resume(task.id) if task.is_paused else ask_to_trigger(task.id))
