"""What the core needs from the outside, as Protocols. Each contract stands here, not at an implementation.

Twins of a port (two stores, two platforms, three models) pass one suite in `tests/contracts`.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.audit_chain import Head
from chatops_bot.domain.audit_check import Row
from chatops_bot.domain.form import Candidates, Form, FormState
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.model import ModelDelta, ModelRequest
from chatops_bot.domain.people import Effect, Person
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.session import IsDead, MessageRef, RunningTurn, SessionKey, TurnOutcome
from chatops_bot.domain.thread import ThreadExcerpt
from chatops_bot.domain.tool import Observation, Outcome, Plan, ToolResult
from chatops_bot.domain.transcript import Entry
from chatops_bot.domain.view import Modal, View


class Clock(Protocol):
    def now(self) -> datetime:
        """The current time, always with a zone (UTC)."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back; only differences mean anything."""


class Ids(Protocol):
    def new(self, prefix: str) -> str:
        """A fresh id, unguessable (128 random bits), such as `turn_4f…`."""

    def code(self) -> str:
        """A short code that a person can read aloud and type: 6 letters and digits, none that look alike."""

    def nonce(self) -> str:
        """32 hex digits for one fence."""


class LLM(Protocol):
    """A language model, or something that stands in for one."""

    @property
    def name(self) -> str:
        """What people are told answers them, e.g. `offline` or `gpt-4o at api.example.com`."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        """Yield the answer as it comes; the last delta is `Finished`.

        Raises only `ModelError`s. After an error nothing more is yielded, and what was yielded before stands.
        Closing the generator early (cancellation) releases the connection.
        """


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Who calls a tool, and from where. `idempotency_key` names the effect of an approved action, else it is empty."""

    person: Person
    session: SessionKey
    turn_id: str
    idempotency_key: str = ""


CandidateProvider = Callable[[Any, ToolContext], Awaitable[Candidates]]
"""Takes the tool that asks and the context of the call; returns what an argument can be. Raises only `ToolError`s."""


ArgumentCheck = Callable[[Any, Mapping[str, Any], ToolContext], Awaitable[Mapping[str, Phrase]]]
"""Takes the tool, values that fit its schema one by one (some may be missing) and the context of the call; returns all that
is wrong with them beyond the schema, by argument. Only reads; raises only `ToolError`s."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool's contract: the model sees name, description and the arguments' schema; people see `label` while it runs.

    A call that lacks facts is asked for in a form: of a tool that changes something always, of one that looks when `asks`
    is set. `title` heads the form; `candidates` says, by argument, where the values to choose from are found; `check` looks
    at values before the call is complete, so that whoever fills in a form hears of all that is wrong at once. `undoable`: its
    plans have an inverse."""

    name: str
    description: str
    arguments: type[BaseModel]
    effect: Effect
    label: Phrase
    timeout: float = 30.0
    title: Phrase | None = None
    candidates: Mapping[str, CandidateProvider] = field(default_factory=dict)
    check: ArgumentCheck | None = None
    asks: bool = False
    undoable: bool = False


class ReadTool(Protocol):
    """A tool that only looks. Raises only `ToolError`s."""

    @property
    def spec(self) -> ToolSpec: ...

    async def run(self, arguments: Any, context: ToolContext) -> ToolResult:
        """`arguments` is an instance of `spec.arguments`."""


class WriteTool(Protocol):
    """A tool that changes something, split so that nothing happens before a person says so. Raises only `ToolError`s."""

    @property
    def spec(self) -> ToolSpec: ...

    async def plan(self, arguments: Any, context: ToolContext) -> Plan:
        """Work out by reading alone what `apply` would do. An impossible wish is a ToolFailed here, not at apply."""

    async def apply(self, arguments: Any, context: ToolContext) -> Outcome:
        """Do it, once, and read back what came of it. `ToolFailed.outcome_unknown` when it may have happened."""

    async def probe(self, arguments: Any, plan: Plan, context: ToolContext) -> Outcome | None:
        """After a crash: the outcome if reading back proves that the action happened, else None. Changes nothing."""


@runtime_checkable
class ObservingTool(WriteTool, Protocol):
    """A write tool that names its evidence: what to look at some minutes after its action."""

    async def observe(
        self, arguments: Any, plan: Plan, outcome: Mapping[str, Any], since: datetime, context: ToolContext
    ) -> Observation:
        """What is seen now of the action that was over at `since` and came to `outcome` (`Outcome.content`). Changes nothing."""


Tool = ReadTool | WriteTool


@dataclass(frozen=True, slots=True)
class Place:
    """Where to post: a channel, and a thread in it unless the message starts one."""

    channel: str
    thread: str | None = None


@dataclass(frozen=True, slots=True)
class PlatformLimits:
    """`text_chars`: visible text that one message may hold. `edit_interval`: seconds between edits of one message."""

    text_chars: int
    edit_interval: float


class Platform(Protocol):
    """A chat platform. Raises only `PlatformError`s. Every view is sanitised and redacted by the caller."""

    @property
    def limits(self) -> PlatformLimits: ...

    async def post(self, place: Place, view: View, key: str = "") -> MessageRef:
        """Post once: a lost reply is resolved by looking, never by posting again blindly.

        `key` names the message for `find`; without one the adapter makes its own.
        """

    async def find(self, place: Place, key: str) -> MessageRef | None:
        """The message that was posted there under `key`, if any: asked after a crash, before posting again."""

    def edit(self, ref: MessageRef, view: View) -> None:
        """Ask for an edit and return at once. Edits of a message are paced and coalesced: only the newest lands."""

    async def finish(self, ref: MessageRef, view: View) -> MessageRef:
        """Edit for the last time and return when it has landed; no earlier edit lands after it.

        When the message can no longer be edited, the view is posted anew in its thread, and that ref is returned.
        """

    async def link(self, ref: MessageRef) -> str:
        """The address that leads to a message; empty where the platform has none."""

    async def whisper(self, place: Place, person_id: str, view: View) -> None:
        """Show a view to one person only."""

    async def open_modal(self, trigger: str, modal: Modal) -> None:
        """Show a dialog to the person whose click had this `trigger`, which is good once and for about three seconds.

        Raises PlatformError where that is over, and where there are no dialogs.
        """

    async def update_modal(self, dialog: str, modal: Modal) -> None:
        """Put other content into an open dialog, named by `event.DialogUsed.dialog`.

        Raises PlatformError where it is closed, and where there are no dialogs.
        """

    async def earlier(self, place: Place, before: str, limit: int) -> ThreadExcerpt:
        """A thread's first message and its newest, `limit` in all, posted before message `before` (empty: before now).

        As they are now, edited or gone. The bot's own replies are left out, since the transcript has them; a thread's
        first message is not. Takes seconds at most: what cannot be read by then makes the excerpt partial.
        """


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
        """True for the first caller of this key, False for every later one. Keys are kept for at least 24 hours."""


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

    async def add(self, form: Form, record: AuditRecord | None = None) -> None: ...

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
    """What an opaque button value stands for."""

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
    def controls(self) -> Controls: ...


class Directory(Protocol):
    """Who a platform's user is, with the role that config gives them."""

    async def person(self, user_id: str, channel: str = "", *, fresh: bool = False) -> Person:
        """With the role that they have in `channel`, and their groups as far as config names them.

        Unmapped members have the default role; guests, bots, deactivated and unknown users are guests. What was
        asked minutes ago will do, unless `fresh`: right before something runs. Raises PlatformError when nobody can say.
        """
