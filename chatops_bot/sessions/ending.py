"""The end of tasks in bounded time: one that takes no notice of being cancelled must not hold up the end of the process."""

import asyncio
from collections.abc import Iterable
from typing import Any

LETTING_GO_SECONDS = 0.5
"""What a cancelled task gets to unwind."""


async def let_go(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel what still runs of `tasks`, and leave behind what does not end by that."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running, timeout=LETTING_GO_SECONDS)
