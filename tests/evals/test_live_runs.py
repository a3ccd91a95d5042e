"""Runs on a language model take hours: what is over is kept at once, and a model that hangs fails its run and no other."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from chatops_bot.app.bundled import bundled
from chatops_bot.app.evals.command import EvalOptions, evaluate
from tests.llm.model_server import DONE, Answer, ModelServer, call, chunk, text

CASE = "id: one\nlanguage: en\nworld: recorded\nask: Is it up?\nexpected: {outcome: answered}\n"
HANGS = Answer([text("It"), asyncio.Event()])
ANSWERS = Answer([text("It is up."), chunk("stop"), DONE])


def options_for(tmp_path: Path, **more: Any) -> EvalOptions:
    (tmp_path / "one.yaml").write_text(CASE, encoding="utf-8")
    return EvalOptions(
        paths=(tmp_path / "one.yaml",), kinds=("live",), out=tmp_path / "runs.jsonl",
        patience={"live": more.pop("seconds", 30.0)}, **more,
    )  # fmt: skip


def env_of(server: ModelServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": server.base_url, "OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}


async def test_a_turn_that_hangs_is_a_failed_run_and_the_others_go_on(tmp_path: Path):
    said: list[str] = []
    async with ModelServer(HANGS, ANSWERS) as server:
        code = await evaluate(options_for(tmp_path, repeat=2, seconds=0.5), env_of(server), said.append)
    assert code == 1
    runs = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text().splitlines()]
    assert [(run["passed"], run["answer"]) for run in runs] == [(False, ""), (True, "It is up.")]
    assert runs[0]["failures"][0]["text"] == "time: no answer within 0.5 seconds"
    progress = [line for line in said if line.startswith("live ")][:2]
    assert [line.rpartition(" (")[0] for line in progress] == [
        "live 1 of 2: one #1, configured: FAILED",
        "live 2 of 2: one #2, configured: passed",
    ]


async def test_each_run_is_in_the_file_as_soon_as_it_is_over(tmp_path: Path):
    """Somebody presses Ctrl-C in the second one."""
    first_is_over = asyncio.Event()
    async with ModelServer(ANSWERS, HANGS) as server:
        running = asyncio.create_task(
            evaluate(options_for(tmp_path, repeat=2), env_of(server), lambda _: first_is_over.set())
        )
        async with asyncio.timeout(30):
            await first_is_over.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    [line] = (tmp_path / "runs.jsonl").read_text().splitlines()
    assert json.loads(line)["passed"]


async def test_only_what_the_model_said_is_compared(tmp_path: Path):
    said: list[str] = []
    options = options_for(tmp_path, arms=("v1", str(bundled("prompts"))))
    both = EvalOptions(paths=options.paths, kinds=("offline", "live"), arms=options.arms)
    async with ModelServer(ANSWERS) as server:
        await evaluate(both, env_of(server), said.append)
    assert any(line.endswith(", 1 cases that both ran (a case passes when most repeats do)") for line in said)


async def test_a_recorded_tool_names_its_arguments_and_what_the_bot_had_posted_before_is_told(tmp_path: Path):
    """An alert of the bot's own, about which the first question is."""
    case = {
        "id": "alert", "language": "en", "world": "recorded", "ask": "Which pod?", "expected": {"outcome": "answered"},
        "thread": [{"bot": "The cart is down."}],
        "recordings": [{"tool": "pod_logs", "match": {"pod": "cart", "model_config": None}, "content": {"lines": ["a"]}}],
    }  # fmt: skip
    (tmp_path / "alert.yaml").write_text(yaml.safe_dump(case), encoding="utf-8")
    asks = Answer([call(0, "c1", "pod_logs", '{"pod": "cart"}'), chunk("tool_calls"), DONE])
    out = tmp_path / "runs.jsonl"
    async with ModelServer(asks, ANSWERS) as server:
        options = EvalOptions(paths=(tmp_path / "alert.yaml",), kinds=("live",), out=out)
        assert await evaluate(options, env_of(server), lambda _: None) == 0
    body = server.received[0].body
    (offered,) = (one["function"] for one in body["tools"] if one["function"]["name"] == "pod_logs")
    assert sorted(offered["parameters"]["properties"]) == ["model_config", "pod"]
    assert "The cart is down." in json.dumps(body["messages"])
    assert json.loads(out.read_text())["calls"][0]["status"] == "ok"
