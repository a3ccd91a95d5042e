"""One audit row a tool call, whatever became of it, written before the result goes anywhere.

A call that became a proposal or a form has its row already: it was stored in one step with that.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from chatops_bot.domain.audit import RESULT_VIEW_BYTES, AuditRecord
from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.tool import ToolResult
from chatops_bot.ports import Audit, Clock
from chatops_bot.tools.argument_model import secret_arguments, without_literals
from chatops_bot.tools.invocation import Dispatched, Handler, Invocation


def audited(
    audit: Audit,
    clock: Clock,
    redactor: Redactor,
    model_of: Callable[[str], type[BaseModel] | None],
    inner: Handler,
) -> Handler:
    """`model_of` knows the arguments of a tool by its name: what a model made up for a secret one is not recorded."""

    async def record(invocation: Invocation) -> Dispatched:
        at, started = clock.now(), clock.monotonic()
        done = _STOPPED
        try:
            done = await inner(invocation)
        finally:
            await keep(done, at, started, invocation)
        return done

    async def keep(done: Dispatched, at: datetime, started: float, invocation: Invocation) -> None:
        if done.proposal is not None or done.form is not None:
            return
        milliseconds = round((clock.monotonic() - started) * 1000)
        model = model_of(invocation.call.name)
        await audit.record(call_record(invocation, done, at, milliseconds, redactor, model))

    return record


def call_record(
    invocation: Invocation, done: Dispatched, at: datetime, milliseconds: int, redactor: Redactor,
    model: type[BaseModel] | None,
) -> AuditRecord:  # fmt: skip
    """The audit row of a call that came to `done`, whose result has been redacted; `model` knows the tool's arguments."""
    view, digest = result_view(done.result.text)
    person = invocation.context.person
    return AuditRecord(
        at=at,
        person_id=person.id,
        person_name=redactor.text(person.name),
        role=person.role.value,
        session=str(invocation.context.session),
        turn_id=invocation.context.turn_id,
        tool=redactor.text(invocation.call.name),  # a model may make one up
        arguments=_redacted_arguments(invocation.call.arguments, redactor, model),
        decision=done.decision,
        status=done.result.status,
        result=view,
        result_sha256=digest,
        proposal_id=done.form.id if done.form is not None else "",
        milliseconds=milliseconds,
    )


_STOPPED = Dispatched(
    ToolResult("not_run", {"stopped": True}, Phrase("已停止", "stopped")),
    "stopped",
)
"""What a call comes to whose turn is cancelled before it returns."""


def result_view(text: str) -> tuple[str, str]:
    """The first 4 KiB of a (redacted) result, which is `text` as JSON, cut on a character, and the SHA-256 of the whole."""
    whole = text.encode(errors="replace")  # a model may send half a surrogate pair
    return whole[:RESULT_VIEW_BYTES].decode(errors="ignore"), hashlib.sha256(whole).hexdigest()


def decision_record(
    *, person: Person, proposal_session: str, turn_id: str, tool: str, arguments: Mapping[str, Any], decision: str,
    status: str, content: Mapping[str, Any], proposal_id: str, clock: Clock, redactor: Redactor, milliseconds: int = 0,
) -> AuditRecord:  # fmt: skip
    """The audit row of a decision about a proposal, or of its application."""
    view, digest = result_view(canonical_json(redactor.value(content)))
    return AuditRecord(
        at=clock.now(),
        person_id=person.id,
        person_name=redactor.text(person.name),
        role=person.role.value,
        session=proposal_session,
        turn_id=turn_id,
        tool=tool,
        arguments=canonical_json(redactor.value(arguments)),
        decision=decision,
        status=status,
        result=view,
        result_sha256=digest,
        proposal_id=proposal_id,
        milliseconds=milliseconds,
    )


def _redacted_arguments(text: str, redactor: Redactor, model: type[BaseModel] | None) -> str:
    """Arguments as the model sent them, secrets taken out of the values that the JSON spells, or of the text where it is none."""
    has_secrets = model is not None and bool(secret_arguments(model))
    if "\\" not in text and redactor.text(text) == text and not has_secrets:
        return text  # nothing stands in it that JSON spells in another way
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return redactor.text(text)
    if model is not None and isinstance(value, dict):
        value = without_literals(value, model)
    redacted = redactor.value(value)
    return text if redacted == value and not has_secrets else canonical_json(redacted)
