"""create_task: everything that can be wrong with a new task is found before anybody is asked to approve it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Person, Risk
from chatops_bot.domain.tool import Change, Inverse, Observation, Outcome, Plan
from chatops_bot.ports import Clock, ToolContext, ToolSpec
from chatops_bot.toolsets.scheduler import new_task
from chatops_bot.toolsets.scheduler.api import SchedulerApi
from chatops_bot.toolsets.scheduler.approval_facts import clocks_of, executor_warning, run_time
from chatops_bot.toolsets.scheduler.arguments import CreateTaskArguments
from chatops_bot.toolsets.scheduler.candidates import usual_schedule
from chatops_bot.toolsets.scheduler.client import WRITE_TIMEOUT, SchedulerClient
from chatops_bot.toolsets.scheduler.cron import next_times
from chatops_bot.toolsets.scheduler.formatting import one_line, stamp, task_title
from chatops_bot.toolsets.scheduler.observing import schedule_seen
from chatops_bot.toolsets.scheduler.read_back import looked_up
from chatops_bot.toolsets.scheduler.wire import Capabilities, Task

_TIMES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class CreateTask:
    client: SchedulerClient
    clock: Clock

    spec = ToolSpec(
        name="create_task",
        arguments=CreateTaskArguments,
        effect=Effect.WRITE,
        label=Phrase("正在准备创建任务…", "preparing the new task…"),
        timeout=WRITE_TIMEOUT,
        title=Phrase("创建任务", "Create a task"),
        undoable=True,
        candidates={"cron_expr": usual_schedule},
        check=new_task.checked,
    )

    async def plan(self, arguments: CreateTaskArguments, context: ToolContext) -> Plan:
        api = SchedulerApi(self.client, context.person.role)
        problems = new_task.problems_of(arguments.model_dump(), await api.tasks(), self.clock.now())
        if problems:
            raise new_task.refusal(problems)
        capabilities = await api.capabilities()
        clocks = clocks_of(context.person, self.client, capabilities)
        times = next_times(arguments.cron_expr, self.clock.now(), clocks.scheduler, _TIMES_SHOWN)
        name = _name(arguments)
        return Plan(
            target=f"task {one_line(name)} (new)",
            summary=Phrase(f"创建任务 {one_line(name)}", f"Create task {one_line(name)}"),
            changes=tuple(
                Change(key, None, str(value))
                for key, value in _body(arguments).items()
                if key not in ("name", "payload") and value != ""
            ),
            risk=Risk.HIGH,
            preconditions={"name_is_free": name},
            details=(
                (Phrase("将执行的内容", "What will be executed"), arguments.payload),
                (
                    Phrase("接下来三次运行", "Next three runs"),
                    "\n".join(run_time(each, clocks) for each in times),
                ),
                *executor_warning(arguments.type, capabilities),
            ),
            inverse=Inverse(
                "delete_task",
                {},
                Phrase(f"删除任务 {one_line(name)}", f"Delete task {one_line(name)}"),
                {"task_id": "task_id"},
            ),
        )

    async def apply(self, arguments: CreateTaskArguments, context: ToolContext) -> Outcome:
        api = SchedulerApi(self.client, context.person.role)
        made = await api.create_task(_body(arguments), context.idempotency_key)
        seen = await looked_up(api.task(made.id))
        capabilities = await looked_up(api.capabilities()) or Capabilities()
        return self._outcome(seen or made, arguments, context.person, capabilities, verified=seen is not None)

    async def observe(
        self,
        arguments: CreateTaskArguments,
        plan: Plan,
        outcome: Mapping[str, Any],
        since: datetime,
        context: ToolContext,
    ) -> Observation:
        api = SchedulerApi(self.client, context.person.role)
        made = outcome.get("task_id")
        if not isinstance(made, int):
            return Observation(
                "unknown", Phrase("不知道新任务的编号", "the new task's number was never known")
            )
        return await schedule_seen(api, made, since)

    async def probe(self, arguments: CreateTaskArguments, plan: Plan, context: ToolContext) -> Outcome | None:
        api = SchedulerApi(self.client, context.person.role)
        tasks = await looked_up(api.tasks()) or ()
        found = next((task for task in tasks if task.name == _name(arguments)), None)
        if found is None or not _is_as_asked(found, arguments):
            return None
        capabilities = await looked_up(api.capabilities()) or Capabilities()
        return self._outcome(found, arguments, context.person, capabilities, verified=True)

    def _outcome(
        self,
        task: Task,
        arguments: CreateTaskArguments,
        person: Person,
        capabilities: Capabilities,
        *,
        verified: bool,
    ) -> Outcome:
        ok = _is_as_asked(task, arguments)
        title = task_title(task.name, task.id)
        clocks = clocks_of(person, self.client, capabilities, task.timezone)
        planned = task.next_trigger_time
        when = run_time(planned, clocks) if planned else "-"
        summary = Phrase(
            f"任务 {title} 已创建（回读状态：{task.status}），下次运行：{when}",
            f"Task {title} is created (read back: {task.status}), next run: {when}",
        )
        if not verified:
            summary = Phrase(
                f"调度服务已创建任务 {title}，但未能回读确认",
                f"The scheduler created task {title}; it could not be read back",
            )
        elif not ok:
            summary = Phrase(
                f"任务 {title} 已创建，但回读的内容与请求不一致，请检查",
                f"Task {title} is created, yet what was read back differs from what was asked; check it",
            )
        return Outcome(
            ok=ok,
            verified=verified,
            summary=summary,
            content={
                "created": True,
                "task_id": task.id,
                "name": task.name,
                "message": summary.en,
                "next_trigger_time": stamp(planned),
            },
        )


def _name(arguments: CreateTaskArguments) -> str:
    return arguments.name.strip()


def _body(arguments: CreateTaskArguments) -> dict[str, Any]:
    """The new task as the API takes it, in the order that an approver reads it."""
    return {
        "name": _name(arguments),
        "type": arguments.type,
        "cron_expr": " ".join(arguments.cron_expr.split()),
        "payload": arguments.payload,
        "image": arguments.image.strip(),
        "timeout_seconds": arguments.timeout_seconds,
        "max_retry": arguments.max_retry,
        "retry_policy": arguments.retry_policy,
        "status": "enabled",
    }


def _is_as_asked(task: Task, arguments: CreateTaskArguments) -> bool:
    asked = _body(arguments)
    return all(getattr(task, key) == value for key, value in asked.items())
