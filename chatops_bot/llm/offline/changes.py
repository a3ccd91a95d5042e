"""Plans for changes: find exactly one target by reading, then propose. Whatever is unclear becomes a question back.

A proposal goes out without a word: its card says what is asked for, and a refusal is then said once, as what it is.
"""

import re
from collections.abc import Callable, Sequence

from chatops_bot.llm.offline import report, run_findings
from chatops_bot.llm.offline.arguments import mask
from chatops_bot.llm.offline.content import rows_of
from chatops_bot.llm.offline.conversation import Conversation
from chatops_bot.llm.offline.creation import NewTask, on_clocks, said_with_form
from chatops_bot.llm.offline.cues import Kind
from chatops_bot.llm.offline.desk import Answer, Desk, Told
from chatops_bot.llm.offline.lookup import (
    LAST_WEEK,
    MOST_TASKS,
    RUNS_OF_ONE_TASK,
    known_target,
    limit_for,
    newest_failed_run,
    newest_id,
    target_in,
    tasks_of,
)
from chatops_bot.llm.offline.questions import failures
from chatops_bot.llm.offline.run_findings import HAS_FAILED
from chatops_bot.llm.offline.schedules import wrong_cron_in
from chatops_bot.llm.offline.understanding import Intent


def change(tool: str, **fixed: str) -> Callable[[Desk, Conversation, Intent], Answer]:
    """A plan that finds the task and proposes `tool` for it. Where nothing names one, the call goes out without it: a form asks."""

    def plan(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
        is_exact = tool == "delete_task"
        target = target_in(desk, conversation, intent)
        if target.is_empty:
            return desk.propose("", tool, **fixed)
        found = tasks_of(desk, known_target(desk, conversation, intent), intent.kind, is_exact=is_exact)
        return _together([desk.propose("", tool, task_id=task.id, **fixed) for task in found[:MOST_TASKS]])

    return plan


def retry(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    target = target_in(desk, conversation, intent)
    window = intent.window or LAST_WEEK
    runs = list(target.run_ids)
    if not runs and (target.names or target.task_ids):
        for task in tasks_of(desk, target, intent.kind)[:MOST_TASKS]:
            content = desk.ask(
                "query_instances",
                task_id=task.id,
                hours=window.hours,
                limit=limit_for(window, RUNS_OF_ONE_TASK),
            )
            rows = rows_of(content, "instances")
            run_id = newest_id([row for row in rows if row.get("status") in HAS_FAILED])
            if run_id is None:
                raise Told(run_findings.no_failed_run(task.label, content, window, desk.reader))
            runs.append(run_id)
    elif not runs and re.search(
        r"\b(?:last|latest|newest|recent)\b|最近|最后|上次|最新|刚才", conversation.text
    ):
        run_id = newest_failed_run(desk, window)
        if run_id is None:
            return failures(desk, conversation, Intent(Kind.FAILURES))
        runs.append(run_id)
    if not runs:
        return desk.propose("", "retry_failed_instance")  # a form asks which
    return _together(
        [desk.propose("", "retry_failed_instance", instance_id=run_id) for run_id in runs[:MOST_TASKS]]
    )


def create(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    """Propose the task; what the message leaves open, or says wrong, is asked for in a form."""
    task, now = intent.new_task or NewTask(), conversation.now
    if now is not None:
        task = on_clocks(task, conversation.clocks, now)
    message = mask(conversation.text)
    texts = (message.text, *(span.text for span in message.spans if span.kind == "quote"))
    wrong = next(filter(None, map(wrong_cron_in, texts)), None)
    if wrong is None:
        return desk.propose(
            said_with_form(task, conversation.clocks, now, desk.language), "create_task", **task.arguments
        )
    known = {name: value for name, value in task.arguments.items() if name != "cron_expr"}
    if known.get("payload") == wrong[0]:
        del known["payload"]  # the only quotation of the message, which is the wrong expression
    return desk.propose(report.wrong_cron(*wrong, desk.language), "create_task", **known)


def _together(answers: Sequence[Answer]) -> Answer:
    return Answer(
        "\n".join(dict.fromkeys(answer.text for answer in answers if answer.text)),
        tuple(change for answer in answers for change in answer.changes),
    )
