"""What a turn's start costs in a long thread whose beginning is out of sight, beside one of which all is seen."""

import json
from datetime import UTC, datetime
from time import process_time

from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.context.budget import Budget
from chatops_bot.context.fence import kept_marks
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.domain.model import Reasoning
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.tool import ToolCall
from chatops_bot.domain.transcript import Entry, ModelSaid, ToolReturned, TurnRested, UserSaid
from chatops_bot.domain.withheld import Withheld
from chatops_bot.sessions.briefing import Briefer
from chatops_bot.sessions.mailbox import TurnInput
from chatops_bot.tools.registry import Registry
from tests.small_tools import LOOK, OSCAR, SESSION, SWITCH, Look, Switch, texts_with

AT = datetime(2026, 3, 2, 14, 32, tzinfo=UTC)
TURNS, CHARS = 200, 4_000
COST_RATIO = 9.0
"""Quiet runs stand at 3 to 5; at 14 to 17 where the window is fitted anew each time and whole texts are searched for secrets."""


def long_thread() -> list[Entry]:
    entries: list[Entry] = []
    for number in range(TURNS):
        turn, call = f"t{number}", ToolCall(f"call_{number}", "look", json.dumps({"task_id": number}))
        said = f"Task {number}, named job-{number:04}: " + "please check the log lines of it. " * (
            CHARS // 34
        )
        entries += [
            UserSaid(turn, AT, OSCAR.id, "O", "operator", said),
            ModelSaid(turn, AT, "", Reasoning(), (call,), "m"),
            ToolReturned(turn, AT, call.id, "look", "ok", json.dumps({"x": "y" * 200})),
            ModelSaid(turn, AT, said, Reasoning(), (), "m"),
            TurnRested(turn, AT, TurnOutcome.ANSWERED, said),
        ]
    return [*entries, UserSaid("last", AT, OSCAR.id, "O", "operator", "what about job-0150?")]


def seconds(tokens: int, entries: list[Entry]) -> tuple[float, str]:
    """The quickest of four starts in a window of so many tokens, and the volatile part of it."""
    briefer = Briefer(
        registry=Registry([Look(), Switch()]), prompts=PromptRegistry(texts_with(LOOK, SWITCH)), agent_in=AgentsConfig().agent_in,
        clock=ManualClock(AT), ids=CountingIds(), clean=Withheld(["hunter2-hunter2"]).without_secrets, budget=Budget(tokens), model="m",
        may_ask=Policy().may_ask, marks=lambda session: kept_marks(b"a key", str(session)),
    )  # fmt: skip
    turn = TurnInput("last", SESSION, OSCAR, "what about job-0150?", language="en")
    taken, context = [], ""
    for _ in range(4):
        start = process_time()
        context = briefer.brief(turn, entries, "en").history[-1].text
        taken.append(process_time() - start)
    return min(taken), context


def test_what_is_told_of_a_long_past_costs_a_few_times_what_the_same_thread_does_in_full():
    entries = long_thread()
    seen, without = seconds(2_000_000, entries)
    gone, told = seconds(32_000, entries)
    print("\n[measured] milliseconds", round(seen * 1000, 1), round(gone * 1000, 1))
    assert "job-0150: " not in without
    assert "job-0150: " in told
    assert gone / seen < COST_RATIO
