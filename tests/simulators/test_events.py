"""What people write reaches an unchanged Bolt app over Socket Mode, at least once, in order."""

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from chatops_bot.simulators.slack import Settings, Workspace

from .conftest import Bot, Driver, running_bot

IMPATIENT = Settings(ack_seconds=0.4, redelivery_delays=(0.0, 0.05, 0.05))


@pytest.mark.case("slack-17")
async def test_mention_raises_message_and_app_mention_with_one_ts(
    bot: Bot, drive: Driver, incidents: str, workspace: Workspace
) -> None:
    ts = await drive.says("oscar", incidents, "@opsbot cpu > 80% && mem?")
    await bot.until(lambda: len(bot.bodies) == 2)
    (message,), (mention,) = bot.events("message"), bot.events("app_mention")
    assert message["ts"] == mention["ts"] == ts
    assert message["channel_type"] == "channel"
    assert message["text"] == f"<@{workspace.identity.bot_user_id}> cpu &gt; 80% &amp;&amp; mem?"
    assert len({body["event_id"] for body in bot.bodies}) == 2
    assert {body["team_id"] for body in bot.bodies} == {workspace.identity.team_id}


async def test_direct_message_raises_message_im_only(bot: Bot, drive: Driver, workspace: Workspace) -> None:
    person = workspace.identity.person("ana")
    assert person is not None
    await drive.says("ana", person.dm, "@opsbot hello")
    await drive.says("ana", person.dm, "second")
    await bot.until(lambda: len(bot.events("message")) == 2)
    assert bot.events("message")[0]["channel_type"] == "im"
    assert bot.events("app_mention") == []


@pytest.mark.case("slack-24")
async def test_reply_carries_its_root_and_the_root_its_count(bot: Bot, drive: Driver, incidents: str) -> None:
    root = await drive.says("oscar", incidents, "disk is full")
    reply = await drive.says("vera", incidents, "where?", thread_ts=root)
    await bot.until(lambda: len(bot.events()) == 2)
    assert bot.events()[1]["thread_ts"] == root
    replies = await bot.client.conversations_replies(channel=incidents, ts=root)
    assert [message["ts"] for message in replies["messages"]] == [root, reply]
    assert replies["messages"][0]["reply_count"] == 1
    history = await bot.client.conversations_history(channel=incidents)
    assert [message["ts"] for message in history["messages"]] == [root]


async def test_own_posts_and_edits_raise_events_with_bot_id(bot: Bot, incidents: str) -> None:
    posted = await bot.client.chat_postMessage(channel=incidents, text="working")
    await bot.client.chat_update(channel=incidents, ts=posted["ts"], text="done")
    await bot.client.chat_delete(channel=incidents, ts=posted["ts"])
    await bot.until(lambda: len(bot.events()) == 3)
    created, changed, deleted = bot.events()
    assert created["bot_id"]
    assert "subtype" not in created
    assert changed["subtype"] == "message_changed"
    assert (changed["previous_message"]["text"], changed["message"]["text"]) == ("working", "done")
    assert (deleted["subtype"], deleted["deleted_ts"]) == ("message_deleted", posted["ts"])


async def test_person_token_posts_as_that_person(bot: Bot, workspace: Workspace, incidents: str) -> None:
    person = workspace.identity.person("vera")
    assert person is not None
    client = AsyncWebClient(token=person.token, base_url=workspace.api_url, session=bot.client.session)
    mention = f"<@{workspace.identity.bot_user_id}> status"
    posted = await client.chat_postMessage(channel=incidents, text=mention)
    await bot.until(lambda: bot.events("app_mention") and bot.events("message"))
    assert bot.events("app_mention")[0]["user"] == person.id
    assert "bot_id" not in bot.events("message")[0]
    await client.chat_update(channel=incidents, ts=posted["ts"], text="status please")
    await bot.until(lambda: any(event.get("subtype") == "message_changed" for event in bot.events()))


@pytest.mark.case("slack-19")
async def test_events_while_no_socket_is_open_arrive_in_order_at_the_next_connection(
    workspace: Workspace, drive: Driver, incidents: str
) -> None:
    sent = [await drive.says("oscar", incidents, f"alert {number}") for number in range(5)]
    async with running_bot(workspace) as bot:
        await bot.until(lambda: len(bot.events()) == 5)
        assert [event["ts"] for event in bot.events()] == sent


def test_without_other_settings_the_times_are_those_that_slack_documents() -> None:
    slack = Settings()
    assert (slack.ack_seconds, slack.redelivery_delays) == (3.0, (0.0, 60.0, 300.0))
    assert (slack.response_url_uses, slack.response_url_seconds) == (5, 1800.0)


@pytest.mark.case("slack-18")
@pytest.mark.parametrize("limits", [IMPATIENT])
async def test_unacknowledged_event_is_redelivered_three_times_then_dropped(
    workspace: Workspace, drive: Driver, session: aiohttp.ClientSession, incidents: str
) -> None:
    async with await raw_socket(workspace, session) as socket:
        assert (await socket.receive_json())["type"] == "hello"
        await drive.says("oscar", incidents, "nobody answers")
        envelopes = [await asyncio.wait_for(socket.receive_json(), 5) for _ in range(4)]
        assert [envelope["retry_attempt"] for envelope in envelopes] == [0, 1, 2, 3]
        assert len({envelope["envelope_id"] for envelope in envelopes}) == 4
        assert len({envelope["payload"]["event_id"] for envelope in envelopes}) == 1
        await drive.says("oscar", incidents, "next")
        following = await asyncio.wait_for(socket.receive_json(), 5)
        assert following["payload"]["event"]["text"] == "next"
        await socket.send_json({"envelope_id": following["envelope_id"]})
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(socket.receive_json(), 2 * IMPATIENT.ack_seconds)


@pytest.mark.parametrize("limits", [IMPATIENT])
async def test_acknowledged_event_is_not_redelivered(
    workspace: Workspace, drive: Driver, session: aiohttp.ClientSession, incidents: str
) -> None:
    async with await raw_socket(workspace, session) as socket:
        await socket.receive_json()
        await drive.says("oscar", incidents, "first")
        envelope = await asyncio.wait_for(socket.receive_json(), 5)
        await socket.send_json({"envelope_id": envelope["envelope_id"]})
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(socket.receive_json(), 0.8)


async def test_event_lost_with_its_socket_is_redelivered_on_the_next(
    workspace: Workspace, drive: Driver, session: aiohttp.ClientSession, incidents: str
) -> None:
    async with await raw_socket(workspace, session) as socket:
        await socket.receive_json()
        await drive.says("oscar", incidents, "first")
        await asyncio.wait_for(socket.receive_json(), 5)
    async with await raw_socket(workspace, session) as socket:
        await socket.receive_json()
        again = await asyncio.wait_for(socket.receive_json(), 5)
        assert (again["payload"]["event"]["text"], again["retry_attempt"]) == ("first", 1)


async def test_ticket_opens_one_socket_and_needs_the_app_token(
    workspace: Workspace, api: AsyncWebClient, session: aiohttp.ClientSession
) -> None:
    url = (await api.apps_connections_open(app_token=workspace.identity.app_token))["url"]
    async with session.ws_connect(url) as socket:
        await socket.receive_json()
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await session.ws_connect(url)
    headers = {"Authorization": f"Bearer {workspace.identity.bot_token}"}
    async with session.post(workspace.api_url + "apps.connections.open", headers=headers) as response:
        assert (await response.json())["error"] == "not_allowed_token_type"


async def test_each_event_goes_to_one_of_several_sockets(
    workspace: Workspace, drive: Driver, session: aiohttp.ClientSession, incidents: str
) -> None:
    async with await raw_socket(workspace, session) as one, await raw_socket(workspace, session) as two:
        assert [(await socket.receive_json())["num_connections"] for socket in (one, two)] == [1, 2]
        sent = [await drive.says("ana", incidents, str(number)) for number in range(4)]
        got = [
            (await asyncio.wait_for(socket.receive_json(), 5))["payload"]["event"]["ts"]
            for socket in (one, one, two, two)
        ]
        assert sorted(got) == sent


async def test_junk_on_the_socket_changes_nothing(
    workspace: Workspace, drive: Driver, session: aiohttp.ClientSession, incidents: str
) -> None:
    async with await raw_socket(workspace, session) as socket:
        await socket.receive_json()
        for junk in ("{", "[]", "null", json.dumps({"envelope_id": ["x"]}), "[" * 100_000):
            await socket.send_str(junk)
        await socket.send_bytes(b"\xff")
        await drive.says("oscar", incidents, "still here")
        assert (await socket.receive_json())["payload"]["event"]["text"] == "still here"


async def test_presence_follows_the_sockets(
    workspace: Workspace, drive: Driver, session: aiohttp.ClientSession
) -> None:
    assert (await drive.get("state", person="vera"))["bot_online"] is False
    async with session.ws_connect(f"{workspace.url}/sim/live?person=vera") as page:
        async with running_bot(workspace):
            assert await _next(page, "presence") == {"type": "presence", "bot_online": True}
            assert (await drive.get("state", person="vera"))["bot_online"] is True
        assert (await _next(page, "presence"))["bot_online"] is False


async def test_events_survive_a_restart_of_the_workspace(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    async with Workspace.start(tmp_path) as workspace:
        before = workspace.ready()
        channel = before["channels"]["ops"]
        sent = await Driver(workspace.url, session).says("adam", channel, "kept")
    async with Workspace.start(tmp_path, settings=Settings()) as workspace, running_bot(workspace) as bot:
        await bot.until(bot.events)
        assert bot.events()[0]["ts"] == sent
        assert {**workspace.ready(), "url": ""} == {**before, "url": ""}


async def raw_socket(workspace: Workspace, session: aiohttp.ClientSession) -> Any:
    client = AsyncWebClient(base_url=workspace.api_url, session=session)
    opened = await client.apps_connections_open(app_token=workspace.identity.app_token)
    return await session.ws_connect(opened["url"])


async def _next(page: aiohttp.ClientWebSocketResponse, kind: str) -> dict[str, Any]:
    while True:
        event: dict[str, Any] = await asyncio.wait_for(page.receive_json(), 5)
        if event["type"] == kind:
            return event
