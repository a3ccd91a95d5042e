"""What can be wrong with a new task beyond the schema: all of it at once, by argument, also before everything is given."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol
from urllib.parse import urlsplit

from chatops_bot.domain.language import Phrase
from chatops_bot.ports import Clock, ToolContext
from chatops_bot.toolsets.scheduler.api import SchedulerApi
from chatops_bot.toolsets.scheduler.client import SchedulerClient
from chatops_bot.toolsets.scheduler.cron import BadCron, next_times
from chatops_bot.toolsets.scheduler.errors import Invalid
from chatops_bot.toolsets.scheduler.formatting import task_title
from chatops_bot.toolsets.scheduler.wire import Task


class _Creates(Protocol):
    """The tool that makes tasks."""

    @property
    def client(self) -> SchedulerClient: ...

    @property
    def clock(self) -> Clock: ...


async def checked(tool: _Creates, given: Mapping[str, Any], context: ToolContext) -> Mapping[str, Phrase]:
    """What is wrong with the values given so far, each as a sentence."""
    tasks = await SchedulerApi(tool.client, context.person.role).tasks()
    return {name: _sentence(why) for name, why in problems_of(given, tasks, tool.clock.now()).items()}


def refusal(problems: Mapping[str, Phrase]) -> Invalid:
    """The error that names every argument with its reason."""
    zh = "；".join(f"{name}：{why.zh}" for name, why in problems.items())
    en = "; ".join(f"{name}: {why.en}" for name, why in problems.items())
    return Invalid(
        Phrase(f"{zh}；请修改后再创建任务。", f"{en}; correct this to create the task."),
        problems={name: _sentence(why) for name, why in problems.items()},
    )


def problems_of(given: Mapping[str, Any], tasks: Iterable[Task], now: datetime) -> dict[str, Phrase]:
    """The reasons by argument, without capital and full stop. `tasks` are those that there are; what is not given is not judged."""
    found = {
        "name": _of_name(given["name"], tasks) if "name" in given else None,
        "cron_expr": _of_schedule(given["cron_expr"], now) if "cron_expr" in given else None,
        "payload": _of_payload(given.get("type"), given["payload"]) if "payload" in given else None,
        "image": _of_image(given.get("type"), given.get("image", "")),
    }
    return {name: why for name, why in found.items() if why is not None}


def _of_name(name: str, tasks: Iterable[Task]) -> Phrase | None:
    name = name.strip()
    if not name:
        return _BLANK
    if not name.isprintable():
        return Phrase("不能包含换行或控制字符", "must not hold line breaks or control characters")
    taken = next((task for task in tasks if task.name == name), None)
    if taken is None:
        return None
    title = task_title(taken.name, taken.id)
    return Phrase(f"名称已被任务 {title} 使用", f"task {title} has it already")


def _of_schedule(expression: str, now: datetime) -> Phrase | None:
    try:
        next_times(expression, now, UTC, 1)
    except BadCron as error:
        return Phrase(f"不是有效的五段 cron 表达式（{error.phrase.zh}）", error.phrase.en)
    return None


def _of_payload(task_type: str | None, payload: str) -> Phrase | None:
    if task_type in ("shell", "http") and not payload.strip():
        return _BLANK
    if task_type == "http" and not _is_web_address(payload):
        return Phrase("http 类型必须是 http 或 https 地址", "must be an http or https URL for type http")
    return None


def _of_image(task_type: str | None, image: str) -> Phrase | None:
    if task_type == "container" and not image.strip():
        return Phrase("container 类型必须提供镜像", "is required for type container")
    return None


_BLANK = Phrase("不能为空", "must not be blank")


def _sentence(reason: Phrase) -> Phrase:
    return Phrase(f"{reason.zh}。", f"{reason.en[0].upper()}{reason.en[1:]}.")


def _is_web_address(text: str) -> bool:
    try:
        address = urlsplit(text)
        return (
            address.scheme in ("http", "https") and bool(address.hostname) and not any(map(str.isspace, text))
        )
    except ValueError:
        return False
