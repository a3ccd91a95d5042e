"""Plans for changes: find exactly one target by reading, then propose. Whatever is unclear becomes a question back."""

import re
from collections.abc import Callable, Sequence

from chatops_bot.llm.offline import findings, report
from chatops_bot.llm.offline.conversation import Conversation, rows_of
from chatops_bot.llm.offline.creation import NewTask, asking_for_facts
from chatops_bot.llm.offline.cues import Kind
from chatops_bot.llm.offline.desk import Answer, Desk, Told
from chatops_bot.llm.offline.lookup import (
    HAS_FAILED,
    HOURS_FOR_ONE_TASK,
    MOST_TASKS,
    RUNS_OF_ONE_TASK,
    known_target,
    newest_failed_run,
    newest_id,
    target_in,
    tasks_of,
)
from chatops_bot.llm.offline.questions import failures
from chatops_bot.llm.offline.understanding import Intent


def change(tool: str, **fixed: str) -> Callable[[Desk, Conversation, Intent], Answer]:
    """A plan that finds the task and proposes `tool` for it."""

    def plan(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
        is_exact = tool == "delete_task"
        found = tasks_of(desk, known_target(conversation, intent), intent.kind, is_exact=is_exact)
        proposals = [
            desk.propose(
                report.asking(intent.kind, task.label, desk.language), tool, task_id=task.id, **fixed
            )
            for task in found[:MOST_TASKS]
        ]
        return _together(proposals)

    return plan


def retry(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    target = target_in(conversation, intent)
    hours = intent.scope.hours or HOURS_FOR_ONE_TASK
    runs: list[tuple[int, str]] = [(run_id, "") for run_id in target.run_ids]
    if not runs and (target.names or target.task_ids):
        for task in tasks_of(desk, target, intent.kind)[:MOST_TASKS]:
            content = desk.ask("query_instances", task_id=task.id, hours=hours, limit=RUNS_OF_ONE_TASK)
            rows = rows_of(content, "instances")
            run_id = newest_id([row for row in rows if row.get("status") in HAS_FAILED])
            if run_id is None:
                raise Told(findings.no_failed_run(task.label, rows, hours, content, desk.language))
            runs.append((run_id, task.label))
    elif not runs and re.search(
        r"\b(?:last|latest|newest|recent)\b|最近|最后|上次|最新|刚才", conversation.text
    ):
        run_id = newest_failed_run(desk, hours)
        if run_id is None:
            return failures(desk, conversation, Intent(Kind.FAILURES))
        runs.append((run_id, ""))
    if not runs:
        raise Told(report.which_task(intent.kind, desk.language))
    return _together(
        [
            desk.propose(
                report.asking_retry(run_id, label, desk.language),
                "retry_failed_instance",
                instance_id=run_id,
            )
            for run_id, label in runs[:MOST_TASKS]
        ]
    )


def create(desk: Desk, _: Conversation, intent: Intent) -> Answer:
    """Propose the task; what the message leaves open is asked for in a form."""
    task = intent.new_task or NewTask()
    asking = (
        asking_for_facts(task, desk.language) if task.missing else report.asking_create(task, desk.language)
    )
    return desk.propose(asking, "create_task", **task.arguments)


def _together(answers: Sequence[Answer]) -> Answer:
    return Answer(
        "\n".join(dict.fromkeys(answer.text for answer in answers)),
        tuple(change for answer in answers for change in answer.changes),
    )
