"""get_system_health: one overview from three readings. Any reading that fails fails the whole: an outage is no zero."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from chatops_bot.domain.followup import Suggestion
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.tool import ToolResult
from chatops_bot.ports import Clock, ToolContext, ToolSpec
from chatops_bot.toolsets.scheduler.api import SchedulerApi
from chatops_bot.toolsets.scheduler.arguments import GetSystemHealthArguments
from chatops_bot.toolsets.scheduler.client import SchedulerClient
from chatops_bot.toolsets.scheduler.formatting import counted, stamp
from chatops_bot.toolsets.scheduler.history import MOST_ROWS, RunHistory, runs_since
from chatops_bot.toolsets.scheduler.suggestions import IS_HEALTHY, LOAD_TREND, WHAT_FAILED, WHICH_ARE_OFFLINE
from chatops_bot.toolsets.scheduler.wire import Task, Worker
from chatops_bot.toolsets.scheduler.workers import utilization

_WINDOW = timedelta(hours=24)
_FAILURES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class GetSystemHealth:
    client: SchedulerClient
    clock: Clock

    spec = ToolSpec(
        name="get_system_health",
        arguments=GetSystemHealthArguments,
        effect=Effect.READ,
        label=Phrase("正在检查系统健康…", "checking system health…"),
        timeout=60.0,
    )

    async def run(self, arguments: GetSystemHealthArguments, context: ToolContext) -> ToolResult:
        api = SchedulerApi(self.client, context.person.role)
        now = self.clock.now()
        tasks = await api.tasks()
        workers = await api.workers()
        history = await runs_since(api, now - _WINDOW)
        runs = _run_counts(history)
        online = [worker for worker in workers if worker.status == "online"]
        return ToolResult(
            status="ok",
            content={
                "tasks": _task_counts(tasks),
                "workers": {
                    "total": len(workers),
                    "online": len(online),
                    "avg_load_pct": _average_load(online),
                },
                "instances_24h": runs,
                "recent_failures": _recent_failures(history, tasks),
                "truncated": not history.complete,
                "as_of": stamp(now),
            },
            summary=_summary(len(tasks), len(workers), len(online), runs, history),
            suggestions=_next_questions(len(workers) - len(online), runs["failed"]),
            answers=(IS_HEALTHY,),
        )


def _task_counts(tasks: tuple[Task, ...]) -> dict[str, int]:
    disabled = sum(task.is_paused for task in tasks)
    return {"total": len(tasks), "enabled": len(tasks) - disabled, "disabled": disabled}


def _average_load(online: list[Worker]) -> float:
    loads = [utilization(worker.current_load, worker.max_concurrency) for worker in online]
    return round(sum(loads) / len(loads), 1) if loads else 0.0


def _run_counts(history: RunHistory) -> dict[str, Any]:
    success = sum(run.status == "success" for run in history.runs)
    failed = sum(run.has_failed for run in history.runs)
    finished = success + failed
    return {
        "total": len(history.runs),
        "success": success,
        "failed": failed,
        "running": sum(run.status in ("running", "dispatched") for run in history.runs),
        "failure_rate": round(failed / finished, 4) if finished else 0.0,
    }


def _recent_failures(history: RunHistory, tasks: tuple[Task, ...]) -> list[dict[str, Any]]:
    names = {task.id: task.name for task in tasks}
    failed = [run for run in history.runs if run.has_failed][:_FAILURES_SHOWN]
    return [
        {
            "id": run.id,
            "task_id": run.task_id,
            "task_name": names.get(run.task_id),
            "status": run.status,
            "error_code": run.error_code,
            "trigger_time": stamp(run.trigger_time),
        }
        for run in failed
    ]


def _summary(tasks: int, workers: int, online: int, runs: dict[str, Any], history: RunHistory) -> Phrase:
    window = Phrase("近 24 小时", "in 24 h")
    if not history.complete:
        window = Phrase(f"最新 {MOST_ROWS} 次运行中", f"in the newest {MOST_ROWS} runs")
    return Phrase(
        f"{tasks} 个任务，节点在线 {online}/{workers}，{window.zh}失败 {runs['failed']} 次（{runs['failure_rate']:.0%}）",
        f"{counted(tasks, 'task')}, {online} of {counted(workers, 'worker')} online, {counted(runs['failed'], 'failure')} {window.en} ({runs['failure_rate']:.0%})",
    )


def _next_questions(offline: int, failed: int) -> tuple[Suggestion, ...]:
    found = ((WHAT_FAILED, failed), (WHICH_ARE_OFFLINE, offline))
    return tuple(suggestion for suggestion, count in found if count) or (LOAD_TREND,)
