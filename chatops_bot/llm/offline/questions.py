"""Plans for questions: what to look up, in which order, and which report to write from it.

No plan here calls a tool that changes anything.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from chatops_bot.llm.offline import findings, phrases, report
from chatops_bot.llm.offline.conversation import Conversation, Record, rows_of, target_of
from chatops_bot.llm.offline.cues import Hold, Kind
from chatops_bot.llm.offline.desk import Answer, Desk, Told, hours_of
from chatops_bot.llm.offline.lookup import (
    DEFAULT_HOURS,
    HAS_FAILED,
    HOURS_FOR_ONE_TASK,
    MOST_TASKS,
    RUNS_OF_ONE_TASK,
    RUNS_SHOWN,
    Task,
    folded,
    known_target,
    names_by_id,
    newest_failed_run,
    newest_id,
    target_in,
    tasks_of,
)
from chatops_bot.llm.offline.understanding import Intent


def failures(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    target = intent.target
    if target.is_reference and re.search(r"\bits?\b|它", conversation.text):
        target = conversation.referent
    sections = []
    found: list[Task | None] = [*tasks_of(desk, target, intent.kind)]
    for task in found or [None]:
        failed, timed_out = desk.gather(*_failure_queries(intent, task))
        rows = [row for result in (failed, timed_out) for row in rows_of(result.content, "instances")]
        names = {task.id: task.name} if task else names_by_id(desk, rows) if rows else {}
        sections.append(
            findings.failures(
                failed, timed_out, names, hours_of(failed), task.label if task else "", desk.language
            )
        )
    return Answer("\n\n".join(sections))


def runs(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    is_running = re.search(r"\b(?:running|in progress)\b|正在|在跑|在运行|在执行", conversation.text.lower())
    hours = intent.scope.hours or DEFAULT_HOURS
    wanted = {"hours": hours, "limit": intent.scope.count or RUNS_SHOWN}
    content = desk.ask("query_instances", **wanted, **({"status": "running"} if is_running else {}))
    rows = rows_of(content, "instances")
    names = names_by_id(desk, rows) if rows else {}
    return Answer(findings.runs(content, names, hours, "running" if is_running else "", desk.language))


def explain(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    target = target_in(conversation, intent)
    if target.run_ids:
        sections = [
            findings.explanation(desk.ask("analyze_failure", instance_id=run_id), "", None, desk.language)
            for run_id in target.run_ids[:MOST_TASKS]
        ]
    elif target.names or target.task_ids:
        sections = [
            _explain_task(desk, task, intent.scope.hours or HOURS_FOR_ONE_TASK)
            for task in tasks_of(desk, target, intent.kind)[:MOST_TASKS]
        ]
    else:
        run_id = newest_failed_run(desk, intent.scope.hours or DEFAULT_HOURS)
        if run_id is None:
            return failures(desk, conversation, Intent(Kind.FAILURES, scope=intent.scope))
        sections = [
            findings.explanation(desk.ask("analyze_failure", instance_id=run_id), "", None, desk.language)
        ]
    return Answer("\n\n".join(sections))


def _explain_task(desk: Desk, task: Task, hours: int) -> str:
    content = desk.ask("query_instances", task_id=task.id, hours=hours, limit=RUNS_OF_ONE_TASK)
    rows = rows_of(content, "instances")
    run_id = newest_id([row for row in rows if row.get("status") in HAS_FAILED])
    if run_id is None:
        return findings.no_failed_run(task.label, rows, hours, content, desk.language)
    latest = newest_id(rows)
    newest = next((row for row in rows if row.get("id") == latest), None)
    return findings.explanation(
        desk.ask("analyze_failure", instance_id=run_id), task.name, newest, desk.language
    )


def list_tasks(desk: Desk, _: Conversation, intent: Intent) -> Answer:
    status = intent.scope.status
    wanted = {"status": status} if status else {}
    return Answer(findings.tasks(desk.ask("query_tasks", limit=50, **wanted), status, desk.language))


def detail(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    found = tasks_of(desk, known_target(conversation, intent), intent.kind)[:MOST_TASKS]
    results = desk.gather(*(("get_task_detail", {"task_id": task.id}) for task in found))
    return Answer(
        "\n\n".join(
            report.tool_error(result, desk.language)
            if result.error
            else findings.detail(result.content, intent.scope.count, desk.language)
            for result in results
        )
    )


def health(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    offered = [name for name in ("get_system_health", "query_workers") if desk.offers(name)]
    results = desk.gather(
        *((name, {}) for name in offered or ["get_system_health"]),
        *(_failure_queries(intent) if desk.offers("query_instances") else []),
    )
    sections = []
    for result in results:
        if result.error and result.tool != "query_instances":
            sections.append(report.tool_error(result, desk.language))
        elif result.tool == "get_system_health":
            sections.append(findings.health(result.content, desk.language))
        elif result.tool == "query_workers":
            sections.append(findings.workers(result.content, desk.language))
    if desk.offers("query_instances"):
        sections.append(failures(desk, conversation, Intent(Kind.FAILURES, scope=intent.scope)).text)
    return Answer("\n\n".join(sections))


def _failure_queries(intent: Intent, task: Task | None = None) -> list[tuple[str, Mapping[str, Any]]]:
    """The two reads that find what people call failures."""
    rows = {"hours": intent.scope.hours or DEFAULT_HOURS, "limit": intent.scope.count or RUNS_SHOWN}
    which = {"task_id": task.id} if task else {}
    return [("query_instances", {"status": status, **rows, **which}) for status in HAS_FAILED]


def workers(desk: Desk, _: Conversation, intent: Intent) -> Answer:
    content = desk.ask("query_workers")
    known = [str(row.get("id")) for row in rows_of(content, "workers") if row.get("id")]
    wanted = [name for name in known if name in intent.target.names] or known
    hours = intent.scope.hours or DEFAULT_HOURS
    sections = [findings.workers(content, desk.language)]
    if wanted and desk.offers("get_worker_load_history"):
        histories = desk.gather(
            *(
                ("get_worker_load_history", {"worker_id": name, "hours": hours})
                for name in wanted[:MOST_TASKS]
            )
        )
        sections += [
            report.tool_error(result, desk.language)
            if result.error
            else findings.load_history(result.content, name, hours_of(result), desk.language)
            for name, result in zip(wanted, histories, strict=False)
        ]
    return Answer("\n\n".join(dict.fromkeys(sections)))


def verify(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    named = intent.target.names
    record = next((one for one in conversation.records if not named or _is_about(one, named)), None)
    if conversation.undecided and not named:
        undecided = phrases.UNDECIDED.filled(tool=f"`{conversation.undecided}`")
        return Answer(undecided.said_in(desk.language))
    if record is None:
        if named or intent.target.task_ids:
            return detail(desk, conversation, intent)
        return Answer(phrases.NO_DECISION.said_in(desk.language))
    return Answer(f"{report.decision(record, desk.language)}\n\n{_fresh_look(desk, record)}".strip())


def _is_about(record: Record, names: Sequence[str]) -> bool:
    return any(folded(name) in folded(record.target) for name in names)


def _fresh_look(desk: Desk, record: Record) -> str:
    """The target as the scheduler has it now; the reason in one sentence when it cannot be shown."""
    target = target_of(record.target)
    try:
        if target.run_ids and not (target.names or target.task_ids):
            facts = desk.ask("analyze_failure", instance_id=target.run_ids[0])
            return findings.explanation(facts, "", None, desk.language)
        tasks = tasks_of(desk, target, Kind.VERIFY)
        if not tasks:
            return ""
        return findings.standing(desk.ask("get_task_detail", task_id=tasks[0].id), desk.language)
    except Told as told:
        return told.text


def why_changed(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    """Who paused, resumed or deleted something: only this conversation's own records know."""
    target = target_in(conversation, intent)
    record = next(
        (one for one in conversation.records if not target.names or _is_about(one, target.names)), None
    )
    said = report.decision(record, desk.language) if record else phrases.NO_REASON_KEPT.said_in(desk.language)
    if not (target.names or target.task_ids):
        return Answer(said)
    try:
        now = detail(desk, conversation, Intent(Kind.DETAIL, target)).text
    except Told as told:
        now = told.text
    return Answer(f"{said}\n\n{now}")


def help_text(desk: Desk, *_: object) -> Answer:
    return Answer(report.help_text(desk.language, understood=True))


def held(desk: Desk, _: Conversation, intent: Intent) -> Answer:
    return Answer(report.held(intent.hold or Hold.NEGATED, intent.target.names, desk.language))
