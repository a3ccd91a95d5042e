"""A loop over a scripted model, two small tools and a real store."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from chatops_bot.agent.briefing import Briefing
from chatops_bot.agent.loop import Loop, Turn
from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.context.fence import fresh_marks
from chatops_bot.domain.model import UserMessage
from chatops_bot.domain.people import Person
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.transcript import Entry
from chatops_bot.domain.turn_event import Noted, TextStreamed, TurnEvent
from chatops_bot.llm.scripted import ScriptedModel, Step
from chatops_bot.ports import ToolContext
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.tools.asking import Asker
from chatops_bot.tools.dispatch import Dispatcher
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.toolbox import Toolbox
from tests.sessions.panel import Switches
from tests.small_tools import OSCAR, PHRASES, SESSION, WORDS, Look, Switch, definitions_of, proposer_of


@dataclass
class Stage:
    """Runs turns of a script and keeps what they emitted."""

    store: SqliteStore
    look: Look
    switch: Switch
    dispatcher: Dispatcher
    clock: ManualClock
    ids: CountingIds
    events: list[TurnEvent] = field(default_factory=list)

    def turn(self, person: Person = OSCAR) -> Turn:
        return Turn(
            context=ToolContext(person, SESSION, "turn_1"),
            language="en",
            briefing=Briefing(
                Toolbox(self.dispatcher.registry),
                definitions_of(self.dispatcher.registry),
                lambda *_: "You are a bot.",
                (UserMessage("what failed?"),),
                PHRASES,
                fresh_marks(self.ids.nonce),
            ),
        )

    async def play(
        self,
        *steps: Step,
        max_rounds: int = 10,
        turn: Turn | None = None,
        before_delta: Callable[[Any], Awaitable[None]] | None = None,
    ) -> ScriptedModel:
        model = ScriptedModel(steps, before_delta=before_delta)
        loop = Loop(
            model, self.dispatcher, self.store.transcripts, self.clock, self.ids, max_rounds=max_rounds
        )

        async def emit(event: TurnEvent) -> None:
            self.events.append(event)

        await loop.run_turn(turn or self.turn(), emit)
        model.assert_finished()
        return model

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextStreamed))

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def notes(self) -> list[Noted]:
        return self.of(Noted)

    async def entries(self) -> list[Entry]:
        return await self.store.transcripts.load(SESSION)


@pytest.fixture
async def stage(tmp_path: Path, clock: ManualClock, ids: CountingIds) -> AsyncIterator[Stage]:
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    look, switch, redactor = Look(), Switch(), Redactor()
    proposer = proposer_of(store, clock, ids)
    asker = Asker(store.forms, clock, ids, redactor, timedelta(hours=1))
    dispatcher = Dispatcher(
        Registry([look, switch, Switches()]),
        policy=Policy(),
        audit=store.audit,
        proposer=proposer,
        asker=asker,
        redactor=redactor,
        clock=clock,
        words=WORDS,
    )
    yield Stage(store, look, switch, dispatcher, clock, ids)
    await store.aclose()
