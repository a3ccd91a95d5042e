"""One running turn a session; what comes meanwhile waits in order, is told so, and may be taken back."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache

from pydantic import TypeAdapter

from chatops_bot.domain.language import Language
from chatops_bot.domain.people import Person
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.transcript import FormFilled
from chatops_bot.sessions.ending import let_go

WAITING_LIMIT = 20
"""Messages that wait in one session. More is a flood, and an answer that comes after twenty others helps nobody."""


@dataclass(frozen=True, slots=True)
class TurnInput:
    """What starts a turn: who asked what, in which session. The store knows `turn_id` as running from the moment it waits.

    `message_id` is the platform's id of the message that asks, empty where a button asked; `filled` is the form that was
    filled in, where that asks. `language` is the one to answer in; `mentioned` are names by the ids that stand in `text`. `resumed`: the turn was accepted by a process that ended before it started.
    """

    turn_id: str
    session: SessionKey
    author: Person
    text: str
    message_id: str = ""
    at: datetime | None = None
    resumed: bool = False
    filled: FormFilled | None = None
    language: Language = "en"
    mentioned: Mapping[str, str] = field(default_factory=dict)


@cache
def _stored() -> TypeAdapter[TurnInput]:
    return TypeAdapter(TurnInput)


def stored_input(turn: TurnInput) -> str:
    """`turn` as JSON, to be kept until it starts."""
    return _stored().dump_json(turn).decode()


def restored_input(text: str) -> TurnInput:
    """What `stored_input` wrote. Raises ValueError on anything else."""
    return _stored().validate_json(text)


@dataclass(slots=True)
class _Box:
    waiting: deque[TurnInput]
    running: TurnInput | None
    task: asyncio.Task[None] | None = None


class Mailboxes:
    """Runs `conduct` for each input: in order within a session, side by side between sessions.

    `moved(turn, ahead)` is called when a turn has to wait, and whenever one before it is gone; `ahead` counts the running
    one too.
    """

    def __init__(
        self,
        conduct: Callable[[TurnInput], Awaitable[None]],
        moved: Callable[[TurnInput, int], None] = lambda turn, ahead: None,
    ) -> None:
        self._conduct = conduct
        self._moved = moved
        self._boxes: dict[SessionKey, _Box] = {}
        self._left: list[TurnInput] = []
        self._closed = False

    def put(self, turn: TurnInput) -> None:
        """Start the turn now, or when those before it in its session have come to rest; never, once closed, or twice."""
        if self.find(turn.session, turn.turn_id) is not None:
            return
        if self._closed:
            self._left.append(turn)
            return
        box = self._boxes.get(turn.session)
        if box is None:
            box = self._boxes[turn.session] = _Box(deque([turn]), None)
            box.task = asyncio.create_task(self._drain(turn.session, box), name=f"session {turn.session}")
        else:
            box.waiting.append(turn)
            self._tell(box)

    def running(self, session: SessionKey) -> TurnInput | None:
        """The turn that runs in the session, or is about to."""
        box = self._boxes.get(session)
        if box is None:
            return None
        return box.running or next(iter(box.waiting), None)

    def is_full(self, session: SessionKey) -> bool:
        box = self._boxes.get(session)
        return box is not None and len(box.waiting) >= WAITING_LIMIT

    def find(self, session: SessionKey, turn_id: str) -> TurnInput | None:
        """The turn of this id, if it runs or waits in the session."""
        box = self._boxes.get(session)
        turns = [box.running, *box.waiting] if box else []
        return next((turn for turn in turns if turn is not None and turn.turn_id == turn_id), None)

    def held(self) -> list[TurnInput]:
        """Every turn that runs or waits."""
        return [
            turn for box in self._boxes.values() for turn in (box.running, *box.waiting) if turn is not None
        ]

    def withdraw(self, turn: TurnInput) -> bool:
        """Take back a turn that waits; False when it has started, or is gone."""
        box = self._boxes.get(turn.session)
        if box is None or turn not in box.waiting:
            return False
        box.waiting.remove(turn)
        self._tell(box)
        return True

    def _tell(self, box: _Box) -> None:
        for place, turn in enumerate(box.waiting, start=1 if box.running else 0):
            if place:
                self._moved(turn, place)

    async def _drain(self, session: SessionKey, box: _Box) -> None:
        try:
            while box.waiting and not self._closed:
                box.running = box.waiting.popleft()
                self._tell(box)
                await self._conduct(box.running)
                box.running = None
        finally:
            self._left += box.waiting
            del self._boxes[session]

    async def close(self, patience: float) -> None:
        """Start nothing more, and wait up to `patience` seconds for what runs.

        What still waits is left to recovery at the next start.
        """
        self._closed = True
        tasks = self._tasks()
        if tasks and patience > 0:
            await asyncio.wait(tasks, timeout=patience)

    async def cut(self, patience: float) -> None:
        """Cancel what runs, and give it `patience` seconds to say so; what hangs longer is let go of."""
        self._closed = True
        tasks = self._tasks()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=patience)
            await let_go(tasks)

    def left_waiting(self) -> list[TurnInput]:
        """After `close`: the turns that were accepted and do not start in this process."""
        return [*self._left, *(turn for box in self._boxes.values() for turn in box.waiting)]

    def _tasks(self) -> set[asyncio.Task[None]]:
        return {box.task for box in self._boxes.values() if box.task is not None and not box.task.done()}
