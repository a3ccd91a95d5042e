"""A long conversation on its way to a model: entries to messages, and the window that is sent of them."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from bench.measuring import in_turns, table
from chatops_bot.app.bundled import load_phrases
from chatops_bot.context.fence import kept_marks
from chatops_bot.context.history import project
from chatops_bot.context.window import fit
from chatops_bot.domain.model import Message, Reasoning
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.tool import ToolCall
from chatops_bot.domain.transcript import Entry, ModelSaid, ToolReturned, TurnRested, UserSaid
from chatops_bot.domain.withheld import Withheld

ENTRIES = 1_000
RESULT = json.dumps(
    {"count": 20, "rows": [{"id": n, "name": f"task-{n}", "status": "failed"} for n in range(20)]}
)
ROOM = 40_000
WORDS = load_phrases()["en"].calls
AT = datetime(2026, 3, 2, 14, 32, tzinfo=UTC)


def transcript() -> list[Entry]:
    """A thousand entries of turns with a question, two calls, their results, an answer and an end: 170 turns."""
    entries: list[Entry] = []
    for number in range(ENTRIES // 6 + 1):
        turn = f"turn_{number}"
        calls = tuple(ToolCall(f"call_{number}_{each}", "query_tasks", '{"limit":20}') for each in "ab")
        entries += [
            UserSaid(turn, AT, "U1", "Oscar", "operator", "what failed, and why?"),
            ModelSaid(turn, AT, "Let me look.", Reasoning(), calls, "m"),
            *(ToolReturned(turn, AT, call.id, call.name, "ok", RESULT) for call in calls),
            ModelSaid(turn, AT, "Twenty tasks failed. " * 10, Reasoning(), (), "m"),
            TurnRested(turn, AT, TurnOutcome.ANSWERED, "Twenty tasks failed."),
        ]
    return entries[:ENTRIES]


def read(entries: list[Entry]) -> int:
    """The bare contender: every text of the transcript as JSON, once."""
    return len(json.dumps([str(entry) for entry in entries]))


def projected(entries: list[Entry]) -> list[Message]:
    return project(entries, marks=Withheld().watching_marks(kept_marks(b"a key", "a session")), words=WORDS)


def sent(entries: list[Entry]) -> int:
    """Projected and fitted into a room that it outgrows several times over; the number of messages that are sent."""
    return len(fit(projected(entries), ROOM, kept_marks(b"a key", "a session")))


def report(rounds: int) -> str:
    entries = transcript()
    works: dict[str, Callable[[], object]] = {
        "written out once": partial(read, entries),
        "projected": partial(projected, entries),
        "projected and fitted": partial(sent, entries),
    }
    return table(f"projecting a transcript of {len(entries):,} entries", in_turns(works, rounds))
