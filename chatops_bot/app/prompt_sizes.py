"""The prompts that can be judged without a turn: each agent, language and version in the scenarios that a review looks at.

Everything that a turn would choose is fixed here, so that the same texts give the same bytes on every machine.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from chatops_bot.app.bundled import bundled, load_skill_words
from chatops_bot.app.known_tools import AGENT_SPECS
from chatops_bot.context.prompt_factory import AgentPrompt, build_agent_system_prompt
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.context.prompt_types import (
    AgentConfig,
    Mode,
    PromptOptions,
    SessionContext,
    ToolBrief,
    ToolWording,
)
from chatops_bot.context.skill_text import ShownSkills, skill_section
from chatops_bot.domain.language import Language
from chatops_bot.domain.skill import LOAD_SKILL, Skill
from chatops_bot.domain.tool import CONSULT_AGENT, FIND_TOOLS, READ_RESULT
from chatops_bot.ports import ToolSpec
from chatops_bot.sessions.tool_briefs import brief_of
from chatops_bot.skillpacks.folder import SkillFolder
from chatops_bot.tools.definitions import definition_of

NOON = datetime(2025, 3, 2, 14, 32, tzinfo=UTC)
ROUTED, WITH_SKILLS = "routed", "with_skills"
_TRIAGE = ("query_instances", "analyze_failure", "get_task_detail")
_FITTING = (*_TRIAGE, "query_tasks", "retry_failed_instance")
SCENARIOS: dict[str, tuple[str, ...] | None] = {
    "all_tools": None,
    "triage": _TRIAGE,
    "no_tools": (),
    ROUTED: (*_FITTING, LOAD_SKILL, FIND_TOOLS, READ_RESULT, CONSULT_AGENT),
    WITH_SKILLS: None,
}
"""Names of the tools that are offered; None for all that the agent may use. `routed` is what most model calls of a bot as it ships
are told: five tools that fit the request, those of the agent itself, and the skills; `with_skills` is the most that any is."""
_TELL_OF_SKILLS = (ROUTED, WITH_SKILLS)
_GOALS: dict[Language, str] = {"zh": "最近哪些任务失败了？", "en": "What failed recently?"}


@dataclass(frozen=True, slots=True)
class Wording:
    """How much of a prompt is written. With a `goal` the text says it, and so can stand alone, without messages behind it."""

    tools: ToolWording = "names"
    mode: Mode = "full"
    goal: str = ""


AS_SENT = Wording()
"""As a bot that runs sends it: the schemas of tools and the request stand beside it."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A prompt under the name that budgets and golden files know it by."""

    name: str
    prompt: AgentPrompt


def shipped_skills() -> list[Skill]:
    """The skills that ship, in the order of a catalogue."""
    read = SkillFolder(bundled("skills"), "skills").read()
    return sorted((skill for skill in read if isinstance(skill, Skill)), key=lambda skill: skill.name)


def reviewed(texts: PromptRegistry, specs: Sequence[ToolSpec]) -> Iterator[Reviewed]:
    """The prompt of every agent, version, language and scenario."""
    skills = shipped_skills()
    for agent in texts:
        for scenario, names in SCENARIOS.items():
            told = skills if scenario in _TELL_OF_SKILLS else None
            yield Reviewed(
                f"{agent.agent_id}.{agent.version}.{agent.lang}.{scenario}",
                prompt_for(
                    texts,
                    agent,
                    specs,
                    names=names,
                    skills=told,
                    suggested=_FITTING if scenario == ROUTED else (),
                ),
            )


def prompt_for(
    texts: PromptRegistry,
    agent: AgentConfig,
    specs: Sequence[ToolSpec],
    *,
    names: Sequence[str] | None = None,
    skills: Sequence[Skill] | None = None,
    suggested: Sequence[str] = (),
    channel: str = "C0123456789",
    wording: Wording = AS_SENT,
) -> AgentPrompt:
    """What the agent would be told in `channel`, offered the tools of these names, None for all that it may use. With `skills` it
    is told of them, and has the tools of the agent itself, as a bot has that runs; `suggested` fit the request best. Raises
    PromptInvalid when it is too long."""
    section = ""
    if skills is not None:
        specs = (*specs, *AGENT_SPECS)
        section = skill_section(ShownSkills(skills), (), load_skill_words()[agent.lang], agent.lang)
    session = SessionContext(
        session_id="example",
        agent_id=agent.agent_id,
        current_time=NOON,
        channel=channel,
        user_id="U0123456789",
        user_role="operator",
        timezone="Asia/Shanghai",
        schedule_zone="UTC",
    )
    own = agent.tool_allow
    named = (spec for spec in specs if names is None or spec.name in names)
    briefs = [_brief(spec, texts, agent) for spec in named if own is None or spec.name in own]
    options = PromptOptions(
        tool_text=wording.tools, mode=wording.mode, tell_goal=bool(wording.goal), skills=section,
        suggested_tools=tuple(suggested),
    )  # fmt: skip
    goal = wording.goal or _GOALS[agent.lang]
    return build_agent_system_prompt(agent, briefs, session, goal, options=options)


def _brief(spec: ToolSpec, texts: PromptRegistry, agent: AgentConfig) -> ToolBrief:
    """With its arguments as the wire has them, so that the hash of the tools tells other words of theirs as well."""
    told = definition_of(spec, texts.tools(agent.lang)[spec.name], agent.phrases.tools.secret)
    return brief_of(spec, texts).model_copy(update={"parameters": told.parameters})
