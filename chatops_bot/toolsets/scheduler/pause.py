"""pause_task: stop and restart a task's schedule."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chatops_bot.domain.clocks import Clocks
from chatops_bot.domain.errors import ToolImpossible
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Person, Risk
from chatops_bot.domain.tool import Change, Inverse, Observation, Outcome, Plan
from chatops_bot.ports import Clock, ToolContext, ToolSpec
from chatops_bot.toolsets.scheduler.api import SchedulerApi
from chatops_bot.toolsets.scheduler.approval_facts import (
    clocks_of,
    execution_details,
    execution_preconditions,
    next_run_text,
    run_time,
    schedule_details,
    target_of,
)
from chatops_bot.toolsets.scheduler.arguments import PauseTaskArguments
from chatops_bot.toolsets.scheduler.candidates import any_task
from chatops_bot.toolsets.scheduler.client import WRITE_TIMEOUT, SchedulerClient
from chatops_bot.toolsets.scheduler.formatting import stamp, task_title
from chatops_bot.toolsets.scheduler.lookup import find_task
from chatops_bot.toolsets.scheduler.observing import pause_seen, schedule_seen
from chatops_bot.toolsets.scheduler.read_back import looked_up
from chatops_bot.toolsets.scheduler.wire import Capabilities, Task

_STATUS_AFTER = {"pause": "disabled", "resume": "enabled"}


@dataclass(frozen=True, slots=True)
class PauseTask:
    client: SchedulerClient
    clock: Clock

    spec = ToolSpec(
        name="pause_task",
        arguments=PauseTaskArguments,
        effect=Effect.WRITE,
        label=Phrase("正在准备暂停或恢复任务…", "preparing to pause or resume…"),
        timeout=WRITE_TIMEOUT,
        title=Phrase("暂停或恢复任务", "Pause or resume a task"),
        undoable=True,
        candidates={"task_id": any_task},
    )

    async def plan(self, arguments: PauseTaskArguments, context: ToolContext) -> Plan:
        api = SchedulerApi(self.client, context.person.role)
        task = await find_task(api, arguments.task_id)
        if task.status == _STATUS_AFTER[arguments.action]:
            raise _nothing_to_do(task)
        capabilities = await api.capabilities()
        pausing = arguments.action == "pause"
        title = task_title(task.name, task.id)
        return Plan(
            target=target_of(task),
            summary=Phrase(f"暂停任务 {title}", f"Pause task {title}")
            if pausing
            else Phrase(f"恢复任务 {title}", f"Resume task {title}"),
            changes=(
                Change("status", task.status, _STATUS_AFTER[arguments.action]),
                *self._next_run_change(
                    task, clocks_of(context.person, self.client, capabilities, task.timezone), pausing
                ),
            ),
            risk=Risk.LOW if pausing else Risk.MEDIUM,
            preconditions=_preconditions(task, pausing),
            details=(
                *schedule_details(task),
                *(() if pausing else execution_details(task, capabilities)),
            ),
            inverse=_inverse(task, pausing),
        )

    async def apply(self, arguments: PauseTaskArguments, context: ToolContext) -> Outcome:
        api = SchedulerApi(self.client, context.person.role)
        await api.set_paused(arguments.task_id, arguments.action == "pause", context.idempotency_key)
        task = await looked_up(api.task(arguments.task_id))
        if task is None:
            summary = Phrase(
                f"调度服务已接受 {arguments.action}，但未能回读任务 #{arguments.task_id} 的状态",
                f"The scheduler accepted {arguments.action}; task #{arguments.task_id} could not be read back",
            )
            content = {"task_id": arguments.task_id, "message": summary.en}
            return Outcome(ok=True, verified=False, summary=summary, content=content)
        return await self._outcome(api, task, arguments.action, context.person)

    async def observe(
        self,
        arguments: PauseTaskArguments,
        plan: Plan,
        outcome: Mapping[str, Any],
        since: datetime,
        context: ToolContext,
    ) -> Observation:
        api = SchedulerApi(self.client, context.person.role)
        seen = pause_seen if arguments.action == "pause" else schedule_seen
        return await seen(api, arguments.task_id, since)

    async def probe(self, arguments: PauseTaskArguments, plan: Plan, context: ToolContext) -> Outcome | None:
        api = SchedulerApi(self.client, context.person.role)
        task = await looked_up(api.task(arguments.task_id))
        if task is None or task.status != _STATUS_AFTER[arguments.action]:
            return None
        return await self._outcome(api, task, arguments.action, context.person)

    def _next_run_change(self, task: Task, clocks: Clocks, pausing: bool) -> tuple[Change, ...]:
        planned = task.next_trigger_time
        before = run_time(planned, clocks) if planned and pausing else None
        after = None if pausing else next_run_text(task.cron_expr, self.clock.now(), clocks)
        return (Change("next_run", before, after),) if before or after else ()

    async def _outcome(self, api: SchedulerApi, task: Task, action: str, person: Person) -> Outcome:
        ok = task.status == _STATUS_AFTER[action]
        capabilities = await looked_up(api.capabilities()) or Capabilities()
        summary = _read_back_phrase(task, ok, clocks_of(person, self.client, capabilities, task.timezone))
        return Outcome(
            ok=ok,
            verified=True,
            summary=summary,
            content={
                "task_id": task.id,
                "name": task.name,
                "status": task.status,
                "message": summary.en,
                "next_trigger_time": stamp(task.next_trigger_time),
            },
        )


def _inverse(task: Task, pausing: bool) -> Inverse:
    title = task_title(task.name, task.id)
    summary = Phrase(f"恢复任务 {title}", f"Resume task {title}")
    if not pausing:
        summary = Phrase(f"暂停任务 {title}", f"Pause task {title}")
    return Inverse("pause_task", {"task_id": task.id, "action": "resume" if pausing else "pause"}, summary)


def _read_back_phrase(task: Task, ok: bool, clocks: Clocks) -> Phrase:
    title = task_title(task.name, task.id)
    if not ok:
        return Phrase(
            f"调度服务接受了请求，但任务 {title} 的状态仍是 {task.status}",
            f"The scheduler accepted the request, yet task {title} is still {task.status}",
        )
    if task.is_paused:
        return Phrase(
            f"任务 {title} 已暂停（回读状态：disabled）", f"Task {title} is paused (read back: disabled)"
        )
    planned = task.next_trigger_time
    when = run_time(planned, clocks) if planned else "-"
    return Phrase(
        f"任务 {title} 已恢复（回读状态：enabled），下次运行：{when}",
        f"Task {title} is resumed (read back: enabled), next run: {when}",
    )


def _preconditions(task: Task, pausing: bool) -> Mapping[str, Any]:
    """A pause shows no payload, so a changed payload is no reason to refuse it."""
    if pausing:
        return {"task_id": task.id, "name": task.name, "status": task.status, "cron_expr": task.cron_expr}
    return {**execution_preconditions(task), "cron_expr": task.cron_expr}


def _nothing_to_do(task: Task) -> ToolImpossible:
    title = task_title(task.name, task.id)
    if task.is_paused:
        return ToolImpossible(
            Phrase(
                f"任务 {title} 已经是暂停状态，无需操作。",
                f"Task {title} is paused already; there is nothing to do.",
            )
        )
    return ToolImpossible(
        Phrase(
            f"任务 {title} 没有暂停，无需恢复。", f"Task {title} is not paused; there is nothing to resume."
        )
    )
