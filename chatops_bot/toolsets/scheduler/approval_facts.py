"""What an approver is shown of a task, and what must still hold when the action runs.

Preconditions hold only what the card shows and only what people change: not the version, which the Go service raises on
every trigger, and not the next trigger time, which moves by itself.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import Any

from chatops_bot.domain.clocks import Clocks, zone_label
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
    named = filter(None, map(zone_named, filter(None, (task_timezone, capabilities.timezone))))
    return next(named, client.zone)


def clocks_of(
    person: Person, client: SchedulerClient, capabilities: Capabilities, task_timezone: str = ""
) -> Clocks:
    """The person's clock, and the one that cron fields are read on."""
    clocks = Clocks.named(person.timezone, "")
    return replace(clocks, scheduler=zone_for(client, capabilities, task_timezone))


def run_time(moment: datetime, clocks: Clocks) -> str:
    """`2025-03-01 18:00 UTC`; with the person's clock where it shows another time: `… = 2025-03-02 02:00 Asia/Shanghai`."""
    there, here = moment.astimezone(clocks.scheduler), moment.astimezone(clocks.person)
    said = f"{there:%Y-%m-%d %H:%M} {zone_label(clocks.scheduler)}"
    if there.utcoffset() == here.utcoffset():
        return said
    same_day = here.date() == there.date()
    return f"{said} = {here:{'%H:%M' if same_day else '%Y-%m-%d %H:%M'}} {zone_label(clocks.person)}"


def next_run_text(expression: str, after: datetime, clocks: Clocks) -> str | None:
    """When the schedule comes due next; None for a task without one, or with one that cannot be read here."""
    if not expression:
        return None
    try:
        return run_time(next_times(expression, after, clocks.scheduler, 1)[0], clocks)
    except BadCron:
        return None
