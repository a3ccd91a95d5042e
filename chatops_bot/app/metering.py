"""Counting by wrapping ports: the model, the store's roles, the way in and Slack's calls, none of which know of it."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Any, cast

from chatops_bot.app.metrics import UNKNOWN, Metrics
from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.errors import (
    MessageGone,
    ModelBlocked,
    ModelBroke,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    PlatformError,
    PlatformUnavailable,
)
from chatops_bot.domain.event import InboundEvent
from chatops_bot.domain.kept_prompt import KeptPrompt
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.model import (
    Finished,
    ModelDelta,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.session import RunningTurn, SessionKey, TurnOutcome
from chatops_bot.domain.skill import ScriptRun, Skill
from chatops_bot.domain.transcript import Entry, Prompted, TurnRested
from chatops_bot.platforms.slack.errors import RateLimited, Unanswered
from chatops_bot.ports import (
    LLM,
    Audit,
    Platform,
    Prompts,
    Proposals,
    ScriptRunner,
    Store,
    Transcripts,
    Turns,
)

OnEvent = Callable[[InboundEvent], Awaitable[None]]

_PIECES = (TextDelta, ReasoningDelta, ToolCallDelta)
_MODEL_RESULTS: tuple[tuple[type[ModelError], str], ...] = (
    (ModelUnavailable, "unavailable"),
    (ModelRefused, "refused"),
    (ModelTimeout, "timeout"),
    (ModelBroke, "broke"),
    (ModelBlocked, "blocked"),
    (ModelError, "failed"),
)
_SLACK_RESULTS: tuple[tuple[type[PlatformError], str], ...] = (
    (RateLimited, "rate_limited"),
    (Unanswered, "unanswered"),
    (PlatformUnavailable, "unreachable"),
    (MessageGone, "gone"),
    (PlatformError, "refused"),
)


class MeteredModel:
    """An `LLM` whose calls are counted."""

    def __init__(self, model: LLM, metrics: Metrics) -> None:
        self._model = model
        self._metrics = metrics

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        """See `ports.LLM.stream`."""
        name, began, begun, result = self.name, time.perf_counter(), False, "left"
        try:
            async with aclosing(self._model.stream(request)) as deltas:
                async for delta in deltas:
                    if not begun and isinstance(delta, _PIECES):
                        begun = True
                        self._metrics.first_delta_seconds.labels(name).observe(time.perf_counter() - began)
                    if isinstance(delta, Finished):
                        result = "ok"
                        self._count_tokens(name, delta.usage)
                    yield delta
        except ModelError as error:
            result = next(word for kind, word in _MODEL_RESULTS if isinstance(error, kind))
            raise
        finally:
            self._metrics.model_requests.labels(name, result).inc()

    def _count_tokens(self, name: str, usage: Usage) -> None:
        tokens = self._metrics.model_tokens
        tokens.labels(name, "input").inc(usage.prompt_tokens)
        tokens.labels(name, "output").inc(usage.completion_tokens)
        tokens.labels(name, "cached").inc(usage.cached_tokens)
        tokens.labels(name, "reasoning").inc(usage.reasoning_tokens)


class TurnCount:
    """The turns that were accepted and did not rest yet."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._since: dict[str, float | None] = {}

    def begin(self, turn_id: str) -> None:
        self._add(turn_id, time.monotonic())

    def resume(self, turn_id: str) -> None:
        """One that an earlier process accepted: how long it has waited by now is not known."""
        self._add(turn_id, None)

    def _add(self, turn_id: str, since: float | None) -> None:
        self._since[turn_id] = since
        self._metrics.turns_running.set(len(self._since))

    def rest(self, turn_id: str, outcome: TurnOutcome) -> None:
        self._metrics.turns.labels(outcome.value).inc()
        if (since := self._since.pop(turn_id, None)) is not None:
            self._metrics.turn_seconds.observe(time.monotonic() - since)
        self._metrics.turns_running.set(len(self._since))

    def end(self, turn_id: str, outcome: TurnOutcome) -> None:
        """Its message shows the end; one that was taken back before it started comes to rest only here."""
        if turn_id in self._since:
            self.rest(turn_id, outcome)


class MeteredScripts:
    """A `ScriptRunner` whose runs are counted, by whether they ended, were killed, or could not be started."""

    def __init__(self, runner: ScriptRunner, metrics: Metrics) -> None:
        self._runner = runner
        self._metrics = metrics

    @property
    def disabled_because(self) -> Phrase | None:
        return self._runner.disabled_because

    async def run(self, skill: Skill, script: str, arguments: Sequence[str], stdin: str = "") -> ScriptRun:
        """See `ports.ScriptRunner.run`."""
        outcome = "not_started"
        try:
            done = await self._runner.run(skill, script, arguments, stdin)
            outcome = "killed" if done.exit_code is None else "ok" if done.exit_code == 0 else "failed"
            self._metrics.script_seconds.observe(done.seconds)
        finally:
            self._metrics.script_runs.labels(outcome).inc()
        return done


def metered_store(store: Store, metrics: Metrics, turns: TurnCount, tools: Collection[str]) -> Store:
    """`store` with its turns, tool calls and moves of proposals counted.

    `tools` are the names that exist; models make others up, and those count as `unknown`.
    """
    return cast(
        "Store",
        _Around(
            store,
            turns=_Around(
                store.turns, begin=_counting_begin(store, turns), end=_counting_end(store.turns, turns)
            ),
            transcripts=_Around(
                store.transcripts, append=_counting_rest(store.transcripts, turns, PromptCount(metrics))
            ),
            prompts=_Around(store.prompts, put=_counting_prompt(store.prompts, metrics)),
            proposals=_Around(
                store.proposals,
                add=_counting_add(store.proposals, metrics, frozenset(tools)),
                move=_counting_move(store.proposals, metrics),
            ),
            audit=_Around(store.audit, record=_counting_call(store.audit, metrics, frozenset(tools))),
        ),
    )


def metered_platform(platform: Platform, metrics: Metrics) -> Platform:
    """`platform` with the edits that are asked of it counted."""

    def edit(*arguments: Any) -> None:
        metrics.edits_wanted.inc()
        platform.edit(*arguments)

    return cast("Platform", _Around(platform, edit=edit))


def metered_events(handle: OnEvent, metrics: Metrics) -> OnEvent:
    """`handle` with what comes in counted."""

    async def counted(event: InboundEvent) -> None:
        metrics.inbound_events.labels(type(event).__name__).inc()
        await handle(event)

    return counted


def slack_meter(metrics: Metrics) -> Callable[[str, float, PlatformError | None], None]:
    """What `SlackApi` tells of each call: method, seconds, and the error if there was one."""

    def count(method: str, seconds: float, error: PlatformError | None) -> None:
        result = (
            "ok" if error is None else next(word for kind, word in _SLACK_RESULTS if isinstance(error, kind))
        )
        metrics.slack_calls.labels(method, result).inc()
        metrics.slack_seconds.labels(method).observe(seconds)

    return count


class _Around:
    """Another object with some of its attributes replaced; all others are its own."""

    def __init__(self, inner: object, **replaced: object) -> None:
        self._inner = inner
        self.__dict__.update(replaced)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _counting_begin(store: Store, count: TurnCount) -> Callable[..., Any]:
    async def begin(turn: RunningTurn, claim: str = "") -> str:
        holder = await store.turns.begin(turn, claim)
        if holder == store.process:  # the process that holds it counts it
            count.begin(turn.id)
        return holder

    return begin


def _counting_end(turns: Turns, count: TurnCount) -> Callable[..., Any]:
    async def end(turn_id: str, outcome: TurnOutcome) -> None:
        await turns.end(turn_id, outcome)
        count.end(turn_id, outcome)

    return end


class PromptCount:
    """How turns end, by the agent and version of the text that they were answered with."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._with: dict[str, tuple[str, str]] = {}

    def see(self, entry: Entry) -> None:
        if isinstance(entry, Prompted):
            self._with[entry.turn_id] = entry.agent_id, entry.version
        elif isinstance(entry, TurnRested) and (text := self._with.pop(entry.turn_id, None)) is not None:
            self._metrics.prompt_turns.labels(*text, entry.outcome.value).inc()


def _counting_prompt(prompts: Prompts, metrics: Metrics) -> Callable[..., Any]:
    async def put(prompt: KeptPrompt, seconds: float) -> None:
        await prompts.put(prompt, seconds)
        metrics.prompts.labels(prompt.agent_id, prompt.version).inc()
        if prompt.over_soft:
            metrics.prompts_over_soft.labels(prompt.agent_id, prompt.version).inc()
        metrics.prompt_chars.labels(prompt.agent_id, prompt.version).observe(
            len(prompt.prefix) + len(prompt.suffix or "")
        )

    return put


def _counting_rest(transcripts: Transcripts, count: TurnCount, prompts: PromptCount) -> Callable[..., Any]:
    async def append(session: SessionKey, entries: Sequence[Entry]) -> None:
        await transcripts.append(session, entries)
        for entry in entries:
            prompts.see(entry)
            if isinstance(entry, TurnRested):
                count.rest(entry.turn_id, entry.outcome)

    return append


def _counting_add(proposals: Proposals, metrics: Metrics, tools: frozenset[str]) -> Callable[..., Any]:
    async def add(proposal: Proposal, record: AuditRecord | None = None, *, by_turn: str = "") -> None:
        await proposals.add(proposal, record, by_turn=by_turn)
        metrics.proposal_moves.labels(proposal.state.value).inc()
        if record is not None:
            _count_call(record, metrics, tools)

    return add


def _counting_move(proposals: Proposals, metrics: Metrics) -> Callable[..., Any]:
    async def move(
        proposal: Proposal,
        to: ProposalState,
        now: datetime,
        record: AuditRecord | None = None,
        **changes: Any,
    ) -> Proposal | None:
        moved = await proposals.move(proposal, to, now, record, **changes)
        if moved is not None and to is not proposal.state:
            metrics.proposal_moves.labels(to.value).inc()
        return moved

    return move


def _counting_call(audit: Audit, metrics: Metrics, tools: frozenset[str]) -> Callable[..., Any]:
    async def record(row: AuditRecord) -> None:
        await audit.record(row)
        is_decision = bool(row.proposal_id) or not row.tool
        if not is_decision:
            _count_call(row, metrics, tools)

    return record


def _count_call(row: AuditRecord, metrics: Metrics, tools: frozenset[str]) -> None:
    tool = row.tool if row.tool in tools else UNKNOWN
    metrics.tool_calls.labels(tool, row.status).inc()
    metrics.tool_seconds.labels(tool).observe(row.milliseconds / 1000)
