"""`conversations.replies` gives a whole thread: people, our bot, and alert bots with their attachments and blocks."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from chatops_bot.simulators.slack import Workspace

from .conftest import Bot, Driver, Json

ALERT: Json = {
    "color": "#cc0000",
    "title": "DiskFull",
    "text": "disk of *db-1* is at 97%",
    "fields": [{"title": "severity", "value": "critical", "short": True}],
    "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "runbook: `disk.md`"}}],
}
HEADER: Json = {"type": "header", "text": {"type": "plain_text", "text": "[FIRING:1] DiskFull"}}


async def thread_of(api: AsyncWebClient, channel: str, root: str, **arguments: str | int | bool) -> list[str]:
    """The ts of every message, page by page."""
    seen: list[str] = []
    cursor = ""
    while True:
        page = await api.conversations_replies(channel=channel, ts=root, cursor=cursor, **arguments)  # type: ignore[arg-type]  # one dict for all
        seen += [message["ts"] for message in page["messages"]]
        cursor = page["response_metadata"]["next_cursor"]
        assert page["has_more"] is bool(cursor)
        if not cursor:
            return seen


async def test_a_thread_shows_alert_bots_people_and_our_bot_with_attachments_and_blocks(
    bot: Bot, drive: Driver, incidents: str, workspace: Workspace
) -> None:
    alert = await drive.call(
        "app_post", app="Alertmanager", channel=incidents, attachments=[ALERT], blocks=[HEADER]
    )
    root = alert["ts"]
    await drive.says("oscar", incidents, "@opsbot can you look into it?", thread_ts=root)
    await bot.client.chat_postMessage(channel=incidents, thread_ts=root, text="Looking.")
    await drive.call(
        "app_post", app="CI", channel=incidents, thread_ts=root, text="deploy 41 done", legacy=True
    )
    read = (await bot.client.conversations_replies(channel=incidents, ts=root))["messages"]
    first, asked, answered, legacy = read
    assert first["bot_profile"]["name"] == "Alertmanager"
    assert (first["bot_id"], first["app_id"], first["user"]) == (
        alert["bot_id"],
        alert["app_id"],
        alert["user_id"],
    )
    assert "subtype" not in first
    assert first["blocks"][0]["text"] == HEADER["text"]
    (attachment,) = first["attachments"]
    assert (attachment["title"], attachment["fields"], attachment["id"]) == ("DiskFull", ALERT["fields"], 1)
    assert attachment["fallback"]
    assert attachment["blocks"][0]["block_id"]
    assert "bot_id" not in asked
    assert answered["bot_id"] == workspace.identity.bot_id
    assert (legacy["subtype"], legacy["username"]) == ("bot_message", "CI")
    assert "user" not in legacy
    assert (first["reply_count"], first["latest_reply"]) == (3, legacy["ts"])
    assert {message["parent_user_id"] for message in (asked, answered)} == {alert["user_id"]}


async def test_posts_of_another_app_raise_events_that_name_it(
    bot: Bot, drive: Driver, incidents: str
) -> None:
    posted = await drive.call("app_post", app="Alertmanager", channel=incidents, attachments=[ALERT])
    await drive.call("app_post", app="Alertmanager", channel=incidents, ts=posted["ts"], text="resolved")
    await bot.until(lambda: len(bot.events()) == 2)
    fired, changed = bot.events()
    assert (fired["bot_id"], fired["attachments"][0]["title"]) == (posted["bot_id"], "DiskFull")
    assert changed["subtype"] == "message_changed"
    assert changed["message"]["bot_id"] == posted["bot_id"]


async def test_another_app_keeps_its_ids_and_can_be_looked_up(
    api: AsyncWebClient, drive: Driver, incidents: str
) -> None:
    first = await drive.call("app_post", app="Grafana", channel=incidents, text="a")
    again = await drive.call("app_post", app="Grafana", channel=incidents, text="b")
    assert first["bot_id"] == again["bot_id"]
    assert (await api.bots_info(bot=first["bot_id"]))["bot"]["name"] == "Grafana"
    assert (await api.users_info(user=first["user_id"]))["user"]["is_bot"] is True
    assert (await drive.get("state", person="ana"))["users"][first["user_id"]]["name"] == "Grafana"
    refused = await drive.call("app_post", app="Grafana", channel=incidents)
    assert (refused["error"], refused["message"][-1]) == ("no_text", ".")
    assert (await drive.call("app_post", app="Grafana", channel="C0", text="x"))[
        "error"
    ] == "channel_not_found"
    own = (await api.chat_postMessage(channel=incidents, text="ours"))["ts"]
    stolen = await drive.call("app_post", app="opsbot", channel=incidents, ts=own, text="theirs")
    assert stolen["error"] == "cant_update_message"


async def test_a_button_of_another_app_does_not_reach_our_bot(
    bot: Bot, drive: Driver, incidents: str
) -> None:
    button = {"type": "button", "action_id": "ack", "text": {"type": "plain_text", "text": "Ack"}}
    blocks = [{"type": "actions", "elements": [button]}]
    posted = await drive.call("app_post", app="PagerDuty", channel=incidents, blocks=blocks)
    clicked = await drive.call("click", person="ana", channel=incidents, ts=posted["ts"], action_id="ack")
    assert clicked["error"] == "other_app"
    assert [body for body in bot.bodies if body["type"] == "block_actions"] == []


async def test_thread_reads_are_bounded_by_limit_latest_oldest_and_inclusive(
    api: AsyncWebClient, incidents: str
) -> None:
    root = (await api.chat_postMessage(channel=incidents, text="root"))["ts"]
    sent = [
        (await api.chat_postMessage(channel=incidents, text=str(n), thread_ts=root))["ts"] for n in range(6)
    ]
    assert await thread_of(api, incidents, root, limit=2) == [root, *sent]
    assert await thread_of(api, incidents, root, limit=2, oldest=sent[1], latest=sent[4]) == [
        root,
        *sent[2:4],
    ]
    assert await thread_of(api, incidents, root, oldest=sent[1], latest=sent[4], inclusive=True) == [
        root,
        *sent[1:5],
    ]
    assert await thread_of(api, incidents, sent[2]) == [sent[2]]


@given(page=st.integers(1, 9), ends=st.tuples(st.integers(0, 6), st.integers(0, 6)), inclusive=st.booleans())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_pages_join_to_the_whole_window_whatever_their_size(
    workspace: Workspace, page: int, ends: tuple[int, int], inclusive: bool
) -> None:
    client = AsyncWebClient(token=workspace.identity.people[0].token, base_url=workspace.api_url)
    channel = workspace.ready()["channels"]["ops"]
    root = (await client.chat_postMessage(channel=channel, text="root"))["ts"]
    sent = [
        (await client.chat_postMessage(channel=channel, text=str(n), thread_ts=root))["ts"] for n in range(7)
    ]
    oldest, latest = sent[min(ends)], sent[max(ends)]
    inside = [ts for ts in sent if oldest < ts < latest or (inclusive and ts in (oldest, latest))]
    found = await thread_of(
        client, channel, root, limit=page, oldest=oldest, latest=latest, inclusive=inclusive
    )
    assert found == [root, *inside]


@pytest.mark.parametrize("bad", [{"limit": 0}, {"limit": 1000}, {"cursor": "junk"}])
async def test_bad_paging_is_refused(api: AsyncWebClient, incidents: str, bad: Json) -> None:
    root = (await api.chat_postMessage(channel=incidents, text="root"))["ts"]
    with pytest.raises(SlackApiError, match=r"invalid_(limit|cursor)"):
        await api.conversations_replies(channel=incidents, ts=root, **bad)
