"""What a running turn tells the world: the loop emits these, the turn view folds them into what people see."""

from msgspec import Struct

from chatops_bot.domain.form import Form
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.model import Usage
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.tool import ToolStatus


class TextStreamed(Struct, frozen=True):
    """Visible text of the model, in order, in pieces of any size. A Struct for the reason that `model.TextDelta` is one."""

    text: str


class TextWithdrawn(Struct, frozen=True):
    """What was streamed since the last round was not meant for people: it was reasoning, as its end showed."""


class ReasoningStreamed(Struct, frozen=True):
    """The model's reasoning; a channel of its own that people don't see by default."""

    text: str


class StepEnded(Struct, frozen=True):
    """One model call came to its end. `usage` is that call's alone; a provider that tells none leaves it at zero."""

    model: str
    usage: Usage


class RoundEnded(Struct, frozen=True):
    """A model message with tool calls is complete: what text follows starts a new paragraph."""


class CallStarted(Struct, frozen=True):
    call_id: str
    tool: str
    label: Phrase


class CallEnded(Struct, frozen=True):
    call_id: str
    tool: str
    status: ToolStatus
    summary: Phrase
    milliseconds: int


class Proposed(Struct, frozen=True):
    """A write became a proposal; its card is a message of its own."""

    proposal: Proposal


class Asked(Struct, frozen=True):
    """A call lacks facts; the form that asks for them is a message of its own."""

    form: Form


class Noted(Struct, frozen=True):
    """Something about the turn that people must know (cut, capped, no model). Stands in a block of its own, above or below the text."""

    phrase: Phrase
    is_first: bool = False


class Rested(Struct, frozen=True):
    """The turn is over. `body` is the authoritative final text; `followups` are suggested next questions."""

    outcome: TurnOutcome
    body: str
    followups: tuple[str, ...] = ()


TurnEvent = (
    TextStreamed
    | TextWithdrawn
    | ReasoningStreamed
    | StepEnded
    | RoundEnded
    | CallStarted
    | CallEnded
    | Proposed
    | Asked
    | Noted
    | Rested
)
