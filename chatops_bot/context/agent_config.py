"""An agent's identity and rules, as its YAML file states them. Validated whole at start; frozen after."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from chatops_bot.domain.language import Language

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]


class AgentConfig(BaseModel):
    """One agent in one language. Lists keep their order; an empty optional field leaves no line in the prompt."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent_id: _Text
    lang: Language
    role_name: _Text
    role_description: _Text
    capabilities: tuple[_Text, ...]
    persona: _Text | None = None
    language_style: _Text | None = None
    output_format: _Text | None = None
    handoffs: tuple[_Text, ...] = ()
    must: tuple[_Text, ...] = ()
    must_not: tuple[_Text, ...] = ()
    fallback: tuple[_Text, ...] = ()
