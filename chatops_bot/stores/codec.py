"""Domain values as JSON text and back, checked by pydantic on the way in."""

from typing import Annotated, Any, get_args

from pydantic import BeforeValidator, Field, TypeAdapter

from chatops_bot.domain.form import Form
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.transcript import Entry


def _without_bare_reasoning(entry: Any) -> Any:
    """Entries of version 0.1 hold reasoning as a text; whose it was is not known, so it can go back to nobody."""
    if isinstance(entry, dict) and isinstance(entry.get("reasoning"), str):
        return {**entry, "reasoning": {}}
    return entry


_ENTRY: TypeAdapter[Entry] = TypeAdapter(
    Annotated[Entry, Field(discriminator="kind"), BeforeValidator(_without_bare_reasoning)]
)
_FORM: TypeAdapter[Form] = TypeAdapter(Form)
_PROPOSAL: TypeAdapter[Proposal] = TypeAdapter(Proposal)


_KINDS: dict[type[Any], TypeAdapter[Any]] = {kind: TypeAdapter(kind) for kind in get_args(Entry)}
"""To write an entry, its own kind is enough, and much quicker than the union."""


def entry_text(entry: Entry) -> str:
    return _KINDS[type(entry)].dump_json(entry).decode()


def entry_from(text: str) -> Entry:
    """The entry that `entry_text` wrote. Raises pydantic's ValidationError for anything else."""
    return _ENTRY.validate_json(text)


def proposal_text(proposal: Proposal) -> str:
    return _PROPOSAL.dump_json(proposal).decode()


def proposal_from(text: str) -> Proposal:
    """The proposal that `proposal_text` wrote. Raises pydantic's ValidationError for anything else."""
    return _PROPOSAL.validate_json(text)


def form_text(form: Form) -> str:
    return _FORM.dump_json(form).decode()


def form_from(text: str) -> Form:
    """The form that `form_text` wrote. Raises pydantic's ValidationError for anything else."""
    return _FORM.validate_json(text)
