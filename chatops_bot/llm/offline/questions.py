"""Plans for questions: what to look up, in which order, and which report to write from it.

No plan here calls a tool that changes anything.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from chatops_bot.domain.language import Phrase
from chatops_bot.llm.offline import phrases, report, run_findings, task_findings, worker_findings
from chatops_bot.llm.offline.arguments import NOTHING, Target
from chatops_bot.llm.offline.content import rows_of
from chatops_bot.llm.offline.conversation import Conversation, Result
from chatops_bot.llm.offline.cues import Hold, Kind
from chatops_bot.llm.offline.decisions import OpenProposal, Record
from chatops_bot.llm.offline.desk import Answer, Desk, Told, hours_of
from chatops_bot.llm.offline.lookup import (
    LAST_DAY,
    LAST_WEEK,
    MOST_TASKS,
    RUNS_OF_ONE_TASK,
    Task,
    folded,
    known_target,
    limit_for,
    names_by_id,
    newest_failed_run,
    newest_id,
    target_in,
    tasks_of,
)
from chatops_bot.llm.offline.referent import target_of
from chatops_bot.llm.offline.run_findings import HAS_FAILED
from chatops_bot.llm.offline.understanding import Intent
from chatops_bot.llm.offline.windows import Window


def failures(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    target = intent.target
    if target.is_reference and re.search(r"\bits?\b|它", conversation.text):
        target = target_in(desk, conversation, intent)
    sections = []
    found: list[Task | None] = [*tasks_of(desk, target, intent.kind)]
    for task in found or [None]:
        failed, timed_out = desk.gather(*_failure_queries(intent, task))
        rows = [row for result in (failed, timed_out) for row in rows_of(result.content, "instances")]
        names = {task.id: task.name} if task else names_by_id(desk, rows) if rows else {}
        subject = task.label if task else ""
        sections.append(
            run_findings.failures(failed, timed_out, names, _covered(intent, failed), subject, desk.reader)
        )
    return Answer("\n\n".join(sections))


def runs(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    is_running = re.search(r"\b(?:running|in progress)\b|正在|在跑|在运行|在执行", conversation.text.lower())
    window = intent.window or LAST_DAY
    wanted = {"hours": window.hours, "limit": intent.scope.count or limit_for(window)}
    content = desk.ask("query_instances", **wanted, **({"status": "running"} if is_running else {}))
    rows = rows_of(content, "instances")
    names = names_by_id(desk, rows) if rows else {}
    return Answer(run_findings.runs(content, names, window, "running" if is_running else "", desk.reader))


def explain(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    target = target_in(desk, conversation, intent)
    if target.run_ids:
        sections = [
            run_findings.explanation(desk.ask("analyze_failure", instance_id=run_id), "", (), desk.reader)
            for run_id in target.run_ids[:MOST_TASKS]
        ]
    elif target.names or target.task_ids:
        sections = [
            _explain_task(desk, task, intent.window or LAST_WEEK)
            for task in tasks_of(desk, target, intent.kind)[:MOST_TASKS]
        ]
    else:
        return _newest_failure(desk, conversation, intent)
    return Answer("\n\n".join(sections))


def _newest_failure(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    """The newest failure of any task. Where "it" was asked about, nobody may take that for the answer."""
    said = phrases.NOTHING_NAMED.said_in(desk.language) if intent.target.is_reference else ""
    run_id = newest_failed_run(desk, intent.window or LAST_DAY)
    if run_id is None:
        others = Intent(Kind.FAILURES, scope=intent.scope, window=intent.window)
        return Answer(run_findings.lines(said, failures(desk, conversation, others).text))
    if said:
        said += phrases.NEWEST_OF_ANY.said_in(desk.language)
    facts = desk.ask("analyze_failure", instance_id=run_id)
    return Answer(run_findings.lines(said, run_findings.explanation(facts, "", (), desk.reader)))


def _explain_task(desk: Desk, task: Task, window: Window) -> str:
    limit = limit_for(window, RUNS_OF_ONE_TASK)
    content = desk.ask("query_instances", task_id=task.id, hours=window.hours, limit=limit)
    rows = [row for row in rows_of(content, "instances") if window.holds(row.get("trigger_time"))]
    run_id = newest_id([row for row in rows if row.get("status") in HAS_FAILED])
    if run_id is None:
        return run_findings.no_failed_run(task.label, content, window, desk.reader)
    facts = desk.ask("analyze_failure", instance_id=run_id)
    return run_findings.explanation(facts, task.name, rows_of(content, "instances"), desk.reader)


def list_tasks(desk: Desk, _: Conversation, intent: Intent) -> Answer:
    status = intent.scope.status
    wanted = {"status": status} if status else {}
    return Answer(task_findings.tasks(desk.ask("query_tasks", limit=50, **wanted), status, desk.reader))


def detail(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    found = tasks_of(desk, known_target(desk, conversation, intent), intent.kind)[:MOST_TASKS]
    results = desk.gather(*(("get_task_detail", {"task_id": task.id}) for task in found))
    return Answer(
        "\n\n".join(
            report.tool_error(result, desk.language)
            if result.error
            else task_findings.detail(result.content, intent.scope.count, desk.reader)
            for result in results
        )
    )


def condition(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    """Whether a task runs as it should: how its runs ended comes first, then how it stands."""
    found = tasks_of(desk, intent.target, intent.kind)[:MOST_TASKS]
    results = desk.gather(*(("get_task_detail", {"task_id": task.id}) for task in found))
    return Answer(
        "\n\n".join(
            report.tool_error(result, desk.language)
            if result.error
            else task_findings.condition(result.content, desk.reader)
            for result in results
        )
    )


def thanks(desk: Desk, conversation: Conversation, _: Intent) -> Answer:
    """A word back; what still waits is not decided by "ok"."""
    waiting = [report.undecided(one, desk.language) for one in conversation.proposals]
    return Answer(report.joined(waiting) or phrases.WELCOME.said_in(desk.language))


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
            sections.append(worker_findings.health(result.content, desk.reader))
        elif result.tool == "query_workers":
            sections.append(worker_findings.workers(result.content, desk.reader))
    if desk.offers("query_instances"):
        failed = Intent(Kind.FAILURES, scope=intent.scope, window=intent.window)
        sections.append(failures(desk, conversation, failed).text)
    return Answer("\n\n".join(sections))


def _failure_queries(intent: Intent, task: Task | None = None) -> list[tuple[str, Mapping[str, Any]]]:
    """The two reads that find what people call failures."""
    window = intent.window or LAST_DAY
    rows = {"hours": window.hours, "limit": intent.scope.count or limit_for(window)}
    which = {"task_id": task.id} if task else {}
    return [("query_instances", {"status": status, **rows, **which}) for status in HAS_FAILED]


def _covered(intent: Intent, result: Result) -> Window:
    """The window that was asked about, cut to what the tool was allowed to look at."""
    window = intent.window or LAST_DAY
    return replace(window, hours=hours_of(result)) if window.since is None else window


def workers(desk: Desk, _: Conversation, intent: Intent) -> Answer:
    content = desk.ask("query_workers")
    known = [str(row.get("id")) for row in rows_of(content, "workers") if row.get("id")]
    wanted = [name for name in known if name in intent.target.names] or known
    hours = (intent.window or LAST_DAY).hours
    sections = [worker_findings.workers(content, desk.reader)]
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
            else worker_findings.load_history(result.content, name, hours_of(result), desk.reader)
            for name, result in zip(wanted, histories, strict=False)
        ]
    return Answer("\n\n".join(dict.fromkeys(sections)))


def verify(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    """What became of a change: whether it is still open, who decided, and how its target stands now."""
    about = partial(_is_about, text=conversation.text, target=intent.target)
    is_named = bool(intent.target.names or intent.target.task_ids)
    waiting = [one for one in conversation.proposals if about(one)]
    coded = (one for one in conversation.records if _is_coded(one, conversation.text))
    record = next(coded, None) or next((one for one in conversation.records if about(one)), None)
    if record is not None and waiting and waiting[0].place > record.place:
        record = None  # asked about the newer one
    sections = [report.undecided(one, desk.language) for one in waiting]
    if record is not None:
        undone = next((one for one in conversation.records if _took_back(one, record)), None)
        taken_back = report.taken_back(undone, desk.reader) if undone is not None else ""
        sections += [report.decision(record, desk.reader), taken_back, _fresh_look(desk, record)]
    if not sections and is_named:
        return detail(desk, conversation, intent)
    return Answer(report.joined(sections) or phrases.NO_DECISION.said_in(desk.language))


def _is_about(one: Record | OpenProposal, text: str, target: Target) -> bool:
    """Whether a question is about this change: by its code, its target's name or id; a question that names none is about any."""
    if _is_coded(one, text):
        return True
    known = target_of(one.target)
    ids = {*known.task_ids, *target_of_call(one).task_ids}
    if not (target.names or target.task_ids):
        return True
    named = any(folded(name) in folded(one.target) for name in target.names)
    return named or bool(ids & set(target.task_ids))


def _is_coded(one: Record | OpenProposal, text: str) -> bool:
    return bool(
        one.code and re.search(rf"(?<![a-z0-9]){re.escape(one.code)}(?![a-z0-9])", text, re.IGNORECASE)
    )


def _took_back(one: Record, record: Record) -> bool:
    return bool(record.code) and one.takes_back == record.code and one.state == "applied"


def target_of_call(one: Record | OpenProposal) -> Target:
    task_id = one.arguments.get("task_id") if isinstance(one, OpenProposal) else None
    return Target(task_ids=(task_id,)) if isinstance(task_id, int) else NOTHING


def _fresh_look(desk: Desk, record: Record) -> str:
    """The target as the scheduler has it now; the reason in one sentence when it cannot be shown."""
    target = target_of(record.target)
    try:
        if target.run_ids and not (target.names or target.task_ids):
            facts = desk.ask("analyze_failure", instance_id=target.run_ids[0])
            return run_findings.explanation(facts, "", (), desk.reader)
        tasks = tasks_of(desk, target, Kind.VERIFY)
        if not tasks:
            return ""
        return task_findings.standing(desk.ask("get_task_detail", task_id=tasks[0].id), desk.reader)
    except Told as told:
        return told.text


def why_changed(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    """Who paused, resumed or deleted something: only this conversation's own records know."""
    target = target_in(desk, conversation, intent)
    record = next((one for one in conversation.records if _is_about(one, "", target)), None)
    said = report.decision(record, desk.reader) if record else phrases.NO_REASON_KEPT.said_in(desk.language)
    if not (target.names or target.task_ids):
        return Answer(said)
    try:
        now = detail(desk, conversation, Intent(Kind.DETAIL, target)).text
    except Told as told:
        now = told.text
    return Answer(f"{said}\n\n{now}")


def cannot_alter(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    """What can be proposed instead, and the task as it is."""
    said = phrases.CANNOT_ALTER.said_in(desk.language)
    if intent.target.is_empty:
        return Answer(said)
    try:
        now = detail(desk, conversation, Intent(Kind.DETAIL, intent.target)).text
    except Told as told:
        now = told.text
    return Answer(f"{said}\n\n{now}")


def help_text(
    desk: Desk, conversation: Conversation, _: Intent | None = None, *, understood: bool = True
) -> Answer:
    agent = next(iter(conversation.agents), "")
    skills = bool(desk.skills)
    before = phrases.WITHOUT_THE_MODEL if conversation.is_standing_in else phrases.NOT_UNDERSTOOD
    before_it = None if understood else before
    return Answer(report.help_text(desk.language, before=before_it, skills=skills, agent=agent))


_NOT_CALLED = {
    Kind.SKILL: Phrase("好的，不用技能{names}。", "No skill is used, as you said{names}."),
    Kind.CONSULT: Phrase("好的，不去咨询{names}。", "Nobody else is asked, as you said{names}."),
}


def held(desk: Desk, _: Conversation, intent: Intent) -> Answer:
    """What was forbidden is not done."""
    not_called = _NOT_CALLED.get(intent.held) if intent.held else None
    if not_called is not None:
        names = report.listed(intent.target.names)
        return Answer(not_called.filled(names=f" ({names})" if names else "").said_in(desk.language))
    return Answer(report.held(intent.hold or Hold.NEGATED, intent.target.names, desk.language))
