"""The one door to every tool. Read `Dispatcher` from the outside in: each wrapper does one thing, and its name says it."""

import re
from dataclasses import replace
from typing import cast

from pydantic import BaseModel

from chatops_bot.domain.errors import ToolArgumentsInvalid, ToolUnknown, Words
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.tool import ToolCall
from chatops_bot.ports import Audit, Clock, ReadTool, Results, ToolContext
from chatops_bot.tools.asking import Asker
from chatops_bot.tools.audited import audited
from chatops_bot.tools.authorisation import authorised
from chatops_bot.tools.border import answered, redacted
from chatops_bot.tools.bounds import timed
from chatops_bot.tools.dedupe import deduplicated
from chatops_bot.tools.invocation import Dispatched, Handler, Invocation, TurnMemory
from chatops_bot.tools.proposing import Proposer
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.spilling import capped
from chatops_bot.tools.validation import found_in, parse_object, validated

_ID = re.compile(r"[a-z0-9_-]{1,64}")


class Dispatcher:
    """Runs one call of the model: a read runs, a write becomes a proposal, one that lacks facts a form, anything wrong a result that says so."""

    def __init__(
        self, registry: Registry, *, policy: Policy, audit: Audit, proposer: Proposer, asker: Asker, redactor: Redactor,
        clock: Clock, words: Words, results: Results | None = None,
    ) -> None:  # fmt: skip
        """`words` is what the model is told of what became of a call; `results` is where what is too long is kept whole; without it, that is lost."""
        self.registry = registry
        self._policy = policy
        handler: Handler = run_read
        handler = proposer.proposed(words, handler)
        handler = timed(handler)
        handler = deduplicated(words, handler)
        handler = validated(handler)
        handler = asker.asked(words, handler)
        handler = authorised(
            policy, handler
        )  # outside: who may not ask for a change is refused, not asked for more
        handler = found_in(registry, words, handler)
        handler = answered(self.effect_of, words, handler)
        handler = redacted(redactor, handler)
        handler = capped(
            results, handler
        )  # outside: a secret that was cut in half would no longer be known as one
        self._handle = audited(audit, clock, redactor, self._model_of, handler)

    async def dispatch(
        self, call: ToolCall, context: ToolContext, memory: TurnMemory, language: Language
    ) -> Dispatched:
        """A call by an old name, or by that of the back end, is one by the permanent name from here on."""
        name = self.registry.canonical(call.name)
        if name != call.name:
            call = replace(call, name=name)
        return await self._handle(Invocation(call, context, memory, language))

    def may_call(self, name: str, context: ToolContext, memory: TurnMemory) -> bool:
        """Whether there is a tool of this name for this turn's agent, and the policy lets the person ask for it."""
        try:
            spec = self.registry.find(name).spec
        except ToolUnknown:
            return False
        allowed = memory.toolbox is None or spec.name in memory.toolbox.allowed
        refused = self._policy.may_ask(context.person, spec.name, spec.effect, context.session.channel)
        return allowed and refused is None

    def effect_of(self, name: str) -> Effect:
        """The effect of a tool by name; an unknown name only ever gets an error back, so it counts as a read."""
        try:
            return self.registry.find(name).spec.effect
        except ToolUnknown:
            return Effect.READ

    def _model_of(self, name: str) -> type[BaseModel] | None:
        try:
            return self.registry.find(name).spec.arguments
        except ToolUnknown:
            return None

    def label_of(self, call: ToolCall) -> Phrase:
        """What people see while this call runs."""
        try:
            spec = self.registry.find(call.name).spec
        except ToolUnknown:
            return Phrase(f"未知工具 {call.name}", f"unknown tool {call.name}")
        shown = _shown_argument(call, spec.label_argument)
        return Phrase(f"{spec.label.zh} {shown}", f"{spec.label.en} {shown}") if shown else spec.label


def _shown_argument(call: ToolCall, name: str) -> str:
    """The value of an argument, if it is an id; a model may write anything there."""
    try:
        value = parse_object(call.arguments).get(name) if name else None
    except ToolArgumentsInvalid:
        return ""
    return value if isinstance(value, str) and _ID.fullmatch(value) else ""


async def run_read(invocation: Invocation) -> Dispatched:
    """The innermost handler: the tool itself."""
    tool, toolbox = cast("ReadTool", invocation.tool), invocation.memory.toolbox
    context = invocation.context
    if toolbox is not None:
        context = replace(context, allowed=toolbox.allowed)
    return Dispatched(await tool.run(invocation.arguments, context), "auto")
