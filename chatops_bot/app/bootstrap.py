"""The one place where everything is wired: configuration in, a running bot out. Nothing connects on import."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import aiohttp
import httpx
from aiohttp import web

from chatops_bot.agent.loop import Loop
from chatops_bot.app.bundled import load_agents
from chatops_bot.app.config import Config, Secrets
from chatops_bot.app.health import Health
from chatops_bot.app.metering import (
    MeteredModel,
    metered_events,
    metered_platform,
    metered_store,
    slack_meter,
)
from chatops_bot.app.metrics import Metrics
from chatops_bot.app.web import web_app
from chatops_bot.domain.errors import ChatopsError
from chatops_bot.domain.people import RIGHTS, Role
from chatops_bot.domain.redaction import Redactor
from chatops_bot.llm.failover import FailoverModel
from chatops_bot.llm.offline import OfflineModel
from chatops_bot.llm.openai_client import ModelTimeouts, OpenAIClient
from chatops_bot.platforms.slack.adapter import SlackPlatform
from chatops_bot.ports import LLM, Clock, Ids, Store
from chatops_bot.sessions.alerts import Alerts
from chatops_bot.sessions.approvals import Approvals
from chatops_bot.sessions.conductor import Conductor
from chatops_bot.sessions.followups import Followups
from chatops_bot.sessions.recovery import close_interrupted_turns
from chatops_bot.sessions.router import Router
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.tools.apply import Applier
from chatops_bot.tools.dispatch import Dispatcher
from chatops_bot.tools.proposing import Proposer
from chatops_bot.tools.registry import Registry
from chatops_bot.toolsets.scheduler.client import SchedulerClient
from chatops_bot.toolsets.scheduler.login import Account
from chatops_bot.toolsets.scheduler.toolset import scheduler_tools

_log = logging.getLogger(__name__)

EXPIRY_SWEEP_SECONDS = 5.0
PING_SECONDS = 5.0
"""slack_sdk's own default. A socket that broke is opened again at this beat, so it is how long the bot may be deaf; a pong
must come within half of it, which leaves room for a slow network."""
OFFLINE_PACE = 0.03
"""Seconds between two pieces of an offline report, so that it grows before the reader's eyes as a model's answer does."""


@dataclass(frozen=True, slots=True)
class Bot:
    """A running bot: what its owner may look at."""

    web_url: str
    bot_user_id: str
    model_name: str


@asynccontextmanager
async def open_bot(
    config: Config,
    secrets: Secrets,
    *,
    clock: Clock,
    ids: Ids,
    model: LLM | None = None,
    wrap_store: Callable[[Store], Store] = lambda store: store,
) -> AsyncGenerator[Bot, None]:
    """Start the bot, yield it, and bring it to rest. `model` and `wrap_store` are for tests that play a model or a crash.

    Raises StoreError or PlatformError when it cannot start.
    """
    redactor = Redactor(secrets.values())
    async with AsyncExitStack() as stack:
        sqlite = await SqliteStore.open(config.store_path, clock)
        stack.push_async_callback(sqlite.aclose)
        session = await stack.enter_async_context(aiohttp.ClientSession())
        http = await stack.enter_async_context(httpx.AsyncClient(trust_env=False))
        metrics = Metrics()
        registry = Registry(scheduler_tools(_scheduler(config, secrets, http), clock))
        store = metered_store(wrap_store(sqlite), metrics, [tool.spec.name for tool in registry])
        model = MeteredModel(model, metrics) if model else _model(config, secrets, session, metrics)
        slack = _slack(config, secrets, session, clock, ids, metrics)
        platform = metered_platform(slack, metrics)
        health = Health(lambda: slack.deaf_because, sqlite.check)
        proposer = Proposer(store.proposals, clock, ids, config.proposal_lifetime)
        dispatcher = Dispatcher(
            registry, audit=store.audit, proposer=proposer, redactor=redactor, clock=clock
        )
        approvals = Approvals(
            store=store,
            platform=platform,
            directory=slack.directory,
            applier=Applier(registry, redactor),
            redactor=redactor,
            clock=clock,
            approver_configured=any(RIGHTS[role].approves for role in config.people.values()),
        )
        followups = Followups(store.controls, store.inbox, platform, ids)
        conductor = Conductor(
            platform=platform,
            store=store,
            loop=Loop(model, dispatcher, store.transcripts, clock, ids, max_rounds=config.model.max_rounds),
            registry=registry,
            agents=load_agents(),
            approvals=approvals,
            followups=followups,
            redactor=redactor,
            clock=clock,
            ids=ids,
        )
        router = Router(
            store=store, platform=platform, approvals=approvals, followups=followups, conductor=conductor
        )
        alerts = (
            Alerts(platform, followups, redactor, config.alerts.channel, config.alerts.language)
            if config.alerts.channel
            else None
        )
        identity = await slack.identity()
        stack.push_async_callback(slack.aclose)
        web_url = await _serve_web(stack, config, web_app(
            alerts=alerts, webhook_token=secrets.webhook_token, health=health, metrics=lambda: metrics.text(store.proposals)
        ))  # fmt: skip
        interrupted = await close_interrupted_turns(store, platform, clock)
        if interrupted:
            _log.warning("%d turns of the last process were closed as interrupted", interrupted)
        await approvals.recover()
        await slack.start(metered_events(router.handle, metrics))
        stack.push_async_callback(router.aclose)
        for work, name in ((_sweep(approvals), "expiry sweep"), (metrics.watch_loop(), "loop lag")):
            stack.push_async_callback(_cancel, asyncio.create_task(work, name=name))
        health.recovered()
        stack.callback(health.drain)
        yield Bot(web_url, identity.user_id, model.name)


def _slack(
    config: Config, secrets: Secrets, session: aiohttp.ClientSession, clock: Clock, ids: Ids, metrics: Metrics
) -> SlackPlatform:
    return SlackPlatform(
        session,
        clock,
        ids,
        bot_token=secrets.slack_bot_token,
        app_token=secrets.slack_app_token,
        base_url=str(config.slack.api_url),
        roles=config.people,
        default_role=Role(config.roles.default),
        ping_interval=PING_SECONDS,
        on_call=slack_meter(metrics),
    )


def _model(config: Config, secrets: Secrets, session: aiohttp.ClientSession, metrics: Metrics) -> LLM:
    offline = MeteredModel(OfflineModel(pace=OFFLINE_PACE), metrics)
    if secrets.model is None:
        return offline
    timeouts = ModelTimeouts(
        connect=config.model.connect_seconds,
        first_delta=config.model.first_delta_seconds,
        between=config.model.between_deltas_seconds,
    )
    client = OpenAIClient(
        session,
        base_url=secrets.model.base_url,
        api_key=secrets.model.api_key,
        model=secrets.model.name,
        timeouts=timeouts,
    )
    return FailoverModel(MeteredModel(client, metrics), offline)


def _scheduler(config: Config, secrets: Secrets, http: httpx.AsyncClient) -> SchedulerClient:
    accounts = {
        Role(name): Account(getattr(config.scheduler.accounts, name).username, password)
        for name, password in secrets.scheduler_passwords.items()
    }
    return SchedulerClient(http, str(config.scheduler.url), accounts)


async def _serve_web(stack: AsyncExitStack, config: Config, app: web.Application) -> str:
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    site = web.TCPSite(runner, config.web.host, config.web.port)
    await site.start()
    host, port = runner.addresses[0][:2]
    return f"http://{host}:{port}"


async def _sweep(approvals: Approvals) -> None:
    while True:
        await asyncio.sleep(EXPIRY_SWEEP_SECONDS)
        try:
            await approvals.sweep()
        except ChatopsError as error:
            _log.error("the sweep of proposals failed and is tried again: %s", error)


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
