"""From what a person wrote to one task or run, or to the question that has to be asked back."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chatops_bot.llm.offline import report
from chatops_bot.llm.offline.arguments import NOTHING, Target, ids_in, mask
from chatops_bot.llm.offline.content import Content, rows_of
from chatops_bot.llm.offline.conversation import Conversation
from chatops_bot.llm.offline.cues import Kind
from chatops_bot.llm.offline.desk import Desk, Told
from chatops_bot.llm.offline.quoting import code
from chatops_bot.llm.offline.referent import last_named, tasks_named
from chatops_bot.llm.offline.run_findings import HAS_FAILED
from chatops_bot.llm.offline.understanding import Intent
from chatops_bot.llm.offline.windows import Window

ALL_TASKS = 200
"""Rows asked for when no name matches and the nearest is sought."""

LAST_DAY = Window(24)
LAST_WEEK = Window(168)
"""How far back the last failure of one task is sought when the asker names no window: a weekly task has run once."""

RUNS_OF_ONE_TASK = 50
RUNS_SHOWN = 20
RUNS_IN_A_WINDOW = 200
"""Rows asked for when the window ends before now: the newest rows are then not the ones that were asked about."""
MOST_TASKS = 4
"""Tasks that one sentence may be about; more are not looked at."""

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
    said = report.no_such_task(name, near, bool(everything), desk.language)
    is_skill = folded(name) in map(folded, desk.skills)
    hint = [report.skill_of_that_name(name, desk.language)] if is_skill else []
    raise Told(report.sentences(desk.language, said, *hint))


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


def target_in(desk: Desk, conversation: Conversation, intent: Intent) -> Target:
    """The target of an intent, "it" resolved. Raises Pending, or Told with a question when "it" could be several tasks."""
    if not intent.target.is_reference:
        return intent.target
    named = last_named(conversation.history)
    if named.is_empty:
        named = _named_in_thread(desk, conversation)
    if len(named.names) + len(named.task_ids) > 1:
        labels = [code(name, 128) for name in named.names] or [
            task.label for task in _with_names(desk, named.task_ids)
        ]
        raise Told(report.which_of(intent.kind, labels, desk.language))
    return named


def _named_in_thread(desk: Desk, conversation: Conversation) -> Target:
    """The tasks that the thread's earlier messages name; a lone run where they name no task."""
    if not conversation.earlier:
        return NOTHING
    if desk.offers("query_tasks"):
        known = [(task.id, task.name) for task in _named_rows(desk.ask("query_tasks", limit=ALL_TASKS))]
        found = tasks_named(conversation.earlier, known)
        if found:
            return Target(task_ids=tuple(found))
    runs = {run for text in conversation.earlier for run in ids_in(mask(text).text).runs}
    return Target(run_ids=tuple(runs)) if len(runs) == 1 else NOTHING


def _with_names(desk: Desk, task_ids: Sequence[int]) -> list[Task]:
    if not desk.offers("query_tasks"):
        return [Task(task_id) for task_id in task_ids]
    (result,) = desk.gather(("query_tasks", {"limit": ALL_TASKS}))
    names = {task.id: task.name for task in _named_rows(result.content)}
    return [Task(task_id, names.get(task_id, "")) for task_id in task_ids]


def known_target(desk: Desk, conversation: Conversation, intent: Intent) -> Target:
    """The target of an intent that cannot do without one. Raises Told when neither text nor thread names it."""
    target = target_in(desk, conversation, intent)
    if not (target.names or target.task_ids):
        raise Told(report.which_task(intent.kind, conversation.language))
    return target


def newest_id(rows: Sequence[object]) -> int | None:
    ids = [row.get("id") for row in rows if isinstance(row, dict)]
    return max((one for one in ids if isinstance(one, int)), default=None)


def newest_failed_run(desk: Desk, window: Window) -> int | None:
    """The newest failed or timed-out run of any task. Raises Pending, or Told when it cannot be known."""
    results = desk.gather(
        *(
            ("query_instances", {"status": status, "hours": window.hours, "limit": limit_for(window)})
            for status in HAS_FAILED
        )
    )
    for result in results:
        if result.error:
            raise Told(report.tool_error(result, desk.language))
    rows = [row for result in results for row in rows_of(result.content, "instances")]
    return newest_id([row for row in rows if window.holds(row.get("trigger_time"))])


def limit_for(window: Window, usual: int = RUNS_SHOWN) -> int:
    """Rows to ask for, so that a window that ends before now is reached."""
    return usual if window.until is None else RUNS_IN_A_WINDOW
