"""A skill's worked example as a plan: its lookups are made for what the asker named, and reported as any other lookup is.

Only what an example does by itself is taken from it: which reads, in which order, and what of one result the next one needs.
Its task gives way to the asker's, its hours to theirs. What changes something is never proposed from an example.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby, takewhile
from typing import Any

from chatops_bot.context.worked_example import Example, Step, example_in, filled, kept_of, references
from chatops_bot.llm.offline import phrases, report, run_findings, task_findings, worker_findings
from chatops_bot.llm.offline.content import Content, rows_of
from chatops_bot.llm.offline.conversation import Result
from chatops_bot.llm.offline.decisions import WRITE_TOOLS
from chatops_bot.llm.offline.desk import Desk, hours_of
from chatops_bot.llm.offline.lookup import LAST_WEEK, RUNS_OF_ONE_TASK, Task, names_by_id
from chatops_bot.llm.offline.run_findings import HAS_FAILED
from chatops_bot.llm.offline.windows import Window

_LOOKS = frozenset(phrases.DOING) - WRITE_TOOLS
"""Of a tool that is not among these nobody here knows whether it changes something."""


@lru_cache(maxsize=64)
def example_of(body: str) -> Example | None:
    """The worked example of a skill, None when it has none that can be read."""
    try:
        return example_in(body)
    except ValueError:
        return None


def lookups(example: Example) -> tuple[Step, ...]:
    """The steps up to the first that is not known to only look."""
    return tuple(takewhile(lambda step: step.call in _LOOKS, example.steps))


def names_a_task(step: Step) -> bool:
    return step.call == "query_tasks" and "name" in step.arguments


def narrowed(steps: Sequence[Step], task: Task) -> tuple[Step, ...]:
    """The steps with those that look for failed runs of any task looking for this task's; as they are where none does."""
    return tuple(
        step.model_copy(update={"arguments": {**step.arguments, "task_id": task.id}})
        if _counts_failures(step)
        else step
        for step in steps
    )


def can_be_narrowed(steps: Sequence[Step]) -> bool:
    return any(map(_counts_failures, steps))


def _counts_failures(step: Step) -> bool:
    wanted = step.arguments
    return step.call == "query_instances" and "task_id" not in wanted and wanted.get("status") in HAS_FAILED


@dataclass(slots=True)
class _Work:
    """What the steps came to so far; `failed` are the runs of `task` among which its newest failure was sought."""

    desk: Desk
    task: Task | None
    window: Window | None
    kept: dict[str, Any] = field(default_factory=dict)
    done: list[Result] = field(default_factory=list)
    failed: Content | None = None


def carried_out(
    desk: Desk, steps: Sequence[Step], task: Task | None, window: Window | None
) -> tuple[list[str], list[str]]:
    """The sections of the report, and the tools that the asker has not. Raises Pending.

    Steps that need nothing of each other are made together; one whose need no result held is left out.
    """
    work = _Work(desk, task, window)
    missing: list[str] = []
    left = list(steps)
    while left:
        batch: list[Step] = []
        coming: set[str] = set()
        while left and not references(left[0].arguments) & coming:
            batch.append(left.pop(0))
            coming |= batch[-1].keep.keys()
        able = [step for step in batch if references(step.arguments) <= work.kept.keys()]
        missing += (step.call for step in able if not _may(desk, step))
        _make(work, [step for step in able if _may(desk, step)])
    return _sections(work), list(dict.fromkeys(missing))


def _may(desk: Desk, step: Step) -> bool:
    return names_a_task(step) or desk.offers(step.call) or not desk.offers_anything


def _make(work: _Work, steps: Sequence[Step]) -> None:
    plain = []
    for step in steps:
        if names_a_task(step):
            if work.task is not None:
                row = {"id": work.task.id, "name": work.task.name}
                work.kept |= kept_of(step, {"tasks": [row]})
        else:
            plain.append(step)
    results = work.desk.gather(*((step.call, _arguments(work, step)) for step in plain))
    for step, result in zip(plain, results, strict=True):
        if _seeks_failures(step) and not result.error:
            work.failed = result.content
        else:
            work.done.append(result)
        work.kept |= kept_of(step, _to_keep_from(result))


def _to_keep_from(result: Result) -> Content:
    """Of runs, those that failed, unless others were asked for: what goes on from one of them explains it."""
    if result.tool != "query_instances" or result.arguments.get("status", "failed") not in HAS_FAILED:
        return result.content
    rows = [row for row in rows_of(result.content, "instances") if row.get("status") in HAS_FAILED]
    return {**result.content, "instances": run_findings.newest_first(rows)}


def _seeks_failures(step: Step) -> bool:
    """A failure is what failed or ran into its limit, so all runs of the task are asked for."""
    wanted = step.arguments
    return step.call == "query_instances" and "task_id" in wanted and wanted.get("status") in HAS_FAILED


def _arguments(work: _Work, step: Step) -> dict[str, Any]:
    arguments: dict[str, Any] = filled(step.arguments, work.kept)
    if _seeks_failures(step):
        hours = work.window.hours if work.window else LAST_WEEK.hours
        return {"task_id": arguments["task_id"], "hours": hours, "limit": RUNS_OF_ONE_TASK}
    if work.window is not None and "hours" in arguments:
        arguments["hours"] = work.window.hours
    return arguments


def _sections(work: _Work) -> list[str]:
    sections: list[str] = []
    if work.failed is not None and not any(result.tool == "analyze_failure" for result in work.done):
        label = work.task.label if work.task else ""
        sections.append(
            run_findings.no_failed_run(label, work.failed, work.window or LAST_WEEK, work.desk.reader)
        )
    for _, results in groupby(work.done, _counts_as_failure):
        alike = list(results)
        by_status = {str(result.arguments.get("status")): result for result in alike}
        is_pair = len(alike) == 2 and by_status.keys() == set(HAS_FAILED)
        sections += (
            [_failures(work, *(by_status[status] for status in HAS_FAILED))]
            if is_pair
            else [_section(work, result) for result in alike]
        )
    return sections


def _counts_as_failure(result: Result) -> bool:
    is_whole = "task_id" not in result.arguments
    return result.tool == "query_instances" and is_whole and result.arguments.get("status") in HAS_FAILED


def _failures(work: _Work, failed: Result, timed_out: Result) -> str:
    rows = [row for result in (failed, timed_out) for row in rows_of(result.content, "instances")]
    names = names_by_id(work.desk, rows) if rows else {}
    return run_findings.failures(failed, timed_out, names, _window(work, failed), "", work.desk.reader)


def _window(work: _Work, result: Result) -> Window:
    return work.window or Window(hours_of(result))


def _section(work: _Work, result: Result) -> str:
    desk, content = work.desk, result.content
    if result.error:
        return report.tool_error(result, desk.language)
    match result.tool:
        case "query_instances":
            names = names_by_id(desk, rows) if (rows := rows_of(content, "instances")) else {}
            status = str(result.arguments.get("status") or "")
            return run_findings.runs(content, names, _window(work, result), status, desk.reader)
        case "query_tasks":
            return task_findings.tasks(content, str(result.arguments.get("status") or ""), desk.reader)
        case "get_task_detail":
            return task_findings.detail(content, None, desk.reader)
        case "get_system_health":
            return worker_findings.health(content, desk.reader)
        case "query_workers":
            return worker_findings.workers(content, desk.reader)
        case "get_worker_load_history":
            return worker_findings.load_histories(content, hours_of(result), desk.reader)
        case _:
            runs = rows_of(work.failed or {}, "instances")
            return run_findings.explanation(content, work.task.name if work.task else "", runs, desk.reader)
