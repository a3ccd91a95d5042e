"""Live evals end to end, against a model server over real HTTP: repeats, two prompt versions side by side, and the gate."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from chatops_bot.app.bundled import bundled
from chatops_bot.app.clock import RandomIds, SystemClock
from chatops_bot.app.config import Config, Secrets
from chatops_bot.app.evals.arms import named_arm
from chatops_bot.app.evals.case import load_case
from chatops_bot.app.evals.command import EvalOptions, evaluate
from chatops_bot.app.evals.runner import Bench, run_case
from chatops_bot.app.evals.worlds import open_worlds
from chatops_bot.app.skills import skills_of
from chatops_bot.llm.openai_client import OpenAIClient
from tests.app.test_policy_check import SCHEDULER
from tests.llm.model_server import DONE, Answer, ModelServer, call, chunk, complaint, text, usage

NEW_RULE = "When you are asked about a shop, answer from what you remember."
SHOPS = ("nord", "sued", "ost", "west", "mitte", "hafen")


def case(shop: str) -> dict[str, Any]:
    recorded = {"tool": "shop_state", "content": {"shop": shop, "state": f"open-{shop}"}}
    expected = {"outcome": "answered", "tools": {"must": ["shop_state"]}, "facts": [f"open-{shop}"]}
    return {
        "id": f"shop-{shop}", "language": "en", "world": "recorded", "recordings": [recorded], "models": ["live"],
        "ask": f"Is the shop {shop} open?", "expected": expected,
    }  # fmt: skip


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    folder = tmp_path / "cases"
    folder.mkdir()
    for shop in SHOPS:
        (folder / f"{shop}.yaml").write_text(yaml.safe_dump(case(shop)), encoding="utf-8")
    return folder


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A bot whose incident responder has a second version, with one rule more."""
    agents = tmp_path / "prompts" / "agents"
    agents.mkdir(parents=True)
    for lang in ("en", "zh"):
        shipped = (bundled("prompts") / "agents" / f"incident_responder.{lang}.yaml").read_text("utf-8")
        agent = yaml.safe_load(shipped)["agent"]
        agent["version"] = "v2"
        agent["constraints"]["must"].append(NEW_RULE)
        changed = yaml.safe_dump({"agent": agent}, allow_unicode=True)
        (agents / f"incident_responder.v2.{lang}.yaml").write_text(changed, encoding="utf-8")
    path = tmp_path / "bot.yaml"
    path.write_text(yaml.safe_dump({"scheduler": SCHEDULER, "agents": {"folder": str(tmp_path / "prompts")}}))
    return path


class Clerk(ModelServer):
    """Looks a shop up and answers with what it found; where `guesses` says so of (shop, version, how often this was asked), it
    answers without a look."""

    def __init__(
        self, guesses: Callable[[str, str, int], bool], tokens: tuple[int, int] = (100, 100)
    ) -> None:
        super().__init__()
        self._guesses = guesses
        self._tokens = dict(zip(("v1", "v2"), tokens, strict=True))
        self.asked_for: Counter[tuple[str, str]] = Counter()

    def answer_to(self, body: Any) -> Answer:
        version = "v2" if NEW_RULE in body["messages"][0]["content"] else "v1"
        shop = next(one for one in SHOPS if f"shop {one}" in json.dumps(body["messages"]))
        used = usage(self._tokens[version], 10)
        if any(message["role"] == "tool" for message in body["messages"]):
            return Answer([text(f"It is open-{shop}."), chunk("stop"), used, DONE])
        self.asked_for[shop, version] += 1
        if self._guesses(shop, version, self.asked_for[shop, version]):
            return Answer([text("It is open, I think."), chunk("stop"), used, DONE])
        return Answer([call(0, "c1", "shop_state", "{}"), chunk("tool_calls"), used, DONE])


async def run(
    server: ModelServer, cases: Path, config: Path, *, arms: tuple[str, ...] = ("v1", "v2"), repeat: int = 1
) -> tuple[int, str, list[dict[str, Any]]]:
    said: list[str] = []
    out = config.parent / "runs.jsonl"
    env = {"OPENAI_BASE_URL": server.base_url, "OPENAI_MODEL": "clerk-1", "OPENAI_API_KEY": "k"}
    options = EvalOptions(paths=(cases,), kinds=("live",), repeat=repeat, arms=arms, out=out, config=config)
    code = await evaluate(options, env, said.append)
    return code, "\n".join(said), [json.loads(line) for line in out.read_text("utf-8").splitlines()]


async def test_a_worse_version_is_found_by_the_exact_test_and_refused_by_the_gate(cases: Path, config: Path):
    def guesses(shop: str, version: str, times: int) -> bool:
        return version == "v2" or (shop == "nord" and times == 2)

    async with Clerk(guesses) as server:
        code, said, runs = await run(server, cases, config, repeat=3)
        assert set(server.asked_for.values()) == {3}, "each case three times with each version"
        assert {each.headers["Authorization"] for each in server.received} == {"Bearer k"}
    assert code == 1
    assert Counter((one["arm"], one["passed"]) for one in runs) == {
        ("v1", True): 17, ("v1", False): 1, ("v2", False): 18,
    }  # fmt: skip
    assert {one["arm"]: one["prompts"] for one in runs} == {
        "v1": ["incident_responder/v1"], "v2": ["incident_responder/v2"],
    }  # fmt: skip
    assert all(one["answered_by"][0].startswith("clerk-1 at 127.0.0.1") for one in runs)
    assert "passed in both 0, in v1 alone 6, in v2 alone 0, in none 0" in said, (
        "one bad repeat of three is outvoted"
    )
    assert "McNemar's exact test: p = 0.031" in said
    assert "gate: passed falls from 94.4% to 0.0%" in said
    assert "6 cases are too few to call one better" in said
    assert runs[0]["tokens"]["prompt_tokens"] == 200
    assert runs[0]["calls"] == [{"tool": "shop_state", "arguments": {}, "status": "ok"}]


async def test_a_version_that_is_no_worse_passes_the_gate_even_where_cases_fail(cases: Path, config: Path):
    for shop in SHOPS[2:]:
        (cases / f"{shop}.yaml").unlink()
    async with Clerk(lambda shop, version, times: shop == "nord") as server:
        code, said, _ = await run(server, cases, config)
    assert (code, "gate: nothing against it" in said) == (0, True)
    assert "McNemar's exact test: p = 1.000" in said


async def test_a_version_that_costs_a_tenth_more_is_refused(cases: Path, config: Path):
    async with Clerk(lambda *_: False, tokens=(100, 111)) as server:
        code, said, _ = await run(server, cases / "nord.yaml", config)
    assert (code, "gate: tokens grow by 10.0%, more than 5%" in said) == (1, True)


async def test_a_folder_of_prompts_is_an_arm_and_no_rollout_mixes_the_arms(cases: Path, config: Path):
    folder = config.parent / "prompts"
    rollout = {"agents": {"incident_responder": {"salt": "s", "arms": [{"version": "v2", "percent": 100}]}}}
    (folder / "rollout.yaml").write_text(yaml.safe_dump(rollout), encoding="utf-8")
    async with Clerk(lambda *_: False) as server:
        code, said, runs = await run(server, cases / "nord.yaml", config, arms=("v2", str(folder)))
    assert code == 0, said
    assert [one["prompts"] for one in runs] == [["incident_responder/v2"], ["incident_responder/v1"]]


async def test_a_model_that_fails_is_a_failed_case_and_the_next_one_is_run(cases: Path, config: Path):
    """Of a case that asks only for what a person judges, too."""
    for shop in SHOPS[2:]:
        (cases / f"{shop}.yaml").unlink()
    (cases / "nord.yaml").write_text(yaml.safe_dump(case("nord") | {"expected": {"rubric": "Is it kind?"}}))
    async with ModelServer(Answer([complaint("no such key")], 401)) as server:
        code, said, runs = await run(server, cases, config, arms=())
    assert (code, [one["passed"] for one in runs]) == (1, [False, False])
    assert said.count("- model: 127.0.0.1:") == 2, (
        "one sentence a run, and not all that is missing for want of an answer"
    )
    assert "does not accept the model's API key (HTTP 401)" in said
    assert "2 of 2 got no answer from the model and count in no rate but that of runs passed" in said
    assert "tool:" not in said


async def test_a_prompt_longer_than_the_context_is_said_so_and_nothing_is_claimed_of_that_arm(
    cases: Path, config: Path
):
    """As a server does that answers such a stream with nothing at all."""

    class Narrow(ModelServer):
        def answer_to(self, body: Any) -> Answer:
            is_long = NEW_RULE in body["messages"][0]["content"]
            return Answer([]) if is_long else Answer([text("It is open-nord."), chunk("stop"), DONE])

    async with Narrow() as server:
        code, said, runs = await run(server, cases / "nord.yaml", config)
    assert [bool(one["trouble"]) for one in runs] == [False, True]
    assert "Some servers do so with a prompt that is longer than their context" in runs[1]["trouble"]
    assert (code, "gate: the model answered no run of v2, so there is nothing to compare" in said) == (
        1,
        True,
    )


async def test_a_model_that_hangs_is_a_failed_case(cases: Path):
    found, clock = load_case(cases / "nord.yaml"), SystemClock()
    there = Config.model_validate({"scheduler": SCHEDULER})
    async with (
        ModelServer(Answer([text("Let me"), 0.05])) as server,
        aiohttp.ClientSession() as session,
        open_worlds([found], clock) as worlds,
    ):
        live = OpenAIClient(session, base_url=server.base_url, api_key="", model="m")
        bench = Bench(
            there,
            Secrets("", "", {}, None, ""),
            worlds,
            clock,
            RandomIds(),
            skills_of(there),
            live,
            {"live": 0.3},
        )
        ended = await run_case(bench, found, "live", named_arm(there.agents))
    assert "outcome: a turn that did not end, not answered" in {one.text for one in ended.verdict.failures}
