"""The contract of `ports.LLM`, kept by every twin.

A twin tells how to make a model that answers, and, where it can, one that fails in mid-answer and one that falls silent
in mid-answer; a model that cannot do those is left out of the tests about them. `released` returns once nothing is held
for the model any more.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass

import aiohttp
import pytest

from chatops_bot.domain.errors import ModelBroke, ModelError
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.model import (
    ContextMessage,
    Finished,
    ModelDelta,
    ModelRequest,
    SystemMessage,
    TextDelta,
    UserMessage,
)
from chatops_bot.llm.openai_client import OpenAIClient
from chatops_bot.llm.scripted import ScriptedModel, fails, says
from chatops_bot.ports import LLM
from tests.llm.model_server import DONE, Answer, ModelServer, chunk, text

REQUEST = ModelRequest(
    (SystemMessage("You help."), UserMessage("which tasks failed?"), ContextMessage("03:12 UTC")), ()
)


async def _nothing_held() -> None:
    """For models that hold nothing outside of their own generator."""


@dataclass(frozen=True)
class Twin:
    answering: LLM
    failing: LLM | None = None
    silent: LLM | None = None
    released: Callable[[], Awaitable[object]] = _nothing_held


@asynccontextmanager
async def openai() -> AsyncIterator[Twin]:
    answers = Answer([text("Two "), text("failed."), chunk("stop"), DONE])
    fails_midway = Answer([text("Two ")], torn=True)
    falls_silent = Answer([text("Two "), asyncio.Event()])
    async with (
        aiohttp.ClientSession() as session,
        ModelServer(answers) as one,
        ModelServer(fails_midway) as two,
        ModelServer(falls_silent) as three,
    ):

        def at(server: ModelServer) -> OpenAIClient:
            return OpenAIClient(session, base_url=server.base_url, api_key="k", model="m")

        yield Twin(at(one), at(two), at(three), three.hung_up.wait)


@asynccontextmanager
async def scripted() -> AsyncIterator[Twin]:
    left = asyncio.Event()

    async def hold(delta: ModelDelta | ModelError) -> None:
        if isinstance(delta, Finished):
            try:
                await asyncio.Event().wait()
            finally:
                left.set()

    broke = ModelBroke(Phrase("断了", "It broke."))
    yield Twin(
        ScriptedModel([says("Two ", "failed.")] * 3),
        ScriptedModel([fails(broke, after=[TextDelta("Two ")])]),
        ScriptedModel([says("Two ")], before_delta=hold),
        left.wait,
    )


TWINS: dict[str, Callable[[], AbstractAsyncContextManager[Twin]]] = {"openai": openai, "scripted": scripted}


@pytest.fixture(params=TWINS)
async def twin(request: pytest.FixtureRequest) -> AsyncIterator[Twin]:
    async with asyncio.timeout(20), TWINS[request.param]() as twin:
        yield twin


async def test_the_last_delta_is_the_only_finished(twin):
    for _ in range(2):
        deltas = [delta async for delta in twin.answering.stream(REQUEST)]
        assert [isinstance(delta, Finished) for delta in deltas] == [False] * (len(deltas) - 1) + [True]
        assert len(deltas) > 1
    assert twin.answering.name


async def test_two_answers_at_once_do_not_mix(twin):
    async def answer() -> list[ModelDelta]:
        return [delta async for delta in twin.answering.stream(REQUEST)]

    one, two = await asyncio.gather(answer(), answer())
    assert one == two


async def test_after_an_error_nothing_more_comes(twin):
    if twin.failing is None:
        pytest.skip("this model cannot fail in mid-answer")
    deltas = twin.failing.stream(REQUEST)
    seen = [await anext(deltas)]
    with pytest.raises(ModelError):
        seen.append(await anext(deltas))
    with pytest.raises(StopAsyncIteration):
        await anext(deltas)
    assert not any(isinstance(delta, Finished) for delta in seen)


async def test_closing_early_leaves_the_model_usable(twin):
    async with aclosing(twin.answering.stream(REQUEST)) as deltas:
        await anext(deltas)
    with pytest.raises(StopAsyncIteration):
        await anext(deltas)
    assert [delta async for delta in twin.answering.stream(REQUEST)]


async def test_cancelling_a_model_that_fell_silent_releases_it(twin):
    if twin.silent is None:
        pytest.skip("this model cannot fall silent")
    begun = asyncio.Event()

    async def consume() -> None:
        async with aclosing(twin.silent.stream(REQUEST)) as deltas:
            async for _ in deltas:
                begun.set()

    task = asyncio.create_task(consume())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await twin.released()


async def test_cancelling_a_consumer_stops_the_answer(twin):
    begun = asyncio.Event()
    seen: list[ModelDelta] = []

    async def consume() -> None:
        async with aclosing(twin.answering.stream(REQUEST)) as deltas:
            async for delta in deltas:
                seen.append(delta)
                begun.set()
                await asyncio.Event().wait()

    task = asyncio.create_task(consume())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(seen) == 1
