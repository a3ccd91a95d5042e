"""The whole loop as a runner for a benchmark harness: `start`, `converse`, `stop`, and `IMPORTS` for what importing costs.

The harness loads this file by its path and has put its modules `tools` and `script` on `sys.path`. Its two tools go through
our registry and dispatcher (validation, authorisation, dedupe, redaction, audit), and every entry of the transcript is
spelled as the store spells it; entries and audit rows are then kept in memory, as the others there keep their messages.
"""

import importlib
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import aiohttp

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.memory import KeptAudit, KeptEntries
from bench.two_tools import adapted
from chatops_bot.agent.loop import Loop, Turn
from chatops_bot.app.clock import RandomIds, SystemClock
from chatops_bot.domain.model import SystemMessage, UserMessage
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.turn_event import TextStreamed, TurnEvent
from chatops_bot.llm.openai_client import OpenAIClient
from chatops_bot.ports import ToolContext
from chatops_bot.stores.sqlite import SqliteStore
from chatops_bot.tools.dispatch import Dispatcher
from chatops_bot.tools.proposing import Proposer
from chatops_bot.tools.registry import Registry

IMPORTS = "import chatops_bot.app.run"

ASKER = Person("U1", "Oscar", Role.OPERATOR)


@dataclass(frozen=True, slots=True)
class Product:
    """What all conversations share: connections, tools, and nothing of any one of them."""

    session: aiohttp.ClientSession
    base_url: str
    dispatcher: Dispatcher
    system: str
    entries: KeptEntries
    store: SqliteStore
    folder: tempfile.TemporaryDirectory[str]
    clock: SystemClock
    ids: RandomIds


_running: list[Product] = []


async def start(base_url: str) -> None:
    """Build everything that is built once. `base_url` ends in /v1; the key is `x`."""
    tools = importlib.import_module("tools")
    clock, ids = SystemClock(), RandomIds()
    folder = tempfile.TemporaryDirectory()
    store = await SqliteStore.open(Path(folder.name) / "bench.db", clock)
    dispatcher = Dispatcher(
        Registry(adapted(tools.FUNCTIONS, tools.SCHEMAS)),
        audit=KeptAudit(),
        proposer=Proposer(store.proposals, clock, ids, timedelta(minutes=30)),
        redactor=Redactor(["x-configured-secret"]),
        clock=clock,
    )
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
    _running.append(Product(session, base_url, dispatcher, tools.SYSTEM, KeptEntries(), store, folder, clock, ids))


async def converse(prompt: str, model: str, on_delta: Callable[[str], Awaitable[None]]) -> None:
    """One turn in a session of its own; the text of the model goes to `on_delta` as it comes."""
    product = _running[0]
    client = OpenAIClient(product.session, base_url=product.base_url, api_key="x", model=model)
    loop = Loop(client, product.dispatcher, product.entries, product.clock, product.ids)
    key = SessionKey("bench", "local", "C1", product.ids.new("thread"))

    async def emit(event: TurnEvent) -> None:
        if isinstance(event, TextStreamed):
            await on_delta(event.text)

    await loop.run_turn(
        Turn(
            context=ToolContext(ASKER, key, product.ids.new("turn")),
            language="en",
            messages=[SystemMessage(product.system), UserMessage(prompt)],
            tools=product.dispatcher.registry.definitions(),
        ),
        emit,
    )
    product.entries.forget(key)


async def stop() -> None:
    product = _running.pop()
    await product.session.close()
    await product.store.aclose()
    product.folder.cleanup()
