"""Domain values as JSON text and back, checked by pydantic on the way in."""

from typing import Annotated

from pydantic import Field, TypeAdapter

from chatops_bot.domain.form import Form
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.transcript import Entry

_ENTRY: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="kind")])
_FORM: TypeAdapter[Form] = TypeAdapter(Form)
_PROPOSAL: TypeAdapter[Proposal] = TypeAdapter(Proposal)


def entry_text(entry: Entry) -> str:
    return _ENTRY.dump_json(entry).decode()


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
