"""What "it" is: the task that the conversation named last.

The session itself comes first: decisions, the people's own words, the results that were shown, newest turn first. Where it
names nothing, the thread's earlier messages are searched for tasks that the scheduler knows. Those are other people's
words: they can name a task, and nothing in them is ever read as a wish.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from chatops_bot.domain.model import AssistantMessage, Message, RecordMessage, UserMessage
from chatops_bot.domain.regex import regex
from chatops_bot.domain.skill import LOAD_SKILL
from chatops_bot.domain.tool import CONSULT_AGENT
from chatops_bot.llm.offline import fillers
from chatops_bot.llm.offline.arguments import NOTHING, Target, ids_in, mask
from chatops_bot.llm.offline.content import Content, arguments_of, id_of, rows_of
from chatops_bot.llm.offline.conversation import Result, results_in
from chatops_bot.llm.offline.decisions import record_of

_NAMED_BY = {LOAD_SKILL: "name", CONSULT_AGENT: "agent_id"}
"""Calls that name what is no task, and the argument that does."""
_SHORTEST_NAME = 3
"""Letters of a Latin name that is found in running text: a task named "db" would be found everywhere."""


def last_named(history: Sequence[Message]) -> Target:
    """What the newest turn that named anything was about, newest first when it named several; NOTHING when none did."""
    for turn in reversed(_turns(history)):
        target = _decided_in(turn) or _asked_in(turn) or _shown_in(turn)
        if target is not None:
            return target
    return NOTHING


def target_of(text: str) -> Target:
    """The task that the target of a decision names, as plans write it: `task nightly-report (#3)`, `run #28 of task …`."""
    numbered = re.search(r"\(#(\d{1,18})\)\s*$", text)
    run = re.match(r"run #(\d{1,18})\b", text)
    runs = (int(run.group(1)),) if run else ()
    if numbered:
        return Target(task_ids=(int(numbered.group(1)),), run_ids=runs)
    name = re.sub(r"^task\s+|\s+\(new\)$", "", text).strip()
    if runs or not name or len(name) > 128:
        return Target(run_ids=runs)
    return Target((name,))


def _turns(history: Sequence[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = [[]]
    for message in history:
        if isinstance(message, UserMessage):
            turns.append([])
        turns[-1].append(message)
    return turns


def _decided_in(turn: Sequence[Message]) -> Target | None:
    records = [record_of(message) for message in turn if isinstance(message, RecordMessage)]
    targets = [target_of(record.target) for record in records if record is not None]
    return targets[-1] if targets and not targets[-1].is_empty else None


def _asked_in(turn: Sequence[Message]) -> Target | None:
    called_upon = {
        str(arguments_of(call).get(_NAMED_BY[call.name])).casefold()
        for message in turn
        if isinstance(message, AssistantMessage)
        for call in message.calls
        if call.name in _NAMED_BY
    }
    for message in turn:
        if isinstance(message, UserMessage):
            masked = mask(message.text)
            said = masked.names_in(masked.text)[::-1]
            names = tuple(name for name in said if name.casefold() not in called_upon)
            ids = ids_in(masked.text).tasks[::-1]
            if names or ids:
                return Target(names, () if names else ids)
    return None


def _shown_in(turn: Sequence[Message]) -> Target | None:
    """The tasks that the results of a turn are about: the one that was looked at whole, else the rows in their order."""
    results = [result for result in results_in(turn) if not result.error and not _is_lookup(result)]
    for rows in (
        [result.content for result in results if result.tool in ("get_task_detail", "analyze_failure")],
        [row for result in results for row in _rows(result.content)],
    ):
        found = tuple(dict.fromkeys(filter(None, map(_task_id, rows))))
        if found:
            return Target(task_ids=found)
    return None


def _is_lookup(result: Result) -> bool:
    """All tasks, read to find names in: nothing that was shown."""
    return result.tool == "query_tasks" and set(result.arguments) == {"limit"}


def _rows(content: Content) -> Iterable[Content]:
    yield from rows_of(content, "tasks")
    yield from rows_of(content, "instances")


def _task_id(row: Content) -> int | None:
    # A run has both ids and belongs to a task; a task has only its own.
    return id_of(row.get("task_id")) or (
        id_of(row.get("id")) if "name" in row or "cron_expr" in row else None
    )


def tasks_named(texts: Sequence[str], known: Sequence[tuple[int, str]]) -> list[int]:
    """Ids of the `known` tasks (id, name) that `texts`, newest first, name; the newest mention first."""
    found: list[int] = []
    for text in texts:
        found += [task_id for task_id in _named_in(text, known) if task_id not in found]
    return found


def _named_in(text: str, known: Sequence[tuple[int, str]]) -> list[int]:
    """By name, the longest names first so that `etl` is not found inside `etl-sync`; by id only where no name stands."""
    left = unicodedata.normalize("NFKC", text).casefold()
    places: list[tuple[int, int]] = []
    for task_id, name in sorted(known, key=lambda task: len(task[1]), reverse=True):
        pattern = _pattern_of(name)
        for match in pattern.finditer(left) if pattern else ():
            places.append((match.start(), task_id))
        left = pattern.sub(lambda match: " " * len(match.group()), left) if pattern else left
    if not places:
        ids = {task_id for task_id, _ in known}
        numbered = re.finditer(r"(?:\b(?:task|job)|任务)\s*(?:id)?\s*[:#]?\s*#?(\d{1,18})(?!\d)", left)
        places = [(match.start(), int(match.group(1))) for match in numbered if int(match.group(1)) in ids]
    return list(dict.fromkeys(task_id for _, task_id in sorted(places, reverse=True)))


def _pattern_of(name: str) -> re.Pattern[str] | None:
    folded = unicodedata.normalize("NFKC", name).casefold().strip()
    if not folded or folded in fillers.ENGLISH or (folded.isascii() and len(folded) < _SHORTEST_NAME):
        return None
    if not folded.isascii():
        return regex(re.escape(folded))
    return regex(rf"(?<![a-z0-9])(?<![a-z0-9][._-]){re.escape(folded)}(?![._-]?[a-z0-9])")
