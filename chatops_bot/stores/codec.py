"""Domain values as JSON text and back, checked by pydantic on the way in.

A text that is no such value raises a StoreError which names the row, and nothing that stands in it.
"""

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from chatops_bot.domain.errors import StoreError
from chatops_bot.domain.following import followed_until
from chatops_bot.domain.form import Form
from chatops_bot.domain.kept_prompt import KeptPrompt
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.transcript import Entry

_log = logging.getLogger(__name__)

T = TypeVar("T")
Row = TypeVar("Row")


def _without_bare_reasoning(entry: Any) -> Any:
    """Entries of version 0.1 hold reasoning as a text; whose it was is not known, so it can go back to nobody."""
    if isinstance(entry, dict) and isinstance(entry.get("reasoning"), str):
        return {**entry, "reasoning": {}}
    return entry


_ENTRY: TypeAdapter[Entry] = TypeAdapter(
    Annotated[Entry, Field(discriminator="kind"), BeforeValidator(_without_bare_reasoning)],
    config=ConfigDict(defer_build=True),
)


_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


def _adapter(kind: type[T]) -> TypeAdapter[T]:
    """Made with the first value of its kind: it takes milliseconds, and a start needs none."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def entry_text(entry: Entry) -> str:
    """To write an entry, its own kind is enough, and much quicker than the union."""
    return _adapter(type(entry)).dump_json(entry).decode()


def entry_from(text: str, session: str = "") -> Entry:
    """The entry of `session` that `entry_text` wrote."""
    return _read(_ENTRY, text, f"entry of session {session}")


def proposal_text(proposal: Proposal) -> str:
    return _adapter(Proposal).dump_json(proposal).decode()


def proposal_from(text: str, proposal_id: str) -> Proposal:
    """The proposal that `proposal_text` wrote."""
    return _read(_adapter(Proposal), text, f"proposal {proposal_id}")


def followed_score(proposal: Proposal) -> float | None:
    """Until when it is followed, in seconds since 1970, to find those by."""
    until = followed_until(proposal)
    return None if until is None else until.timestamp()


def form_text(form: Form) -> str:
    return _adapter(Form).dump_json(form).decode()


def form_from(text: str, form_id: str) -> Form:
    """The form that `form_text` wrote."""
    return _read(_adapter(Form), text, f"form {form_id}")


def prompt_text(prompt: KeptPrompt) -> str:
    """The prompt without its prefix, which is kept once for all prompts that begin with it."""
    return _adapter(KeptPrompt).dump_json(replace(prompt, prefix="")).decode()


def prompt_from(text: str, prefix: str, prompt_hash: str) -> KeptPrompt:
    """The prompt that `prompt_text` wrote, with its prefix."""
    return replace(_read(_adapter(KeptPrompt), text, f"prompt {prompt_hash[:12]}"), prefix=prefix)


def _read(adapter: TypeAdapter[T], text: str, what: str) -> T:
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        fields = ", ".join(sorted({".".join(map(str, e["loc"])) or "all of it" for e in error.errors()}))
        raise StoreError(
            f"The stored {what} cannot be read (wrong: {fields}); restore the store from a backup, or start the version "
            "that wrote it."
        ) from error


class RowByRow:
    """Reads rows so that one which cannot be read holds up no other: it is left out, and the log tells once."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def read(self, read: Callable[[Row], T], rows: Iterable[Row]) -> list[T]:
        found: list[T] = []
        for row in rows:
            try:
                found.append(read(row))
            except StoreError as error:
                if str(error) not in self._told:
                    self._told.add(str(error))
                    _log.error("left out: %s", error)
        return found
