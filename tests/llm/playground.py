"""Where a model of any kind plays one turn through the real loop, the real door and a real store, with two small tools."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from chatops_bot.agent.briefing import Briefing
from chatops_bot.agent.loop import Loop, Turn
from chatops_bot.app.clock import CountingIds, ManualClock
from chatops_bot.context.fence import fresh_marks
from chatops_bot.domain.errors import ModelError
from chatops_bot.domain.model import UserMessage
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.turn_event import Proposed, Rested, TextStreamed, TurnEvent
from chatops_bot.ports import LLM, ToolContext
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.tools.asking import Asker
from chatops_bot.tools.dispatch import Dispatcher
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.toolbox import Toolbox
from tests.small_tools import OSCAR, PHRASES, WORDS, Look, Switch, definitions_of, proposer_of

LONGEST_TURN = 60.0


@dataclass
class Played:
    """What one turn came to. `stated` is its outcome, or the kind of ModelError that told people why there is none."""

    look: Look = field(default_factory=Look)
    events: list[TurnEvent] = field(default_factory=list)
    stated: str = ""

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.of(TextStreamed))

    @property
    def looked_for(self) -> list[str]:
        return [arguments.name for arguments in self.look.runs]

    @property
    def proposals(self) -> int:
        return len(self.of(Proposed))


class Playground:
    def __init__(self, store: SqliteStore, clock: ManualClock, ids: CountingIds) -> None:
        self.store = store
        self._clock, self._ids = clock, ids

    async def play(
        self, model: LLM, number: int = 0, *, question: str = "what failed?", within: float = LONGEST_TURN
    ) -> Played:
        """One turn of the session `number`. A turn that takes more than `within` seconds is a failure."""
        played = Played()
        dispatcher = Dispatcher(
            Registry([played.look, Switch()]),
            policy=Policy(),
            audit=self.store.audit,
            proposer=proposer_of(self.store, self._clock, self._ids),
            asker=Asker(self.store.forms, self._clock, self._ids, Redactor(), timedelta(hours=1)),
            redactor=Redactor(),
            clock=self._clock,
            words=WORDS,
        )
        turn = Turn(
            context=ToolContext(OSCAR, session_of(number), f"turn_{number}"),
            language="en",
            briefing=Briefing(
                Toolbox(dispatcher.registry),
                definitions_of(dispatcher.registry),
                lambda *_: "You are a bot.",
                (UserMessage(question),),
                PHRASES,
                fresh_marks(self._ids.nonce),
            ),
        )

        async def emit(event: TurnEvent) -> None:
            played.events.append(event)

        loop = Loop(model, dispatcher, self.store.transcripts, self._clock, self._ids)
        try:
            async with asyncio.timeout(within):
                await loop.run_turn(turn, emit)
        except ModelError as error:
            if error.phrase.zh and error.phrase.en:
                played.stated = type(error).__name__
        else:
            rested = played.events[-1]
            assert isinstance(rested, Rested)
            played.stated = rested.outcome.value
        return played


def session_of(number: int) -> SessionKey:
    return SessionKey("slack", "T1", "C1", f"{number}.1")
