"""The wiring of the core: store, tools and sessions behind the ports. It has no doors; whoever opens them owns its life."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from chatops_bot.agent.consulting import ConsultAgent
from chatops_bot.agent.loop import Loop
from chatops_bot.app.bundled import load_call_words
from chatops_bot.app.clock import WatchedIds
from chatops_bot.app.config import Config, Secrets
from chatops_bot.app.engine import Engine, Node, build_engine
from chatops_bot.app.local_desk import LocalDesk, Rests
from chatops_bot.app.one_key import one_key
from chatops_bot.app.prompt_files import configured_texts
from chatops_bot.app.prompt_reload import PromptReload
from chatops_bot.app.routing import tool_choice
from chatops_bot.context.budget import Budget
from chatops_bot.context.fence import kept_marks
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Person, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.view import View
from chatops_bot.domain.withheld import Withheld
from chatops_bot.platforms.terminal.adapter import TerminalPlatform
from chatops_bot.platforms.terminal.people import LocalPeople
from chatops_bot.ports import LLM, Clock, Directory, Ids, Platform, Store, Transcripts
from chatops_bot.rendering.channel_names import NameOf, unnamed
from chatops_bot.rendering.links import Links
from chatops_bot.sessions.afterwards import Afterwards
from chatops_bot.sessions.applying import Applying
from chatops_bot.sessions.arm_watch import ArmWatch
from chatops_bot.sessions.briefing import Briefer
from chatops_bot.sessions.circumstances import Home
from chatops_bot.sessions.conductor import Conductor
from chatops_bot.sessions.decisions import Decisions
from chatops_bot.sessions.followups import Followups
from chatops_bot.sessions.forms import Forms
from chatops_bot.sessions.prompt_keeping import PromptKeeper
from chatops_bot.sessions.reading import Reading
from chatops_bot.sessions.reminding import Reminders
from chatops_bot.sessions.router import Overhears, Press, Router, every_message
from chatops_bot.sessions.skill_choice import SkillChoice
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.tools.asking import Asker
from chatops_bot.tools.dispatch import Dispatcher
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.sealed_secrets import SealedSecrets

if TYPE_CHECKING:
    from chatops_bot.stores.redis import RedisStore


@dataclass(frozen=True, slots=True)
class Core:
    """The bot without its doors: what takes events in, decides, and keeps."""

    store: Store
    router: Router
    applying: Applying
    forms: Forms
    secrets: SealedSecrets
    followups: Followups
    redactor: Redactor
    policy: Policy
    model_name: str
    decisions_on: Callable[[Platform], Decisions]
    """The same decisions, told through another platform."""
    reading: Reading
    reminders: Reminders
    afterwards: Afterwards
    card: Callable[[Proposal], View]
    prompts: PromptReload
    arms: ArmWatch


@asynccontextmanager
async def open_store(
    config: Config, secrets: Secrets, clock: Clock, ids: Ids
) -> "AsyncGenerator[SqliteStore | RedisStore, None]":
    """The store of `config`; where `secrets` has no keys, one that is thrown away.

    Raises StoreError when it cannot be used, or bots with another key use it.
    """
    key = secrets.keys.audit[0] if secrets.keys else None
    store: SqliteStore | RedisStore
    if config.store.redis_url_env:
        from chatops_bot.stores import redis  # its client costs a tenth of a start, and 10 MB

        store = await redis.RedisStore.open(
            secrets.redis_url, ids.new("bot"), key, prefix=config.store.redis_prefix
        )
    else:
        store = await SqliteStore.open(config.store_path, clock, key)
    try:
        if key is not None and config.store.redis_url_env:
            async with one_key(store.leases, key.id, config.store.lease_seconds):
                yield store
        else:
            yield store
    finally:
        await store.aclose()


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
    on_rest: Callable[[str, TurnOutcome], None],
    node: Node,
    overhears: Overhears = every_message,
    skills: SkillChoice | None = None,
    logs: Withheld | None = None,
    rerouted: Callable[[], None] | None = None,
    prompts: PromptRegistry | None = None,
) -> Core:
    """Everything between a platform and the tools, in the process `node`.

    Nothing runs yet: its owner recovers what an earlier process left, lets events in, and brings the router to rest.
    `skills` is which skills a turn has, None for none; `rerouted` is told of each turn that begins with other tools than the one
    before, None: all are on offer. `logs` is what the log's lines go through, `prompts` the texts, None for what `config` names.
    Raises ConfigInvalid for a policy that nobody could meet.
    """
    redactor = Withheld(secrets.values())
    prompts = prompts or PromptRegistry(configured_texts(config.agents))
    reload = PromptReload(config.agents, prompts, redactor, [tool.spec for tool in registry])
    ids = WatchedIds(ids, redactor.watching(ids.nonce))
    sealed = _sealed(config, store, node, [redactor, logs] if logs else [redactor], clock, ids)
    engine = build_engine(
        config, node, clock=clock, ids=ids, store=store, registry=registry, platform=platform, directory=directory,
        redactor=redactor, secrets=sealed,
    )  # fmt: skip
    dispatcher = _dispatcher(config, engine, store, registry, redactor, clock, ids, sealed, prompts)
    forms = Forms(
        store=store, platform=platform, directory=directory, registry=registry, redactor=redactor, clock=clock, ids=ids,
        policy=engine.policy, secrets=sealed,
    )  # fmt: skip
    followups = Followups(store.controls, platform, ids)
    briefer = _briefer(
        config, registry, prompts, store, redactor, clock, ids, skills, model.name, rerouted, node.fences,
        engine.policy.may_ask,
    )  # fmt: skip
    rounds = config.model.max_rounds
    _let_consult(registry, partial(_aside, model, dispatcher, clock, ids, rounds // 2), briefer)
    conductor = Conductor(
        platform=platform, store=store,
        loop=Loop(model, dispatcher, store.transcripts, clock, ids, max_rounds=rounds),
        briefer=briefer, cards=engine.cards, forms=forms, followups=followups, redactor=redactor,
        clock=clock, ids=ids, on_rest=on_rest, links=Links.to(config.links.hosts),
    )  # fmt: skip
    router = _router(engine, store, platform, forms, followups, conductor, overhears)
    return Core(
        store=store, router=router, applying=engine.applying, forms=forms, secrets=sealed, followups=followups, redactor=redactor,
        policy=engine.policy, model_name=model.name, decisions_on=engine.decisions_on, reading=engine.reading,
        reminders=engine.reminders, afterwards=engine.afterwards, card=engine.card, prompts=reload, arms=ArmWatch(prompts, store.arms),
    )  # fmt: skip


def _aside(
    model: LLM, dispatcher: Dispatcher, clock: Clock, ids: Ids, rounds: int, transcripts: Transcripts
) -> Loop:
    """The loop of a consultation: with half of a turn's steps, over a transcript of its own."""
    return Loop(model, dispatcher, transcripts, clock, ids, max_rounds=max(1, rounds))


def _let_consult(registry: Registry, loop_over: Callable[[Transcripts], Loop], briefer: Briefer) -> None:
    """Where agents can consult each other, the loop over a transcript of its own runs what is asked."""
    for tool in registry:
        if isinstance(tool, ConsultAgent):
            tool.answer_with(loop_over, briefer)


def _sealed(
    config: Config, store: Store, node: Node, hide_in: Sequence[Withheld], clock: Clock, ids: Ids
) -> SealedSecrets:
    return SealedSecrets(
        store.secret_values, store.proposals, node.secrets, hide_in, ids, config.proposal_lifetime, clock
    )


def _router(
    engine: Engine, store: Store, platform: Platform, forms: Forms, followups: Followups, conductor: Conductor,
    overhears: Overhears,
) -> Router:  # fmt: skip
    """What takes events in and gives each to whoever deals with it."""
    decisions = engine.decisions_on(platform)
    presses: Mapping[str, Press] = {
        "approve": decisions.press, "reject": decisions.press, "again": engine.renewals.press, "undo": engine.undoing.press,
        "keep": engine.keeping.press, "reason": engine.reasons.open,
    }  # fmt: skip
    return Router(
        store=store, platform=platform, decisions=decisions, reading=engine.reading, reasons=engine.reasons, presses=presses,
        looks={"show": engine.reading.open, "look": engine.watching.press}, forms=forms, followups=followups,
        conductor=conductor, policy=engine.policy, overhears=overhears,
    )  # fmt: skip


def _briefer(
    config: Config, registry: Registry, prompts: PromptRegistry, store: Store, redactor: Withheld, clock: Clock, ids: Ids,
    skills: SkillChoice | None, model: str, rerouted: Callable[[], None] | None,
    fences: bytes, may_ask: Callable[[Person, str, Effect, str], Phrase | None],
) -> Briefer:  # fmt: skip
    """What says which agent answers, and what its model is told."""
    choice = tool_choice(registry, prompts, rerouted) if rerouted else None
    keeper = PromptKeeper(
        store.prompts, store.transcripts, clock, config.agents.keep_days, config.agents.keep_suffix
    )
    return Briefer(
        registry=registry, prompts=prompts, agent_in=config.agents.agent_in, clock=clock, ids=ids, skills=skills,
        keeper=keeper, clean=redactor.without_secrets, budget=Budget(config.model.context_tokens), model=model,
        choice=choice, may_ask=may_ask, home=Home(config.scheduler.timezone, config.environment.told),
        marks=lambda session: redactor.watching_marks(kept_marks(fences, str(session))),
    )  # fmt: skip


def _dispatcher(
    config: Config,
    engine: Engine,
    store: Store,
    registry: Registry,
    redactor: Redactor,
    clock: Clock,
    ids: Ids,
    sealed: SealedSecrets,
    prompts: PromptRegistry,
) -> Dispatcher:
    """The one door of tool calls: a read runs, a write becomes a proposal, what lacks facts becomes a form."""
    return Dispatcher(
        registry,
        policy=engine.policy,
        audit=store.audit,
        proposer=engine.proposer,
        asker=Asker(store.forms, clock, ids, redactor, config.proposal_lifetime, sealed, prompts.hints),
        redactor=redactor,
        clock=clock,
        results=store.results,
        words=load_call_words(),
    )


def local_people(config: Config) -> LocalPeople:
    """People of this machine with the roles that config gives them."""
    return LocalPeople(config.people, Role(config.local.role), config.timezone or "")


def local_desk(
    core: Core, terminal: TerminalPlatform, platform: Platform, people: LocalPeople, rests: Rests, ids: Ids,
    channel_name: NameOf = unnamed,
) -> LocalDesk:  # fmt: skip
    """The desk in front of a core whose conductor tells `rests`."""
    return LocalDesk(
        terminal=terminal, platform=platform, people=people, router=core.router, store=core.store, rests=rests, ids=ids,
        model_name=core.model_name, decisions_on=core.decisions_on, reading=core.reading, card=core.card,
        channel_name=channel_name,
    )  # fmt: skip
