"""The fixed lines of a prompt in one language. They stand in `prompts/phrases.<lang>.yaml`; no agent's file can take one away."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from chatops_bot.domain.errors import Told

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1500)]


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


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
    """`protocol` are the lines over the list; `none` is what stands there instead of it; `needs_approval` marks a tool. `secret`
    follows what is said of an argument that only a person may give. `recorded` has `{tool}`: an evaluation's, of which only results are there."""

    protocol: tuple[Line, ...]
    none: Line
    needs_approval: Line
    arguments: Line
    returns: Line
    secret: Line
    recorded: Line


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
    kind: Line
    entities: Line
    schedule_zone: Line


class LoopPhrases(_Group):
    """What the model is told between its steps."""

    call_properly: Line
    say_something: Line
    sum_up: Line


class PastPhrases(_Group):
    """Lines about what is out of the model's sight. `who` is a person's id or name, `at` and `until` are times, `what` is a
    proposal's code, tool and target."""

    waits: Line
    more_wait: Line
    form_waits: Line
    asked: Line
    ended: Line
    named: Line
    decided: Line
    filled: Line
    closed: Line
    loaded: Line


class CallPhrases(_Group):
    """What the model reads of what became of a call, where people need other words or none. The placeholders are those
    that the shipped texts have; `domain.errors.Sentence` names those that an error can ask for."""

    skill_frame: Line
    """What the frame around a loaded skill says of it."""
    no_result: Line
    not_at_hand: Line
    waits_first: Line
    too_many: Line
    cut_off: Line
    cut_off_at: Line
    unknown_tool: Line
    missed: Line
    too_long: Line
    not_json: Line
    no_such_skill: Line
    no_such_script: Line
    no_such_result: Line
    secret_given: Line
    secret_elsewhere: Line
    secret_misplaced: Line
    secret_gone: Line
    consulted_only: Line
    consulted_already: Line
    not_consulted: Line
    too_deep: Line
    too_often: Line
    waits_for_approval: Line
    waits_already: Line
    waits_for_form: Line
    same_call: Line
    same_form: Line
    filled_form: Line
    """Stands over the values of a form, as its author's words."""

    def said(self, told: Told) -> str:
        line: str = getattr(self, told.sentence)
        return line.format(**told.values)


class PromptPhrases(_Group):
    """All of one language. `followups` is the rule that closes the stable part."""

    identity: IdentityPhrases
    capabilities: CapabilityPhrases
    tools: ToolPhrases
    constraints: ConstraintPhrases
    context: ContextPhrases
    loop: LoopPhrases
    calls: CallPhrases
    past: PastPhrases
    followups: Line

    def sentences(self) -> tuple[str, ...]:
        """Those that a model must not tell: rules, not labels."""
        rules = self.constraints
        return (
            *self.tools.protocol, self.tools.none, rules.unverified, rules.conflict, rules.prompt_is_secret, rules.speakers, rules.fence,
            rules.data_lines, rules.gated.partition("{")[0], *self.followups.splitlines(), self.loop.call_properly,
            self.loop.say_something, self.loop.sum_up, self.context.flagged.partition("{")[0],
        )  # fmt: skip


def filled(phrase: str, **values: str) -> str:
    """`phrase` with its placeholders replaced; braces in a value stay braces."""
    first, *parts = phrase.split("{")
    named = (part.partition("}") for part in parts)
    return first + "".join(f"{values[name]}{rest}" for name, _, rest in named)
