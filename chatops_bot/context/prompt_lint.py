"""What an editor of the prompt texts should look at: nothing here keeps a prompt from being built."""

import re
from collections.abc import Iterator, Mapping, Sequence

from chatops_bot.context.prompt_budget import Measured
from chatops_bot.context.prompt_types import AgentConfig, ToolBrief
from chatops_bot.domain.regex import regex
from chatops_bot.domain.tool import ToolText

_BOUNDARY = regex(
    r"\bonly\b|\banything else\b|\bnothing else\b|\boutside\b|\bhand(?:s|ed)? (?:over|to)\b|只|仅|之外|转交|不负责",
    re.IGNORECASE,
)
_OBSERVABLE = regex(
    r"\bno\b|\bfirst\b|\bwithout\b|\bshort\b|\bquote|\bat most\b|\d|不|先|短句|最多|引用|只", re.IGNORECASE
)
_CONDITION = regex(
    r"\bwhen\b|\bif\b|\bbefore\b|\bafter\b|\basked\b|\bwhere\b|\bnever\b|\bfirst\b|\bevery\b|[“\"'`]|时|若|如果|先|前|后|不得|每",
    re.IGNORECASE,
)
_ONLY_PARAMETERS = regex(r"^\W*(?:params?|parameters?|arguments?|takes?|参数|入参)\b", re.IGNORECASE)


WHEN_CHARS, WHAT_CHARS, ARGUMENT_CHARS = 120, 400, 140
"""A text of a tool is sent with each call that may use it; what is longer belongs into a skill."""


def lint(agent: AgentConfig, tools: Sequence[ToolBrief], parts: Sequence[Measured]) -> tuple[str, ...]:
    """One sentence a finding, each with the field it is about."""
    return (*lint_agent(agent), *_tools(tools), *_size(agent, parts))


def lint_agent(agent: AgentConfig) -> Iterator[str]:
    if not _BOUNDARY.search(agent.role_description):
        yield "role_description: says no boundary; name what the agent does not do and who does"
    if agent.language_style and not _OBSERVABLE.search(agent.language_style):
        yield "language_style: nobody could check it; say what stands first, what is left out, how long"
    rules = agent.constraints
    for label, listed in (("must", rules.must), ("must_not", rules.must_not), ("fallback", rules.fallback)):
        for at, rule in enumerate(listed):
            if not _CONDITION.search(rule):
                yield f"constraints.{label}.{at}: says neither when it holds nor what to answer"
            if len(rule) > agent.limits.constraint_chars:
                yield f"constraints.{label}.{at}: {len(rule)} characters; two short rules are followed better"


def lint_tools(texts: Mapping[str, ToolText]) -> Iterator[str]:
    """The same of what a model reads of each tool."""
    for name, text in texts.items():
        if _ONLY_PARAMETERS.search(text.when):
            yield f"tools.{name}.when: lists parameters; say when to use it"
        arguments = ((f"arguments.{each}", said, ARGUMENT_CHARS) for each, said in text.arguments.items())
        for field, said, most in (
            ("when", text.when, WHEN_CHARS),
            ("what", text.what, WHAT_CHARS),
            *arguments,
        ):
            if len(said) > most:
                yield f"tools.{name}.{field}: {len(said)} characters, more than {most}; a model is sent them with each call"


def _tools(tools: Sequence[ToolBrief]) -> Iterator[str]:
    for tool in tools:
        said = " ".join((*tool.scenarios.zh, *tool.scenarios.en)) or tool.description
        if _ONLY_PARAMETERS.search(said):
            yield f"tool {tool.name}: lists parameters; say when to use it"


def _size(agent: AgentConfig, parts: Sequence[Measured]) -> Iterator[str]:
    chars, tokens = sum(part.chars for part in parts), sum(part.tokens for part in parts)
    if chars > agent.limits.soft_chars:
        yield f"prompt: {chars} characters, over the soft limit of {agent.limits.soft_chars}"
    if tokens > agent.limits.soft_tokens:
        yield f"prompt: about {tokens} tokens, over the soft limit of {agent.limits.soft_tokens}"
