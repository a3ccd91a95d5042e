"""What is kept: one store, split by role. Twins (SQLite, Redis) pass one suite in `tests/contracts`."""

from collections.abc import AsyncGenerator, Sequence
from datetime import datetime
from typing import Any, Protocol

from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.audit_chain import Head
from chatops_bot.domain.audit_check import Row
from chatops_bot.domain.form import Form, FormState
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.session import IsDead, MessageRef, RunningTurn, SessionKey, TurnOutcome
from chatops_bot.domain.transcript import Entry
from chatops_bot.ports.prompts import Arms, Prompts


class Transcripts(Protocol):
    async def append(self, session: SessionKey, entries: Sequence[Entry]) -> None:
        """Store entries in order, all or none; durable on return.

        Raises TurnLost for an entry that a turn makes (`transcript.MADE_BY_TURNS`) when another process has that turn.
        """

    async def load(self, session: SessionKey) -> list[Entry]:
        """Every entry of the session, oldest first; empty when there is none."""

    async def known(self, session: SessionKey) -> bool:
        """Whether the bot was ever spoken to in this session: it has an entry, or a turn that was accepted."""


class Turns(Protocol):
    """Turns that were accepted. Each that did not end is held by one process: it runs there, or waits to.

    All unfinished turns of a session are held by one process, so that one of them runs at a time. What a process writes to
    a turn that another has taken over meanwhile raises TurnLost: it was paused for so long that it was taken for dead.
    A turn that ended is kept for 7 days.
    """

    async def begin(self, turn: RunningTurn, claim: str = "") -> str:
        """Record a turn as running before it does anything, and claim the inbox key `claim` with it, both or neither.

        Returns the process that holds it: the living one that holds the session's other turns, else this one. Empty, with
        nothing recorded, when that key was claimed before.
        """

    async def checkpoint(self, turn_id: str, message: MessageRef | None, snapshot: str) -> None:
        """Keep the answer so far, for recovery. Raises TurnLost."""

    async def end(self, turn_id: str, outcome: TurnOutcome) -> None:
        """Raises TurnLost."""

    async def running(self) -> list[RunningTurn]:
        """Turns that began and never ended, whoever holds them, oldest first."""

    async def holder(self, turn_id: str) -> str:
        """The living process that holds an unfinished turn; empty when there is none."""

    async def holder_of(self, session: SessionKey) -> str:
        """The living process that holds the session's unfinished turns; empty when there is none."""

    async def take_over(self, is_dead: IsDead | None = None) -> list[RunningTurn]:
        """Take every unfinished turn whose process is dead, and return them, oldest first: its `process_lease` ran out, and
        `is_dead` says so, if it is given.

        Never one of this process's own, and none of a session that another living process holds; each goes to one taker.
        """


class Inbox(Protocol):
    async def claim(self, key: str) -> bool:
        """True for the first caller of this key, False for every later one. Keys are kept for 7 days."""


class Proposals(Protocol):
    """What cannot be read raises StoreError where it was asked for; lists over sessions leave it out and log it."""

    async def add(self, proposal: Proposal, record: AuditRecord | None = None, *, by_turn: str = "") -> None:
        """Store a new proposal and, in the same transaction, its audit row. Raises TurnLost when another process has `by_turn`."""

    async def get(self, proposal_id: str) -> Proposal | None: ...

    async def by_code(self, session: SessionKey, code: str) -> Proposal | None:
        """The session's newest proposal with this code, whatever its state."""

    async def with_code(self, code: str) -> list[Proposal]:
        """The proposals of all sessions with this code, whatever their state, oldest first."""

    async def move(
        self, proposal: Proposal, to: ProposalState, now: datetime, record: AuditRecord | None = None, *, by_turn: str = "",
        **changes: Any,
    ) -> Proposal | None:  # fmt: skip
        """Compare-and-set along `proposal.EDGES`: from exactly this state and revision to `to`, with the given fields.

        The move and its audit row are one transaction: both or neither. Returns the moved proposal (revision + 1), or None
        when another got there first or `GUARDED_BY_EXPIRY` forbids it, at `now` or when it is carried out. Raises ValueError for
        an edge that is not in the table and a field that is not in `CHANGEABLE`, and TurnLost as `add` does.
        """

    async def shown(self, proposal_id: str, card: MessageRef, revision: int) -> None:
        """Remember which message shows the proposal, and which revision of it; an older revision changes nothing."""

    async def in_states(self, states: frozenset[ProposalState]) -> list[Proposal]:
        """Oldest first."""

    async def followed(self, now: datetime) -> list[Proposal]:
        """Those that `following.followed_until` says somebody has to come back to after `now`; reads no others. Oldest first."""

    async def with_stale_card(self) -> list[Proposal]:
        """Proposals whose card was never posted, or shows an older revision: a crash came between. Oldest first."""


class Forms(Protocol):
    """Audit rows, and what cannot be read: as in `Proposals`."""

    async def add(self, form: Form, record: AuditRecord | None = None, *, by_turn: str = "") -> None:
        """As `Proposals.add`."""

    async def get(self, form_id: str) -> Form | None: ...

    async def move(
        self, form: Form, to: FormState, now: datetime, record: AuditRecord | None = None, **changes: Any
    ) -> Form | None:
        """Compare-and-set along `form.EDGES`, with its audit row, as `Proposals.move`."""

    async def shown(self, form_id: str, card: MessageRef, revision: int) -> None:
        """As `Proposals.shown`."""

    async def open(self) -> list[Form]:
        """Oldest first."""

    async def with_stale_card(self) -> list[Form]:
        """As `Proposals.with_stale_card`."""

    async def unanswered(self) -> list[Form]:
        """Submitted forms whose turn (`answer_turn_id`) never began: a crash came between. Oldest first."""


class SecretValues(Protocol):
    """Sealed values, each under a reference that is used once. A store can read none of them."""

    async def put(self, ref: str, sealed: str, seconds: float) -> None:
        """Keep `sealed` for so many seconds; durable on return. Raises StoreError when there is one of that reference."""

    async def get(self, ref: str) -> str | None:
        """What was put, until its time is over or it was dropped."""

    async def drop(self, refs: Sequence[str]) -> None:
        """Delete them; what is not there is no fault."""

    async def drop_overdue(self) -> None:
        """Delete what `get` gives to nobody any more."""


class Results(Protocol):
    """Whole results of tools that were too long for the transcript, redacted, each under the id of its call."""

    async def put(self, session: SessionKey, handle: str, content: str, seconds: float) -> None:
        """Keep `content` for so many seconds, in place of what had that handle in the session; durable on return."""

    async def get(self, session: SessionKey, handle: str) -> str | None:
        """What was put in this session, until its time is over."""


class Audit(Protocol):
    async def record(self, record: AuditRecord) -> None:
        """Seal and append; durable on return."""


class AuditReader(Protocol):
    """The audit's chain as it is stored; whether it is what was sealed, `domain.audit_check` says."""

    async def head(self) -> Head:
        """Of the newest row; `GENESIS` when there is none."""

    async def page(self, after: int, size: int) -> Sequence[Row]:
        """At most `size` rows whose numbers are greater than `after`, oldest first; none when there is no more."""


class KeptAudit(Audit, AuditReader, Protocol):
    """What a store has."""


class Leases(Protocol):
    """Who works on what, among tasks and processes that share a store. A lease that is not renewed ends by itself.

    A lease is advice; the fence is the guard: a higher number for each new taker of a name, so that what a late holder
    writes can be told from its successor's.
    """

    async def take(self, name: str, holder: str, seconds: float) -> int | None:
        """The fence (from 1) when nobody else holds `name`, else None. Taking anew what one holds renews it."""

    async def renew(self, name: str, holder: str, seconds: float) -> bool:
        """Whether `holder` still held it; then it does for `seconds` from now."""

    async def drop(self, name: str, holder: str) -> None:
        """End one's own lease; of a lease that is not one's own, nothing happens."""

    async def holder(self, name: str) -> str | None:
        """Who holds `name` now."""


class Controls(Protocol):
    """What an opaque button value stands for, for 30 days."""

    async def put(self, token: str, payload: str) -> None: ...

    async def get(self, token: str) -> str | None: ...


def process_lease(process: str) -> str:
    """The lease that says that a process lives."""
    return f"process:{process}"


class Relay(Protocol):
    """Words between the processes that share a store."""

    async def send(self, process: str, body: str) -> None:
        """Durable on return. What is sent to a process that is no more is never read."""

    def receive(self) -> AsyncGenerator[str, None]:
        """What was sent to this process, in order; waits for more. Each body comes until the next is asked for: at least once."""


class Store(Protocol):
    """All roles of one store. `process` is the name of this process among those that share it, new at each start."""

    @property
    def process(self) -> str: ...

    @property
    def leases(self) -> Leases: ...

    @property
    def relay(self) -> Relay: ...

    @property
    def transcripts(self) -> Transcripts: ...

    @property
    def turns(self) -> Turns: ...

    @property
    def inbox(self) -> Inbox: ...

    @property
    def proposals(self) -> Proposals: ...

    @property
    def forms(self) -> Forms: ...

    @property
    def audit(self) -> KeptAudit: ...

    @property
    def secret_values(self) -> SecretValues: ...

    @property
    def results(self) -> Results: ...

    @property
    def controls(self) -> Controls: ...

    @property
    def prompts(self) -> Prompts: ...

    @property
    def arms(self) -> Arms: ...
