"""A draft holds how long its change stands unless somebody keeps it, sealed like the rest, and only where it can be taken back."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.policy import Policy, Subject
from chatops_bot.domain.proposal import sealed_digest
from chatops_bot.domain.tool import Inverse, Plan
from chatops_bot.ports import ToolContext
from chatops_bot.tools.drafting import Drafter
from tests.small_tools import HOUR, KEY, OSCAR, SESSION, Switch, SwitchArgs
from tests.tools.conftest import Bench

TEN = timedelta(minutes=10)
BACK: Mapping[str, Any] = {"task_id": 3, "action": "resume"}


class TakesBack(Policy):
    def keep_for(self, subject: Subject) -> timedelta | None:
        return TEN


@dataclass
class Reversible(Switch):
    async def plan(self, arguments: SwitchArgs, context: ToolContext) -> Plan:
        plan = await Switch.plan(self, arguments, context)
        return replace(plan, inverse=Inverse("switch", BACK, Phrase("恢复", "resume")))


@pytest.mark.parametrize(
    ("policy", "tool", "kept"),
    [(TakesBack(), Reversible(), TEN), (TakesBack(), Switch(), None), (Policy(), Reversible(), None)],
)
async def test_a_change_stands_for_a_time_where_the_rules_say_so_and_it_can_be_taken_back(
    bench: Bench, policy, tool, kept
):
    drafter = Drafter(
        policy,
        ManualClock(datetime(2026, 11, 29, tzinfo=UTC)),
        CountingIds(),
        HOUR,
        KEY,
        bench.store.proposals,
    )
    context = ToolContext(OSCAR, SESSION, "turn_1")
    arguments = SwitchArgs(task_id=3, action="pause")
    draft = await drafter.draft(tool, arguments, context, call_id="c1", language="en")
    assert draft.keep_for == kept
    assert draft.digest == sealed_digest(KEY, draft)
    assert sealed_digest(KEY, replace(draft, keep_for=HOUR)) != draft.digest
