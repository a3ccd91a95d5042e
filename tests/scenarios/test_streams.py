"""Whatever a model streams, and however it is torn, people end up with exactly that text: read back, not believed."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from chatops_bot.app.config import ModelEndpoint
from chatops_bot.platforms.slack.limits import MARKDOWN_TOTAL
from chatops_bot.rendering.splitting import pieces
from tests.scenarios.conftest import Json, World, labels
from tests.scenarios.stream_server import Stream, made, open_stream_server
from tests.scenarios.tapped_store import tapped

STREAMS = {"": 50, "ci": 300, "full": 1000}[os.environ.get("SOAK_SIZE", "")]
AT_ONCE = 25
FIRST_SEED = 0


def markdown_blocks(message: Json) -> list[str]:
    return [block["text"] for block in message["blocks"] if block["type"] == "markdown"]


def first_difference(read: str, expected: str) -> str:
    pairs = zip(read, expected, strict=False)
    at = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(read), len(expected)))
    return f"at {at} read {read[at - 40 : at + 40]!r}, expected {expected[at - 40 : at + 40]!r}"


def check(seed: int, stream: Stream, messages: list[Json]) -> int:
    """The thread holds the stream's text and nothing else in its markdown blocks; returns the number of messages."""
    expected = [piece for piece in pieces(stream.visible, MARKDOWN_TOTAL) if str(piece).strip()]
    read_back = [text for message in messages[1:] for text in markdown_blocks(message)]
    for number, (read, piece) in enumerate(zip(read_back, expected, strict=True)):
        assert read == str(piece), f"seed {seed}, message {number}: {first_difference(read, str(piece))}"
    assert "".join(piece.body for piece in expected) == stream.visible, f"seed {seed}"
    if stream.followups:  # without any, what the tools suggest is offered
        assert labels(messages[-1]) == list(stream.followups), f"seed {seed}"
    return len(read_back)


@pytest.mark.soak
async def test_what_people_see_is_what_the_model_said_however_it_was_torn(world: World):
    rested: asyncio.Queue[None] = asyncio.Queue()

    async def tap(name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        done = await call()
        if name == "turns.end":
            rested.put_nowait(None)
        return done

    async with open_stream_server(made) as base_url:
        secrets = replace(world.secrets(), model=ModelEndpoint(base_url, "torn", "key-of-the-tests"))
        async with world.bot(secrets=secrets, wrap_store=tapped(tap)):
            numbers = range(FIRST_SEED, FIRST_SEED + STREAMS)
            most_messages = 0
            for first in range(numbers.start, numbers.stop, AT_ONCE):
                batch = numbers[first - FIRST_SEED : first - FIRST_SEED + AT_ONCE]
                threads = await asyncio.gather(
                    *(world.says("oscar", f"{world.mention} stream {number}") for number in batch)
                )
                async with asyncio.timeout(60):
                    for _ in batch:
                        await rested.get()
                for number, thread in zip(batch, threads, strict=True):
                    used = check(number, made(number), await world.thread(thread))
                    most_messages = max(most_messages, used)
    assert most_messages > 1
    print(f"{STREAMS} streams, the longest in {most_messages} messages")
