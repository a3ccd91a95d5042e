"""What must hold of forms, beside what holds of every road."""

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.audit_check import Unreadable
from chatops_bot.domain.form import FormState
from chatops_bot.domain.proposal import ProposalState
from chatops_bot.domain.secret_argument import references_in
from chatops_bot.ports import Store
from tests.kills.form_roads import FormRoad
from tests.kills.oracle import Judged
from tests.rotating import CANARY

PAGE = 500


async def judge_forms(judged: Judged, road: FormRoad, store: Store, file: Path) -> None:
    """Each form that was asked for came to one end, each of its steps is on record once, and what was given went one way."""
    steps: dict[str, Counter[str]] = {}
    async for record in _records(store):
        if record.decision in ("asked_back", *FormState):
            steps.setdefault(record.proposal_id, Counter())[record.decision] += 1
        elif record.decision == "filled":
            steps.setdefault(record.proposal_id, Counter())["submitted"] += 1
        judged.holds(CANARY not in str(record), "the secret is on record")
    judged.holds(bool(steps), "no form is on record")
    for form_id, on_record in steps.items():
        form = await store.forms.get(form_id)
        state = form.state.value if form is not None else "nowhere"
        judged.holds(on_record == Counter(["asked_back", state]), f"a form that is {state} has {on_record}")
    judged.holds(await store.forms.open() == [], "a form waits")
    judged.holds(await store.forms.unanswered() == [], "an answer began no turn")
    judged.holds(await store.forms.with_stale_card() == [], "the message of a form is behind")
    given = _given(file)
    judged.holds(set(given) <= {road.given} and len(given) <= 1, f"it gave {given}")
    for proposal in judged.proposals:
        judged.holds(proposal.state is not ProposalState.APPLIED or len(given) == 1, f"it gave {given}")
        for ref in references_in(proposal.arguments):
            judged.holds(await store.secret_values.get(ref) is None, "the secret is kept")


async def _records(store: Store) -> AsyncIterator[AuditRecord]:
    after = 0
    while rows := await store.audit.page(after, PAGE):
        for row in rows:
            if not isinstance(row, Unreadable):
                yield row.record
        after = rows[-1].seq


def _given(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []
