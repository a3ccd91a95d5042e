"""What the bot counts about itself, for Prometheus: every series, and nothing of the places where they are counted.

Each bot has a registry of its own. Labels hold names that come from code or config, never a person, a text or a secret, so
their number is bounded whatever people and models say.
"""

import asyncio
import math
import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

from chatops_bot.domain.errors import StoreError
from chatops_bot.domain.proposal import ProposalState
from chatops_bot.ports import Proposals

CONTENT_TYPE = CONTENT_TYPE_LATEST
UNKNOWN = "unknown"
OPEN_STATES = (ProposalState.PENDING, ProposalState.APPROVED, ProposalState.CLAIMED)
"""What waits, or runs. Proposals that came to an end are counted once, when they move."""
STORE_SECONDS = 2.0
LAG_EVERY = 0.5
"""Seconds between two looks at how late the loop is."""

_CALL_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_MODEL_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0)
_TURN_SECONDS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0)
_PROMPT_CHARS = (1000, 2000, 3000, 4000, 5000, 6000, 8000, 10000, 12000)
_LAG_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)


class Metrics:
    """The series of one bot."""

    def __init__(self) -> None:
        self.registry = of = CollectorRegistry()
        ProcessCollector(registry=of)
        self._of_turns(of)
        self._of_chat(of)
        self._of_models(of)
        self.loop_lag = Histogram(
            "chatops_loop_lag_seconds", "How late the event loop ran what was due.", buckets=_LAG_SECONDS, registry=of,
        )  # fmt: skip
        build = Gauge(
            "chatops_build_info", "1, with what runs as labels.", ["version", "python"], registry=of
        )
        build.labels(program_version(), platform.python_version()).set(1)

    def _of_turns(self, of: CollectorRegistry) -> None:
        self.turns = Counter("chatops_turns", "Turns that came to rest.", ["outcome"], registry=of)
        self.turns_running = Gauge(
            "chatops_turns_running", "Turns that were accepted and did not rest yet.", registry=of
        )
        self.turn_seconds = Histogram(
            "chatops_turn_seconds", "From a message's acceptance to its turn's rest.", buckets=_TURN_SECONDS, registry=of,
        )  # fmt: skip
        self.tool_calls = Counter(
            "chatops_tool_calls", "Tool calls of the model.", ["tool", "status"], registry=of
        )
        self.tool_seconds = Histogram(
            "chatops_tool_call_seconds", "How long a tool call took.", ["tool"], buckets=_CALL_SECONDS, registry=of
        )  # fmt: skip
        self.tools_rerouted = Counter("chatops_tools_rerouted", "Turns that were offered other tools than the turn before.", registry=of)  # fmt: skip
        self.script_runs = Counter("chatops_skill_script_runs", "Scripts of skills that were run, by how they ended.", ["outcome"], registry=of)  # fmt: skip
        self.script_seconds = Histogram("chatops_skill_script_seconds", "How long a script of a skill ran.", buckets=_CALL_SECONDS, registry=of)  # fmt: skip
        self.proposals = Gauge(
            "chatops_proposals", "Open proposals, as the store has them.", ["state"], registry=of
        )
        self.proposal_moves = Counter(
            "chatops_proposal_moves", "Moves of proposals, by the state that they came to.", ["state"], registry=of
        )  # fmt: skip

    def _of_chat(self, of: CollectorRegistry) -> None:
        self.slack_calls = Counter(
            "chatops_slack_calls", "Calls of Slack's Web API.", ["method", "result"], registry=of
        )
        self.slack_seconds = Histogram(
            "chatops_slack_call_seconds", "How long Slack took to answer.", ["method"], buckets=_CALL_SECONDS, registry=of,
        )  # fmt: skip
        self.edits_wanted = Counter(
            "chatops_edits_wanted", "Edits asked for; those not in chatops_slack_calls were coalesced.", registry=of
        )  # fmt: skip
        self.inbound_events = Counter(
            "chatops_inbound_events", "Events from the chat platform, repeated ones too.", ["kind"], registry=of
        )  # fmt: skip

    def _of_models(self, of: CollectorRegistry) -> None:
        self.model_requests = Counter(
            "chatops_model_requests", "Calls of a language model, or of the rules.", ["model", "result"], registry=of
        )  # fmt: skip
        self.model_tokens = Counter(
            "chatops_model_tokens", "Tokens as the provider counts them; cached ones are input too, reasoning ones output.", ["model", "kind"],
            registry=of,
        )  # fmt: skip
        self.prompts = Counter(
            "chatops_prompts", "Prompts of model calls, by agent and version of its text.", ["agent", "version"], registry=of,
        )  # fmt: skip
        self.prompts_over_soft = Counter(
            "chatops_prompts_over_soft", "Prompts of model calls that were over the soft limit of their agent.", ["agent", "version"],
            registry=of,
        )  # fmt: skip
        self.prompt_chars = Histogram(
            "chatops_prompt_chars", "How long the system text of a model call was.", ["agent", "version"],
            buckets=_PROMPT_CHARS, registry=of,
        )  # fmt: skip
        self.prompt_turns = Counter(
            "chatops_prompt_turns", "Turns that came to rest, by agent and version of its text: what a rollout is judged by.",
            ["agent", "version", "outcome"], registry=of,
        )  # fmt: skip
        self.first_delta_seconds = Histogram(
            "chatops_model_first_delta_seconds", "From a model call to the first piece of its answer.", ["model"],
            buckets=_MODEL_SECONDS, registry=of,
        )  # fmt: skip

    async def text(self, proposals: Proposals) -> bytes:
        """Every series in Prometheus' text format. Proposals that the store cannot tell in time are NaN, not old."""
        counts: dict[ProposalState, float] = dict.fromkeys(OPEN_STATES, math.nan)
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(STORE_SECONDS):
                found = [proposal.state for proposal in await proposals.in_states(frozenset(OPEN_STATES))]
            counts = {state: found.count(state) for state in OPEN_STATES}
        for state, count in counts.items():
            self.proposals.labels(state.value).set(count)
        return generate_latest(self.registry)

    async def watch_loop(self) -> None:
        """Look at how late the loop is, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + LAG_EVERY
            await asyncio.sleep(LAG_EVERY)
            self.loop_lag.observe(max(0.0, loop.time() - due))


def program_version() -> str:
    """The installed version, or `unknown` where the program runs from a plain checkout."""
    try:
        return version("chatops-bot")
    except PackageNotFoundError:
        return UNKNOWN
