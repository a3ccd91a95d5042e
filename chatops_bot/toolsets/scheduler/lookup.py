"""Finding what an id means, and saying what there is instead when it means nothing."""

from chatops_bot.domain.language import Phrase
from chatops_bot.toolsets.scheduler.api import SchedulerApi
from chatops_bot.toolsets.scheduler.errors import NotFound
from chatops_bot.toolsets.scheduler.formatting import listed, task_title
from chatops_bot.toolsets.scheduler.wire import Run, Task

_NEAREST = 5
_NEWEST_RUNS = 50


async def find_task(api: SchedulerApi, task_id: int) -> Task:
    """The task. Raises NotFound, which lists the known tasks with the nearest ids."""
    try:
        return await api.task(task_id)
    except NotFound as error:
        known = sorted(await api.tasks(), key=lambda task: (abs(task.id - task_id), task.id))[:_NEAREST]
        titles = listed([task_title(task.name, task.id) for task in known])
        raise NotFound(
            Phrase(
                f"没有任务 #{task_id}。"
                + (f"编号相近的任务：{titles.zh}。" if known else "目前没有任何任务。"),
                f"There is no task #{task_id}. "
                + (f"Tasks with near ids: {titles.en}." if known else "There are no tasks at all."),
            )
        ) from error


async def find_run(api: SchedulerApi, run_id: int) -> Run:
    """The run. Raises NotFound, which lists the newest failed runs."""
    try:
        return await api.run(run_id)
    except NotFound as error:
        page = await api.run_page(limit=_NEWEST_RUNS)
        failed = sorted((run.id for run in page.instances if run.has_failed), reverse=True)[:_NEAREST]
        ids = ", ".join(f"#{known}" for known in failed)
        raise NotFound(
            Phrase(
                f"没有运行 #{run_id}。" + (f"最近失败的运行：{ids}。" if ids else "最近没有失败的运行。"),
                f"There is no run #{run_id}. "
                + (f"Newest failed runs: {ids}." if ids else "No run failed lately."),
            )
        ) from error


async def task_names(api: SchedulerApi) -> dict[int, str]:
    return {task.id: task.name for task in await api.tasks()}
