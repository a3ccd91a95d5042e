"""The bot with a wall for its chat: everything between the platform and the scheduler is the product's, started in its order."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import httpx

from chatops_bot.app.clock import RandomIds, SystemClock
from chatops_bot.app.config import Config, Secrets
from chatops_bot.app.core import Core, build_core, open_store
from chatops_bot.app.engine import node_of
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.domain.event import ControlUsed, MessageReceived, ModalSubmitted
from chatops_bot.domain.model import (
    Finished,
    FinishReason,
    ModelDelta,
    ModelRequest,
    TextDelta,
    ToolCallDelta,
    ToolMessage,
    UserMessage,
)
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.session import SessionKey, TurnOutcome
from chatops_bot.ports import Store
from chatops_bot.sessions.afterwards import EVERY
from chatops_bot.sessions.liveness import Liveness
from chatops_bot.sessions.recovery import recover_turns
from chatops_bot.tools.registry import Registry
from chatops_bot.toolsets.scheduler.client import SchedulerClient
from chatops_bot.toolsets.scheduler.login import Account
from chatops_bot.toolsets.scheduler.pause import PauseTask
from chatops_bot.toolsets.scheduler.toolset import scheduler_tools
from tests.kills.form_roads import FormRoad, giving_tools, wanted
from tests.kills.roads import OSCAR, PEOPLE, Road
from tests.kills.taps import TappedTransport, Taps
from tests.kills.wall import Wall
from tests.scenarios.tapped_store import tapped
from tests.small_tools import texts_with

SESSION = SessionKey("slack", "T1", "C1", "1.1")
DEADLINE = 60.0
POLL = 0.01
GIVEN = "given"
"""The file beside the wall into which tools put what they were given."""
ROUNDS = 2
"""Looks at what was run after which a lost undo is offered again."""
ANYTHING = frozenset(ProposalState)


class LateClock(SystemClock):
    """The real clock, some time ahead."""

    ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self.ahead


class Directory:
    def __init__(self, taps: Taps) -> None:
        self._taps = taps

    async def person(self, user_id: str, channel: str = "", *, fresh: bool = False) -> Person:
        async def look() -> Person:
            return PEOPLE.get(user_id, Person(user_id, user_id, Role.GUEST))

        return await self._taps.around("directory.person", look)


class PausingModel:
    """Asks for the pause that the question asks for, and says so once it waits."""

    name = "pausing"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        asked = max(n for n, message in enumerate(request.messages) if not isinstance(message, ToolMessage))
        if any(isinstance(message, ToolMessage) for message in request.messages[asked:]):
            yield TextDelta("It waits for an approval.")
            yield Finished(FinishReason.STOP)
        else:
            question = next(m.text for m in reversed(request.messages) if isinstance(m, UserMessage))
            tool, arguments = wanted(question)
            yield ToolCallDelta(0, RandomIds().new("call"), tool)
            yield ToolCallDelta(0, arguments=arguments)
            yield Finished(FinishReason.TOOL_CALLS)


@dataclass
class LightBot:
    core: Core
    store: Store
    """Past the taps."""
    wall: Wall
    clock: LateClock
    taps: Taps

    async def proposals(self) -> list[Proposal]:
        return await self.store.proposals.in_states(ANYTHING)

    async def at_rest(self) -> None:
        """Until no turn runs here or waits to."""
        deadline = time.monotonic() + DEADLINE
        while await self.store.turns.running() or self.core.router.held():
            assert time.monotonic() < deadline, "a turn hangs"
            await asyncio.sleep(POLL)

    async def ask(self, what: int | str = 1, session: SessionKey = SESSION) -> None:
        """Ask for a pause of a task, or with a tool. Returns while that is being worked on."""
        message, text = RandomIds().new("message"), f"pause task {what}"
        await self.core.router.message(
            MessageReceived(message, session, message, OSCAR, text, mentions_bot=True, is_direct=False)
        )

    async def press(self, person: Person, control: str) -> None:
        """Press the button of every card that still has it; what takes something back is not taken back."""
        for proposal in await self.proposals():
            if control == "undo" and proposal.inverse_of:
                continue
            if (found := self.wall.button(proposal.id, control)) is not None:
                value, message = found
                await self.core.router.handle(ControlUsed(SESSION, person, control, value, message))

    async def fill(self, road: FormRoad) -> None:
        """Fill in what asks for it, and ask anew where nothing does, until there is a proposal."""
        while not await self.proposals():
            if not await self.store.forms.open():
                await self.ask(road.tool)
                await self.at_rest()
            for form in await self.store.forms.open():
                problems = await self.core.router.submit(ModalSubmitted(OSCAR, form.id, road.answers))
                assert not problems
            while await self.store.forms.unanswered():  # noqa: ASYNC110  # begun by a task of the router
                await asyncio.sleep(POLL)
            await self.at_rest()

    async def walk(self, road: Road) -> None:
        """What people and the clock do until the road is at its end: they ask where there is no card, and decide where one waits."""
        if isinstance(road, FormRoad):
            await self.fill(road)
        elif not await self.proposals():
            await self.ask()
            await self.at_rest()
        for _ in range(ROUNDS):
            await self.core.afterwards.sweep()
            self.clock.ahead += EVERY
        self.taps.decided()
        if road.expires_first:
            self.clock.ahead += timedelta(hours=2)
            await self.core.applying.sweep()
        for person, control in road.presses:
            await self.press(person, control)
        if road.is_late:
            self.clock.ahead += timedelta(hours=2)
            await self.core.applying.sweep()


@asynccontextmanager
async def open_light_bot(
    config: Config,
    secrets: Secrets,
    wall_file: Path,
    taps: Taps,
    dead: Sequence[str] = (),
    on_name: Callable[[str], None] = lambda name: None,
) -> AsyncIterator[LightBot]:
    """A bot that has recovered what the `dead` processes left; it knows at once that they are. `on_name` is told its own
    process's name before it does anything."""
    clock, ids = LateClock(), RandomIds()
    async with AsyncExitStack() as stack:
        kept = await stack.enter_async_context(open_store(config, secrets, clock, ids))
        on_name(kept.process)
        for process in dead:
            await kept.leases.drop(f"process:{process}", process)
        http = await stack.enter_async_context(httpx.AsyncClient(transport=TappedTransport(taps)))
        scheduler = _scheduler(config, secrets, http)
        giving = giving_tools(PauseTask(scheduler, clock), wall_file.parent / GIVEN)
        registry = Registry([*scheduler_tools(scheduler, clock), *giving])
        wall, directory = Wall(wall_file, taps), Directory(taps)
        stack.callback(wall.close)
        core = build_core(
            config, secrets, clock=clock, ids=ids, store=tapped(taps.store)(kept), registry=registry, model=PausingModel(), prompts=PromptRegistry(texts_with(*(tool.spec for tool in giving))),
            platform=wall, directory=directory, on_rest=_tells_nobody, node=node_of(kept, ids, secrets.keys),
        )  # fmt: skip

        alive = Liveness(kept, patience=0)
        await alive.join()
        _, never_started = await recover_turns(core.store, wall, directory, core.policy, clock)
        await core.applying.recover()
        core.router.resume(never_started)
        await core.router.resume_forms()
        yield LightBot(core, kept, wall, clock, taps)
        await core.router.drain(DEADLINE)
        await core.applying.rest(DEADLINE)
        await alive.leave()


def _tells_nobody(turn_id: str, outcome: TurnOutcome) -> None:
    """Nobody waits for the end of one turn."""


def _scheduler(config: Config, secrets: Secrets, http: httpx.AsyncClient) -> SchedulerClient:
    accounts = {
        Role(name): Account(getattr(config.scheduler.accounts, name).username, password)
        for name, password in secrets.scheduler_passwords.items()
    }
    return SchedulerClient(http, str(config.scheduler.url), accounts)
