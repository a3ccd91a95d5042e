"""delete_task: gone for good; tasks that wait for it lose that dependency. A task like it can be made anew."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Risk
from chatops_bot.domain.tool import Change, Inverse, Observation, Outcome, Plan
from chatops_bot.ports import Clock, ToolContext, ToolSpec
from chatops_bot.toolsets.scheduler.api import SchedulerApi
from chatops_bot.toolsets.scheduler.approval_facts import execution_preconditions, schedule_details, target_of
from chatops_bot.toolsets.scheduler.arguments import DeleteTaskArguments
from chatops_bot.toolsets.scheduler.candidates import any_task
from chatops_bot.toolsets.scheduler.client import WRITE_TIMEOUT, SchedulerClient
from chatops_bot.toolsets.scheduler.errors import NotFound
from chatops_bot.toolsets.scheduler.formatting import one_line, task_title
from chatops_bot.toolsets.scheduler.lookup import find_task
from chatops_bot.toolsets.scheduler.observing import deletion_seen
from chatops_bot.toolsets.scheduler.remaking import remade, settings_of
from chatops_bot.toolsets.scheduler.wire import DagNode


@dataclass(frozen=True, slots=True)
class DeleteTask:
    client: SchedulerClient
    clock: Clock

    spec = ToolSpec(
        name="delete_task",
        arguments=DeleteTaskArguments,
        effect=Effect.DESTRUCTIVE,
        label=Phrase("正在准备删除任务…", "preparing the deletion…"),
        timeout=WRITE_TIMEOUT,
        title=Phrase("删除任务", "Delete a task"),
        candidates={"task_id": any_task},
    )

    async def plan(self, arguments: DeleteTaskArguments, context: ToolContext) -> Plan:
        api = SchedulerApi(self.client, context.person.role)
        task = await find_task(api, arguments.task_id)
        nodes = await api.dag()
        dependants = [node for node in nodes if task.id in node.depends_on]
        needed = [node for node in nodes for own in nodes if own.id == task.id and node.id in own.depends_on]
        title = task_title(task.name, task.id)
        inverse = remade(task, _titles(needed), _titles(dependants), self.clock.now())
        return Plan(
            target=target_of(task),
            summary=Phrase(f"永久删除任务 {title}", f"Delete task {title} for good"),
            changes=(
                Change("task", title, None),
                *(Change(f"dependency of {one_line(node.name)}", title, None) for node in dependants),
            ),
            risk=Risk.HIGH,
            preconditions={
                **execution_preconditions(task),
                **settings_of(task),
                "dependants": sorted(node.id for node in dependants),
            },
            details=(
                (Phrase("依赖它的任务", "Tasks that depend on it"), ", ".join(_titles(dependants)) or "-"),
                *(((Phrase("撤销", "Undo"), inverse.en),) if isinstance(inverse, Phrase) else ()),
                (Phrase("状态", "Status"), task.status),
                *schedule_details(task),
                (Phrase("类型", "Type"), task.type),
                (Phrase("将失去的内容", "Payload that is lost"), task.payload),
            ),
            inverse=inverse if isinstance(inverse, Inverse) else None,
        )

    async def apply(self, arguments: DeleteTaskArguments, context: ToolContext) -> Outcome:
        api = SchedulerApi(self.client, context.person.role)
        task = await find_task(api, arguments.task_id)
        await api.delete_task(task.id, context.idempotency_key)
        gone = await _is_gone(api, task.id)
        return _outcome(task.id, task.name, gone)

    async def observe(
        self,
        arguments: DeleteTaskArguments,
        plan: Plan,
        outcome: Mapping[str, Any],
        since: datetime,
        context: ToolContext,
    ) -> Observation:
        api = SchedulerApi(self.client, context.person.role)
        return await deletion_seen(api, arguments.task_id)

    async def probe(self, arguments: DeleteTaskArguments, plan: Plan, context: ToolContext) -> Outcome | None:
        api = SchedulerApi(self.client, context.person.role)
        if not await _is_gone(api, arguments.task_id):
            return None
        return _outcome(arguments.task_id, str(plan.preconditions["name"]), True)


def _titles(nodes: Iterable[DagNode]) -> list[str]:
    return [task_title(node.name, node.id) for node in nodes]


async def _is_gone(api: SchedulerApi, task_id: int) -> bool | None:
    """Whether the scheduler no longer has the task; None when it does not say."""
    try:
        await api.task(task_id)
    except NotFound:
        return True
    except ToolFailed:
        return None
    return False


def _outcome(task_id: int, name: str, gone: bool | None) -> Outcome:
    title = task_title(name, task_id)
    if gone is None:
        summary = Phrase(
            f"调度服务已接受删除任务 {title}，但未能回读确认",
            f"The scheduler accepted the deletion of task {title}; it could not be read back",
        )
    elif gone:
        summary = Phrase(
            f"任务 {title} 已删除（回读：不存在）", f"Task {title} is deleted (read back: not found)"
        )
    else:
        summary = Phrase(
            f"调度服务接受了删除请求，但任务 {title} 仍然存在",
            f"The scheduler accepted the deletion, yet task {title} still exists",
        )
    return Outcome(
        ok=gone is not False,
        verified=gone is not None,
        summary=summary,
        content={"task_name": name, "message": summary.en, "task_id": task_id},
    )
