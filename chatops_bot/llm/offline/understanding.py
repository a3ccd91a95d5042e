"""From a message to what is wanted.

A message is masked, split into sentences and clauses, and each clause is read on its own: first for a changing verb that
somebody really asks for, then for a question. Reading errs on one side: whatever looks like a prohibition, a condition,
a later time or "all of them" is held and explained, never acted on.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime

from chatops_bot.domain.regex import regex
from chatops_bot.llm.offline import cues
from chatops_bot.llm.offline.alterations import is_alteration
from chatops_bot.llm.offline.arguments import (
    NAME_CHARS,
    NOTHING,
    Ids,
    Masked,
    Scope,
    Target,
    count_in,
    ids_in,
    mask,
    plain_name_in,
)
from chatops_bot.llm.offline.called_upon import CalledUpon, called_upon
from chatops_bot.llm.offline.creation import NewTask, new_task_in
from chatops_bot.llm.offline.cues import WRITES, Hold, Kind
from chatops_bot.llm.offline.verbs import REPORTING, Wish, creates_alone, is_prohibition, wish_in
from chatops_bot.llm.offline.windows import Window, window_in

_MOST_INTENTS = 4
_LONGEST_TEXT = 12_000
"""Characters in which names and quotations are found; a longer message is a paste, and its first lines say what is wanted."""

_LONGEST_READ = 2000
"""Characters of it that are read as words, names and quotations counting one each."""

_SENTENCE_END = regex(r"[!?;\n。]+|\.(?=\s|$)")
_ASKING = regex(r"\s*(?:why|who|what|when|which|how)\b")
_CLAUSE_END = regex(
    r"[,、]|\b(?:and then|and also|and|then|also|plus)\b|\b(?=(?:but|instead)\b)"
    r"|并且|(?<!合)并(?![发行])|然后|接着(?!跑|运行|执行)|同时|另外|顺便|以及|(?=但是|但|不过|而是)"
)
_BETWEEN = regex(
    r"\bbetween\b(?P<first>[^,、]{1,40}?)\band\b(?=\s*(?:(?:yesterday|today|this morning)\s+(?:at\s+)?)?\d)"
)

EVERYTHING = Scope()


@dataclass(frozen=True, slots=True)
class Intent:
    """One thing that is wanted. `hold` is set for Kind.HELD, `new_task` for Kind.CREATE.

    `window` is None where the sentence names no time. `is_bare`: a task or run was named and nothing asked; it is shown unless something else of the message is about it.
    `held` is the change that Kind.HELD keeps from being made. `said` is the skill or agent that is called upon, as people put it.
    """

    kind: Kind
    target: Target = NOTHING
    scope: Scope = EVERYTHING
    window: Window | None = None
    hold: Hold | None = None
    new_task: NewTask | None = None
    is_bare: bool = False
    held: Kind | None = field(default=None, compare=False)
    said: str = ""


def understand(text: str, now: datetime | None = None) -> tuple[Intent, ...]:
    """What a message asks for, in its order; empty when no rule understands it. Never fails.

    `now`: the time where the asker is, by which "yesterday" and dates are read; without it they are whole hours back.
    """
    message = mask(text[:_LONGEST_TEXT])
    intents: list[Intent] = []
    for sentence in _SENTENCE_END.split(cues.POLITE_CONDITION.sub(" ", message.text[:_LONGEST_READ])):
        if cues.RETRACTION.fullmatch(sentence) and any(intent.kind in WRITES for intent in intents):
            intents = [_held(intent) for intent in intents]
            continue
        if any(intent.kind in (Kind.CREATE, Kind.CONSULT) for intent in intents):
            continue  # the whole message describes the new task, or is what the agent is asked
        first = len(intents)
        _read_sentence(message, sentence, intents, now)
        intents[first:] = _with_time_apart(sentence, intents[first:], now)
    joined = _joined(intents)
    # A greeting or thanks are answered only where nothing else is asked.
    wanted = tuple(intent for intent in joined if intent.kind not in (Kind.HELP, Kind.THANKS))
    return (wanted or joined)[:_MOST_INTENTS]


def with_skills(intents: tuple[Intent, ...], known: Collection[str]) -> tuple[Intent, ...]:
    """`intents` where skills of the `known` names can be used: what else is asked beside one is what it is to be used for.

    Who says to use what is none of them, and does not call it a skill, has named a task.
    """
    told = tuple(_skill_or_task(intent, known) for intent in intents)
    used = [intent for intent in told if intent.kind is Kind.SKILL]
    if not used:
        return told
    about = [intent for intent in told if intent.kind not in {*WRITES, Kind.SKILL, Kind.HELD}]
    target = next((each.target for each in (*used, *about) if not each.target.is_empty), NOTHING)
    window = next((each.window for each in (*used, *about) if each.window is not None), None)
    first = replace(used[0], target=target, window=window)
    return tuple(first if each is used[0] else each for each in told if each not in about)


def _skill_or_task(intent: Intent, known: Collection[str]) -> Intent:
    if intent.kind is not Kind.SKILL and any(name.endswith((".py", ".sh")) for name in intent.target.names):
        of = next((name for name in intent.target.names if name.casefold() in known), "")
        return Intent(Kind.SCRIPT, said=of) if of else intent
    if intent.kind is not Kind.SKILL or not intent.is_bare:
        return intent
    if intent.said.casefold() not in known:
        return replace(intent, kind=Kind.DETAIL, said="")
    others = tuple(name for name in intent.target.names if name != intent.said)
    return replace(intent, target=replace(intent.target, names=others), is_bare=False)


def _held(intent: Intent, why: Hold = Hold.NEGATED) -> Intent:
    return Intent(Kind.HELD, intent.target, hold=why, held=intent.kind) if intent.kind in WRITES else intent


def _read_sentence(message: Masked, sentence: str, intents: list[Intent], now: datetime | None) -> None:
    hold = next((hold for hold, pattern in cues.HOLDS if pattern.search(sentence)), None)
    is_prohibited = is_reported = False
    first = len(intents)
    clauses = _clauses_of(sentence)
    recurs = cues.RECURRING.search(sentence) is not None
    is_new = recurs and any(map(_creates, clauses))
    for clause in clauses:
        if cues.CONTRAST.match(clause.lstrip()):
            is_prohibited = False
            clause = cues.CONTRAST.sub(" ", clause, count=1)
        if cues.RETRACTION.fullmatch(clause) and any(intent.kind in WRITES for intent in intents):
            intents[:] = [_held(intent) for intent in intents]
            continue
        upon = called_upon(message, clause)
        if upon is not None:
            intents.append(_called(upon, hold, window_in(clause, now)))
            if upon.kind is Kind.CONSULT:
                return
            continue
        wish = wish_in(clause)
        if recurs and is_new and creates_alone(clause):
            wish = Wish(Kind.CREATE, clause)
        elif wish is not None and recurs and wish.kind is Kind.TRIGGER:
            named = Target(message.names_in(clause), ids_in(clause).tasks)
            if not named.is_empty and not is_new:
                intents.append(Intent(Kind.ALTER, named))
                continue
            wish = replace(wish, kind=Kind.CREATE)
            is_prohibited = is_prohibited or any(map(is_prohibition, clauses))
        if wish is None:
            forbids = is_prohibition(clause)
            is_prohibited = is_prohibited or forbids
            is_reported = is_reported or REPORTING.search(clause) is not None
            if forbids and not _is_question(clause):
                intents.append(Intent(Kind.HELD, Target(message.names_in(clause)), hold=Hold.NEGATED))
            elif is_alteration(clause):
                intents.append(Intent(Kind.ALTER, Target(message.names_in(clause), ids_in(clause).tasks)))
            else:
                _read_question(message, clause, intents, now)
            continue
        held = (
            Hold.NEGATED if is_prohibited else Hold.REPORTED if is_reported and not wish.is_polite else hold
        )
        if wish.kind is Kind.CREATE:
            # What was only named before is what the task is to run.
            spoken = [intent for intent in intents[first:] if not intent.is_bare]
            intents[first:] = [*spoken, _creation(message, held)]
            return
        held = held or (Hold.PART if wish.is_partial else None)
        intent = Intent(wish.kind, _target(message, clause, wish.kind, wish.words))
        intents.append(_held(intent, held) if held else intent)
    if any(intent.hold is Hold.CONDITIONAL for intent in intents[first:]):
        # "If it fails again, …": the condition is not a question.
        intents[first:] = [intent for intent in intents[first:] if intent.kind is Kind.HELD]


_ASKS_OF_A_TIME = frozenset({Kind.FAILURES, Kind.RUNS, Kind.EXPLAIN, Kind.HEALTH, Kind.WORKERS})
"""Questions that a time in a clause of its own belongs to: "since 14:00, what failed?"."""


def _clauses_of(sentence: str) -> list[str]:
    return _CLAUSE_END.split(_BETWEEN.sub(r"between\g<first>to", sentence))


def _with_time_apart(sentence: str, asked: list[Intent], now: datetime | None) -> list[Intent]:
    """What a sentence asks, with the time that a clause of it names and nothing else."""
    if not any(each.window is None and each.kind in _ASKS_OF_A_TIME for each in asked):
        return asked
    apart = (each for each in _clauses_of(sentence) if not any(cue.search(each) for _, cue in cues.QUESTIONS))
    window = next((window for clause in apart if (window := window_in(clause, now)) is not None), None)
    return [
        replace(each, window=window) if each.window is None and each.kind in _ASKS_OF_A_TIME else each
        for each in asked
    ]


def _creation(message: Masked, held: Hold | None) -> Intent:
    """A schedule speaks of every day and of times: only these three hold a creation."""
    if held in (Hold.NEGATED, Hold.CONDITIONAL, Hold.REPORTED):
        return Intent(Kind.HELD, hold=held, held=Kind.CREATE)
    return Intent(Kind.CREATE, new_task=new_task_in(message))


def _called(upon: CalledUpon, hold: Hold | None, window: Window | None) -> Intent:
    if upon.kind is Kind.HELD:
        return Intent(Kind.HELD, Target((upon.said,) if upon.said else ()), hold=Hold.NEGATED)
    if upon.kind is not Kind.SKILLS and hold in (Hold.CONDITIONAL, Hold.DEFERRED):
        return Intent(Kind.HELD, hold=hold)
    names = (upon.said, *upon.names) if upon.is_bare else upon.names
    return Intent(upon.kind, Target(names), window=window, is_bare=upon.is_bare, said=upon.said)


def _creates(clause: str) -> bool:
    wish = wish_in(clause)
    return creates_alone(clause) or (wish is not None and wish.kind is Kind.CREATE)


def _is_question(clause: str) -> bool:
    return cues.CHINESE_QUESTION.search(clause) is not None or _ASKING.match(clause) is not None


def _read_question(message: Masked, clause: str, intents: list[Intent], now: datetime | None) -> None:
    kind = next((kind for kind, pattern in cues.QUESTIONS if pattern.search(clause)), None)
    names = message.names_in(clause)
    if kind in (None, Kind.HEALTH) and (names or ids_in(clause).tasks) and cues.CONDITION.search(clause):
        intents.append(Intent(Kind.CONDITION, Target(names, () if names else ids_in(clause).tasks)))
        return
    looks = cues.LOOK.search(clause) is not None
    if kind is None and looks and not (names or ids_in(clause) != Ids()):
        window = window_in(clause, now)
        intents.append(Intent(Kind.EXPLAIN, Target(is_reference=window is None), window=window))
        return
    if kind is None:
        _read_bare(message, clause, names, intents)
        return
    if kind is Kind.FAILURES and looks and len(names) == 1:
        kind = Kind.EXPLAIN
    if kind is Kind.EXPLAIN and cues.CHANGED.search(clause) and not cues.FAILURE.search(clause):
        kind = Kind.WHY_CHANGED
    target = _target(message, clause, kind, clause)
    if kind is Kind.DETAIL and target.is_empty and cues.SUCCESS_RATE.search(clause):
        kind = Kind.HEALTH
    elif kind is Kind.DETAIL and target.is_empty:
        kind = Kind.LIST if re.search(r"task|job|任务", clause) else Kind.DETAIL
    if kind in (Kind.HEALTH, Kind.LIST, Kind.RUNS) and (target.names or target.task_ids):
        kind = Kind.DETAIL
    elif kind is Kind.FAILURES and target.run_ids:
        kind = Kind.EXPLAIN
    status = next((word for word, pattern in cues.STATUS_FILTERS if pattern.search(clause)), "")
    scope = Scope(count_in(clause), status if kind is Kind.LIST else "")
    window = window_in(clause, now)
    is_about_the_thread = (
        kind in (Kind.EXPLAIN, Kind.WHY_CHANGED, Kind.DETAIL) and target.is_empty and window is None
    )
    if is_about_the_thread and not cues.SOME_OTHER.search(clause):
        target = Target(is_reference=True)
    intents.append(Intent(kind, target, scope, window))


def _read_bare(message: Masked, clause: str, names: tuple[str, ...], intents: list[Intent]) -> None:
    """A clause without any cue: more names for the intent before it, or a task to look at."""
    ids = ids_in(clause)
    if not (names or ids.tasks or ids.runs):
        return
    last = intents[-1] if intents else None
    takes_more = (
        last is not None and last.target.names and re.fullmatch(rf"(?:\s|{cues.NAME}|和|与)*", clause)
    )
    if last is not None and takes_more:
        intents[-1] = replace(last, target=replace(last.target, names=last.target.names + names))
    elif ids.runs:
        intents.append(Intent(Kind.EXPLAIN, Target(run_ids=ids.runs), is_bare=True))
    else:
        intents.append(Intent(Kind.DETAIL, Target(names, ids.tasks), is_bare=not cues.SHOW.search(clause)))


_TAKES_QUOTED_NAMES = frozenset({*WRITES, Kind.DETAIL, Kind.WHY_CHANGED})
_TAKES_PLAIN_NAMES = frozenset({*WRITES, Kind.EXPLAIN, Kind.DETAIL, Kind.WHY_CHANGED})
LONE_NUMBER_IS_A_RUN = frozenset({Kind.RETRY, Kind.EXPLAIN})


def _target(message: Masked, clause: str, kind: Kind, words: str) -> Target:
    """What a clause is about. `words` is the clause without its verb."""
    names, ids = message.names_in(clause), ids_in(clause)
    if names:
        return Target(names, run_ids=ids.runs)
    if kind is Kind.RETRY and ids.tasks and not re.search(r"task|job|任务", clause):
        return Target(run_ids=ids.tasks)
    if ids.runs or ids.tasks:
        return Target((), ids.tasks, ids.runs)
    if ids.bare and kind in LONE_NUMBER_IS_A_RUN:
        return Target(run_ids=ids.bare)
    if ids.bare and kind in WRITES:
        return Target(task_ids=ids.bare)
    quoted = [
        span.text for span in message.spans_in(clause) if span.kind == "quote" and "\n" not in span.text
    ]
    if len(quoted) == 1 and len(quoted[0]) <= NAME_CHARS and kind in _TAKES_QUOTED_NAMES:
        return Target((quoted[0],))
    plain = plain_name_in(words) if kind in _TAKES_PLAIN_NAMES else ""
    if plain:
        return Target((plain,))
    says_nothing_else = kind in WRITES and not message.spans_in(clause) and not cues.SOME_OTHER.search(clause)
    return Target(is_reference=says_nothing_else or cues.REFERENCE.search(clause) is not None)


def _joined(intents: list[Intent]) -> tuple[Intent, ...]:
    """Intents with "it" resolved to what the same message named before, and repetitions taken out.

    A change without an object ("X is useless, delete") says "it" too.
    """
    result: list[Intent] = []
    known = NOTHING
    for intent in intents:
        is_about_same = intent.target.is_reference or (
            intent.target.is_empty and intent.kind in (Kind.EXPLAIN, Kind.RETRY)
        )
        if is_about_same and not known.is_empty:
            intent = replace(intent, target=known)
        elif not intent.target.is_empty and not intent.target.is_reference:
            known = intent.target
        if intent.kind is Kind.EXPLAIN or intent.kind in WRITES:
            # What came before was said to lead up to this.
            about_same = [old for old in result if old.target == intent.target != NOTHING]
            leads = (
                old
                for old in about_same
                if old.is_bare or (old.kind is Kind.FAILURES and intent.kind is Kind.EXPLAIN)
            )
            for old in tuple(leads):
                result.remove(old)
        if intent not in result:
            result.append(intent)
    return tuple(result)
