"""The bot's calls are limited as Slack limits them; people and drivers never are. Time passes when a test says so."""

import asyncio
import math

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from slack_sdk.web.async_client import AsyncWebClient

from chatops_bot.simulators.slack import Settings, Workspace
from chatops_bot.simulators.slack.clock import Clock
from chatops_bot.simulators.slack.rate_limits import (
    LIMITS,
    POSTS_IN_A_CHANNEL,
    TIER_1,
    TIER_2,
    TIER_3,
    TIER_4,
    RateLimits,
)
from chatops_bot.simulators.slack.web_api import METHODS

from .conftest import Driver, Json


def allowed(limits: RateLimits, method: str, channel: str, now: float) -> int:
    """How many calls pass at this moment."""
    count = 0
    while not limits.take(method, channel, now):
        count += 1
    return count


@pytest.mark.parametrize(
    ("method", "per_minute"),
    [
        ("chat.update", 50),
        ("chat.delete", 50),
        ("conversations.replies", 50),
        ("conversations.history", 50),
        ("chat.postEphemeral", 100),
        ("views.open", 100),
        ("users.info", 100),
        ("apps.connections.open", 50),
        ("reactions.add", 50),
        ("chat.startStream", 20),
        ("chat.stopStream", 20),
        ("chat.appendStream", 100),
    ],
)
def test_a_method_grants_its_tier_a_minute_and_a_short_burst(method: str, per_minute: int) -> None:
    limits = RateLimits()
    burst = allowed(limits, method, "C1", 0.0)
    assert burst == per_minute // 5
    assert sum(allowed(limits, method, "C1", float(second)) for second in range(1, 61)) == per_minute


def test_posts_are_limited_to_one_a_second_in_each_channel() -> None:
    limits = RateLimits()
    assert allowed(limits, "chat.postMessage", "C1", 0.0) == POSTS_IN_A_CHANNEL.burst
    assert limits.take("chat.postMessage", "C1", 0.5) == 1
    assert allowed(limits, "chat.postMessage", "C2", 0.5) == POSTS_IN_A_CHANNEL.burst
    assert [allowed(limits, "chat.postMessage", "C1", 1.0 + second) for second in range(10)] == [1] * 10


def test_posts_of_a_workspace_are_limited_over_all_channels() -> None:
    limits = RateLimits()
    assert sum(allowed(limits, "chat.postMessage", f"C{number}", 0.0) for number in range(100)) == 60


def test_an_app_that_is_sold_reads_a_conversation_once_a_minute() -> None:
    limits = RateLimits(distributed=True)
    assert allowed(limits, "conversations.replies", "C1", 0.0) == 1
    assert limits.take("conversations.replies", "C2", 1.0) == 59
    assert allowed(limits, "conversations.history", "C1", 1.0) == 1
    assert allowed(limits, "conversations.replies", "C1", 60.0) == 1


@given(
    limit=st.sampled_from([("reactions.remove", TIER_2), ("chat.update", TIER_3), ("users.info", TIER_4)]),
    pauses=st.lists(st.floats(0, 5), max_size=80),
)
def test_whoever_waits_as_told_is_let_through_and_nobody_gets_more_than_is_granted(
    limit: tuple[str, object], pauses: list[float]
) -> None:
    method, granted = limit
    assert isinstance(granted, type(TIER_1))
    limits, now, made = RateLimits(), 0.0, 0
    for pause in pauses:
        now += pause
        wait = limits.take(method, "C1", now)
        if wait:
            now += wait
            assert limits.take(method, "C1", now) == 0
        made += 1
    assert made <= granted.burst + math.ceil(now * granted.per_minute / 60) + 1


def test_every_method_but_those_of_nothing_has_a_limit() -> None:
    assert set(METHODS) - set(LIMITS) == set()


@pytest.mark.parametrize("limits", [Settings()])
@pytest.mark.case("slack-22")
async def test_too_many_posts_are_refused_with_retry_after_until_that_has_passed(
    api: AsyncWebClient, workspace: Workspace, session: aiohttp.ClientSession, incidents: str, clock: Clock
) -> None:
    headers = {"Authorization": f"Bearer {workspace.identity.bot_token}"}
    form = {"channel": incidents, "text": "alert"}

    async def post() -> tuple[int, Json, str | None]:
        async with session.post(workspace.api_url + "chat.postMessage", data=form, headers=headers) as answer:
            return answer.status, await answer.json(), answer.headers.get("Retry-After")

    answers = [await post() for _ in range(20)]
    refused = [answer for answer in answers if answer[0] == 429]
    assert 20 - len(refused) in (5, 6)
    assert refused[0] == (429, {"ok": False, "error": "ratelimited"}, "1")
    clock.advance(1.0)
    assert (await post())[0] == 200
    shown = (await api.conversations_history(channel=incidents))["messages"]
    assert len(shown) == 21 - len(refused)


@pytest.mark.parametrize("limits", [Settings()])
async def test_people_and_drivers_are_never_limited(
    workspace: Workspace, drive: Driver, session: aiohttp.ClientSession, incidents: str
) -> None:
    token = workspace.identity.people[0].token
    client = AsyncWebClient(token=token, base_url=workspace.api_url, session=session)
    await asyncio.gather(*(client.chat_postMessage(channel=incidents, text="x") for _ in range(15)))
    await asyncio.gather(*(client.conversations_history(channel=incidents) for _ in range(15)))
    for _ in range(15):
        await drive.says("ana", incidents, "y")
        assert (await drive.call("app_post", app="CI", channel=incidents, text="z"))["ok"]


@pytest.mark.parametrize("limits", [Settings(distributed=True, rate_limits="off")])
async def test_an_app_that_is_sold_gets_fifteen_messages_at_most(
    api: AsyncWebClient, drive: Driver, incidents: str
) -> None:
    root = await drive.says("ana", incidents, "root")
    for number in range(20):
        await drive.says("ana", incidents, str(number), thread_ts=root)
    page = await api.conversations_replies(channel=incidents, ts=root, limit=200)
    assert (len(page["messages"]), page["has_more"]) == (15, True)
