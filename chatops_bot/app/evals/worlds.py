"""What a case's tools look at: the embedded scheduler with its demo data, one that cannot be reached, or recordings.

The demo scheduler is started once for all cases of a run. No case changes it, since nothing is approved.
"""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from chatops_bot.app.evals.case import Case
from chatops_bot.app.evals.recorded import recorded_tools
from chatops_bot.app.registry import trusted_authorities
from chatops_bot.domain.errors import ChatopsError
from chatops_bot.domain.people import Role
from chatops_bot.ports import Clock, Tool
from chatops_bot.scheduler.demo import FIRST_RUNS
from chatops_bot.scheduler.service import SchedulerService
from chatops_bot.scheduler.settings import SchedulerSettings
from chatops_bot.toolsets.scheduler.client import SchedulerClient
from chatops_bot.toolsets.scheduler.login import Account
from chatops_bot.toolsets.scheduler.toolset import scheduler_tools

NOWHERE = "http://127.0.0.1:9"
"""The discard port: nothing listens there."""
DEMO_RUNS = len(FIRST_RUNS) + 2
"""The retry of the backup, and the mail that follows the report."""
DEMO_PATIENCE = 60.0
_ENDED = ("success", "failed", "timeout")


class WorldFailed(ChatopsError):
    """A world of cases did not come up."""


@dataclass(frozen=True, slots=True)
class Worlds:
    """`demo` are the tools of the demo scheduler, empty where no case needs it; `down` those of one that is not there."""

    demo: Sequence[Tool]
    down: Sequence[Tool]

    def tools(self, case: Case) -> Sequence[Tool]:
        """The tools that a case's turn has."""
        match case.world:
            case "demo":
                return self.demo
            case "down":
                return self.down
            case "recorded":
                return recorded_tools(case.recordings, self.down)


@asynccontextmanager
async def open_worlds(
    cases: Sequence[Case], clock: Clock, data: Path | None = None
) -> AsyncGenerator[Worlds, None]:
    """Every world that `cases` need. `data` is a folder that a demo scheduler has used already; without one its first runs are
    waited for. Raises WorldFailed."""
    async with httpx.AsyncClient(trust_env=False, verify=trusted_authorities()) as http:
        down = scheduler_tools(SchedulerClient(http, NOWHERE, _accounts({})), clock)
        if not any(case.world == "demo" for case in cases):
            yield Worlds((), down)
            return
        with tempfile.TemporaryDirectory(prefix="chatops-bot-eval-") as folder:
            settings = SchedulerSettings(data=data or Path(folder), demo=True)
            async with SchedulerService.start(settings) as demo:
                await _first_runs(http, demo)
                client = SchedulerClient(http, demo.url, _accounts(demo.accounts))
                yield Worlds(scheduler_tools(client, clock), down)


async def _first_runs(http: httpx.AsyncClient, demo: SchedulerService) -> None:
    """Wait until the demo has its history."""
    login = await http.post(f"{demo.url}/api/auth/login", json=demo.accounts["viewer"])
    headers = {"Authorization": f"Bearer {login.json()['token']}"}
    ended = 0
    try:
        async with asyncio.timeout(DEMO_PATIENCE):
            while ended < DEMO_RUNS:
                answer = await http.get(f"{demo.url}/api/v1/task-instances?limit=100", headers=headers)
                ended = sum(run["Status"] in _ENDED for run in answer.json()["instances"])
                if ended < DEMO_RUNS:
                    await asyncio.sleep(0.1)
    except TimeoutError as error:
        raise WorldFailed(
            f"Only {ended} of {DEMO_RUNS} first runs of the demo scheduler ended within {DEMO_PATIENCE:g} s; "
            "`chatops-bot demo` shows why."
        ) from error


def _accounts(accounts: Mapping[str, Mapping[str, str]]) -> dict[Role, Account]:
    """One of every role; where there is no scheduler they are nobody's."""
    nobody = {"username": "nobody", "password": "nobody"}
    return {
        role: Account(**accounts.get(role.value, nobody)) for role in (Role.VIEWER, Role.OPERATOR, Role.ADMIN)
    }
