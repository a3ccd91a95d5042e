"""What the workspace refuses for reasons outside the message: scopes, channels, kept states, too many sockets."""

import asyncio
from pathlib import Path

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from chatops_bot.simulators.slack import Settings, Workspace
from chatops_bot.simulators.slack.clock import Clock

from .conftest import Bot, Driver, running_bot
from .test_events import raw_socket

FEW = Settings(bot_scopes=("chat:write", "channels:history"), rate_limits="off")


@pytest.mark.parametrize("limits", [FEW])
async def test_a_missing_scope_is_named_with_those_that_are_there(
    workspace: Workspace, api: AsyncWebClient, drive: Driver, incidents: str
) -> None:
    posted = await api.chat_postMessage(channel=incidents, text="x")
    assert posted.headers["X-OAuth-Scopes"] == "chat:write,channels:history"
    await api.conversations_replies(channel=incidents, ts=posted["ts"])
    person = workspace.identity.people[0]
    for call, needed in (
        (api.users_info(user=person.id), "users:read"),
        (api.usergroups_list(), "usergroups:read"),
        (api.conversations_info(channel=incidents), "channels:read"),
        (api.conversations_history(channel=person.dm), "im:history"),
        (api.reactions_add(channel=incidents, timestamp=posted["ts"], name="eyes"), "reactions:write"),
    ):
        with pytest.raises(SlackApiError) as refused:
            await call
        assert refused.value.response["error"] == "missing_scope"
        assert refused.value.response["needed"] == needed
        assert refused.value.response["provided"] == "chat:write,channels:history"
    theirs = AsyncWebClient(token=person.token, base_url=api.base_url, session=api.session)
    assert (await theirs.users_info(user=person.id))["ok"]


async def test_an_archived_channel_can_be_read_and_not_written(
    api: AsyncWebClient, drive: Driver, incidents: str
) -> None:
    ts = (await api.chat_postMessage(channel=incidents, text="x"))["ts"]
    assert (await drive.call("channel", channel=incidents, archived=True))["archived"] is True
    for call in (
        api.chat_postMessage(channel=incidents, text="y"),
        api.chat_update(channel=incidents, ts=ts, text="y"),
        api.conversations_join(channel=incidents),
    ):
        with pytest.raises(SlackApiError, match="is_archived"):
            await call
    spoken = await drive.call("post", person="ana", channel=incidents, text="hello")
    assert (spoken["error"], spoken["message"][-1]) == ("is_archived", ".")
    assert len((await api.conversations_replies(channel=incidents, ts=ts))["messages"]) == 1
    assert (await api.conversations_info(channel=incidents))["channel"]["is_archived"] is True
    await drive.call("channel", channel=incidents, archived=False)
    assert (await api.chat_update(channel=incidents, ts=ts, text="y"))["ok"]


async def test_a_bot_outside_a_channel_neither_reads_nor_writes_nor_hears(
    bot: Bot, drive: Driver, incidents: str, tmp_path: Path
) -> None:
    await drive.call("channel", channel=incidents, bot_is_member=False)
    root = await drive.says("oscar", incidents, "@opsbot hello?")
    for call in (
        bot.client.chat_postMessage(channel=incidents, text="y"),
        bot.client.conversations_history(channel=incidents),
        bot.client.conversations_replies(channel=incidents, ts=root),
    ):
        with pytest.raises(SlackApiError, match="not_in_channel"):
            await call
    assert (await bot.client.conversations_info(channel=incidents))["channel"]["is_member"] is False
    assert (await bot.client.conversations_join(channel=incidents))["channel"]["is_member"] is True
    heard = await drive.says("oscar", incidents, "@opsbot now?")
    await bot.until(lambda: bot.events("app_mention"))
    assert [event["ts"] for event in bot.events("app_mention")] == [heard]
    assert root not in [event["ts"] for event in bot.events()]


async def test_channel_states_and_apps_survive_a_restart(
    tmp_path: Path, session: aiohttp.ClientSession
) -> None:
    async with Workspace.start(tmp_path) as workspace:
        channel, drive = workspace.ready()["channels"]["ops"], Driver(workspace.url, session)
        app = await drive.call("app_post", app="CI", channel=channel, text="x")
        await drive.call("channel", channel=channel, archived=True)
    async with Workspace.start(tmp_path) as workspace:
        drive = Driver(workspace.url, session)
        refused = await drive.call("app_post", app="CI", channel=channel, text="y")
        assert refused["error"] == "is_archived"
        await drive.call("channel", channel=channel, archived=False)
        again = await drive.call("app_post", app="CI", channel=channel, text="y")
        assert again["bot_id"] == app["bot_id"]


@pytest.mark.parametrize("limits", [Settings(versions_kept=3, versions_kept_in_all=5, rate_limits="off")])
async def test_the_oldest_states_of_messages_are_forgotten(
    api: AsyncWebClient, drive: Driver, incidents: str
) -> None:
    async def states(ts: str) -> list[str]:
        found = await drive.get("versions", channel=incidents, ts=ts)
        return [version["text"] for version in found.get("versions", [])]

    first = (await api.chat_postMessage(channel=incidents, text="0"))["ts"]
    for number in range(1, 6):
        await api.chat_update(channel=incidents, ts=first, text=str(number))
    assert await states(first) == ["3", "4", "5"]
    second = (await api.chat_postMessage(channel=incidents, text="a"))["ts"]
    for text in "bcd":
        await api.chat_update(channel=incidents, ts=second, text=text)
    assert await states(second) == ["b", "c", "d"]
    assert await states(first) == ["5"]


async def test_response_url_expires_after_half_an_hour(
    bot: Bot, drive: Driver, incidents: str, clock: Clock, session: aiohttp.ClientSession
) -> None:
    bot.app.action("go")(bot.record_action)
    button = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}
    blocks = [{"type": "actions", "elements": [button]}]
    ts = (await bot.client.chat_postMessage(channel=incidents, text="x", blocks=blocks))["ts"]
    assert (await drive.call("click", person="ana", channel=incidents, ts=ts, action_id="go"))["ok"]
    url = bot.bodies[-1]["response_url"]
    answers = []
    for seconds in (1700.0, 200.0):
        clock.advance(seconds)
        async with session.post(url, json={"text": "late"}) as response:
            answers.append((response.status, (await response.json()).get("error")))
    assert answers == [(200, None), (404, "expired_url")]


@pytest.mark.parametrize("limits", [Settings(sockets_most=2)])
async def test_one_socket_too_many_is_sent_away(workspace: Workspace, session: aiohttp.ClientSession) -> None:
    async with await raw_socket(workspace, session) as one, await raw_socket(workspace, session) as two:
        hellos = [await one.receive_json(), await two.receive_json()]
        assert [hello["num_connections"] for hello in hellos] == [1, 2]
        async with await raw_socket(workspace, session) as three:
            goodbye = await three.receive_json()
            assert (goodbye["type"], goodbye["reason"]) == ("disconnect", "too_many_websockets")
            assert (await three.receive()).type is aiohttp.WSMsgType.CLOSE


@pytest.mark.parametrize("reason", ["warning", "refresh_requested", "link_disabled"])
async def test_a_socket_is_asked_to_reconnect_and_told_why(
    workspace: Workspace, drive: Driver, session: aiohttp.ClientSession, incidents: str, reason: str
) -> None:
    async with await raw_socket(workspace, session) as socket:
        assert (await socket.receive_json())["type"] == "hello"
        asked = asyncio.create_task(drive.call("socket", do="disconnect", reason=reason))
        goodbye = await asyncio.wait_for(socket.receive_json(), 5)
        assert (goodbye["type"], goodbye["reason"]) == ("disconnect", reason)
        if reason == "warning":
            await drive.says("ana", incidents, "still served")
            assert (await asyncio.wait_for(socket.receive_json(), 5))["type"] == "events_api"
        else:
            assert (await asyncio.wait_for(socket.receive(), 5)).type is aiohttp.WSMsgType.CLOSE
        assert (await asked)["ok"]


@pytest.mark.parametrize("do", ["disconnect", "reset"])
async def test_a_bolt_app_comes_back_after_a_disconnect(
    workspace: Workspace, drive: Driver, incidents: str, do: str
) -> None:
    async with running_bot(workspace, ping_seconds=1.0) as bot:
        await drive.says("ana", incidents, "before")
        await bot.until(lambda: len(bot.events()) == 1)
        assert (await drive.call("socket", do=do))["ok"]
        await drive.says("ana", incidents, "after")
        await bot.until(lambda: len(bot.events()) == 2, deadline=20.0)
        assert bot.events()[1]["text"] == "after"
