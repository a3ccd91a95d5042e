"""The service, put together: claim the data folder, open the file, recover, serve, dispatch.

    async with SchedulerService.start(SchedulerSettings(data=folder)) as service:
        ... service.url ...

Leaving the block kills running payloads at once and closes everything; the next start accounts for what was cut off.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
from aiohttp import web

from chatops_bot.scheduler import cron, demo, lifecycle
from chatops_bot.scheduler.alerts import AlertOutbox
from chatops_bot.scheduler.api.app import build_app
from chatops_bot.scheduler.api.context import Services
from chatops_bot.scheduler.auth import Account, Accounts, TokenSigner, parse_accounts
from chatops_bot.scheduler.data_folder import DataFolder
from chatops_bot.scheduler.database import Database
from chatops_bot.scheduler.dispatch import Dispatcher, Housekeeping
from chatops_bot.scheduler.errors import StartRefused
from chatops_bot.scheduler.lifecycle import Policy
from chatops_bot.scheduler.settings import SchedulerSettings
from chatops_bot.scheduler.worker.agent import WorkerAgent, WorkerSettings
from chatops_bot.scheduler.worker.sandbox import Isolation, Sandbox, choose_sandbox

logger = logging.getLogger(__name__)

_ACCOUNTS_FILE = "scheduler-accounts.json"
_BACKLOG = 128


@dataclass(slots=True)
class SchedulerService:
    """A running service. `accounts` holds the demo's log-ins by role, and is empty otherwise."""

    url: str
    accounts: dict[str, dict[str, str]]
    worker_token: str = field(repr=False)
    sandbox: Sandbox
    dispatcher: Dispatcher
    housekeeping: Housekeeping
    database: Database
    background: list[asyncio.Task[None]] = field(default_factory=list, repr=False)

    @classmethod
    @asynccontextmanager
    async def start(cls, settings: SchedulerSettings) -> AsyncIterator[SchedulerService]:
        """Serve until the block is left. Raises StartRefused with one sentence."""
        async with AsyncExitStack() as stack:
            folder = await asyncio.to_thread(DataFolder.claim, settings.data)
            stack.callback(folder.release)
            yield await _build(settings, folder, stack)

    async def wait_for_fault(self) -> None:
        """Return never; raise what a background loop died of."""
        done, _ = await asyncio.wait(self.background, return_when=asyncio.FIRST_COMPLETED)
        for loop in done:
            loop.result()


async def _build(settings: SchedulerSettings, folder: DataFolder, stack: AsyncExitStack) -> SchedulerService:
    """Everything that a start does, in the order in which it must be undone backwards."""
    _check_zone(settings.timezone)
    accounts, log_ins = await asyncio.to_thread(_load_accounts, folder, settings.demo)
    worker_token = await asyncio.to_thread(folder.secret, "scheduler-worker-token")
    token_secret = await asyncio.to_thread(folder.secret, "scheduler-token-secret")
    sandbox = await choose_sandbox(settings.isolation)
    _log_isolation(sandbox, settings.shell_enabled)

    policy = Policy(zone=settings.timezone, announce_failures=settings.failure_webhook is not None)
    database = await Database.open(folder.database)
    stack.push_async_callback(database.close)
    await _recover(database, settings.clock.now(), policy)
    listener = _listen(settings.host, settings.port)
    stack.callback(listener.close)
    url = f"http://{settings.host}:{listener.getsockname()[1]}"

    loops = await _make_loops(settings, database, policy, worker_token, url, stack)
    services = Services(
        database=database,
        clock=settings.clock,
        accounts=accounts,
        signer=TokenSigner(token_secret),
        worker_token=worker_token,
        policy=policy,
        sandbox=sandbox,
        shell_enabled=settings.shell_enabled,
        dispatcher=loops.dispatcher,
        changed=loops.wake,
    )
    await _serve(services, listener, stack)
    if settings.demo:
        await database.write(lambda conn: demo.seed(conn, url, settings.clock.now(), settings.timezone))
    service = SchedulerService(
        url, log_ins, worker_token, sandbox, loops.dispatcher, loops.housekeeping, database
    )
    services.worker = WorkerAgent(_worker_settings(settings, url, worker_token, sandbox), settings.clock)
    stack.push_async_callback(services.worker.close)
    await services.worker.register()
    _start_loops(service, services.worker, loops, stack)
    logger.info("serving on %s", url)
    return service


@dataclass(frozen=True, slots=True)
class _Loops:
    """What runs in the background, and how to wake it."""

    dispatcher: Dispatcher
    housekeeping: Housekeeping
    outbox: AlertOutbox | None
    changed: asyncio.Event

    def wake(self) -> None:
        self.changed.set()

    async def pass_on(self) -> None:
        """Turn "something changed" into a wake-up of every loop that may now have work."""
        while True:
            await self.changed.wait()
            self.changed.clear()
            self.dispatcher.wake.set()
            if self.outbox is not None:
                self.outbox.wake.set()


async def _make_loops(
    settings: SchedulerSettings,
    database: Database,
    policy: Policy,
    worker_token: str,
    url: str,
    stack: AsyncExitStack,
) -> _Loops:
    http = aiohttp.ClientSession()
    stack.push_async_callback(http.close)
    changed = asyncio.Event()
    clock = settings.clock
    dispatcher = Dispatcher(
        database, http, clock, policy, worker_token=worker_token, own_url=url, changed=changed
    )
    housekeeping = Housekeeping(
        database,
        clock,
        policy,
        offline_after=settings.offline_after_seconds,
        sample_every=settings.load_sample_seconds,
        changed=changed,
    )
    outbox = None
    if settings.failure_webhook is not None:
        outbox = AlertOutbox(database, http, clock, settings.failure_webhook, settings.webhook_token)
    return _Loops(dispatcher, housekeeping, outbox, changed)


def _start_loops(
    service: SchedulerService, worker: WorkerAgent, loops: _Loops, stack: AsyncExitStack
) -> None:
    """Start the background; it is stopped first when the service ends, before payloads are killed."""
    running = [loops.dispatcher.run(), loops.housekeeping.run(), loops.pass_on(), worker.run()]
    if loops.outbox is not None:
        running.append(loops.outbox.run())
    service.background.extend(asyncio.create_task(loop) for loop in running)
    stack.push_async_callback(_stop, service.background)


async def _recover(database: Database, now: int, policy: Policy) -> None:
    recovered = await database.write(lambda conn: lifecycle.recover(conn, now, policy))
    if recovered:
        logger.warning("%d runs were cut off by the last stop and failed as scheduler_restart", recovered)


def _check_zone(name: str) -> None:
    try:
        cron.load_zone(name)
    except cron.BadCron as error:
        raise StartRefused(str(error)) from error


def _load_accounts(folder: DataFolder, with_demo: bool) -> tuple[Accounts, dict[str, dict[str, str]]]:
    configured = folder.read_private(_ACCOUNTS_FILE)
    accounts: list[Account] = parse_accounts(configured, _ACCOUNTS_FILE) if configured else []
    if not with_demo:
        if not accounts:
            logger.warning("no accounts: nobody can log in until %s lists some", folder.path / _ACCOUNTS_FILE)
        return Accounts(accounts), {}
    made, log_ins = demo.demo_accounts(folder)
    return Accounts([*accounts, *made]), log_ins


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), backlog=_BACKLOG)
    except OSError as error:
        raise StartRefused(
            f"can't listen on {host}:{port} ({error.strerror}): choose another port"
        ) from error


def _worker_settings(settings: SchedulerSettings, url: str, token: str, sandbox: Sandbox) -> WorkerSettings:
    return WorkerSettings(
        worker_id="embedded",
        hostname=socket.gethostname(),
        scheduler_url=url,
        callback_url=url,
        token=token,
        concurrency=settings.worker_concurrency,
        shell_enabled=settings.shell_enabled,
        sandbox=sandbox,
        heartbeat_seconds=settings.heartbeat_seconds,
        kill_grace_seconds=settings.kill_grace_seconds,
    )


async def _serve(services: Services, listener: socket.socket, stack: AsyncExitStack) -> None:
    runner = web.AppRunner(build_app(services), access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.SockSite(runner, listener).start()


async def _stop(loops: list[asyncio.Task[None]]) -> None:
    for loop in loops:
        loop.cancel()
    await asyncio.gather(*loops, return_exceptions=True)


def _log_isolation(sandbox: Sandbox, shell_enabled: bool) -> None:
    if not shell_enabled:
        logger.info("shell payloads are disabled")
    elif sandbox.isolation is Isolation.BUBBLEWRAP:
        logger.info("shell payloads run in bubblewrap, without network")
    elif sandbox.isolation is Isolation.USER:
        logger.warning(
            "shell payloads run as another user WITH network: install bubblewrap for full isolation"
        )
    else:
        logger.warning(
            "shell payloads run WITHOUT isolation and can do what this process can: install bubblewrap"
        )
