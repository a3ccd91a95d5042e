"""retry_failed_instance: a linked retry where the service has one, else an honest fresh run.

The Go service has no retry endpoint, and the row that its own tool writes is never picked up.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chatops_bot.domain.errors import ToolImpossible
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.tool import Change, Observation, Outcome, Plan
from chatops_bot.ports import Clock, ToolContext, ToolSpec
from chatops_bot.toolsets.scheduler.api import RETRY, SchedulerApi
from chatops_bot.toolsets.scheduler.approval_facts import (
    execution_details,
    execution_preconditions,
    risk_of_running,
)
from chatops_bot.toolsets.scheduler.arguments import RetryFailedInstanceArguments
from chatops_bot.toolsets.scheduler.candidates import failed_run
from chatops_bot.toolsets.scheduler.client import WRITE_TIMEOUT, SchedulerClient
from chatops_bot.toolsets.scheduler.formatting import cut, task_title
from chatops_bot.toolsets.scheduler.lookup import find_run, find_task
from chatops_bot.toolsets.scheduler.observing import retry_seen
from chatops_bot.toolsets.scheduler.read_back import RunWatch, looked_up
from chatops_bot.toolsets.scheduler.rows import TEXT_LIMIT
from chatops_bot.toolsets.scheduler.trigger import refuse_when_paused, trigger_and_find
from chatops_bot.toolsets.scheduler.wire import Run, Task

_RUNS_SEARCHED = 100
_HOW = Phrase(
    "此调度服务没有重试接口，全新的运行将代替", "This scheduler has no retry; a fresh run stands in for"
)


@dataclass(frozen=True, slots=True)
class RetryFailedInstance:
    """`watch_seconds`: how long to look for the new run where the service does not name it."""

    client: SchedulerClient
    clock: Clock
    watch_seconds: float = 5.0

    spec = ToolSpec(
        name="retry_failed_instance",
        arguments=RetryFailedInstanceArguments,
        effect=Effect.WRITE,
        label=Phrase("正在准备重试…", "preparing the retry…"),
        timeout=WRITE_TIMEOUT,
        title=Phrase("重试失败的运行", "Retry a failed run"),
        candidates={"instance_id": failed_run},
    )

    async def plan(self, arguments: RetryFailedInstanceArguments, context: ToolContext) -> Plan:
        api = SchedulerApi(self.client, context.person.role)
        run, task, linked = await _retryable(api, arguments.instance_id)
        retries = await _earlier_retries(api, run)
        capabilities = await api.capabilities()
        title = task_title(task.name, task.id)
        reason = f"{run.error_code}: {run.error_message}".strip(": ")
        details = (
            [(Phrase("上次的错误", "The error it ended with"), cut(reason, TEXT_LIMIT))] if reason else []
        )
        if retries:
            again = ", ".join(f"#{other.id} ({other.status})" for other in retries)
            details.append((Phrase("已有的重试", "Retried before as"), again))
        if not linked:
            details.append((_HOW, f"#{run.id}"))
        return Plan(
            target=f"run #{run.id} of task {title}",
            summary=Phrase(f"重试任务 {title} 的运行 #{run.id}", f"Retry run #{run.id} of task {title}"),
            changes=(Change("run", f"#{run.id} {run.status}", "linked retry" if linked else "fresh run"),),
            risk=risk_of_running(task),
            preconditions={
                **execution_preconditions(task),
                "instance_id": run.id,
                "instance_status": run.status,
                "linked_retry": linked,
                "retried_as": sorted(other.id for other in retries),
            },
            details=(*details, *execution_details(task, capabilities)),
        )

    async def apply(self, arguments: RetryFailedInstanceArguments, context: ToolContext) -> Outcome:
        api = SchedulerApi(self.client, context.person.role)
        run, task, linked = await _retryable(api, arguments.instance_id)
        if linked:
            made = await api.retry(run.id, context.idempotency_key)
            seen = await looked_up(api.run(made.id))
            return _outcome(run, task, seen or made, verified=seen is not None, linked=True)
        watch = RunWatch(api, self.clock, self.watch_seconds)
        fresh = await trigger_and_find(api, watch, task.id, context)
        return _outcome(run, task, fresh, verified=fresh is not None, linked=False)

    async def observe(
        self,
        arguments: RetryFailedInstanceArguments,
        plan: Plan,
        outcome: Mapping[str, Any],
        since: datetime,
        context: ToolContext,
    ) -> Observation:
        api = SchedulerApi(self.client, context.person.role)
        return await retry_seen(api, outcome)

    async def probe(
        self, arguments: RetryFailedInstanceArguments, plan: Plan, context: ToolContext
    ) -> Outcome | None:
        """Never provable: a newer run may be the retry policy's or somebody else's."""
        return None


async def _retryable(api: SchedulerApi, run_id: int) -> tuple[Run, Task, bool]:
    """The run, its task, and whether the service makes a linked retry. Raises ToolImpossible when it cannot be retried."""
    run = await find_run(api, run_id)
    if not run.has_failed:
        raise ToolImpossible(
            Phrase(
                f"运行 #{run.id} 没有失败（状态：{run.status}），不能重试；只有 failed 或 timeout 的运行可以重试。",
                f"Run #{run.id} did not fail (status {run.status}); only failed or timed-out runs can be retried.",
            )
        )
    task = await find_task(api, run.task_id)
    refuse_when_paused(task)
    return run, task, RETRY in (await api.capabilities()).extensions


async def _earlier_retries(api: SchedulerApi, run: Run) -> tuple[Run, ...]:
    """The newest runs that repeat this one. Raises ToolImpossible while one of them is still under way."""
    page = await api.run_page(limit=_RUNS_SEARCHED, task_id=run.task_id)
    retries = tuple(other for other in page.instances if other.retry_of_instance_id == run.id)
    under_way = next((other for other in retries if not other.is_finished), None)
    if under_way is not None:
        raise ToolImpossible(
            Phrase(
                f"运行 #{run.id} 已在重试中：#{under_way.id}（状态：{under_way.status}）；请等它结束。",
                f"Run #{run.id} is being retried already, as #{under_way.id} ({under_way.status}); wait until it ends.",
            )
        )
    return retries


def _outcome(old: Run, task: Task, new: Run | None, *, verified: bool, linked: bool) -> Outcome:
    title = task_title(task.name, task.id)
    if new is None:
        summary = Phrase(
            f"调度服务已接受对任务 {title} 的触发，但还没有看到新的运行",
            f"The trigger of task {title} was accepted, a new run is not yet seen",
        )
    elif linked:
        summary = Phrase(
            f"运行 #{old.id} 的重试是 #{new.id}（任务 {title}，状态：{new.status}）",
            f"Run #{old.id} is retried as #{new.id} (task {title}, {new.status})",
        )
    else:
        summary = Phrase(
            f"任务 {title} 已触发全新运行 #{new.id}（状态：{new.status}），不是 #{old.id} 的关联重试",
            f"Task {title}: fresh run #{new.id} ({new.status}), not a linked retry of #{old.id}",
        )
    content: dict[str, Any] = {
        "instance_id": new.id if new else None,
        "task_name": task.name,
        "message": summary.en,
        "task_id": task.id,
        "retry_of": old.id,
        "linked": linked,
    }
    return Outcome(ok=True, verified=verified, summary=summary, content=content)
