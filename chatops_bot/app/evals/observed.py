"""What one run of a case came to, as the store and the screen tell it: nothing here asks the code that is being judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chatops_bot.domain.errors import ToolArgumentsInvalid
from chatops_bot.domain.form import Form
from chatops_bot.domain.model import Usage
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.transcript import Entry, ModelSaid, Prompted, ToolReturned, TurnRested, UserSaid
from chatops_bot.domain.view import Buttons, View
from chatops_bot.platforms.terminal.letters import Look
from chatops_bot.platforms.terminal.plain import view_text
from chatops_bot.tools.validation import parse_object


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """`arguments` are None when they were no JSON object; `status` is empty when the call has no result."""

    tool: str
    arguments: Mapping[str, Any] | None
    status: str
    content: str


@dataclass(frozen=True, slots=True)
class Observed:
    """The last turn of a run. `sources` are the texts of the conversation up to its answer, `earlier` the results of earlier
    turns; `shown` is everything that stood on the screen at the end; `script` what a script missed; `waited` how many seconds an
    answer was waited for in vain, 0 when it came; `trouble` why the model gave none, in its client's words, empty when it did."""

    outcome: str
    answer: str
    shown: str
    calls: tuple[ObservedCall, ...] = ()
    offered: frozenset[str] = frozenset()
    sources: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    forms: tuple[Form, ...] = ()
    followups: tuple[str, ...] = ()
    rounds: int = 0
    usage: Usage = field(default_factory=Usage)
    models: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    seconds: float = 0.0
    script: tuple[str, ...] = ()
    waited: float = 0.0
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """What the store and the screen have of a session. `waited` and `trouble` as in `Observed`."""

    entries: Sequence[Entry]
    views: Mapping[str, View]
    proposals: Sequence[Proposal]
    forms: Sequence[Form]
    waited: float = 0.0
    trouble: str = ""


def observe(kept: Kept, *, registered: frozenset[str], seconds: float, script: Sequence[str]) -> Observed:
    """The last turn of what was kept. `registered` are the tools there are, for a turn that notes no prompt."""
    turn = next((entry.turn_id for entry in reversed(kept.entries) if isinstance(entry, UserSaid)), "")
    own = [entry for entry in kept.entries if entry.turn_id == turn]
    said = [entry for entry in own if isinstance(entry, ModelSaid)]
    rested = next((entry for entry in own if isinstance(entry, TurnRested)), None)
    prompts = [entry for entry in own if isinstance(entry, Prompted)]
    offered = frozenset(name for entry in prompts for name in entry.tools) or registered
    usage = Usage()
    for entry in said:
        usage += entry.usage
    look = Look()
    shown = "\n".join(f"{view_text(view, look)}\n{view.fallback}" for view in kept.views.values())
    return Observed(
        outcome=rested.outcome.value if rested else "",
        answer=rested.body if rested else "",
        shown=shown,
        calls=_calls(said, own),
        offered=offered,
        sources=tuple(entry.text for entry in kept.entries if isinstance(entry, UserSaid))
        + tuple(e.text for e in kept.entries if isinstance(e, ModelSaid) and e.turn_id != turn),
        earlier=tuple(
            e.content for e in kept.entries if isinstance(e, ToolReturned) and e.turn_id != turn
        ),
        proposals=tuple(one for one in kept.proposals if one.turn_id == turn),
        forms=tuple(one for one in kept.forms if one.turn_id == turn),
        followups=_followups(kept.views.values()),
        rounds=len(said),
        usage=usage,
        models=tuple(dict.fromkeys(entry.model for entry in said)),
        prompts=tuple(dict.fromkeys(f"{entry.agent_id}/{entry.version}" for entry in prompts)),
        seconds=seconds,
        script=tuple(script),
        waited=kept.waited,
        trouble=kept.trouble if rested is not None and rested.outcome is TurnOutcome.FAILED else "",
    )  # fmt: skip


def _calls(said: Sequence[ModelSaid], own: Sequence[Entry]) -> tuple[ObservedCall, ...]:
    returned = {entry.call_id: entry for entry in own if isinstance(entry, ToolReturned)}
    calls = []
    for call in (call for entry in said for call in entry.calls):
        result = returned.get(call.id)
        try:
            arguments: Mapping[str, Any] | None = parse_object(call.arguments)
        except ToolArgumentsInvalid:
            arguments = None
        status, content = (result.status, result.content) if result else ("", "")
        calls.append(ObservedCall(call.name, arguments, status, content))
    return tuple(calls)


def _followups(views: Any) -> tuple[str, ...]:
    return tuple(
        button.label
        for view in views
        for block in view.blocks
        if isinstance(block, Buttons)
        for button in block.buttons
        if button.control == "followup"
    )
