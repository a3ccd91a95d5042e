"""The system prompt is compiled, not written: four typed inputs in, five titled sections out, same bytes for same input.

Order and titles never change: [AGENT IDENTITY], [CAPABILITIES], [AVAILABLE TOOLS], [SKILLS] where there are any, [CONSTRAINTS]
and the follow-up rule make the stable prefix; [CONTEXT] is the volatile suffix, which travels after the newest user message.
Nothing that depends on person, channel or time stands in the prefix, so a provider can cache it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from chatops_bot.context import prompt_sections as sections
from chatops_bot.context.hardening import NotSpellable
from chatops_bot.context.prompt_budget import too_long, trimmed
from chatops_bot.context.prompt_lint import lint
from chatops_bot.context.prompt_types import AgentConfig, PromptOptions, SessionContext, ToolBrief, UserIntent
from chatops_bot.context.tokens import estimate
from chatops_bot.domain.errors import PromptInvalid
from chatops_bot.domain.kept_prompt import digest, whole
from chatops_bot.domain.language import Language

CONFIDENTIAL_BYTES = 24
"""A shorter sentence, eight characters in Chinese, may stand in any answer by chance."""

_M = TypeVar("_M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its title without brackets (`FOLLOW-UPS` for the closing rule, which has none), text and size."""

    title: str
    text: str
    is_stable: bool

    @property
    def chars(self) -> int:
        return len(self.text)

    @property
    def tokens(self) -> int:
        return estimate(self.text)


class AgentPrompt(str):
    """The whole text, and what it was made of. `prefix` is the same for everybody, `suffix` for this turn only.

    `sections` in their order are the report; hashes are SHA-256 in hex; `tools` are the names in the text's order; `warnings` say
    what an editor of the texts should look at.
    """

    sections: tuple[Section, ...]
    prefix: str
    suffix: str
    tools: tuple[str, ...]
    agent_id: str
    version: str
    lang: Language
    prompt_hash: str
    prefix_hash: str
    tools_hash: str
    config_hash: str
    warnings: tuple[str, ...]

    @property
    def tokens(self) -> int:
        return sum(section.tokens for section in self.sections)


@dataclass(frozen=True, slots=True)
class Inputs:
    """The four inputs and the options, checked."""

    agent: AgentConfig
    tools: tuple[ToolBrief, ...]
    session: SessionContext
    intent: UserIntent
    options: PromptOptions


def build_agent_system_prompt(
    agent_config: AgentConfig | Mapping[str, Any],
    tool_specs: Sequence[ToolBrief | Mapping[str, Any]],
    session_context: SessionContext | Mapping[str, Any],
    user_intent: UserIntent | Mapping[str, Any] | str,
    *,
    options: PromptOptions | None = None,
) -> AgentPrompt:
    """Compile the prompt. Pure: no clock, no environment, no I/O; inputs are not changed.

    Raises PromptInvalid, which lists every problem with its field: blank or missing values, placeholders left over, a time
    without a zone, tools that share a name, an alias or are another agent's, and a prompt that is over its hard budget.
    """
    inputs = checked(agent_config, tool_specs, session_context, user_intent, options)
    sections_of_skills = dict.fromkeys((inputs.options.skills, *inputs.options.less_skills, ""))
    for smaller in trimmed(inputs.session, inputs.tools, inputs.agent.limits):
        for skills in sections_of_skills:  # they can be looked up; a tool that is not named cannot be called
            less = replace(inputs, options=inputs.options.model_copy(update={"skills": skills}))
            parts = _sections(less, *smaller)
            over = too_long(_limited(parts, inputs.options), inputs.agent.limits)
            if not over:
                return _prompt(inputs, parts, smaller[1])
    raise PromptInvalid(
        (
            f"prompt: {over}, and nothing is left that may be cut; shorten the texts of {inputs.agent.agent_id}",
        )
    )


def checked(
    agent_config: AgentConfig | Mapping[str, Any],
    tool_specs: Sequence[ToolBrief | Mapping[str, Any]],
    session_context: SessionContext | Mapping[str, Any],
    user_intent: UserIntent | Mapping[str, Any] | str,
    options: PromptOptions | None = None,
) -> Inputs:
    """The inputs as values. Raises PromptInvalid with every problem of all of them."""
    problems: list[str] = []
    agent = _valid(AgentConfig, agent_config, "agent_config", problems)
    tools = [_valid(ToolBrief, each, f"tool_specs.{at}", problems) for at, each in enumerate(tool_specs)]
    session = _valid(SessionContext, session_context, "session_context", problems)
    intent = _valid(
        UserIntent,
        {"text": user_intent} if isinstance(user_intent, str) else user_intent,
        "user_intent",
        problems,
    )
    known = [tool for tool in tools if tool is not None]
    problems += collisions(known)
    if agent is not None:
        problems += _foreign(agent, known, session)
        problems += _unspellable(agent, known, options or PromptOptions())
    if problems or agent is None or session is None or intent is None:
        raise PromptInvalid(tuple(problems))
    return Inputs(agent, ordered(known), session, intent, options or PromptOptions())


def ordered(tools: Iterable[ToolBrief]) -> tuple[ToolBrief, ...]:
    """Tools as they stand in the text: frequent ones first, then by name, so that one set is one text."""
    return tuple(sorted(tools, key=lambda tool: (-tool.sort_hint, tool.name)))


def collisions(tools: Sequence[ToolBrief]) -> list[str]:
    """Problems of names and aliases that two tools share, whatever their case."""
    owners: dict[str, str] = {}
    problems = []
    for tool in tools:
        for name in (tool.name, *tool.aliases):
            key = name.casefold()
            if key in owners:
                problems.append(f"tool_specs: {name!r} of {tool.name} is a name of {owners[key]} already")
            owners.setdefault(key, tool.name)
    return problems


def confidential(agent: AgentConfig) -> tuple[str, ...]:
    """The sentences of the prompt that no answer may repeat: all but what the bot can do, which people may ask."""
    own = (agent.role_description, agent.persona, agent.language_style, agent.output_format)
    rules = agent.constraints
    sentences = (*own, *rules.must, *rules.must_not, *rules.fallback, *agent.phrases.sentences())
    return tuple(each for each in sentences if each and len(each.encode()) >= CONFIDENTIAL_BYTES)


def _valid(kind: type[_M], value: _M | Mapping[str, Any], where: str, problems: list[str]) -> _M | None:
    if isinstance(value, kind):
        return value
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        problems += (
            f"{'.'.join(map(str, (where, *each['loc'])))}: {each['msg'].removeprefix('Value error, ')}"
            for each in error.errors(include_url=False)
        )
        return None


def _foreign(agent: AgentConfig, tools: Sequence[ToolBrief], session: SessionContext | None) -> list[str]:
    problems = [
        f"tool_specs: {tool.name} belongs to {', '.join(tool.agent_ids)}, not to {agent.agent_id}"
        for tool in tools
        if tool.agent_ids is not None and agent.agent_id not in tool.agent_ids
    ]
    if agent.tool_allow is not None:
        problems += (
            f"tool_specs: {tool.name} is not among the tools of {agent.agent_id}"
            for tool in tools
            if tool.name not in agent.tool_allow
        )
    if session is not None and session.agent_id not in (None, agent.agent_id):
        problems.append(f"session_context.agent_id: {session.agent_id} is not {agent.agent_id}")
    return problems


def _unspellable(agent: AgentConfig, tools: Sequence[ToolBrief], options: PromptOptions) -> list[str]:
    if options.tool_text != "full":
        return []
    problems = []
    for tool in tools:
        try:
            sections.available_tools(agent, [tool], "full")
        except NotSpellable as error:
            problems.append(f"tool_specs.{tool.name}.parameters: {error}")
    return problems


def _sections(inputs: Inputs, session: SessionContext, tools: tuple[ToolBrief, ...]) -> tuple[Section, ...]:
    agent, options = inputs.agent, inputs.options
    stable = [("AGENT IDENTITY", sections.identity(agent, options.mode))]
    if options.mode != "none":
        stable += (
            ("CAPABILITIES", sections.capabilities(agent, options.mode)),
            ("AVAILABLE TOOLS", sections.available_tools(agent, tools, options.tool_text)),
            ("SKILLS", options.skills),
            ("CONSTRAINTS", sections.constraints(agent, tools)),
            ("FOLLOW-UPS", agent.phrases.followups if options.followups and options.mode == "full" else ""),
        )
    told = (sections.context(agent, session, inputs.intent, options), *options.extra_context)
    context = Section("CONTEXT", "\n".join(told), is_stable=False)
    return (*(Section(title, text, is_stable=True) for title, text in stable if text), context)


def _limited(parts: Sequence[Section], options: PromptOptions) -> list[Section]:
    """What the hard limits hold for: all but extra context, which is about the people and the skills of one asker."""
    beside = sum(len(each) + 1 for each in options.extra_context)
    *stable, last = parts
    context = replace(last, text=last.text[: len(last.text) - beside])
    return [*stable, context]


def _prompt(inputs: Inputs, parts: tuple[Section, ...], tools: tuple[ToolBrief, ...]) -> AgentPrompt:
    prefix = "\n\n".join(part.text for part in parts if part.is_stable)
    suffix = parts[-1].text
    prompt = AgentPrompt(whole(prefix, suffix))
    prompt.sections = parts
    prompt.prefix, prompt.suffix = prefix, suffix
    prompt.tools = tuple(tool.name for tool in tools)
    prompt.agent_id, prompt.version, prompt.lang = (
        inputs.agent.agent_id,
        inputs.agent.version,
        inputs.agent.lang,
    )
    prompt.prompt_hash, prompt.prefix_hash = digest(prompt), digest(prefix)
    prompt.tools_hash = digest(json.dumps([tool.model_dump(mode="json") for tool in tools], sort_keys=True))
    prompt.config_hash = digest(inputs.agent.model_dump_json())
    prompt.warnings = lint(inputs.agent, tools, parts)
    return prompt
