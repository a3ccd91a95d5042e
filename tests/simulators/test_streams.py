"""Native text streams keep to what is known of Slack's: who, where, how large, how long, and how they end."""

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from chatops_bot.simulators.slack import Workspace
from chatops_bot.simulators.slack.clock import Clock

from .conftest import Bot, Driver, Json


class Streamer:
    """Streams as the bot into a thread of a channel, for ana."""

    def __init__(self, api: AsyncWebClient, workspace: Workspace, channel: str, thread: str) -> None:
        ana = workspace.identity.person("ana")
        assert ana is not None
        self.api = api
        self.where: Json = {"channel": channel, "thread_ts": thread}
        self.whom = {"recipient_team_id": workspace.identity.team_id, "recipient_user_id": ana.id}
        self.ts = ""

    async def call(self, method: str, **arguments: Any) -> str:
        """The error code, '' for none."""
        try:
            answer = await self.api.api_call(f"chat.{method}Stream", json=arguments)
        except SlackApiError as error:
            return str(error.response["error"])
        self.ts = answer["ts"]
        return ""

    async def start(self, **arguments: Any) -> str:
        return await self.call("start", **{**self.where, **self.whom, **arguments})

    async def append(self, text: str = "", **more: Any) -> str:
        said = {"markdown_text": text} if text else {}
        return await self.call("append", channel=self.where["channel"], ts=self.ts, **said, **more)

    async def stop(self, **more: Any) -> str:
        return await self.call("stop", channel=self.where["channel"], ts=self.ts, **more)

    async def message(self) -> Json:
        read = await self.api.conversations_replies(channel=self.where["channel"], ts=self.where["thread_ts"])
        return dict(next(message for message in read["messages"] if message["ts"] == self.ts))


@pytest.fixture
async def stream(api: AsyncWebClient, workspace: Workspace, drive: Driver, incidents: str) -> Streamer:
    return Streamer(api, workspace, incidents, await drive.says("ana", incidents, "hello"))


async def test_a_stream_grows_and_ends_with_its_last_blocks(stream: Streamer) -> None:
    assert await stream.start(markdown_text="One ") == ""
    assert await stream.append("two ") == ""
    task = {"type": "task_update", "id": "t", "title": "Reading", "status": "in_progress"}
    assert await stream.append(chunks=[task, {"type": "markdown_text", "text": "three"}]) == ""
    assert await stream.append(chunks=[{**task, "status": "complete", "output": "3 rows"}]) == ""
    assert await stream.stop(blocks=[{"type": "divider"}]) == ""
    shown = await stream.message()
    assert shown["text"] == "One two three"
    assert [block["type"] for block in shown["blocks"]] == ["task_card", "markdown", "divider"]
    assert shown["blocks"][0]["status"] == "complete"
    assert "edited" not in shown
    assert await stream.append("late") == "message_not_in_streaming_state"
    assert await stream.stop() == "message_not_in_streaming_state"


async def test_a_stream_raises_one_event_when_it_begins_and_one_when_it_ends(
    stream: Streamer, bot: Bot
) -> None:
    await bot.until(lambda: len(bot.events()) == 1)
    await stream.start()
    for word in ("a ", "b ", "c"):
        assert await stream.append(word) == ""
    await stream.stop()
    await bot.until(lambda: len(bot.events()) == 3)
    assert [event.get("subtype") for event in bot.events()] == [None, None, "message_changed"]
    assert bot.events()[2]["message"]["text"] == "a b c"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"recipient_team_id": None}, "missing_recipient_team_id"),
        ({"recipient_user_id": None}, "missing_recipient_user_id"),
        ({"recipient_team_id": "T0"}, "team_not_found"),
        ({"recipient_user_id": "U0"}, "user_not_found"),
        ({"thread_ts": None}, "invalid_thread_ts"),
        ({"channel": "C0"}, "channel_not_found"),
        ({"task_display_mode": "loud"}, "invalid_arguments"),
        ({"markdown_text": "x" * 12_001}, "msg_too_long"),
    ],
)
async def test_a_stream_that_may_not_start_is_refused(stream: Streamer, change: Json, error: str) -> None:
    assert await stream.start(**change) == error


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({}, "no_text"),
        ({"markdown_text": "a", "chunks": [{"type": "markdown_text", "text": "b"}]}, "invalid_arguments"),
        ({"chunks": [{"type": "hologram"}]}, "invalid_arguments"),
        ({"chunks": [{"type": "markdown_text"}]}, "invalid_arguments"),
        ({"chunks": [{"type": "plan_update", "title": "p" * 257}]}, "invalid_arguments"),
        (
            {"chunks": [{"type": "task_update", "id": "t", "title": "t", "status": "completed"}]},
            "invalid_arguments",
        ),
        ({"chunks": [{"type": "blocks", "blocks": [{"type": "hologram"}]}]}, "invalid_blocks"),
        ({"chunks": [{"type": "markdown_text", "text": "x" * 12_001}]}, "msg_too_long"),
    ],
)
async def test_an_append_that_means_nothing_changes_nothing(stream: Streamer, more: Json, error: str) -> None:
    await stream.start(markdown_text="kept")
    assert await stream.append(**more) == error
    assert (await stream.message())["text"] == "kept"
    assert await stream.append(" and on") == ""


@pytest.mark.case("slack-3")
async def test_a_stream_takes_eleven_thousand_bytes_and_a_tasks_output_counts_double(
    stream: Streamer,
) -> None:
    await stream.start()
    assert await stream.append("汉" * 3000) == ""
    output = {"type": "task_update", "id": "t", "title": "t", "status": "complete", "output": "x" * 999}
    assert await stream.append(chunks=[output]) == ""
    assert await stream.append("yy") == "msg_too_long"
    assert await stream.append("y") == ""
    assert await stream.stop(markdown_text="z") == "msg_too_long"
    assert await stream.stop() == ""


@pytest.mark.case("slack-1")
async def test_a_stream_dies_after_five_minutes(stream: Streamer, clock: Clock) -> None:
    await stream.start(markdown_text="a")
    clock.advance(299.0)
    assert await stream.append("b") == ""
    clock.advance(2.0)
    assert await stream.append("c") == "message_not_in_streaming_state"
    assert (await stream.api.chat_update(channel=stream.where["channel"], ts=stream.ts, text="abc"))["ok"]


async def test_a_live_stream_cannot_be_edited(stream: Streamer) -> None:
    await stream.start(markdown_text="a")
    edit = {"channel": stream.where["channel"], "ts": stream.ts, "text": "b"}
    with pytest.raises(SlackApiError, match="streaming_state_conflict"):
        await stream.api.chat_update(**edit)
    await stream.stop()
    assert (await stream.api.chat_update(**edit))["ok"]


async def test_a_person_stops_a_stream_and_the_next_append_learns_of_it(
    stream: Streamer, drive: Driver
) -> None:
    await stream.start(markdown_text="a")
    where = {"channel": stream.where["channel"], "ts": stream.ts}
    assert await drive.call("stop_stream", **where) == {"ok": True}
    assert await stream.append("b") == "stopped_by_user"
    assert await stream.stop() == ""
    assert (await drive.call("stop_stream", **where))["error"] == "not_streaming"


async def test_a_message_that_is_no_stream_cannot_be_appended_to(stream: Streamer) -> None:
    posted = await stream.api.chat_postMessage(channel=stream.where["channel"], text="x")
    stream.ts = posted["ts"]
    assert await stream.append("y") == "message_not_in_streaming_state"
