"""Whole conversations against a model server: ours, with everything that it checks and keeps, against a bare reader.

CPU is that of this process alone; the server is another one. `at once` comes in one write a round and shows what parsing
and the loop cost; `paced` comes as models send, an event every 10 ms, and shows what a wake-up costs as well.
"""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

import aiohttp

from bench import conversation
from bench.bare import BareLoop
from bench.measuring import Figure, table
from bench.product import OnDelta, open_product

ROOT = Path(__file__).resolve().parent.parent
AT_ONCE = 8
PACED = 32


class Contender(Protocol):
    async def converse(self, prompt: str, model: str, on_delta: OnDelta) -> None: ...


@asynccontextmanager
async def model_server() -> AsyncGenerator[str, None]:
    """The base URL of a model server in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.model_server", stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    try:
        assert process.stdout is not None
        port = await process.stdout.readline()
        yield f"http://127.0.0.1:{int(port)}/v1"
    finally:
        process.kill()
        await process.communicate()


@asynccontextmanager
async def contenders() -> AsyncGenerator[dict[str, Contender], None]:
    """The bare reader first."""
    async with (
        model_server() as base_url,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as connections,
        open_product(
            base_url,
            system=conversation.SYSTEM,
            functions=conversation.FUNCTIONS,
            schemas=conversation.SCHEMAS,
        ) as product,
    ):
        yield {"bare reader": BareLoop(connections, base_url), "ours, whole": product}


async def conversed(contender: Contender, model: str) -> tuple[str, float]:
    """The text that came, and the seconds until its first piece."""
    pieces: list[str] = []
    began = time.perf_counter()
    first = 0.0

    async def on_delta(text: str) -> None:
        nonlocal first
        first = first or time.perf_counter() - began
        pieces.append(text)

    await contender.converse("Why does checkout fail?", model, on_delta)
    return "".join(pieces), first


async def _cpu(contender: Contender, model: str, count: int) -> float:
    """Seconds of CPU a conversation, `count` of them at once."""
    before = time.process_time()
    answers = await asyncio.gather(*(conversed(contender, model) for _ in range(count)))
    if any(text != conversation.whole_text() for text, _ in answers):
        raise RuntimeError("a contender did not hand over the text that the model sent")
    return (time.process_time() - before) / count


async def at_once(named: dict[str, Contender], rounds: int) -> tuple[list[Figure], list[Figure]]:
    """CPU a conversation whose rounds come in one write each, and the time to its first delta: the best of `rounds`."""
    cpu: dict[str, list[float]] = {name: [] for name in named}
    first: dict[str, list[float]] = {name: [] for name in named}
    for _ in range(rounds + 1):
        for name, contender in named.items():
            cpu[name].append(await _cpu(contender, "at-once", AT_ONCE))
            first[name].append((await conversed(contender, "at-once"))[1])
    return _best(cpu), _best(first)


async def paced(named: dict[str, Contender], rounds: int) -> list[Figure]:
    """CPU a chunk when each comes alone: the best of `rounds`."""
    cpu: dict[str, list[float]] = {name: [] for name in named}
    for _ in range(rounds):
        for name, contender in named.items():
            cpu[name].append(await _cpu(contender, "paced", PACED) / conversation.CHUNKS)
    return _best(cpu)


def _best(seconds: dict[str, list[float]]) -> list[Figure]:
    return [Figure(name, min(each)) for name, each in seconds.items()]


def report(rounds: int) -> str:
    return asyncio.run(_report(rounds))


async def _report(rounds: int) -> str:
    title = f"a conversation of {conversation.CHUNKS} chunks, {conversation.TOOL_ROUNDS} rounds of 2 calls"
    async with contenders() as named:
        cpu, first = await at_once(named, rounds)
        each = await paced(named, max(1, rounds // 8))
    return "\n\n".join((
        table(f"{title}: CPU, the stream of a round at once", cpu),
        table(f"{title}: CPU a chunk, paced, {PACED} conversations at once", each),
        table(f"{title}: time to the first delta", first),
    ))  # fmt: skip
