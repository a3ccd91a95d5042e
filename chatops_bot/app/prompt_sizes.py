"""The prompts that can be judged without a turn: each agent, language and version in the scenarios that a review looks at.

Everything that a turn would choose is fixed here, so that the same texts give the same bytes on every machine.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from chatops_bot.context.prompt_factory import AgentPrompt, build_agent_system_prompt
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.context.prompt_types import AgentConfig, PromptOptions, SessionContext
from chatops_bot.domain.language import Language
from chatops_bot.ports import ToolSpec
from chatops_bot.sessions.tool_briefs import brief_of

NOON = datetime(2025, 3, 2, 14, 32, tzinfo=UTC)
_ROUTED = ("query_instances", "analyze_failure", "get_task_detail")
SCENARIOS: dict[str, tuple[str, ...] | None] = {"all_tools": None, "triage": _ROUTED, "no_tools": ()}
"""Names of the tools that are offered; None for all that the agent may use."""
_GOALS: dict[Language, str] = {"zh": "最近哪些任务失败了？", "en": "What failed recently?"}


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A prompt under the name that budgets and golden files know it by."""

    name: str
    prompt: AgentPrompt


def reviewed(texts: PromptRegistry, specs: Sequence[ToolSpec]) -> Iterator[Reviewed]:
    """The prompt of every agent, version, language and scenario."""
    for agent in texts:
        for scenario, names in SCENARIOS.items():
            yield Reviewed(
                f"{agent.agent_id}.{agent.version}.{agent.lang}.{scenario}",
                prompt_for(texts, agent, specs, names=names),
            )


def prompt_for(
    texts: PromptRegistry,
    agent: AgentConfig,
    specs: Sequence[ToolSpec],
    *,
    names: Sequence[str] | None = None,
    channel: str = "C0123456789",
) -> AgentPrompt:
    """What the agent would be told in `channel`, offered the tools of these names, None for all that it may use."""
    briefs = [
        brief_of(spec, texts.scenarios(spec.name), texts.rank(spec.name))
        for spec in specs
        if (agent.tool_allow is None or spec.name in agent.tool_allow)
        and (names is None or spec.name in names)
    ]
    session = SessionContext(
        session_id="example",
        agent_id=agent.agent_id,
        current_time=NOON,
        channel=channel,
        user_role="operator",
    )
    options = PromptOptions(tool_text="names", tell_goal=False)
    return build_agent_system_prompt(agent, briefs, session, _GOALS[agent.lang], options=options)
