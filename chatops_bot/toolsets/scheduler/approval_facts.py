"""What an approver is shown of a task, and what must still hold when the action runs.

Preconditions hold only what the card shows and only what people change: not the version, which the Go service raises on
every trigger, and not the next trigger time, which moves by itself.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person, Risk
from chatops_bot.domain.zones import zone_named
from chatops_bot.toolsets.scheduler.client import SchedulerClient
from chatops_bot.toolsets.scheduler.cron import BadCron, next_times
from chatops_bot.toolsets.scheduler.formatting import task_title
from chatops_bot.toolsets.scheduler.wire import Capabilities, Task

Detail = tuple[Phrase, str]

_PAYLOAD = Phrase("将执行的内容", "What will be executed")
_IMAGE = Phrase("镜像", "Image")
_TYPE = Phrase("类型", "Type")
_SCHEDULE = Phrase("调度", "Schedule")
_THEIR_TIMES = Phrase("在提出人的时区", "In the time zone of whoever asked")
_NOT_RUN = Phrase(
    "注意：此调度服务目前不执行该类型的任务，运行会失败",
    "Note: this scheduler does not run tasks of this type at present, runs will fail",
)


def target_of(task: Task) -> str:
    return f"task {task_title(task.name, task.id)}"


def execution_details(task: Task, capabilities: Capabilities) -> tuple[Detail, ...]:
    """What a run of the task executes, whole."""
    details = [(_TYPE, task.type), (_PAYLOAD, task.payload)]
    if task.image:
        details.append((_IMAGE, task.image))
    return (*details, *executor_warning(task.type, capabilities))


def executor_warning(task_type: str, capabilities: Capabilities) -> tuple[Detail, ...]:
    """A note when runs of this type are bound to fail here."""
    return () if capabilities.runs(task_type) else ((_NOT_RUN, task_type),)


def schedule_details(task: Task) -> tuple[Detail, ...]:
    return ((_SCHEDULE, task.cron_expr),) if task.cron_expr else ()


def execution_preconditions(task: Task) -> Mapping[str, Any]:
    return {
        "task_id": task.id,
        "name": task.name,
        "status": task.status,
        "type": task.type,
        "payload": task.payload,
        "image": task.image,
    }


def risk_of_running(task: Task) -> Risk:
    """A shell payload runs on a machine of ours."""
    return Risk.HIGH if task.type == "shell" else Risk.MEDIUM


def zone_for(client: SchedulerClient, capabilities: Capabilities, task_timezone: str = "") -> tzinfo:
    """The zone that cron fields are read in: the task's, else the service's, else the configured one."""
    for name in (task_timezone, capabilities.timezone):
        if name:
            try:
                return ZoneInfo(name)
            except (ValueError, OSError, KeyError):
                continue
    return client.zone


def local_time(moment: datetime) -> str:
    """`2025-03-02 02:00 (Asia/Shanghai, UTC+08:00)`, or `2025-03-01 18:00 UTC`."""
    if str(moment.tzinfo) in ("UTC", "Etc/UTC"):
        return f"{moment:%Y-%m-%d %H:%M} UTC"
    offset = moment.strftime("%z")
    return f"{moment:%Y-%m-%d %H:%M} ({moment.tzinfo}, UTC{offset[:3]}:{offset[3:5]})"


def in_the_zone_of(person: Person, moments: Sequence[datetime]) -> tuple[Detail, ...]:
    """The moments once more, as clocks show them where `person` is; nothing where those show the same, or nobody knows.

    A cron expression is read in the scheduler's zone, while a time that somebody says is meant in theirs: whoever approves sees
    both.
    """
    zone = zone_named(person.timezone)
    theirs = [moment.astimezone(zone) for moment in moments]
    if zone is None or all(a.utcoffset() == b.utcoffset() for a, b in zip(theirs, moments, strict=True)):
        return ()
    return ((_THEIR_TIMES, ", ".join(map(local_time, theirs))),)


def next_run_text(expression: str, after: datetime, zone: tzinfo) -> str | None:
    """When the schedule comes due next; None for a task without one, or with one that cannot be read here."""
    if not expression:
        return None
    try:
        return local_time(next_times(expression, after, zone, 1)[0])
    except BadCron:
        return None
