"""The demo scheduler's data once its first runs have ended: made once a process, and copied for each world.

The first runs are real (bubblewrap, bash, a retry after a second), and that they happen has tests of its own in
`tests/scheduler`; a world needs only what they leave.
"""

import asyncio
import atexit
import shutil
import tempfile
import threading
import time
from functools import cache
from pathlib import Path

import aiohttp

from chatops_bot.scheduler.demo import FIRST_RUNS
from chatops_bot.scheduler.service import SchedulerService
from chatops_bot.scheduler.settings import SchedulerSettings

RUNS = len(FIRST_RUNS) + 2
"""The retry of the backup, and the mail that follows the report."""
ENDED = {"success", "failed", "timeout"}
DEADLINE = 60.0
_making = threading.Lock()


async def put_seeded_data(folder: Path) -> None:
    """Make `folder`, as a demo scheduler leaves it that ran a few seconds ago."""
    await asyncio.to_thread(_copy, folder)


def _copy(folder: Path) -> None:
    with _making:
        seeded = _seeded()
    shutil.copytree(seeded, folder)


@cache
def _seeded() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="seeded-scheduler-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    asyncio.run(_seed(folder))
    return folder


async def _seed(folder: Path) -> None:
    async with (
        SchedulerService.start(SchedulerSettings(data=folder, demo=True)) as scheduler,
        aiohttp.ClientSession() as session,
    ):
        async with session.post(
            f"{scheduler.url}/api/auth/login", json=scheduler.accounts["viewer"]
        ) as response:
            headers = {"Authorization": f"Bearer {(await response.json())['token']}"}
        deadline = time.monotonic() + DEADLINE
        while True:
            url = f"{scheduler.url}/api/v1/task-instances?limit=100"
            async with session.get(url, headers=headers) as response:
                runs = (await response.json())["instances"]
            if [run["Status"] in ENDED for run in runs].count(True) == RUNS:
                return
            assert time.monotonic() < deadline, f"the first runs did not end: {runs}"
            await asyncio.sleep(0.05)
