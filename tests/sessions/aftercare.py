"""What happens to a change after it was run, beside the engine of a panel: switches that can be flipped back."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.event import ControlUsed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.tool import Inverse, Observation, Plan
from chatops_bot.ports import ToolContext
from chatops_bot.sessions.afterwards import Afterwards
from chatops_bot.sessions.keeping import Keeping, Reverting
from chatops_bot.sessions.telling import Telling
from chatops_bot.sessions.undoing import Undoing
from chatops_bot.sessions.watching import Watching
from chatops_bot.tools.inverting import Inverter
from chatops_bot.tools.observing import Observer
from tests.sessions.panel import SEALS, FlipArgs, Panel, Process, Switches

BACK = {"pause": "resume", "resume": "pause"}


@dataclass
class ReversibleSwitches(Switches):
    """Switches that name their inverse and their evidence; `looks` are the roles with which they were looked at. `owner` is a
    fact that plans rest on; `planning` holds up plans for a task."""

    sees: Observation | ToolFailed = field(
        default_factory=lambda: Observation("recovered", Phrase("好了", "it is off"))
    )
    looks: list[Role] = field(default_factory=list)
    owner: str = "ops"
    planning: dict[int, asyncio.Event] = field(default_factory=dict)
    held_up: asyncio.Event = field(default_factory=asyncio.Event)

    async def plan(self, arguments: FlipArgs, context: ToolContext) -> Plan:
        plan = await super().plan(arguments, context)
        if (held := self.planning.get(arguments.task_id)) is not None:
            self.held_up.set()
            await held.wait()
        facts = {**plan.preconditions, "owner": self.owner}
        back = BACK.get(arguments.action)
        if back is None:
            return replace(plan, preconditions=facts)
        call = {"task_id": arguments.task_id, "action": back}
        inverse = Inverse("flip", call, Phrase("撤销", f"{back} task #{arguments.task_id}"))
        return replace(plan, preconditions=facts, inverse=inverse)

    async def observe(
        self,
        arguments: FlipArgs,
        plan: Plan,
        outcome: Mapping[str, Any],
        since: datetime,
        context: ToolContext,
    ) -> Observation:
        self.looks.append(context.person.role)
        if isinstance(self.sees, ToolFailed):
            raise self.sees
        return self.sees


@dataclass
class Aftercare:
    """That of one process of the panel."""

    panel: Panel
    process: Process
    undoing: Undoing
    keeping: Keeping
    reverting: Reverting
    watching: Watching
    afterwards: Afterwards

    @classmethod
    def of(cls, panel: Panel, process: Process | None = None) -> "Aftercare":
        at, proposals, telling = process or panel.one, panel.store.proposals, Telling(panel.board)
        inverter = Inverter(panel.registry, panel.drafter)
        undoing = Undoing(
            proposals=proposals, inverter=inverter, moves=panel.moves, cards=at.cards, decisions=at.decisions,
            telling=telling, redactor=panel.redactor,
        )  # fmt: skip
        keeping = Keeping(
            proposals=proposals, policy=panel.policy, moves=panel.moves, cards=at.cards, decisions=at.decisions,
            telling=telling, clock=panel.clock,
        )  # fmt: skip
        reverting = Reverting(
            proposals=proposals, platform=panel.board, directory=panel.people, policy=panel.policy, inverter=inverter,
            drafter=panel.drafter, moves=panel.moves, cards=at.cards, applying=at.applying, redactor=panel.redactor,
            seals=SEALS,
        )  # fmt: skip
        watching = Watching(
            proposals=proposals, observer=Observer(panel.registry, panel.redactor), moves=panel.moves, cards=at.cards,
            decisions=at.decisions, telling=telling, clock=panel.clock,
        )  # fmt: skip
        afterwards = Afterwards(
            proposals=proposals, watching=watching, undoing=undoing, reverting=reverting, clock=panel.clock
        )
        return cls(panel, at, undoing, keeping, reverting, watching, afterwards)

    async def press(self, person: Person, proposal: Proposal, control: str) -> Proposal:
        event: ControlUsed = self.panel.event(person, proposal, control)
        pressed = {"undo": self.undoing.press, "keep": self.keeping.press, "look": self.watching.press}
        await pressed[control](event)
        return await self.panel.now(proposal)


async def passes(panel: Panel, *cares: Aftercare, seconds: int) -> None:
    """So much time passes, and then each process sweeps."""
    panel.clock.advance(timedelta(seconds=seconds))
    await asyncio.gather(*(each.afterwards.sweep() for each in cares))
