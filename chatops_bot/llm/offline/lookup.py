"""From what a person wrote to one task or run, or to the question that has to be asked back."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chatops_bot.llm.offline import report
from chatops_bot.llm.offline.arguments import Target
from chatops_bot.llm.offline.conversation import Content, Conversation, rows_of
from chatops_bot.llm.offline.cues import Kind
from chatops_bot.llm.offline.desk import Desk, Told
from chatops_bot.llm.offline.understanding import Intent

ALL_TASKS = 200
"""Rows asked for when no name matches and the nearest is sought."""

DEFAULT_HOURS = 24
HOURS_FOR_ONE_TASK = 168
"""How far back the last failure of one task is sought when the asker names no window: a weekly task has run once."""

RUNS_OF_ONE_TASK = 50
RUNS_SHOWN = 20
MOST_TASKS = 4
"""Tasks that one sentence may be about; more are not looked at."""

HAS_FAILED = ("failed", "timeout")
"""What people call a failure."""

_NEAREST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Task:
    """A task that was found. `name` is empty when only its id is known so far."""

    id: int
    name: str = ""

    @property
    def label(self) -> str:
        return report.task_label({"id": self.id, "name": self.name})


def tasks_of(desk: Desk, target: Target, kind: Kind, *, is_exact: bool = False) -> list[Task]:
    """The tasks of a target that names at least one. `is_exact`: part of a name is not enough.

    Raises Pending, or Told with a question when a name fits none or several.
    """
    return [
        *(Task(task_id) for task_id in target.task_ids),
        *(_by_name(desk, name, is_exact) for name in target.names),
    ]


def _by_name(desk: Desk, name: str, is_exact: bool) -> Task:
    found = desk.ask("query_tasks", name=name)
    rows = _named_rows(found)
    exact = [task for task in rows if folded(task.name) == folded(name)]
    if len(exact) == 1:
        return exact[0]
    if len(rows) == 1 and not _has_more(found, len(rows)):
        if is_exact:
            raise Told(report.exact_for_delete({"id": rows[0].id, "name": rows[0].name}, desk.language))
        return rows[0]
    if rows:
        shown = [{"id": task.id, "name": task.name} for task in exact or rows]
        raise Told(report.several_tasks(name, shown, desk.language))
    everything = _named_rows(desk.ask("query_tasks", limit=ALL_TASKS))
    same = [task for task in everything if folded(task.name) == folded(name)]
    if len(same) == 1:
        return same[0]
    near = nearest(name, [task.name for task in everything])
    raise Told(report.no_such_task(name, near, bool(everything), desk.language))


def _named_rows(content: Content) -> list[Task]:
    return [
        Task(row["id"], row["name"])
        for row in rows_of(content, "tasks")
        if isinstance(row.get("id"), int) and isinstance(row.get("name"), str) and row["name"]
    ]


def _has_more(content: Content, shown: int) -> bool:
    total = content.get("total_matched")
    return bool(content.get("truncated")) or (isinstance(total, int) and total > shown)


def folded(name: str) -> str:
    """A name as it sounds: case, width, and the choice of space, hyphen or underscore do not count."""
    return re.sub(r"[\s_-]+", "-", unicodedata.normalize("NFKC", name).casefold().strip())


def nearest(name: str, names: Sequence[str]) -> list[str]:
    """The names within a third of the length by edit distance, or that share a word of it; nearest first, 3 at most."""
    wanted = folded(name)[:64]
    words = {word for word in wanted.split("-") if len(word) > 2}
    scored = []
    for candidate in dict.fromkeys(names):
        other = folded(candidate)[:64]
        distance = edit_distance(wanted, other)
        if distance <= max(2, len(wanted) // 3) or words & set(other.split("-")):
            scored.append((distance, candidate))
    return [candidate for _, candidate in sorted(scored)[:_NEAREST_SHOWN]]


def edit_distance(left: str, right: str) -> int:
    """Levenshtein distance: insertions, deletions and substitutions, each counting one."""
    row = list(range(len(right) + 1))
    for place, character in enumerate(left, 1):
        corner, row[0] = row[0], place
        for column, other in enumerate(right, 1):
            corner, row[column] = (
                row[column],
                min(row[column] + 1, row[column - 1] + 1, corner + (character != other)),
            )
    return row[-1]


def names_by_id(desk: Desk, rows: Sequence[Mapping[str, object]]) -> Mapping[int, str]:
    """Names for the tasks of runs, where the runs do not bring them and the tool is offered. Raises Pending."""
    if not desk.offers("query_tasks") or all(row.get("task_name") for row in rows):
        return {}
    (result,) = desk.gather(("query_tasks", {"limit": ALL_TASKS}))
    return {task.id: task.name for task in _named_rows(result.content)}


def target_in(conversation: Conversation, intent: Intent) -> Target:
    return conversation.referent if intent.target.is_reference else intent.target


def known_target(conversation: Conversation, intent: Intent) -> Target:
    """The target of an intent that cannot do without one. Raises Told when neither text nor history names it."""
    target = target_in(conversation, intent)
    if not (target.names or target.task_ids):
        raise Told(report.which_task(intent.kind, conversation.language))
    return target


def newest_id(rows: Sequence[object]) -> int | None:
    ids = [row.get("id") for row in rows if isinstance(row, dict)]
    return max((one for one in ids if isinstance(one, int)), default=None)


def newest_failed_run(desk: Desk, hours: int) -> int | None:
    """The newest failed or timed-out run of any task. Raises Pending, or Told when it cannot be known."""
    results = desk.gather(
        *(
            ("query_instances", {"status": status, "hours": hours, "limit": RUNS_SHOWN})
            for status in HAS_FAILED
        )
    )
    for result in results:
        if result.error:
            raise Told(report.tool_error(result, desk.language))
    return newest_id([row for result in results for row in rows_of(result.content, "instances")])
