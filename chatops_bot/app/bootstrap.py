"""The one place where everything is wired: configuration in, a running bot out. Nothing connects on import."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

import aiohttp
import httpx
from aiohttp import web

from chatops_bot.agent.loop import Loop
from chatops_bot.app.bundled import load_agents
from chatops_bot.app.config import Config, Secrets
from chatops_bot.app.health import Health
from chatops_bot.app.local_api import local_api
from chatops_bot.app.local_desk import LocalDesk, Rests
from chatops_bot.app.metering import (
    MeteredModel,
    metered_events,
    metered_platform,
    metered_store,
    slack_meter,
)
from chatops_bot.app.metrics import Metrics
from chatops_bot.app.platforms import ChatAndLocalPeople, ChatAndTerminal
from chatops_bot.app.process import unless
from chatops_bot.app.web import web_app
from chatops_bot.context.history import project
from chatops_bot.domain.errors import ChatopsError, ConfigInvalid
from chatops_bot.domain.people import Role
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import SessionKey, TurnOutcome
from chatops_bot.domain.transcript import Entry
from chatops_bot.domain.view import View
from chatops_bot.llm.failover import FailoverModel
from chatops_bot.llm.offline import OfflineModel, is_for_the_rules
from chatops_bot.llm.openai_client import ModelTimeouts, OpenAIClient
from chatops_bot.platforms.slack.adapter import SlackPlatform
from chatops_bot.platforms.slack.outbound import POSTS
from chatops_bot.platforms.terminal.adapter import TerminalPlatform
from chatops_bot.platforms.terminal.people import LocalPeople
from chatops_bot.ports import LLM, Clock, Directory, Ids, Platform, Store
from chatops_bot.rendering.cards import proposal_card
from chatops_bot.rendering.pacing import Pace
from chatops_bot.sessions.alerts import Alerts
from chatops_bot.sessions.approvals import Approvals
from chatops_bot.sessions.conductor import Conductor
from chatops_bot.sessions.followups import Followups
from chatops_bot.sessions.forms import Forms
from chatops_bot.sessions.recovery import recover_turns
from chatops_bot.sessions.router import Overhears, Router, every_message
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.tools.apply import Applier
from chatops_bot.tools.asking import Asker
from chatops_bot.tools.dispatch import Dispatcher
from chatops_bot.tools.proposing import Proposer
from chatops_bot.tools.registry import Registry
from chatops_bot.toolsets.scheduler.client import SchedulerClient
from chatops_bot.toolsets.scheduler.login import Account
from chatops_bot.toolsets.scheduler.toolset import scheduler_tools

_log = logging.getLogger(__name__)

CUT_SECONDS = 3.0
"""What turns and decisions that are cut off at the end get, to say so; with the rest of an end it stays under 25 s."""
WEB_CLOSE_SECONDS = 2.0
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


@dataclass(frozen=True, slots=True)
class Core:
    """The bot without its doors: what takes events in, decides, and keeps."""

    store: Store
    router: Router
    approvals: Approvals
    forms: Forms
    followups: Followups
    redactor: Redactor
    model_name: str
    approvals_on: Callable[[Platform], Approvals]
    """The same approvals, speaking through another platform."""
    card: Callable[[Proposal], View]


@asynccontextmanager
async def open_bot(
    config: Config,
    secrets: Secrets,
    *,
    clock: Clock,
    ids: Ids,
    model: LLM | None = None,
    wrap_store: Callable[[Store], Store] = lambda store: store,
    hurry: asyncio.Event | None = None,
    posts: Pace = POSTS,
) -> AsyncGenerator[Bot, None]:
    """Start the bot, yield it, and bring it to rest, at once when `hurry` is set. `model`, `wrap_store` and `posts` are for
    tests that play a model, a crash, or a workspace without rate limits.

    Raises StoreError or PlatformError when it cannot start.
    """
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession())
        sqlite = await stack.enter_async_context(open_store(config, clock))
        registry = await stack.enter_async_context(open_registry(config, secrets, clock))
        metrics = Metrics()
        slack = _slack(config, secrets, session, clock, ids, metrics, posts)
        terminal, people, rests = TerminalPlatform(ids), local_people(config), Rests()
        platform = metered_platform(ChatAndTerminal(slack, terminal), metrics)
        directory = ChatAndLocalPeople(slack.directory, people)
        core = build_core(
            config,
            secrets,
            clock=clock,
            ids=ids,
            store=metered_store(wrap_store(sqlite), metrics, [tool.spec.name for tool in registry]),
            registry=registry,
            model=MeteredModel(model, metrics)
            if model
            else configured_model(
                config, secrets, session, metered=lambda inner: MeteredModel(inner, metrics)
            ),
            platform=platform,
            directory=directory,
            on_rest=rests.tell,
            overhears=partial(_rules_overhear, ids)
            if model is None and secrets.model is None
            else every_message,
        )
        health = Health(lambda: slack.deaf_because, sqlite.check)
        alerts = (
            Alerts(platform, core.followups, core.redactor, config.alerts.channel, config.alerts.language)
            if config.alerts.channel
            else None
        )
        identity = await slack.identity()
        stack.push_async_callback(slack.aclose)
        web_url = await _serve_web(stack, config, web_app(
            alerts=alerts, webhook_token=secrets.webhook_token, health=health, metrics=lambda: metrics.text(core.store.proposals)
        ))  # fmt: skip
        interrupted, never_started = await recover_turns(core.store, platform, directory, clock)
        if interrupted or never_started:
            _log.warning(
                "of the last process, %d turns were closed as interrupted and %d start now",
                interrupted,
                len(never_started),
            )
        await core.approvals.recover()
        desk = local_desk(core, terminal, platform, people, rests, ids)
        stack.push_async_callback(desk.aclose, CUT_SECONDS)
        api = await stack.enter_async_context(local_api(config.data))
        drain_seconds = config.shutdown.drain_seconds
        stack.push_async_callback(_come_to_rest, slack, core.router, drain_seconds, hurry or asyncio.Event())
        core.router.resume(never_started)
        await core.router.resume_forms()
        await slack.start(metered_events(core.router.handle, metrics), core.router.submit)
        await api.start(desk)
        stack.callback(desk.take_no_more)
        for work, name in (
            (_sweep(core.approvals, core.forms), "expiry sweep"),
            (metrics.watch_loop(), "loop lag"),
        ):
            stack.push_async_callback(_cancel, asyncio.create_task(work, name=name))
        health.recovered()
        stack.callback(health.drain)
        yield Bot(web_url, identity.user_id, core.model_name)


@asynccontextmanager
async def open_store(config: Config, clock: Clock) -> AsyncGenerator[SqliteStore, None]:
    """The store of `config`. Raises StoreError when it cannot be used."""
    store = await SqliteStore.open(config.store_path, clock)
    try:
        yield store
    finally:
        await store.aclose()


@asynccontextmanager
async def open_registry(config: Config, secrets: Secrets, clock: Clock) -> AsyncGenerator[Registry, None]:
    """Every tool that `config` connects."""
    async with httpx.AsyncClient(trust_env=False) as http:
        yield Registry(scheduler_tools(_scheduler(config, secrets, http), clock))


def build_core(
    config: Config,
    secrets: Secrets,
    *,
    clock: Clock,
    ids: Ids,
    store: Store,
    registry: Registry,
    model: LLM,
    platform: Platform,
    directory: Directory,
    on_rest: Callable[[SessionKey, TurnOutcome], None],
    overhears: Overhears = every_message,
) -> Core:
    """Everything between a platform and the tools.

    Nothing runs yet: its owner recovers what an earlier process left, lets events in, and brings the router to rest.
    """
    redactor = Redactor(secrets.values())
    proposer = Proposer(store.proposals, clock, ids, config.proposal_lifetime)
    asker = Asker(store.forms, clock, ids, config.proposal_lifetime)
    dispatcher = Dispatcher(
        registry, audit=store.audit, proposer=proposer, asker=asker, redactor=redactor, clock=clock
    )
    applier = Applier(registry, redactor)

    def approvals_on(platform: Platform) -> Approvals:
        return Approvals(
            store=store,
            platform=platform,
            directory=directory,
            applier=applier,
            redactor=redactor,
            clock=clock,
            approver_configured=config.has_approver,
        )

    approvals = approvals_on(platform)
    forms = Forms(
        store=store, platform=platform, directory=directory, registry=registry, redactor=redactor, clock=clock, ids=ids
    )  # fmt: skip
    followups = Followups(store.controls, platform, ids)
    conductor = Conductor(
        platform=platform,
        store=store,
        loop=Loop(model, dispatcher, store.transcripts, clock, ids, max_rounds=config.model.max_rounds),
        registry=registry,
        agents=load_agents(),
        approvals=approvals,
        forms=forms,
        followups=followups,
        redactor=redactor,
        clock=clock,
        ids=ids,
        on_rest=on_rest,
    )
    router = Router(
        store=store,
        platform=platform,
        approvals=approvals,
        forms=forms,
        followups=followups,
        conductor=conductor,
        overhears=overhears,
    )
    card = partial(proposal_card, approver_configured=config.has_approver, redact=redactor.text)
    return Core(store, router, approvals, forms, followups, redactor, model.name, approvals_on, card)


def local_people(config: Config) -> LocalPeople:
    """People of this machine with the roles that config gives them."""
    return LocalPeople(config.people, Role(config.local.role))


def local_desk(
    core: Core, terminal: TerminalPlatform, platform: Platform, people: LocalPeople, rests: Rests, ids: Ids
) -> LocalDesk:
    """The desk in front of a core whose conductor tells `rests`."""
    return LocalDesk(
        terminal=terminal, platform=platform, people=people, router=core.router, store=core.store, rests=rests, ids=ids,
        model_name=core.model_name, approvals_on=core.approvals_on, card=core.card,
    )  # fmt: skip


def configured_model(
    config: Config,
    secrets: Secrets,
    session: aiohttp.ClientSession,
    metered: Callable[[LLM], LLM] = lambda model: model,
) -> LLM:
    """The model of `config`, and the offline rules where there is none or none answers. `metered` goes around each."""
    offline = metered(OfflineModel(pace=OFFLINE_PACE))
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
    return FailoverModel(metered(client), offline)


def _rules_overhear(ids: Ids, text: str, entries: Sequence[Entry]) -> bool:
    """Where rules are all that answers, what no rule understands is for somebody else."""
    return is_for_the_rules(text, project(entries, nonce=ids.nonce))


def _slack(
    config: Config,
    secrets: Secrets,
    session: aiohttp.ClientSession,
    clock: Clock,
    ids: Ids,
    metrics: Metrics,
    posts: Pace,
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
        posts=posts,
        ping_interval=PING_SECONDS,
        on_call=slack_meter(metrics),
    )


def _scheduler(config: Config, secrets: Secrets, http: httpx.AsyncClient) -> SchedulerClient:
    accounts = {
        Role(name): Account(getattr(config.scheduler.accounts, name).username, password)
        for name, password in secrets.scheduler_passwords.items()
    }
    return SchedulerClient(http, str(config.scheduler.url), accounts)


async def _serve_web(stack: AsyncExitStack, config: Config, app: web.Application) -> str:
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=WEB_CLOSE_SECONDS)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    site = web.TCPSite(runner, config.web.host, config.web.port)
    try:
        await site.start()
    except OSError as error:
        raise ConfigInvalid(
            f"{config.web.host}:{config.web.port} cannot be used ({os.strerror(error.errno or 0)}); change web.host or web.port."
        ) from error
    host, port = runner.addresses[0][:2]
    return f"http://{host}:{port}"


async def _come_to_rest(slack: SlackPlatform, router: Router, patience: float, hurry: asyncio.Event) -> None:
    """Take in nothing more, let what runs come to its end, cut off what does not."""
    await slack.stop_intake()
    await unless(hurry, asyncio.gather(router.drain(patience), slack.drain(patience)))
    await router.cut(CUT_SECONDS)


async def _sweep(approvals: Approvals, forms: Forms) -> None:
    while True:
        await asyncio.sleep(EXPIRY_SWEEP_SECONDS)
        try:
            await approvals.sweep()
            await forms.sweep()
        except ChatopsError as error:
            _log.error("the sweep of proposals and forms failed and is tried again: %s", error)


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
