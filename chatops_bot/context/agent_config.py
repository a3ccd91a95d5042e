"""An agent's identity and rules, as its YAML file states them. Validated whole at start; frozen after."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from chatops_bot.domain.language import Language

AgentId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_-]{1,64}$")]
VersionName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_-]{1,32}$")]
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class OutOfScope(_Part):
    """What the agent does not do, and who does."""

    item: _Text
    handoff: _Text


class Handoff(_Part):
    """When another agent is the one to ask. Nothing else of it is known here."""

    agent_id: AgentId
    when: _Text


class Constraints(_Part):
    must: tuple[_Text, ...] = ()
    must_not: tuple[_Text, ...] = ()
    fallback: tuple[_Text, ...] = ()


class AgentConfig(_Part):
    """One agent in one language. Lists keep their order; an empty optional field leaves no line in the prompt.

    `tool_allow` are the tools that the agent may ever use, None for all.
    """

    agent_id: AgentId
    version: VersionName = "v1"
    lang: Language
    role_name: _Text
    role_description: _Text
    capabilities: tuple[_Text, ...]
    domain_scope: tuple[_Text, ...] = ()
    out_of_scope: tuple[OutOfScope, ...] = ()
    persona: _Text | None = None
    language_style: _Text | None = None
    output_format: _Text | None = None
    handoffs: tuple[Handoff, ...] = ()
    constraints: Constraints = Constraints()
    tool_allow: tuple[_Text, ...] | None = None
