"""Whatever goes wrong with a stream: no partial call runs, no text is doubled, and every turn ends with a stated outcome.

Through the real loop, door and store; over real HTTP, and once more without it for a cut at every byte.
"""

import asyncio
import os
from collections import Counter
from collections.abc import AsyncGenerator

import aiohttp
import pytest

from chatops_bot.agent.loop import CALL_CUT, CUT
from chatops_bot.domain.model import ModelDelta, ModelRequest
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.turn_event import Noted
from chatops_bot.llm.openai_client import ModelTimeouts, OpenAIClient
from chatops_bot.llm.openai_errors import ProviderErrors
from chatops_bot.llm.openai_wire import AnswerParser
from tests.llm.faults import AFTER, NAMES, Case, FaultServer, events, long_stream, made, words
from tests.llm.playground import Played, Playground

SIZE = os.environ.get("SOAK_SIZE", "")
STREAMS = {"": 96, "ci": 320, "full": 1008}[SIZE]
CUT_STEP = {"": 41, "ci": 11, "full": 1}[SIZE]
AT_ONCE = 24
QUICK = ModelTimeouts(first_delta=0.3, between=0.3, linger=0.05)
PATIENT = ModelTimeouts(first_delta=30, between=30, linger=0.05)


def check(case: Case, played: Played) -> None:
    told = f"case {case.number}, {case.kind} in round {case.at_round}: {played.stated}"
    wanted = [name for name in NAMES if any(name in arguments for _, arguments in case.calls)]
    assert played.stated, told
    assert "".join([*case.texts, AFTER]).startswith(played.text), (
        f"{told}, doubled or lost text: {played.text!r}"
    )
    assert played.looked_for in ([], wanted), f"{told}, a partial call ran: {played.looked_for}"
    assert played.proposals <= 1, told
    if case.whole:
        assert played.looked_for == wanted, told
        waits = any(name == "switch" for name, _ in case.calls)
        assert played.stated == (TurnOutcome.WAITING if waits else TurnOutcome.ANSWERED).value, told
        assert played.text == (case.texts[0] if waits else "".join(case.texts)), told
    elif case.at_round == 0 and case.broken:
        assert (played.looked_for, played.proposals) == ([], 0), told
    is_whole = not any(note in played.events for note in (Noted(CUT), Noted(CALL_CUT)))
    if played.stated == TurnOutcome.ANSWERED.value and is_whole:
        assert played.text.endswith((case.texts[1], AFTER)), told


@pytest.mark.soak
@pytest.mark.case("peer-T27")
@pytest.mark.case("peer-T28")
async def test_injected_faults_run_no_partial_call_and_double_no_text(playground: Playground):
    cases = {f"case-{number}": made(number) for number in range(STREAMS)}
    outcomes: Counter[str] = Counter()

    async def nap(_: float) -> None:
        return None

    async with FaultServer(cases=cases) as server, aiohttp.ClientSession() as session:
        at_once = asyncio.Semaphore(AT_ONCE)

        async def run(name: str, case: Case) -> None:
            model = OpenAIClient(
                session,
                base_url=server.base_url,
                api_key="key-of-the-tests",
                model=name,
                timeouts=QUICK if case.silent else PATIENT,
                sleep=nap,
            )
            async with at_once:
                played = await playground.play(model, case.number)
            check(case, played)
            outcomes[f"{case.kind}: {played.stated}"] += 1

        async with asyncio.TaskGroup() as group:
            for name, case in cases.items():
                group.create_task(run(name, case))
    assert outcomes.total() == STREAMS
    print(f"{STREAMS} streams, 0 partial calls, 0 doubled texts")
    print("\n".join(f"{count:5} {what}" for what, count in sorted(outcomes.items())))


class Bytes:
    """A model whose answers are bytes without a network: `answers` in order, each fed as one piece."""

    name = "bytes"

    def __init__(self, *answers: bytes) -> None:
        self._answers = iter(answers)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        parser = AnswerParser(ProviderErrors("localhost", "bytes"))
        for delta in parser.feed(next(self._answers)):
            yield delta
        for delta in parser.close():
            yield delta


@pytest.mark.soak
@pytest.mark.case("peer-T27")
@pytest.mark.case("nightingale-T64")
async def test_a_stream_cut_at_any_byte_runs_its_calls_whole_or_not_at_all(playground: Playground):
    stream, after = long_stream(), b"".join(events(words(5000, 2), (), "stop"))
    assert 3900 < len(stream) <= 4096
    whole = await playground.play(Bytes(stream, after), 0)
    assert (whole.stated, whole.looked_for) == ("answered", list(NAMES))
    assert whole.text.endswith("".join(words(5000, 2)))
    outcomes: Counter[str] = Counter()
    for place in range(0, len(stream), CUT_STEP):
        played = await playground.play(Bytes(stream[:place], after), place + 1)
        assert played.looked_for in ([], list(NAMES)), f"cut at {place}"
        assert whole.text.startswith(played.text), f"cut at {place}: {played.text!r}"
        assert (played.stated == "answered") == (played.looked_for != []), f"cut at {place}"
        outcomes[played.stated] += 1
    assert outcomes.keys() == {"ModelBroke", "answered"}
    print(f"{outcomes.total()} cuts of {len(stream)} bytes: {dict(outcomes)}")
