"""Looking at what a write came to. The write has already happened, so a failed look is "not verified", never "failed"."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

from chatops_bot.domain.errors import ToolFailed
from chatops_bot.ports import Clock
from chatops_bot.toolsets.scheduler.api import SchedulerApi
from chatops_bot.toolsets.scheduler.wire import Run

T = TypeVar("T")

_RUN_IDS_READ = 20
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 1.0


async def looked_up(reading: Awaitable[T]) -> T | None:
    """What the reading brings, None when it fails."""
    try:
        return await reading
    except ToolFailed:
        return None


async def newest_run_id(api: SchedulerApi, task_id: int) -> int:
    """The highest run id of a task, 0 when it never ran."""
    page = await api.run_page(limit=_RUN_IDS_READ, task_id=task_id)
    return max((run.id for run in page.instances), default=0)


@dataclass(frozen=True, slots=True)
class RunWatch:
    """Waits up to `seconds` for the run that a trigger should bring. The Go service answers a trigger without naming it."""

    api: SchedulerApi
    clock: Clock
    seconds: float = 5.0

    async def run_after(self, task_id: int, last_seen: int) -> Run | None:
        """The first run of the task with an id above `last_seen`, None when none shows up in time."""
        deadline = self.clock.monotonic() + self.seconds
        pause = _FIRST_PAUSE
        while True:
            page = await looked_up(self.api.run_page(limit=_RUN_IDS_READ, task_id=task_id))
            newer = [run for run in page.instances if run.id > last_seen] if page else []
            if newer:
                return min(newer, key=lambda run: run.id)
            if self.clock.monotonic() + pause > deadline:
                return None
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
