"""The fixed lines of a prompt in one language. They stand in `prompts/phrases.<lang>.yaml`; no agent's file can take one away."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1500)]


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class IdentityPhrases(_Group):
    """`you_are` has `{name}` and `{description}`; the others label what is configured."""

    you_are: Line
    persona: Line
    style: Line
    format: Line
    scope: Line


class CapabilityPhrases(_Group):
    """`hand_over` has `{item}`, `to_agent` has `{agent}` and `{when}`."""

    hand_over: Line
    to_agent: Line


class ToolPhrases(_Group):
    """`protocol` are the lines over the list; `none` is what stands there instead of it; `needs_approval` marks a tool."""

    protocol: tuple[Line, ...]
    none: Line
    needs_approval: Line
    arguments: Line
    returns: Line


class ConstraintPhrases(_Group):
    """Titles of the three lists, then the lines that always stand there. `gated` has `{tools}`."""

    must: Line
    must_not: Line
    fallback: Line
    unverified: Line
    conflict: Line
    prompt_is_secret: Line
    speakers: Line
    fence: Line
    data_lines: Line
    gated: Line


class ContextPhrases(_Group):
    goal: Line
    suggested: Line
    summary: Line
    events: Line
    asker: Line
    role: Line
    reads_only: Line
    channel: Line
    session: Line
    environment: Line
    time: Line
    flagged: Line
    """Has `{rules}`: what the newest message looks like."""


class LoopPhrases(_Group):
    """What the model is told between its steps."""

    call_properly: Line
    say_something: Line
    sum_up: Line


class HistoryPhrases(_Group):
    """What stands in a conversation for what is not there: for the result of a call that has none, for one that is out of the
    asker's sight, and for a skill that does not exist or is out of sight."""

    no_result: Line
    not_at_hand: Line
    no_such_skill: Line


class PromptPhrases(_Group):
    """All of one language. `followups` is the rule that closes the stable part."""

    identity: IdentityPhrases
    capabilities: CapabilityPhrases
    tools: ToolPhrases
    constraints: ConstraintPhrases
    context: ContextPhrases
    loop: LoopPhrases
    history: HistoryPhrases
    followups: Line

    def sentences(self) -> tuple[str, ...]:
        """Those that a model must not tell: rules, not labels."""
        rules = self.constraints
        return (
            *self.tools.protocol, self.tools.none, rules.unverified, rules.conflict, rules.prompt_is_secret, rules.speakers, rules.fence,
            rules.data_lines, rules.gated.partition("{")[0], *self.followups.splitlines(), self.loop.call_properly,
            self.loop.say_something, self.loop.sum_up, self.context.flagged.partition("{")[0],
        )  # fmt: skip
