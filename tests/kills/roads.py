"""The roads of a proposal, by how it ends: who presses what, which phases it goes through, and where it may come out."""

from collections.abc import Sequence
from dataclasses import dataclass

from chatops_bot.app.policy_config import PolicyConfig, RuleConfig
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.proposal import ProposalState

OSCAR = Person("U1", "Oscar", Role.OPERATOR)
ANA = Person("U2", "Ana", Role.APPROVER)
BEN = Person("U3", "Ben", Role.APPROVER)
CEM = Person("U4", "Cem", Role.APPROVER)
CROWD = [Person(f"U{number}", f"Person {number}", Role.APPROVER) for number in range(100, 150)]
PEOPLE = {person.id: person for person in (OSCAR, ANA, BEN, CEM, *CROWD)}

RUN = frozenset({ProposalState.APPLIED, ProposalState.OUTCOME_UNKNOWN})


@dataclass(frozen=True)
class Road:
    """`presses` are on whatever card has that button. `phases` are begun by the first decision and then by each move of a proposal;
    those before `struck_from` are another road's. `is_late`: its time runs out. `undoes`: what was applied is taken back.
    `expires_first`: its time runs out before anybody presses."""

    name: str
    presses: Sequence[tuple[Person, str]]
    phases: Sequence[str]
    ends: frozenset[ProposalState]
    is_late: bool = False
    quorum: int = 1
    struck_from: str = ""
    undoes: bool = False
    expires_first: bool = False

    @property
    def struck(self) -> Sequence[str]:
        """The phases of this road."""
        return self.phases[self.phases.index(self.struck_from) if self.struck_from else 0 :]

    def policy(self) -> PolicyConfig:
        rules = (RuleConfig(tools=("pause_task",), count=self.quorum),) if self.quorum > 1 else ()
        return PolicyConfig(rules=rules)


ROADS = (
    Road("approve", [(ANA, "approve")], ("propose", "decide", "claim", "apply", "report"), RUN),
    Road("reject", [(ANA, "reject")], ("propose", "decide", "report"), frozenset({ProposalState.REJECTED})),
    Road("expire", [], ("propose", "decide", "report"), frozenset({ProposalState.EXPIRED}), is_late=True),
    Road(
        "quorum", [(ANA, "approve"), (BEN, "approve")], ("propose", "decide", "decide", "claim", "apply", "report"), RUN,
        quorum=2,
    ),
    Road(
        "undo", [(ANA, "approve"), (ANA, "undo"), (BEN, "approve")],
        ("propose", "decide", "claim", "apply", "undo", "decide on undo", "claim undo", "apply undo", "report undo"), RUN,
        struck_from="undo", undoes=True,
    ),
)  # fmt: skip
