"""What takes a deletion back as far as anything can: a new task with the settings of the old one, under another number.

It is offered only where the new task would run the same, at the same times, as `create_task` makes it. What does not come back
is said beforehand.
"""

from collections.abc import Sequence
from datetime import datetime

from pydantic import ValidationError

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.tool import Inverse
from chatops_bot.toolsets.scheduler.arguments import CreateTaskArguments
from chatops_bot.toolsets.scheduler.formatting import one_line
from chatops_bot.toolsets.scheduler.new_task import problems_of
from chatops_bot.toolsets.scheduler.wire import Task

_SETTINGS = (
    "name", "type", "cron_expr", "payload", "image", "timeout_seconds", "max_retry", "retry_policy",
)  # fmt: skip
_USUAL_ROUTE = ("", "round_robin")

_PAUSED = Phrase(
    "无：任务现在是 {status}，重建的任务会立即启用并运行",
    "none: the task is {status} now, and one made anew would be enabled and run",
)
_NOT_THE_SAME = Phrase(
    "无：{what} 无法照原样重建",
    "none: {what} cannot be made again as it is",
)


def settings_of(task: Task) -> dict[str, object]:
    """What a new task would take over, beside what else a deletion rests on."""
    return {name: getattr(task, name) for name in _SETTINGS}


def remade(
    task: Task, waits_for: Sequence[str], waited_for_by: Sequence[str], now: datetime
) -> Inverse | Phrase:
    """The call that makes `task` anew, or why there is none. The names are of tasks that it depends on, and that depend on it."""
    if task.status != "enabled":
        return _PAUSED.filled(status=one_line(task.status) or "?")
    differs = [
        name
        for name, is_so in (
            ("timezone", bool(task.timezone)),
            ("retry_on_errors", bool(task.retry_on_errors)),
        )
        if is_so
    ]
    try:
        arguments = CreateTaskArguments.model_validate(settings_of(task))
        differs += problems_of(arguments.model_dump(), (), now)
    except ValidationError as error:
        differs += [str(problem["loc"][0]) for problem in error.errors()]
    if differs:
        return _NOT_THE_SAME.filled(what=", ".join(differs))
    return Inverse("create_task", arguments.model_dump(mode="json"), _said(task, waits_for, waited_for_by))


def _said(task: Task, waits_for: Sequence[str], waited_for_by: Sequence[str]) -> Phrase:
    zh, en = ["编号", "过去的运行记录"], ["its number", "its past runs"]
    if links := [*waits_for, *waited_for_by]:
        zh.append(f"依赖关系（{'、'.join(links)}）")
        en.append(f"its dependencies ({', '.join(links)})")
    if task.labels:
        zh.append("标签")
        en.append("its labels")
    if task.route_strategy not in _USUAL_ROUTE:
        zh.append("路由策略")
        en.append("its routing")
    name = one_line(task.name)
    return Phrase(
        f"只能部分撤销：按相同设置新建任务 {name}；{'、'.join(zh)}不会恢复",
        f"In part: create task {name} anew with the same settings; {', '.join(en)} do not come back",
    )
