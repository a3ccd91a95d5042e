"""One running turn a session; what comes meanwhile waits in order."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from chatops_bot.domain.language import Language, language_of
from chatops_bot.domain.people import Person
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.transcript import FormFilled


@dataclass(frozen=True, slots=True)
class TurnInput:
    """What starts a turn: who asked what, in which session. The store knows `turn_id` as running from the moment it waits.

    `filled` is the form that somebody filled in, where that is what started it; the form itself is stored by then, so the
    turn counts as running only when it runs.
    """

    turn_id: str
    session: SessionKey
    author: Person
    text: str
    filled: FormFilled | None = None

    @property
    def language(self) -> Language:
        """The language to answer in."""
        if self.filled is not None:
            return "zh" if self.filled.language == "zh" else "en"
        return language_of(self.text)


@dataclass(slots=True)
class _Box:
    waiting: deque[TurnInput]
    task: asyncio.Task[None]


class Mailboxes:
    """Runs `conduct` for each input: in order within a session, side by side between sessions."""

    def __init__(self, conduct: Callable[[TurnInput], Awaitable[None]]) -> None:
        self._conduct = conduct
        self._boxes: dict[SessionKey, _Box] = {}
        self._closed = False

    def put(self, turn: TurnInput) -> None:
        """Start the turn now, or when those before it in its session have come to rest; never, once closed."""
        if self._closed:
            return
        box = self._boxes.get(turn.session)
        if box is None:
            waiting = deque([turn])
            task = asyncio.create_task(self._drain(turn.session, waiting), name=f"session {turn.session}")
            self._boxes[turn.session] = _Box(waiting, task)
        else:
            box.waiting.append(turn)

    async def _drain(self, session: SessionKey, waiting: deque[TurnInput]) -> None:
        try:
            while waiting:
                await self._conduct(waiting.popleft())
        finally:
            del self._boxes[session]

    async def aclose(self) -> None:
        """Cancel what runs and wait until it has come to rest. What still waits is left to recovery at the next start."""
        self._closed = True
        tasks = [box.task for box in self._boxes.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
