"""trigger_task: one run now, outside the schedule."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chatops_bot.domain.errors import ToolImpossible
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.tool import Change, Observation, Outcome, Plan
from chatops_bot.ports import Clock, ToolContext, ToolSpec
from chatops_bot.toolsets.scheduler.api import SchedulerApi
from chatops_bot.toolsets.scheduler.approval_facts import (
    execution_details,
    execution_preconditions,
    risk_of_running,
    target_of,
)
from chatops_bot.toolsets.scheduler.arguments import TriggerTaskArguments
from chatops_bot.toolsets.scheduler.candidates import task_that_runs
from chatops_bot.toolsets.scheduler.client import WRITE_TIMEOUT, SchedulerClient
from chatops_bot.toolsets.scheduler.formatting import task_title
from chatops_bot.toolsets.scheduler.lookup import find_task
from chatops_bot.toolsets.scheduler.observing import trigger_seen
from chatops_bot.toolsets.scheduler.read_back import RunWatch, looked_up, newest_run_id
from chatops_bot.toolsets.scheduler.wire import Run, Task


@dataclass(frozen=True, slots=True)
class TriggerTask:
    """`watch_seconds`: how long to look for the new run where the service does not name it."""

    client: SchedulerClient
    clock: Clock
    watch_seconds: float = 5.0

    spec = ToolSpec(
        name="trigger_task",
        arguments=TriggerTaskArguments,
        effect=Effect.WRITE,
        label=Phrase("正在准备触发任务…", "preparing to trigger the task…"),
        timeout=WRITE_TIMEOUT,
        title=Phrase("立即运行任务", "Run a task now"),
        candidates={"task_id": task_that_runs},
    )

    async def plan(self, arguments: TriggerTaskArguments, context: ToolContext) -> Plan:
        api = SchedulerApi(self.client, context.person.role)
        task = await find_task(api, arguments.task_id)
        refuse_when_paused(task)
        title = task_title(task.name, task.id)
        return Plan(
            target=target_of(task),
            summary=Phrase(f"立即运行任务 {title}", f"Run task {title} now"),
            changes=(Change("new_runs", None, "1"),),
            risk=risk_of_running(task),
            preconditions=execution_preconditions(task),
            details=execution_details(task, await api.capabilities()),
        )

    async def apply(self, arguments: TriggerTaskArguments, context: ToolContext) -> Outcome:
        api = SchedulerApi(self.client, context.person.role)
        task = await find_task(api, arguments.task_id)
        run = await trigger_and_find(api, RunWatch(api, self.clock, self.watch_seconds), task.id, context)
        title = task_title(task.name, task.id)
        return Outcome(
            ok=True,
            verified=run is not None,
            summary=run_phrase(title, run),
            content={
                "triggered": True,
                "task_id": task.id,
                "name": task.name,
                "message": run_phrase(title, run).en,
                "instance_id": run.id if run else None,
            },
        )

    async def observe(
        self,
        arguments: TriggerTaskArguments,
        plan: Plan,
        outcome: Mapping[str, Any],
        since: datetime,
        context: ToolContext,
    ) -> Observation:
        api = SchedulerApi(self.client, context.person.role)
        return await trigger_seen(api, outcome)

    async def probe(
        self, arguments: TriggerTaskArguments, plan: Plan, context: ToolContext
    ) -> Outcome | None:
        """Never provable: any newer run may be the schedule's or somebody else's."""
        return None


def refuse_when_paused(task: Task) -> None:
    """The scheduler refuses to run a paused task; saying so here spares a person the approval."""
    if task.is_paused:
        title = task_title(task.name, task.id)
        raise ToolImpossible(
            Phrase(
                f"任务 {title} 处于暂停状态，不能触发；请先恢复它。",
                f"Task {title} is paused and cannot be triggered; resume it first.",
            )
        )


async def trigger_and_find(
    api: SchedulerApi, watch: RunWatch, task_id: int, context: ToolContext
) -> Run | None:
    """Trigger once and find the run that came of it; None when it was accepted and no run was seen."""
    last_seen = await newest_run_id(api, task_id)
    run_id = await api.trigger(task_id, context.idempotency_key)
    if run_id is not None:
        return await looked_up(api.run(run_id))
    return await watch.run_after(task_id, last_seen)


def run_phrase(title: str, run: Run | None) -> Phrase:
    if run is None:
        return Phrase(
            f"调度服务已接受，但还没有看到任务 {title} 的新运行",
            f"Accepted, a new run of task {title} is not yet seen",
        )
    return Phrase(
        f"任务 {title} 的新运行 #{run.id} 已创建（状态：{run.status}）",
        f"Task {title}: new run #{run.id} ({run.status})",
    )
