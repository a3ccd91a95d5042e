"""What can be seen some minutes after a change: the run that it started, or the task and its runs since."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.tool import Observation, Verdict
from chatops_bot.toolsets.scheduler.api import SchedulerApi
from chatops_bot.toolsets.scheduler.errors import NotFound
from chatops_bot.toolsets.scheduler.formatting import task_title
from chatops_bot.toolsets.scheduler.wire import Run, Task

_RUNS_READ = 20


async def trigger_seen(api: SchedulerApi, outcome: Mapping[str, Any]) -> Observation:
    """How the run went that was started."""
    return await _run_seen(api, outcome, "as_intended", "failed")


async def retry_seen(api: SchedulerApi, outcome: Mapping[str, Any]) -> Observation:
    """How the run went that was to mend one that had failed."""
    return await _run_seen(api, outcome, "recovered", "failed_again")


async def _run_seen(
    api: SchedulerApi, outcome: Mapping[str, Any], succeeded: Verdict, failed: Verdict
) -> Observation:
    run_id = outcome.get("instance_id")
    if not isinstance(run_id, int):
        return Observation("unknown", Phrase("不知道是哪一次运行", "which run it brought was never known"))
    run = await api.run(run_id)
    said = Phrase(f"运行 #{run.id}：{run.status}", f"run #{run.id}: {run.status}")
    if run.has_failed:
        return Observation(failed, said)
    return Observation(succeeded if run.status == "success" else "unknown", said)


async def pause_seen(api: SchedulerApi, task_id: int, since: datetime) -> Observation:
    """Whether a task is still paused, and has not run since."""
    task, newer = await api.task(task_id), await _runs_since(api, task_id, since)
    if task.is_paused and not newer:
        return Observation("as_intended", Phrase("仍处于暂停状态，没有新的运行", "still paused, no new run"))
    return Observation("no_effect", _with_runs(task, newer))


async def schedule_seen(api: SchedulerApi, task_id: int, since: datetime) -> Observation:
    """Whether a task that should run on its schedule does, and how its runs went since."""
    task, newer = await _found(api, task_id), await _runs_since(api, task_id, since)
    if task is None:
        return Observation("no_effect", Phrase("任务已不存在", "the task is gone"))
    said = _with_runs(task, newer)
    if any(run.has_failed for run in newer):
        return Observation("failed", said)
    if task.is_paused:
        return Observation("no_effect", said)
    return Observation("as_intended" if any(run.is_finished for run in newer) else "unknown", said)


async def deletion_seen(api: SchedulerApi, task_id: int) -> Observation:
    """Whether a deleted task is still gone."""
    if await _found(api, task_id) is None:
        return Observation("as_intended", Phrase("任务仍然不存在", "the task is still gone"))
    return Observation("no_effect", Phrase("任务仍然存在", "the task is there"))


async def _found(api: SchedulerApi, task_id: int) -> Task | None:
    try:
        return await api.task(task_id)
    except NotFound:
        return None


async def _runs_since(api: SchedulerApi, task_id: int, since: datetime) -> list[Run]:
    page = await api.run_page(limit=_RUNS_READ, task_id=task_id)
    return [run for run in page.instances if run.moment is not None and run.moment > since]


def _with_runs(task: Task, newer: list[Run]) -> Phrase:
    title = task_title(task.name, task.id)
    if not newer:
        return Phrase(
            f"任务 {title}：{task.status}，还没有新的运行", f"task {title} is {task.status}, no new run yet"
        )
    runs = ", ".join(f"#{run.id} {run.status}" for run in newer)
    return Phrase(
        f"任务 {title}：{task.status}；新的运行：{runs}", f"task {title} is {task.status}; runs since: {runs}"
    )
