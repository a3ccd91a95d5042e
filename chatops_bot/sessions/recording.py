"""What a session records beside calls and decisions: who asked what, and which message showed what to be decided on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.form import Form, FormState
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import MessageRef, SessionKey
from chatops_bot.sessions.mailbox import TurnInput
from chatops_bot.tools.audited import result_view


def asked_record(turn: TurnInput, at: datetime, redactor: Redactor, flags: Sequence[str]) -> AuditRecord:
    """Somebody asked something; the text has been redacted when it came in. `flags` say which rules of the scan it hits, if any."""
    author = replace(turn.author, name=redactor.text(turn.author.name))
    content: dict[str, object] = {"text": turn.text} | ({"flags": list(flags)} if flags else {})
    return _record(at, author, str(turn.session), turn.turn_id, "", "asked", "turn", content, "")


def refused_record(
    session: SessionKey, person: Person, why: Phrase, turn_id: str, at: datetime, redactor: Redactor
) -> AuditRecord:
    """Somebody wanted something of the bot and may not use it."""
    who = replace(person, name=redactor.text(person.name))
    return _record(at, who, str(session), turn_id, "", "refused", "turn", {"refused": why.en}, "")


def shown_record(shown: Proposal | Form, card: MessageRef, at: datetime) -> AuditRecord:
    """A card was posted or brought up to date: which revision of what, by which message.

    To be recorded before the store is told what is shown: after a crash in between it is shown and recorded anew, and never
    shown unrecorded.
    """
    content = {"revision": shown.revision, "channel": card.channel, "message": card.id}
    if isinstance(shown, Proposal):
        content |= {"code": shown.code, "digest": shown.digest}
    return _record(
        at, None, str(shown.session), shown.turn_id, shown.tool, "shown", shown.state.value, content, shown.id
    )


def closed_record(
    form: Form, to: FormState, by: Person | None, at: datetime, redactor: Redactor
) -> AuditRecord:
    """A form is closed that nobody filled in; `by` is who cancelled it."""
    who = replace(by, name=redactor.text(by.name)) if by is not None else None
    return _record(at, who, str(form.session), form.turn_id, form.tool, to.value, to.value, {}, form.id)


def form_refused_record(
    form: Form, person: Person, why: Phrase, at: datetime, redactor: Redactor
) -> AuditRecord:
    """Somebody wanted to fill in or close a form and may not."""
    who, content = replace(person, name=redactor.text(person.name)), {"refused": redactor.text(why.en)}
    return _record(
        at, who, str(form.session), form.turn_id, form.tool, "refused", form.state.value, content, form.id
    )


def _record(
    at: datetime, person: Person | None, session: str, turn_id: str, tool: str, decision: str, status: str,
    content: Mapping[str, Any], about: str,
) -> AuditRecord:  # fmt: skip
    view, digest = result_view(canonical_json(content))
    return AuditRecord(
        at=at, person_id=person.id if person else "", person_name=person.name if person else "",
        role=person.role.value if person else "", session=session, turn_id=turn_id, tool=tool, arguments="",
        decision=decision, status=status, result=view, result_sha256=digest, proposal_id=about,
    )  # fmt: skip
