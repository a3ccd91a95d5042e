"""Everything that can go wrong on purpose, by whose concern it is.

    ChatopsError
    ├── ConfigInvalid            nothing starts; names file, line and key
    ├── ModelError               the model's side
    │   ├── ModelUnavailable     could not be reached, or answered 5xx or 429
    │   ├── ModelRefused         key, quota or request not accepted; trying again cannot help
    │   ├── ModelTimeout         connected and fell silent
    │   ├── ModelBroke           answered rubbish, or broke off in the middle
    │   └── ModelBlocked         the provider's filter withheld the output
    ├── ToolError                goes back to the model as the result of its call
    │   ├── ToolUnknown          lists the valid names
    │   ├── ToolArgumentsInvalid names field and reason
    │   ├── ToolRefused          the person may not do this
    │   ├── ToolTimedOut
    │   └── ToolFailed           the back end's own answer, in one sentence
    │       └── ToolImpossible   as things stand the action makes no sense: gone, done already, not allowed in this state
    ├── PlatformError            the chat platform's side
    │   ├── MessageGone          edit another way: the message is no longer there
    │   └── PlatformUnavailable
    └── StoreError
        ├── StoreTooNew          written by a newer version of this program
        └── TurnLost             another process has taken the turn over; this one leaves it alone

Each carries what its reader needs, and `str(error)` is one sentence for a tired person.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from chatops_bot.domain.language import Language, Phrase

Sentence = Literal[
    "unknown_tool", "missed", "too_long", "not_json", "no_such_skill", "no_such_script", "no_such_result", "secret_given",
    "secret_elsewhere", "secret_misplaced", "secret_gone", "consulted_only", "consulted_already", "not_consulted", "too_deep", "too_often",
    "waits_for_approval", "waits_already", "waits_for_form", "same_call", "same_form",
]  # fmt: skip
"""A sentence of `prompts/` that tells a model what became of its call, what was wrong with it, and what to do."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the model is told of its call: a sentence by its name, and what is filled in."""

    sentence: Sentence
    values: Mapping[str, object] = field(default_factory=dict)


Words = Callable[[Told, Language], str]
"""Says what a model is told, in the language of its conversation."""


class ChatopsError(Exception):
    """Root of everything that this program raises on purpose."""


class ArgumentWrong(ValueError):
    """What only a tool's own model knows to be wrong with an argument, said in both languages by its validator."""

    def __init__(self, phrase: Phrase) -> None:
        super().__init__(phrase.en)
        self.phrase = phrase


class ConfigInvalid(ChatopsError):
    """The configuration is wrong. The message names file, line, key and what to do."""


class PromptInvalid(ChatopsError):
    """What a prompt was to be made of is wrong. `problems` names each field and what is wrong with it."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("the prompt cannot be built: " + "; ".join(problems))
        self.problems = problems


class ModelError(ChatopsError):
    """A model call failed. `phrase` is the sentence for people; it never holds a key or a header."""

    def __init__(self, phrase: Phrase) -> None:
        super().__init__(phrase.en)
        self.phrase = phrase


class ModelUnavailable(ModelError):
    """Not reached, overloaded, or rate limited. `retry_after` in seconds where the provider said so."""

    def __init__(self, phrase: Phrase, retry_after: float | None = None) -> None:
        super().__init__(phrase)
        self.retry_after = retry_after


class ModelRefused(ModelError):
    """The provider does not accept the key, the account or the request."""


class ModelTooLong(ModelRefused):
    """The request is longer than the model takes; a shorter one may do."""


class ModelTimeout(ModelError):
    """The model went silent for longer than allowed."""


class ModelBroke(ModelError):
    """The stream broke off or did not follow the protocol."""


class ModelBlocked(ModelError):
    """The provider withheld the output."""


class ToolError(ChatopsError):
    """A call that did not work. `phrase` is for people, and for the model in the asker's language unless there is `told`: people
    read neither what the model did wrong nor what it should do."""

    def __init__(self, phrase: Phrase, *, told: Told | None = None) -> None:
        super().__init__(phrase.en)
        self.phrase = phrase
        self.told = told


class ToolUnknown(ToolError):
    pass


class ToolArgumentsInvalid(ToolError):
    pass


class ToolRefused(ToolError):
    pass


class ToolTimedOut(ToolError):
    pass


class ToolFailed(ToolError):
    """The back end refused or could not be reached. `outcome_unknown`: a write may or may not have happened.

    Where values of arguments are what cannot be, `problems` says why by argument, for whoever filled them in.
    """

    def __init__(
        self,
        phrase: Phrase,
        *,
        told: Told | None = None,
        outcome_unknown: bool = False,
        problems: Mapping[str, Phrase] | None = None,
    ) -> None:
        super().__init__(phrase, told=told)
        self.outcome_unknown = outcome_unknown
        self.problems = problems or {}


class ToolImpossible(ToolFailed):
    """The target's state does not allow the action. Where it did when the action was proposed, that is drift."""


class PlatformError(ChatopsError):
    """The chat platform refused a call. `code` is its own error code."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class MessageGone(PlatformError):
    """The message can no longer be edited."""


class PlatformUnavailable(PlatformError):
    """The platform could not be reached, or kept refusing for too long."""


class StoreError(ChatopsError):
    """The store, or a row of it, cannot be used. The message names the file or the row, and what to do."""


class StoreUnavailable(StoreError):
    """The store as a whole cannot be reached, or takes nothing. What was to be written may have been written."""


class AuditGone(StoreError):
    """A store without the table of its audit, which no version of the bot leaves behind."""


class StoreTooNew(StoreError):
    """The file was written by a newer version of this program."""


class TurnLost(StoreError):
    """Another process took this one for dead and has taken its turn over. Nothing was written."""

    def __init__(self, turn_id: str) -> None:
        super().__init__(
            f"Turn {turn_id} was taken over by another process, which took this one for dead; it is left to that one."
        )
        self.turn_id = turn_id
