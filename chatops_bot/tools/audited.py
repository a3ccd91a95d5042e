"""One audit row a tool call, whatever became of it, written before the result goes anywhere."""

import hashlib
from collections.abc import Mapping
from typing import Any

from chatops_bot.domain.audit import RESULT_VIEW_BYTES, AuditRecord
from chatops_bot.domain.people import Person
from chatops_bot.domain.proposal import canonical_json
from chatops_bot.domain.redaction import Redactor
from chatops_bot.ports import Audit, Clock
from chatops_bot.tools.invocation import Dispatched, Handler, Invocation


def audited(audit: Audit, clock: Clock, redactor: Redactor, inner: Handler) -> Handler:
    async def record(invocation: Invocation) -> Dispatched:
        at, started = clock.now(), clock.monotonic()
        done = await inner(invocation)
        view, digest = result_view(done.result.content)
        person = invocation.context.person
        await audit.record(
            AuditRecord(
                at=at,
                person_id=person.id,
                person_name=redactor.text(person.name),
                role=person.role.value,
                session=str(invocation.context.session),
                turn_id=invocation.context.turn_id,
                tool=invocation.call.name,
                arguments=redactor.text(invocation.call.arguments),
                decision=done.decision,
                status=done.result.status,
                result=view,
                result_sha256=digest,
                proposal_id=done.proposal.id if done.proposal else "",
                milliseconds=round((clock.monotonic() - started) * 1000),
            )
        )
        return done

    return record


def result_view(content: Mapping[str, Any]) -> tuple[str, str]:
    """The first 4 KiB of a (redacted) result as JSON text, cut on a character, and the SHA-256 of the whole."""
    whole = canonical_json(content).encode()
    return whole[:RESULT_VIEW_BYTES].decode(errors="ignore"), hashlib.sha256(whole).hexdigest()


def decision_record(
    *, person: Person, proposal_session: str, turn_id: str, tool: str, arguments: Mapping[str, Any], decision: str,
    status: str, content: Mapping[str, Any], proposal_id: str, clock: Clock, redactor: Redactor, milliseconds: int = 0,
) -> AuditRecord:  # fmt: skip
    """The audit row of a decision about a proposal, or of its application."""
    view, digest = result_view(redactor.value(content))
    return AuditRecord(
        at=clock.now(),
        person_id=person.id,
        person_name=redactor.text(person.name),
        role=person.role.value,
        session=proposal_session,
        turn_id=turn_id,
        tool=tool,
        arguments=redactor.text(canonical_json(arguments)),
        decision=decision,
        status=status,
        result=view,
        result_sha256=digest,
        proposal_id=proposal_id,
        milliseconds=milliseconds,
    )
