"""What can be chosen in a form about the scheduler: its tasks, its failed runs, and usual schedules."""

from datetime import datetime
from typing import Protocol

from chatops_bot.domain.clocks import Clocks, zone_label
from chatops_bot.domain.form import Candidates, Choice
from chatops_bot.domain.language import Phrase
from chatops_bot.ports import Clock, ToolContext
from chatops_bot.toolsets.scheduler.api import SchedulerApi
from chatops_bot.toolsets.scheduler.approval_facts import clocks_of
from chatops_bot.toolsets.scheduler.client import SchedulerClient
from chatops_bot.toolsets.scheduler.formatting import one_line
from chatops_bot.toolsets.scheduler.lookup import task_names
from chatops_bot.toolsets.scheduler.read_back import looked_up
from chatops_bot.toolsets.scheduler.wire import Capabilities, Task

_NEWEST_RUNS = 100

_SCHEDULES = (
    ("*/15 * * * *", Phrase("每 15 分钟", "Every 15 minutes")),
    ("0 * * * *", Phrase("每小时整点", "Every hour")),
    ("0 2 * * *", Phrase("每天 02:00", "Every night at 02:00")),
    ("0 9 * * *", Phrase("每天 09:00", "Every day at 09:00")),
    ("0 9 * * 1-5", Phrase("工作日 09:00", "Weekdays at 09:00")),
    ("0 3 * * 0", Phrase("每周日 03:00", "Sundays at 03:00")),
    ("0 4 1 * *", Phrase("每月 1 日 04:00", "The 1st of each month at 04:00")),
)


_FIELDS = Phrase(
    "五段 cron 表达式：分 时 日 月 周，按 {zone} 解读。",
    "Five cron fields: minute hour day month weekday, read in {zone}.",
)
_FIELDS_THERE = Phrase(
    "五段 cron 表达式：分 时 日 月 周，按 {zone} 解读，不是 {here}。",
    "Five cron fields: minute hour day month weekday, read in {zone}, not in {here}.",
)


class _Asks(Protocol):
    """A tool of this toolset."""

    @property
    def client(self) -> SchedulerClient: ...


class _Plans(_Asks, Protocol):
    """A tool of this toolset that reckons with time."""

    @property
    def clock(self) -> Clock: ...


async def any_task(tool: _Asks, context: ToolContext) -> Candidates:
    """Every task by name."""
    tasks = await SchedulerApi(tool.client, context.person.role).tasks()
    return _named(tasks)


async def task_that_runs(tool: _Asks, context: ToolContext) -> Candidates:
    """Every task that is not paused: no other can be triggered."""
    tasks = await SchedulerApi(tool.client, context.person.role).tasks()
    return _named(tuple(task for task in tasks if not task.is_paused))


async def failed_run(tool: _Asks, context: ToolContext) -> Candidates:
    """Failed runs of late, newest first; any other is typed."""
    api = SchedulerApi(tool.client, context.person.role)
    page, names = await api.run_page(limit=_NEWEST_RUNS), await task_names(api)
    runs = sorted((run for run in page.instances if run.has_failed), key=lambda run: -run.id)
    return Candidates(
        tuple(
            Choice(
                run.id,
                _same(f"#{run.id} {one_line(names.get(run.task_id, f'task {run.task_id}'))}"),
                _same(f"{run.moment:%m-%d %H:%M} {run.error_code}".strip()) if run.moment else None,
            )
            for run in runs
        ),
        is_complete=False,
    )


async def usual_schedule(tool: _Plans, context: ToolContext) -> Candidates:
    """Schedules that people ask for most, on their own clock where the scheduler's can say the same; any other is typed."""
    api = SchedulerApi(tool.client, context.person.role)
    clocks = clocks_of(context.person, tool.client, await looked_up(api.capabilities()) or Capabilities())
    now, there = tool.clock.now(), zone_label(clocks.scheduler)
    hint = _FIELDS.filled(zone=there)
    if not clocks.differ(now):
        choices = [Choice(cron, label, _same(cron)) for cron, label in _SCHEDULES]
        return Candidates(tuple(choices), is_complete=False, hint=hint)
    hint = _FIELDS_THERE.filled(zone=there, here=zone_label(clocks.person))
    return Candidates(tuple(_on(clocks, now, *each) for each in _SCHEDULES), is_complete=False, hint=hint)


def _on(clocks: Clocks, now: datetime, cron: str, label: Phrase) -> Choice:
    """A usual schedule with the zone in which it is meant: the person's, unless only the scheduler's can say it."""
    there = zone_label(clocks.scheduler)
    moved = clocks.schedule(cron, now)
    zone = there if moved is None else zone_label(clocks.person)
    if moved != cron or clocks.shown_at(cron, now):
        label = Phrase(f"{label.zh}（{zone}）", f"{label.en} {zone}")
    return Choice(moved or cron, label, _same(f"{moved or cron} ({there})"))


def _named(tasks: tuple[Task, ...]) -> Candidates:
    return Candidates(
        tuple(
            Choice(task.id, _same(f"{one_line(task.name)} (#{task.id})"), _same(task.cron_expr))
            for task in tasks
        )
    )


def _same(text: str) -> Phrase:
    return Phrase(text, text)
