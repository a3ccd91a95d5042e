"""The four inputs of a prompt and its options, typed and strict: what is missing, blank or left over from a template is an
error before any model is called.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from chatops_bot.context.hardening import NAME, json_problem
from chatops_bot.context.prompt_phrases import PromptPhrases
from chatops_bot.domain.language import Language
from chatops_bot.domain.zones import zone_named

_TEMPLATE = re.compile(r"\{\{.*?\}\}|\$\{.*?\}|\bTODO\b|\bTBD\b", re.IGNORECASE)
_TEMPLATE_IN_A_NAME = re.compile(_TEMPLATE.pattern + r"|\{\w*\}|<\w+>|\bxxx+\b", re.IGNORECASE)


class Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


def _no_template(text: str) -> str:
    if found := _TEMPLATE.search(text):
        raise ValueError(f"a placeholder is left over: {found[0]!r}")
    return text


def _no_template_in_a_name(text: str) -> str:
    if found := _TEMPLATE_IN_A_NAME.search(text):
        raise ValueError(f"a placeholder is left over: {found[0]!r}")
    return text


def _tool_name(name: str) -> str:
    if NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r} is no tool name: a letter or _, then at most 63 letters, digits, _ or -")
    return name


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _encodable(value: Any) -> Any:
    """Half of a surrogate pair is legal in JSON and no text; what comes from outside may hold one."""
    return (
        value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if isinstance(value, str)
        else value
    )


Outside = Annotated[str, BeforeValidator(_encodable)]
"""Text that people and platforms chose."""
_Line = StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)
Text = Annotated[str, _Line, AfterValidator(_no_template)]
Titled = Annotated[str, _Line, AfterValidator(_no_template_in_a_name)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_as_tuple)]
Name = Annotated[str, AfterValidator(_tool_name)]
Names = Annotated[tuple[Name, ...], BeforeValidator(_as_tuple)]
AgentId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_-]{1,64}$")]


class Handoff(Value):
    """To whom an agent hands over, and when."""

    agent_id: AgentId
    when: Text


class Constraints(Value):
    must: Texts = ()
    must_not: Texts = ()
    fallback: Texts = ()


class Limits(Value):
    """What one prompt may measure. Soft limits warn, hard ones trim and then fail; tokens are estimated.

    Skills and extra context are warned about but neither trimmed nor refused: they are as large as whoever installed a skill, or
    the conversation, made them, and a bot that does not answer because of that helps nobody.
    """

    soft_chars: int = 6_000
    soft_tokens: int = 2_000
    hard_chars: int = 12_000
    hard_tokens: int = 4_000
    description_chars: int = 300
    schema_chars: int = 1_500
    summary_chars: int = 800
    event_chars: int = 160
    events: Annotated[int, Field(ge=0)] = 10
    constraint_chars: int = 200
    """Longer rules are remarked on, never cut."""
    tools: int = 8
    """How many an agent may have before they are routed."""


def _as_constraints(value: Any) -> Any:
    """A flat list is what must be done."""
    return {"must": value} if isinstance(value, list | tuple) else value


class AgentConfig(Value):
    """One agent in one language. Lists keep their order; an empty optional field leaves no line in the prompt.

    `phrases` are the fixed lines of its language, which the registry adds.
    """

    agent_id: AgentId
    version: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,32}$")] = "v1"
    lang: Language = "zh"
    role_name: Titled
    role_description: Annotated[Titled, Field(min_length=10)]
    domain_scope: Texts = ()
    out_of_scope: Texts = ()
    capabilities: Texts = ()
    persona: Titled | None = None
    language_style: Text | None = None
    output_format: Text | None = None
    constraints: Annotated[Constraints, BeforeValidator(_as_constraints)]
    handoffs: Annotated[tuple[Handoff, ...], BeforeValidator(_as_tuple)] = ()
    tool_allow: Annotated[tuple[str, ...] | None, BeforeValidator(_as_tuple)] = None
    """Names of the tools that this agent may use; None for all that leave it to anybody."""
    limits: Limits = Field(default_factory=Limits)
    phrases: PromptPhrases


class Scenarios(Value):
    """When a tool is what one wants, in words that people use."""

    zh: Texts = ()
    en: Texts = ()

    def said_in(self, language: Language) -> tuple[str, ...]:
        return self.zh if language == "zh" else self.en


Permission = Literal["read", "write", "destructive"]


def _json(value: Any) -> Any:
    if problem := json_problem(value):
        raise ValueError(problem)
    return value


class ToolBrief(Value):
    """A tool as a prompt knows it: its permanent name, what it is for, and what routing needs to know.

    `parameters` is a JSON schema of type object, or the short form {field: type}. `backend_name` is what the back end calls it now;
    no prompt shows it. `agent_ids` limits it to these agents.
    """

    name: Name
    description: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    parameters: Annotated[Mapping[str, Any], AfterValidator(_json)] = Field(default_factory=dict)
    return_schema: Annotated[str | Mapping[str, Any] | None, AfterValidator(_json)] = None
    permission_level: Permission = "read"
    scenarios: Scenarios = Field(default_factory=Scenarios)
    sort_hint: int = 0
    requires: Names = ()
    agent_ids: Annotated[tuple[AgentId, ...] | None, BeforeValidator(_as_tuple)] = None
    backend_name: str | None = None
    aliases: Names = ()
    deprecated: bool = False

    @model_validator(mode="after")
    def _schema_is_an_object(self) -> Self:
        if self.parameters.get("type", "object") != "object" and "properties" in self.parameters:
            raise ValueError("parameters is no schema of type object")
        return self

    @property
    def changes(self) -> bool:
        return self.permission_level != "read"

    def full_schema(self) -> Mapping[str, Any]:
        """The parameters as a JSON schema, whichever form they were given in."""
        if not self.parameters or "properties" in self.parameters or self.parameters.get("type") == "object":
            return {"type": "object", "properties": {}, **self.parameters}
        properties = {
            field: dict(kind) if isinstance(kind, Mapping) else {"type": str(kind)}
            for field, kind in self.parameters.items()
        }
        return {"type": "object", "properties": properties}


def _zone(name: str) -> str:
    if zone_named(name) is None:
        raise ValueError(f"no time zone is named {name!r}; use an IANA name such as Asia/Shanghai")
    return name


def _aware(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError("the time has no time zone; pass an aware datetime")
    return moment


ENVIRONMENT_KEYS = frozenset({"deployment", "environment", "location", "plan", "region", "stage", "tenant"})
"""What of an environment may stand in a prompt; a value under any other key could be a secret."""


def _known_keys(env: Mapping[str, str]) -> Mapping[str, str]:
    if unknown := sorted(set(env) - ENVIRONMENT_KEYS):
        raise ValueError(
            f"{', '.join(unknown)} may not stand in a prompt; known: {', '.join(sorted(ENVIRONMENT_KEYS))}"
        )
    return env


class SessionContext(Value):
    """What is true for this turn only."""

    session_id: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1), BeforeValidator(_encodable)
    ]
    agent_id: AgentId | None = None
    user_id: Outside | None = None
    current_time: Annotated[datetime, AfterValidator(_aware)]
    timezone: Annotated[str, AfterValidator(_zone)] | None = None
    schedule_zone: Annotated[str, AfterValidator(_zone)] | None = None
    """In which cron expressions are read, where that is known."""
    summary: Outside | None = None
    key_events: Annotated[tuple[Outside, ...], BeforeValidator(_as_tuple)] = ()
    env: Annotated[Mapping[str, Outside], AfterValidator(_known_keys)] = Field(default_factory=dict)
    channel: Outside | None = None
    user_role: Outside | None = None
    reads_only: bool = False
    previous_tools: Names = ()


class UserIntent(Value):
    """What the turn is for: the newest message, and what routing found in it."""

    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), BeforeValidator(_encodable)]
    kind: Outside | None = None
    entities: Mapping[str, Outside] = Field(default_factory=dict)


ToolWording = Literal["full", "names", "off"]
Mode = Literal["full", "minimal", "none"]


class PromptOptions(Value):
    """`tool_text`: full has schemas, names has names and scenarios, off has nothing but the protocol. `mode`: minimal leaves out
    persona, hand-overs and follow-ups, none leaves only who it is. `skills` is a section that is already harmless, and so is what
    stands in `extra_context`, which goes to the end of the volatile part; `less_skills` are shorter sections in its place, the
    longest first, for a prompt that would be over its hard limits. `flags` are what the newest message looks like."""

    tool_text: ToolWording = "full"
    mode: Mode = "full"
    followups: bool = True
    skills: str = ""
    less_skills: Annotated[tuple[str, ...], BeforeValidator(_as_tuple)] = ()
    suggested_tools: Names = ()
    extra_context: Annotated[tuple[str, ...], BeforeValidator(_as_tuple)] = ()
    flags: Annotated[tuple[str, ...], BeforeValidator(_as_tuple)] = ()
    tell_goal: bool = True
    """Whether the goal is repeated in the volatile part; a chat has it as its newest message."""
