"""A case is run on the road of `ask`: the whole core around a store of its own, its question at the desk of a terminal.

What differs from a running bot is said here and nowhere else: which tools there are (`worlds`), who answers (the case's
script, the offline rules, or the configured model without a fallback), and which texts the agent has (the arm).
"""

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from chatops_bot.app.config import Config, Secrets
from chatops_bot.app.core import build_core, local_desk
from chatops_bot.app.engine import node_of
from chatops_bot.app.evals.arms import Arm
from chatops_bot.app.evals.case import Case, Kind, Said
from chatops_bot.app.evals.judging import Tools, Verdict, judge
from chatops_bot.app.evals.observed import Kept, Observed, observe
from chatops_bot.app.evals.recorded import with_recorded, with_words
from chatops_bot.app.evals.script import CaseScript
from chatops_bot.app.evals.worlds import Worlds
from chatops_bot.app.local_desk import LocalDesk, Rests
from chatops_bot.app.registry import assembled
from chatops_bot.app.skills import BotSkills
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.domain.errors import ModelError
from chatops_bot.domain.form import FormState
from chatops_bot.domain.model import ModelDelta, ModelRequest, Reasoning
from chatops_bot.domain.people import Effect, Role
from chatops_bot.domain.proposal import ProposalState
from chatops_bot.domain.session import SessionKey, TurnOutcome
from chatops_bot.domain.thread import EarlierMessage
from chatops_bot.domain.tool import ToolCall
from chatops_bot.domain.transcript import EarlierRead, Entry, ModelSaid, ToolReturned, TurnRested, UserSaid
from chatops_bot.domain.view import View
from chatops_bot.llm.offline import OfflineModel
from chatops_bot.platforms.terminal.adapter import CHANNEL, NAME, WORKSPACE, TerminalPlatform
from chatops_bot.platforms.terminal.frames import Shown, Whispered
from chatops_bot.platforms.terminal.people import LocalPeople
from chatops_bot.ports import LLM, Clock, Ids, Store
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.tools.registry import Registry

ASKER = "evals"
THREAD = "t_case"
PATIENCE: Mapping[Kind, float] = {"scripted": 30.0, "offline": 30.0, "live": 300.0}
"""Seconds for one question, which a hung model or tool would otherwise take for good; then the run has failed."""
REST_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Bench:
    """What all cases of a run share. `live` is the configured model, if there is one."""

    config: Config
    secrets: Secrets
    worlds: Worlds
    clock: Clock
    ids: Ids
    skills: BotSkills
    live: LLM | None = None
    patience: Mapping[Kind, float] = field(default_factory=lambda: PATIENCE)


@dataclass(frozen=True, slots=True)
class Run:
    case: Case
    kind: Kind
    arm: str
    repeat: int
    observed: Observed
    verdict: Verdict


async def run_case(bench: Bench, case: Case, kind: Kind, arm: Arm, repeat: int = 1) -> Run:
    """One run of one case, from an empty store to its verdict."""
    script = CaseScript(case.script)
    models: dict[Kind, LLM | None] = {"scripted": script, "offline": OfflineModel(), "live": bench.live}
    asked = models[kind]
    if asked is None:
        raise ValueError("a live run needs a configured model")
    model = _Heard(asked)
    started = time.monotonic()
    async with _desk(bench, case, model, arm) as (desk, registry, store):
        views: dict[str, View] = {}
        in_time = await _converse(desk, store, case, bench.clock, bench.patience[kind], views)
        kept = Kept(
            await store.transcripts.load(session()),
            views,
            await store.proposals.in_states(frozenset(ProposalState)),
            [form for form in await store.forms.open() if form.state is FormState.OPEN],
            waited=0.0 if in_time else bench.patience[kind],
            trouble=model.trouble,
        )
    seen = observe(
        kept,
        registered=frozenset(tool.spec.name for tool in registry),
        seconds=time.monotonic() - started,
        script=script.left_over() if kind == "scripted" else (),
    )
    tools = Tools(
        {tool.spec.name: tool.spec.arguments for tool in registry},
        frozenset(tool.spec.name for tool in registry if tool.spec.effect is not Effect.READ),
    )
    return Run(case, kind, arm.name, repeat, seen, judge(case, seen, tools, arm.secret(case)))


class _Heard:
    """`model`, and the sentence in which it last failed."""

    def __init__(self, model: LLM) -> None:
        self._model = model
        self.trouble = ""

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        """See `ports.LLM.stream`."""
        try:
            async with aclosing(self._model.stream(request)) as deltas:
                async for delta in deltas:
                    yield delta
        except ModelError as error:
            self.trouble = error.phrase.en
            raise


@asynccontextmanager
async def _desk(
    bench: Bench, case: Case, model: LLM, arm: Arm
) -> AsyncGenerator[tuple[LocalDesk, Registry, Store], None]:
    """The core for one case, and the desk in front of it."""
    terminal, people, rests = TerminalPlatform(bench.ids), LocalPeople({}, Role.ADMIN), Rests()
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="chatops-bot-eval-"))
        store = await SqliteStore.open(Path(folder) / "bot.db", bench.clock)
        stack.push_async_callback(store.aclose)
        config = bench.config.model_copy(
            update={"agents": bench.config.agents.model_copy(update={"default": case.agent})}
        )
        prompts = PromptRegistry(with_words(arm.texts, case.recordings))
        registry = assembled(config, bench.worlds.tools(case), bench.skills, store, prompts, routed=False)
        registry = with_recorded(registry, case.recordings)
        core = build_core(
            config, bench.secrets, clock=bench.clock, ids=bench.ids, store=store, model=model, registry=registry,
            platform=terminal, directory=people, on_rest=rests.tell, node=node_of(store, bench.ids, None),
            skills=bench.skills.choice, prompts=prompts,
        )  # fmt: skip
        desk = local_desk(core, terminal, terminal, people, rests, bench.ids)
        stack.push_async_callback(desk.aclose, REST_SECONDS)
        stack.push_async_callback(core.router.cut, REST_SECONDS)
        yield desk, registry, store


async def _converse(
    desk: LocalDesk, store: Store, case: Case, clock: Clock, patience: float, views: dict[str, View]
) -> bool:
    """Ask every question in one thread, and put the messages that the last one left on the screen into `views`. False when one
    was not answered within `patience` seconds; then the rest are not asked."""
    # What the bot said before anybody asked, such as an alert that it posted, stood in the thread before the session began.
    first = next((at for at, said in enumerate(case.thread) if said.person), len(case.thread))
    stood = tuple(EarlierMessage(NAME, clock.now(), said.bot) for said in case.thread[:first] if said.bot)
    seeded: list[Entry] = [EarlierRead("turn_before", clock.now(), stood)] if stood else []
    for number, said in enumerate(case.thread[first:], 1):
        seeded += _entries(said, f"turn_before_{number}", case, clock)
    # A thread exists from its first entry on, and the desk goes on only with one that exists.
    nobody = TurnRested("turn_before", clock.now(), TurnOutcome.ANSWERED, "")
    await store.transcripts.append(session(), seeded or [nobody])
    for question in case.ask:
        views.clear()
        try:
            async with asyncio.timeout(patience) as limit:
                async for frame in desk.ask(ASKER, question, thread=THREAD, role=Role(case.role)):
                    if isinstance(frame, Shown):
                        views[frame.message] = frame.view
                    elif isinstance(frame, Whispered):
                        views[f"whisper {len(views)}"] = frame.view
        except TimeoutError:
            if not limit.expired():
                raise
            return False
    return True


def session() -> SessionKey:
    """Where every case is played: each has a store to itself."""
    return SessionKey(NAME, WORKSPACE, CHANNEL, THREAD)


def _entries(said: Said, turn: str, case: Case, clock: Clock) -> Sequence[Entry]:
    """A message of the thread as the transcript would hold it."""
    now = clock.now()
    if said.person:
        return [UserSaid(turn, now, ASKER, ASKER, case.role, said.person, case.language)]
    calls = [
        ToolCall(f"{turn}_{index}", one.tool, json.dumps(one.match, ensure_ascii=False))
        for index, one in enumerate(said.results)
    ]
    entries: list[Entry] = []
    if calls:
        entries.append(ModelSaid(turn, now, "", Reasoning(), tuple(calls)))
    for call, one in zip(calls, said.results, strict=True):
        content = one.content if isinstance(one.content, dict) else {"text": one.content}
        entries.append(
            ToolReturned(turn, now, call.id, one.tool, one.status, json.dumps(content, ensure_ascii=False))
        )
    if said.bot:
        entries.append(ModelSaid(turn, now, said.bot, Reasoning(), ()))
    return [*entries, TurnRested(turn, now, TurnOutcome.ANSWERED, said.bot)]
