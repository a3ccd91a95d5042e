"""A running bot: its doors are opened around the core, and closed again. Nothing connects on import."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import aiohttp
from aiohttp import web

from chatops_bot.app.anchoring import Anchoring, posting
from chatops_bot.app.config import Config, Secrets
from chatops_bot.app.core import Core, build_core, local_desk, local_people, open_store
from chatops_bot.app.engine import node_of
from chatops_bot.app.health import Health
from chatops_bot.app.local_api import LocalApi, local_api
from chatops_bot.app.local_desk import LocalDesk, Rests
from chatops_bot.app.metering import (
    MeteredModel,
    MeteredScripts,
    TurnCount,
    metered_events,
    metered_platform,
    metered_store,
    slack_meter,
)
from chatops_bot.app.metrics import Metrics
from chatops_bot.app.model_choice import OFFLINE_PACE, configured_model, configured_overhearing
from chatops_bot.app.platforms import ChatAndLocalPeople, ChatAndTerminal
from chatops_bot.app.policy_check import PolicyWatch
from chatops_bot.app.process import unless
from chatops_bot.app.prompt_files import configured_texts
from chatops_bot.app.registry import open_registry
from chatops_bot.app.routing import routes
from chatops_bot.app.skills import BotSkills, read_skills
from chatops_bot.app.sweeping import EXPIRY_SWEEP_SECONDS, sweep
from chatops_bot.app.web import web_app
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.domain.errors import ConfigInvalid, StoreError
from chatops_bot.domain.session import RunningTurn
from chatops_bot.domain.withheld import Withheld
from chatops_bot.platforms.slack.adapter import SlackPlatform
from chatops_bot.platforms.slack.outbound import POSTS
from chatops_bot.platforms.terminal.adapter import TerminalPlatform
from chatops_bot.ports import LLM, Clock, Directory, Ids, Platform, Store, Tool
from chatops_bot.rendering.pacing import Pace
from chatops_bot.sessions.alerts import Alerts
from chatops_bot.sessions.liveness import Liveness
from chatops_bot.sessions.mailbox import TurnInput
from chatops_bot.sessions.peers import Peers
from chatops_bot.sessions.recovery import recover_turns, resume_unheard
from chatops_bot.sessions.router import every_message

_log = logging.getLogger(__name__)

CUT_SECONDS = 3.0
"""What turns and decisions that are cut off at the end get, to say so; with the rest of an end it stays under 25 s."""
WEB_CLOSE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Beats:
    """Seconds between two looks at what nothing tells of by itself, and between two pieces of an answer of the offline rules."""

    sweep: float = EXPIRY_SWEEP_SECONDS
    ping: float = 5.0
    """slack_sdk's own default. A socket that broke is opened again at this beat, so it is how long the bot may be deaf; a pong
    must come within half of it, which leaves room for a slow network."""
    show: float = OFFLINE_PACE


BEATS = Beats()


@dataclass(frozen=True, slots=True)
class Bot:
    """A running bot: what its owner may look at. `failed` is set when a part died without which it must be brought to rest."""

    web_url: str
    bot_user_id: str
    model_name: str
    failed: asyncio.Event
    read_again: Callable[[], None]
    """Read prompts and skills again, now; the log says what is in use then."""


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
    beats: Beats = BEATS,
    tools: Sequence[Tool] = (),
    logs: Withheld | None = None,
    routed: bool | None = None,
) -> AsyncGenerator[Bot, None]:
    """Start the bot, yield it, and bring it to rest, at once when `hurry` is set. `logs` is what the log's lines go through. The
    other arguments are for tests that play a model, a crash, a workspace without rate limits, time that passes, or a back end. A
    model that is played is offered all tools unless it is to be `routed`. Raises StoreError or PlatformError when it cannot start.
    """
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession())
        kept = await stack.enter_async_context(open_store(config, secrets, clock, ids))
        turns = TurnCount(metrics := Metrics())
        routed = (model is None and routes(config, secrets)) if routed is None else routed
        prompts = PromptRegistry(configured_texts(config.agents, [tool.spec for tool in tools]))
        skills = await read_skills(config, meter=partial(MeteredScripts, metrics=metrics))
        opening = open_registry(config, secrets, clock, skills, kept, prompts=prompts, more=tools, routed=routed)  # fmt: skip
        registry = await stack.enter_async_context(opening)
        slack = _slack(config, secrets, session, clock, ids, metrics, posts, beats.ping)
        terminal, people, rests = TerminalPlatform(ids), local_people(config), Rests()
        platform = metered_platform(ChatAndTerminal(slack, terminal), metrics)
        directory = ChatAndLocalPeople(slack.directory, people)
        metered = partial(MeteredModel, metrics=metrics)
        core = build_core(
            config, secrets, clock=clock, ids=ids, registry=registry, platform=platform, directory=directory, store=metered_store(wrap_store(kept), metrics, turns, [tool.spec.name for tool in registry]),
            model=metered(model) if model else configured_model(config, secrets, session, metered, beats.show),
            node=node_of(kept, ids, secrets.keys, alive := _alive(config, kept)), on_rest=rests.tell, logs=logs, skills=skills.choice,
            rerouted=metrics.tools_rerouted.inc if routed else None, prompts=prompts, overhears=every_message if model else configured_overhearing(secrets, ids),
        )  # fmt: skip
        health = Health(lambda: slack.deaf_because, kept.check, kept.remedy)
        identity = await slack.identity()
        stack.push_async_callback(slack.aclose)
        web_url = await _serve_web(stack, config, _web_app(config, secrets, core, platform, health, metrics))
        await _anchor(stack, config, secrets, kept, platform, clock)
        going_on = partial(_going_on, core, platform, directory, clock, turns, alive)
        peers, never_started = await _join(stack, core, going_on, alive, health)
        await core.applying.recover()
        desk = local_desk(core, terminal, platform, people, rests, ids, slack.directory.channel_name)
        api = await stack.enter_async_context(local_api(config.data))
        resting = partial(come_to_rest, slack, core, desk, config.shutdown.drain_seconds)
        stack.push_async_callback(resting, hurry or asyncio.Event())
        core.router.resume(never_started)
        await core.router.resume_forms()
        stack.callback(peers.stop_taking_over)
        await _open_doors(stack, slack, api, desk, core, metrics)
        policy = PolicyWatch(config, core.policy, registry, directory, slack.directory.members, platform)
        _look_after(stack, core, config, metrics, policy, health, skills, beats.sweep)
        health.recovered()
        yield Bot(web_url, identity.user_id, core.model_name, health.failed, partial(_read_again, core, skills))  # fmt: skip


def _read_again(core: Core, skills: BotSkills) -> None:
    core.prompts.reload()
    skills.asked.set()


async def _open_doors(
    stack: AsyncExitStack, slack: SlackPlatform, api: LocalApi, desk: LocalDesk, core: Core, metrics: Metrics
) -> None:
    """From here on people reach the core: in Slack, and on this machine."""
    await slack.start(metered_events(core.router.handle, metrics), core.router.submit)
    await api.start(desk)
    stack.callback(desk.take_no_more)


def _overdue(core: Core, seconds: float) -> Mapping[str, Callable[[], Awaitable[None]]]:
    """What closes what is overdue, by what it is; of several processes one does it, as long as it lives."""
    works = {
        "proposals": core.applying.sweep,
        "prompts": core.store.prompts.drop_overdue,
        "reminders": core.reminders.sweep,
        "what was run": core.afterwards.sweep,
        "forms": core.forms.sweep,
        "filled forms": core.router.begin_filled,
    }

    is_mine = _in_one_process(core.store, seconds)

    async def in_one_process(work: Callable[[], Awaitable[None]]) -> None:
        if await is_mine():
            await work()

    leased = {name: partial(in_one_process, work) for name, work in works.items()}
    # Each process hides secrets by itself, and has turns of its own to tell of.
    return {**leased, "sealed secrets": core.secrets.sweep, "rollouts": core.arms.sweep}


def _in_one_process(store: Store, seconds: float) -> Callable[[], Awaitable[bool]]:
    """Asks whether this is the process that does what one does for all that share the store: the same as long as it lives."""

    async def is_mine() -> bool:
        return await store.leases.take("sweep", store.process, seconds) is not None

    return is_mine


def _slack(
    config: Config,
    secrets: Secrets,
    session: aiohttp.ClientSession,
    clock: Clock,
    ids: Ids,
    metrics: Metrics,
    posts: Pace,
    ping_seconds: float,
) -> SlackPlatform:
    return SlackPlatform(
        session,
        clock,
        ids,
        bot_token=secrets.slack_bot_token,
        app_token=secrets.slack_app_token,
        base_url=str(config.slack.api_url),
        roster=config.roster,
        groups=config.groups,
        timezone=config.timezone or "",
        posts=posts,
        ping_interval=ping_seconds,
        on_call=slack_meter(metrics),
    )


def _web_app(
    config: Config, secrets: Secrets, core: Core, platform: Platform, health: Health, metrics: Metrics
) -> web.Application:
    channel, language = config.alerts.channel, config.alerts.language
    return web_app(
        alerts=Alerts(platform, core.followups, core.redactor, channel, language) if channel else None,
        webhook_token=secrets.webhook_token,
        health=health,
        metrics=lambda: metrics.text(core.store.proposals),
    )


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


async def _going_on(
    core: Core,
    platform: Platform,
    directory: Directory,
    clock: Clock,
    turns: TurnCount,
    alive: Liveness,
    unheard: Sequence[RunningTurn] = (),
) -> list[TurnInput]:
    """Take over what dead processes left; returns the turns that they, or whoever had the `unheard` ones, never started."""
    interrupted, left = await recover_turns(
        core.store, platform, directory, core.policy, clock, alive.is_dead
    )
    left += await resume_unheard(unheard, core.store, directory, core.policy, clock)
    if interrupted or left:
        _log.warning("%d turns were closed as interrupted and %d start now", interrupted, len(left))
    for turn in left:
        turns.resume(turn.turn_id)
    return left


async def _join(
    stack: AsyncExitStack,
    core: Core,
    going_on: Callable[[Sequence[RunningTurn]], Awaitable[list[TurnInput]]],
    alive: Liveness,
    health: Health,
) -> tuple[Peers, list[TurnInput]]:
    """Live among the other processes of the store until the stack is closed; returns also the turns that are to start now."""

    async def go_on(unheard: Sequence[RunningTurn]) -> None:
        core.router.resume(await going_on(unheard))

    peers = Peers(
        core.store, go_on=go_on, hear=core.router.hear, held=core.router.held, let_go=core.router.let_go, alive=alive
    )  # fmt: skip
    await alive.join()
    stack.push_async_callback(_leave, alive)
    # Before anything is taken over, which may take long: a process that is not heard is taken for dead.
    _run_beside(
        stack, peers.keep_renewing(), "beat by which other processes know that this one lives", health
    )
    await core.secrets.learn()  # before anything of a turn or a change is said
    await core.arms.sweep()  # before anybody is told a text that is paused
    never_started = await going_on(())
    _run_beside(stack, peers.keep_taking_over(), "takeover of what dead processes left", health)
    _run_beside(stack, peers.keep_hearing(), "relay from other processes", health)
    return peers, never_started


def _alive(config: Config, store: Store) -> Liveness:
    """Who lives among those that share the store: a file has one process, and whoever had it before is dead."""
    patience = None if config.store.redis_url_env else 0
    return Liveness(store, config.store.lease_seconds, patience=patience)


async def _leave(alive: Liveness) -> None:
    try:
        await alive.leave()
    except StoreError as error:
        _log.warning(
            "that this process ends could not be said; others notice when its lease runs out: %s", error
        )


async def come_to_rest(
    slack: SlackPlatform, core: Core, desk: LocalDesk, patience: float, hurry: asyncio.Event
) -> None:
    """Take in nothing more, let what runs come to its end within `patience` seconds, cut off what does not."""
    deadline = asyncio.get_running_loop().time() + patience
    await slack.stop_intake()
    left = max(0.0, deadline - asyncio.get_running_loop().time())
    await unless(
        hurry,
        asyncio.gather(
            core.router.drain(left),
            core.applying.rest(left),
            core.afterwards.rest(left),
            slack.drain(left),
            desk.drain(left),
        ),
    )
    await asyncio.gather(
        core.router.cut(CUT_SECONDS),
        _cut_changes(core),
        desk.aclose(CUT_SECONDS),
    )


async def _cut_changes(core: Core) -> None:
    """What follows a change may begin a run to take it back, so it comes to rest before the runs do; both within `CUT_SECONDS`."""
    deadline = asyncio.get_running_loop().time() + CUT_SECONDS
    await core.afterwards.rest(CUT_SECONDS)
    await core.applying.rest(max(0.0, deadline - asyncio.get_running_loop().time()))


async def _anchor(
    stack: AsyncExitStack,
    config: Config,
    secrets: Secrets,
    store: Store,
    platform: Platform,
    clock: Clock,
) -> None:
    """Note the heads of the audit down until the stack is closed, and once more then."""
    channel = config.audit.anchor_channel
    is_mine = _in_one_process(store, config.store.lease_seconds)
    post = posting(platform, channel, is_mine) if channel else None
    anchoring = Anchoring(store.audit, clock, config.anchor_path, post)
    await anchoring.begin([key.id for key in secrets.keys.audit] if secrets.keys else [])
    stack.push_async_callback(anchoring.end)
    _run_beside(stack, anchoring.keep(), "anchoring of the audit")


def _look_after(
    stack: AsyncExitStack,
    core: Core,
    config: Config,
    metrics: Metrics,
    policy: PolicyWatch,
    health: Health,
    skills: BotSkills,
    sweep_seconds: float,
) -> None:
    lease_seconds = config.store.lease_seconds
    _run_beside(stack, sweep(_overdue(core, lease_seconds), sweep_seconds), "expiry sweep", health)
    _run_beside(stack, metrics.watch_loop(), "loop lag")
    _run_beside(stack, policy.watch(_in_one_process(core.store, lease_seconds)), "policy check")
    _run_beside(stack, skills.keep_reading(config.skills.refresh_minutes), "reading of skills")
    stack.callback(health.drain)


def _run_beside(
    stack: AsyncExitStack, work: Coroutine[Any, Any, None], name: str, health: Health | None = None
) -> None:
    """Run `work` until the stack is closed. That it ended before is a fault, which the log tells; with `health`, the bot must not
    go on without it."""
    task = asyncio.create_task(work, name=name)
    task.add_done_callback(partial(_tell_of_death, health))
    stack.push_async_callback(_cancel, task)


def _tell_of_death(health: Health | None, task: asyncio.Task[None]) -> None:
    if task.cancelled():
        return
    then = "does not run until the bot is started again" if health is None else "the bot comes to rest"
    _log.error("the %s ended and %s", task.get_name(), then, exc_info=task.exception())
    if health is not None:
        health.fail(task.get_name())


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
