"""Every step of a proposal with its audit row, in one transaction: neither is ever there without the other.

What people do that moves nothing, such as a press that was refused, is a row of its own.
"""

from collections.abc import Mapping
from typing import Any

from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.event import ControlUsed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.proposal import ENDED, TRIED, Proposal, ProposalState
from chatops_bot.domain.redaction import Redactor
from chatops_bot.ports import Audit, Clock, Proposals
from chatops_bot.tools.audited import decision_record
from chatops_bot.tools.sealed_secrets import SealedSecrets

NOBODY = Person("", "", Role.GUEST)
"""Who makes a step that no person makes: time ran out, or the bot looked again."""

VALUE_CHARS = 200
"""Of what a forged button carried; ours carry fewer."""
SUPERSEDED_BY = Phrase(
    "已被提案 {code} 取代，未执行任何操作。", "Proposal {code} took its place; nothing was run."
)


class ProposalMoves:
    def __init__(
        self,
        proposals: Proposals,
        audit: Audit,
        clock: Clock,
        redactor: Redactor,
        secrets: SealedSecrets | None = None,
    ) -> None:
        """`secrets` keep what people typed for the arguments of proposals, which is deleted where those end."""
        self._proposals = proposals
        self._audit = audit
        self._clock = clock
        self._redactor = redactor
        self._secrets = secrets

    async def add(
        self,
        proposal: Proposal,
        person: Person,
        content: Mapping[str, Any],
        milliseconds: int = 0,
        *,
        by_turn: str = "",
    ) -> None:
        """Store what `person` asked for. The row holds the seal, so that what runs later can be told from what was asked."""
        sealed = {
            name: getattr(proposal, name) for name in ("digest", "tool_hash", "policy_version", "quorum")
        }
        pointers = {name: getattr(proposal, name) for name in ("supersedes", "may_repeat", "inverse_of")}
        told = {**content, **sealed, **{name: value for name, value in pointers.items() if value}}
        record = self._record(proposal, person, "proposed", "waits", told, milliseconds)
        await self._proposals.add(proposal, record, by_turn=by_turn)

    async def move(
        self,
        proposal: Proposal,
        to: ProposalState,
        person: Person,
        decision: str,
        content: Mapping[str, Any],
        **changes: Any,
    ) -> Proposal | None:
        """As `Proposals.move`, at this moment, with a row that says who decided what."""
        record = self._record(proposal, person, decision, to.value, content)
        moved = await self._proposals.move(proposal, to, self._clock.now(), record, **changes)
        if moved is not None and to in ENDED and self._secrets is not None:
            await self._secrets.forget(moved.arguments, moved.tool, moved.session)
        return moved

    async def supersede(
        self, older: Proposal, newer: Proposal, person: Person, *, by_turn: str = ""
    ) -> Proposal | None:
        """Let `newer` take the place of `older`; None when that was decided on meanwhile. What was tried keeps saying what came of it."""
        pointer = {"superseded_by": newer.id}
        if older.state in TRIED:
            return await self.move(older, older.state, person, "proposed_again", pointer, **pointer)
        said = SUPERSEDED_BY.filled(code=newer.code).said_in("zh" if older.language == "zh" else "en")
        return await self.move(
            older, ProposalState.SUPERSEDED, person, "superseded", pointer, by_turn=by_turn, outcome_text=said, **pointer,
        )  # fmt: skip

    async def refuse(self, proposal: Proposal, person: Person, why: Phrase, how: Mapping[str, Any]) -> None:
        """Note that somebody tried what they may not, or what cannot be any more."""
        content = {**how, "refused": why.en}
        await self._audit.record(self._record(proposal, person, "refused", proposal.state.value, content))

    async def refuse_press(self, event: ControlUsed, why: Phrase) -> None:
        """Note that somebody pressed a button that stands for no proposal here."""
        await self._audit.record(
            decision_record(
                person=event.person, proposal_session=str(event.session), turn_id="", tool="",
                arguments={"press": event.control, "value": event.value[:VALUE_CHARS]}, decision="refused", status="",
                content={"refused": why.en}, proposal_id="", clock=self._clock, redactor=self._redactor,
            )
        )  # fmt: skip

    def _record(
        self,
        proposal: Proposal,
        person: Person,
        decision: str,
        status: str,
        content: Mapping[str, Any],
        milliseconds: int = 0,
    ) -> AuditRecord:
        return decision_record(
            person=person, proposal_session=str(proposal.session), turn_id=proposal.turn_id, tool=proposal.tool,
            arguments=proposal.arguments, decision=decision, status=status, content=content, proposal_id=proposal.id,
            clock=self._clock, redactor=self._redactor, milliseconds=milliseconds,
        )  # fmt: skip
