"""query_instances and analyze_failure."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from chatops_bot.domain.followup import Suggestion
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.tool import ToolResult
from chatops_bot.ports import Clock, ToolContext, ToolSpec
from chatops_bot.toolsets.scheduler.api import LOGS, SchedulerApi
from chatops_bot.toolsets.scheduler.arguments import AnalyzeFailureArguments, QueryInstancesArguments
from chatops_bot.toolsets.scheduler.client import SchedulerClient
from chatops_bot.toolsets.scheduler.errors import NotFound
from chatops_bot.toolsets.scheduler.formatting import cut, one_line, stamp
from chatops_bot.toolsets.scheduler.history import MOST_ROWS, RunHistory, runs_since
from chatops_bot.toolsets.scheduler.lookup import find_run, task_names
from chatops_bot.toolsets.scheduler.rows import TEXT_LIMIT, run_row
from chatops_bot.toolsets.scheduler.suggestions import (
    IS_HEALTHY,
    WHAT_FAILED,
    ask_for_details,
    ask_to_retry,
    ask_why_failed,
)
from chatops_bot.toolsets.scheduler.wire import Run, Task

_RUNS_FOR_COMPARISON = 5
_LOG_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class QueryInstances:
    client: SchedulerClient
    clock: Clock

    spec = ToolSpec(
        name="query_instances",
        arguments=QueryInstancesArguments,
        effect=Effect.READ,
        label=Phrase("正在查询运行记录…", "querying runs…"),
        timeout=60.0,
    )

    async def run(self, arguments: QueryInstancesArguments, context: ToolContext) -> ToolResult:
        api = SchedulerApi(self.client, context.person.role)
        now = self.clock.now()
        history = await runs_since(api, now - timedelta(hours=arguments.hours), task_id=arguments.task_id)
        matched = [run for run in history.runs if arguments.status in (None, run.status)]
        shown = matched[: arguments.limit]
        names = await task_names(api) if shown else {}
        return ToolResult(
            status="ok",
            content={
                "count": len(shown),
                "total_matched": len(matched),
                "truncated": len(shown) < len(matched) or not history.complete,
                **_cap_note(history),
                "as_of": stamp(now),
                "by_status": _by_status(history.runs),
                "instances": [{**run_row(run), "task_name": names.get(run.task_id)} for run in shown],
            },
            summary=_found(len(matched), history),
            suggestions=_next_after_runs(shown),
            answers=(WHAT_FAILED,) if arguments.task_id is None and arguments.status == "failed" else (),
        )


@dataclass(frozen=True, slots=True)
class AnalyzeFailure:
    client: SchedulerClient
    clock: Clock

    spec = ToolSpec(
        name="analyze_failure",
        arguments=AnalyzeFailureArguments,
        effect=Effect.READ,
        label=Phrase("正在收集失败信息…", "collecting facts about the failure…"),
    )

    async def run(self, arguments: AnalyzeFailureArguments, context: ToolContext) -> ToolResult:
        api = SchedulerApi(self.client, context.person.role)
        run = await find_run(api, arguments.instance_id)
        task = await _task_if_it_still_exists(api, run.task_id)
        page = await api.run_page(limit=_RUNS_FOR_COMPARISON, task_id=run.task_id)
        content: dict[str, Any] = {
            "instance_id": run.id,
            "task_id": run.task_id,
            "task_type": task.type if task else None,
            "status": run.status,
            "error_code": run.error_code,
            "error_message": cut(run.error_message, TEXT_LIMIT),
            "retry_count": run.retry_count,
            "trigger_time": stamp(run.trigger_time),
            "worker_id": run.worker_id,
            "started_at": stamp(run.started_at),
            "finished_at": stamp(run.finished_at),
            "has_failed": run.has_failed,
            "analysis": run.analysis_json,
            "task": _configuration(task),
            "recent_runs": [
                {"id": other.id, "status": other.status, "error_code": other.error_code}
                for other in page.instances[:_RUNS_FOR_COMPARISON]
            ],
            "as_of": stamp(self.clock.now()),
        }
        if LOGS in (await api.capabilities()).extensions:
            content["log_tail"] = await api.log_tail(run.id, _LOG_CHARACTERS)
        return ToolResult(
            status="ok",
            content=content,
            summary=_verdict(run),
            suggestions=_next_after_failure(run, task),
            answers=(ask_why_failed(run.id),),
        )


async def _task_if_it_still_exists(api: SchedulerApi, task_id: int) -> Task | None:
    try:
        return await api.task(task_id)
    except NotFound:
        return None


def _configuration(task: Task | None) -> dict[str, Any] | None:
    if task is None:
        return None
    return {
        "name": task.name,
        "status": task.status,
        "cron_expr": task.cron_expr,
        "payload": cut(task.payload, TEXT_LIMIT),
        "image": task.image,
        "timeout_seconds": task.timeout_seconds,
        "max_retry": task.max_retry,
        "retry_policy": task.retry_policy,
    }


def _by_status(runs: tuple[Run, ...]) -> dict[str, int]:
    statuses = sorted({run.status for run in runs})
    return {status: sum(run.status == status for run in runs) for status in statuses}


def _cap_note(history: RunHistory) -> dict[str, int]:
    if history.complete:
        return {}
    return {"only_newest_looked_at": MOST_ROWS}


def _found(matched: int, history: RunHistory) -> Phrase:
    if history.complete:
        return Phrase(f"找到 {matched} 条", f"{matched} found")
    return Phrase(
        f"在最新 {MOST_ROWS} 条运行中找到 {matched} 条，更早的未查",
        f"{matched} found in the newest {MOST_ROWS} runs, older ones not searched",
    )


def _verdict(run: Run) -> Phrase:
    if not run.has_failed:
        return Phrase(
            f"运行 #{run.id} 没有失败（{run.status}）", f"run #{run.id} did not fail ({run.status})"
        )
    reason = one_line(run.error_code) or run.status
    return Phrase(f"运行 #{run.id}：{reason}", f"run #{run.id}: {reason}")


def _next_after_runs(shown: list[Run]) -> tuple[Suggestion, ...]:
    failed = next((run for run in shown if run.has_failed), None)
    if failed is None:
        return (IS_HEALTHY,)
    return (ask_why_failed(failed.id), ask_for_details(failed.task_id))


def _next_after_failure(run: Run, task: Task | None) -> tuple[Suggestion, ...]:
    if task is None:
        return ()
    details = ask_for_details(task.id)
    return (ask_to_retry(run.id), details) if run.has_failed else (details,)
