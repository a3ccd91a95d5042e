"""Our whole loop over two read tools: model client, dispatcher with all its wrappers, transcript, audit; no chat and no disk.

Every entry of the transcript and every audit row is spelled as the store spells it and then kept in memory, as the loops
that it is compared with keep their messages.
"""

import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from datetime import timedelta
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import aiohttp

from bench.function_tools import adapted
from chatops_bot.agent.briefing import Briefing
from chatops_bot.agent.loop import Loop, Turn
from chatops_bot.app.bundled import load_call_words, load_phrases
from chatops_bot.app.clock import RandomIds, SystemClock
from chatops_bot.context.fence import fresh_marks
from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.model import UserMessage
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.transcript import Entry
from chatops_bot.domain.turn_event import TextStreamed, TurnEvent
from chatops_bot.llm.openai_client import OpenAIClient
from chatops_bot.ports import ToolContext
from chatops_bot.stores.codec import entry_from, entry_text
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.tools.asking import Asker
from chatops_bot.tools.definitions import Definitions
from chatops_bot.tools.dispatch import Dispatcher
from chatops_bot.tools.drafting import Drafter
from chatops_bot.tools.proposal_moves import ProposalMoves
from chatops_bot.tools.proposing import Proposer
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.toolbox import Toolbox

ASKER = Person("U1", "Oscar", Role.OPERATOR)

OnDelta = Callable[[str], Awaitable[None]]


class KeptEntries:
    """`Transcripts` without a disk."""

    def __init__(self) -> None:
        self._texts: dict[SessionKey, list[str]] = {}

    async def append(self, session: SessionKey, entries: Sequence[Entry]) -> None:
        self._texts.setdefault(session, []).extend(map(entry_text, entries))

    async def load(self, session: SessionKey) -> list[Entry]:
        return list(map(entry_from, self._texts.get(session, ())))

    async def known(self, session: SessionKey) -> bool:
        return session in self._texts

    def forget(self, session: SessionKey) -> None:
        """Drop a conversation that is over, so that what is measured does not grow with the number of conversations."""
        del self._texts[session]


PHRASES = load_phrases()["en"]
_AUDIT_VALUES = attrgetter(*(field.name for field in fields(AuditRecord)))


class KeptAudit:
    """`Audit` that keeps the newest row only."""

    def __init__(self) -> None:
        self.newest: tuple[Any, ...] = ()

    async def record(self, record: AuditRecord) -> None:
        self.newest = _AUDIT_VALUES(record)


@dataclass(frozen=True, slots=True)
class Product:
    """What all conversations share: connections and tools, and nothing of any one of them."""

    client_of: Callable[[str], OpenAIClient]
    system: str
    dispatcher: Dispatcher
    definitions: Definitions
    entries: KeptEntries
    clock: SystemClock
    ids: RandomIds

    async def converse(self, prompt: str, model: str, on_delta: OnDelta) -> None:
        """One turn in a session of its own. Each piece of the model's text goes to `on_delta` as it comes."""
        loop = Loop(self.client_of(model), self.dispatcher, self.entries, self.clock, self.ids)
        session = SessionKey("bench", "local", "C1", self.ids.new("thread"))

        async def emit(event: TurnEvent) -> None:
            if isinstance(event, TextStreamed):
                await on_delta(event.text)

        turn = Turn(
            context=ToolContext(ASKER, session, self.ids.new("turn")),
            language="en",
            briefing=Briefing(
                Toolbox(self.dispatcher.registry),
                self.definitions,
                lambda _tools, _skills: self.system,
                (UserMessage(prompt),),
                PHRASES,
                fresh_marks(self.ids.nonce),
            ),
        )
        await loop.run_turn(turn, emit)
        self.entries.forget(session)


def _proposer(store: SqliteStore, clock: SystemClock, ids: RandomIds, policy: Policy) -> Proposer:
    moves = ProposalMoves(store.proposals, store.audit, clock, Redactor())
    drafter = Drafter(policy, clock, ids, timedelta(minutes=30), b"a key", store.proposals)
    return Proposer(store.proposals, moves, drafter, clock)


@asynccontextmanager
async def open_product(
    base_url: str,
    *,
    system: str,
    functions: Mapping[str, Callable[..., Awaitable[str]]],
    schemas: Sequence[Mapping[str, Any]],
) -> AsyncGenerator[Product, None]:
    """`base_url` ends in /v1. `functions` are the tools by name, `schemas` their definitions in OpenAI's form."""
    clock, ids, policy = SystemClock(), RandomIds(), Policy()
    with tempfile.TemporaryDirectory() as folder:
        store = await SqliteStore.open(Path(folder) / "bench.db", clock)
        tools = adapted(functions, schemas)
        definitions = Definitions(tools, {tool.spec.name: tool.text for tool in tools}, "")
        dispatcher = Dispatcher(
            Registry(tools),
            policy=policy,
            audit=KeptAudit(),
            proposer=_proposer(store, clock, ids, policy),
            asker=Asker(store.forms, clock, ids, Redactor(["a-configured-secret"]), timedelta(minutes=30)),
            redactor=Redactor(["a-configured-secret"]),
            clock=clock,
            words=load_call_words(),
        )
        try:
            async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as connections:

                @lru_cache
                def client_of(model: str) -> OpenAIClient:
                    return OpenAIClient(connections, base_url=base_url, api_key="x", model=model)

                yield Product(client_of, system, dispatcher, definitions, KeptEntries(), clock, ids)
        finally:
            await store.aclose()
