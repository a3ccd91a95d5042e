"""The Web API answers slack_sdk as Slack does, limits and error codes included."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from chatops_bot.simulators.slack import Settings, Workspace
from chatops_bot.simulators.slack.errors import SlackError
from chatops_bot.simulators.slack.validation import check_message_blocks, check_view
from chatops_bot.simulators.slack.web_api import METHODS

from .conftest import Driver

Json = dict[str, Any]


def plain(length: int) -> Json:
    return {"type": "plain_text", "text": "x" * length}


def mrkdwn(length: int) -> Json:
    return {"type": "mrkdwn", "text": "x" * length}


def section(length: int = 1, **extra: Any) -> Json:
    return {"type": "section", "text": mrkdwn(length), **extra}


def actions(*elements: Json) -> Json:
    return {"type": "actions", "elements": list(elements)}


def button(**extra: Any) -> Json:
    return {"type": "button", "action_id": "b", "text": plain(1), **extra}


def options(count: int, text: int = 1, value: int = 0) -> list[Json]:
    return [{"text": plain(text), "value": str(number).rjust(value, "v")} for number in range(count)]


def select(kind: str = "static_select", count: int = 1, **extra: Any) -> Json:
    return {"type": kind, "action_id": "s", "options": options(count), **extra}


def text_input(**extra: Any) -> Json:
    return {
        "type": "input",
        "label": plain(1),
        "element": {"type": "plain_text_input", "action_id": "i", **extra},
    }


CONFIRM = {"title": plain(100), "text": mrkdwn(300), "confirm": plain(30), "deny": plain(30)}

FITTING: list[list[Json]] = [
    [],
    [{"type": "divider"}] * 50,
    [section(3000)],
    [{"type": "section", "fields": [mrkdwn(2000)] * 6 + [mrkdwn(300)] * 4}],
    [section(3000)] * 4 + [section(1200)],
    [{"type": "header", "text": plain(150)}],
    [{"type": "context", "elements": [mrkdwn(1)] * 10}],
    [actions(*(button(action_id=f"a{number}") for number in range(25)))],
    [actions(button(text=plain(75), value="v" * 2000, url="u" * 3000, action_id="a" * 255, confirm=CONFIRM))],
    [actions(select(count=100))],
    [actions({**select(), "options": options(1, text=75, value=150)})],
    [actions(select("overflow", 5), {**select("radio_buttons", 10), "action_id": "r"})],
    [section(accessory=select("multi_static_select", 3))],
    [{"type": "markdown", "text": "x" * 6000}] * 2,
    [{"type": "rich_text", "elements": []}],
    [{"type": "image", "image_url": "https://x/y.png", "alt_text": "y"}],
    [text_input(max_length=3000)],
    [section(block_id="b" * 255)],
    [actions(button()), {**actions(button()), "block_id": "other"}],
]

REFUSED: list[tuple[Any, str]] = [
    ("text", "invalid_blocks_format"),
    ({"type": "divider"}, "invalid_blocks_format"),
    ([None], "invalid_blocks"),
    ([{"type": "divider"}] * 51, "invalid_blocks"),
    ([{"type": "hologram"}], "invalid_blocks"),
    ([{"type": ["section"]}], "invalid_blocks"),
    ([section(0)], "invalid_blocks"),
    ([section(3001)], "invalid_blocks"),
    ([{"type": "section"}], "invalid_blocks"),
    ([{"type": "section", "fields": [mrkdwn(1)] * 11}], "invalid_blocks"),
    ([{"type": "section", "fields": [mrkdwn(2001)]}], "invalid_blocks"),
    ([{"type": "header", "text": plain(151)}], "invalid_blocks"),
    ([{"type": "header", "text": mrkdwn(1)}], "invalid_blocks"),
    ([{"type": "context", "elements": [mrkdwn(1)] * 11}], "invalid_blocks"),
    ([{"type": "context", "elements": []}], "invalid_blocks"),
    ([actions(*(button(action_id=f"a{number}") for number in range(26)))], "invalid_blocks"),
    ([actions(button(), button())], "invalid_blocks"),
    ([actions(button(text=plain(76)))], "invalid_blocks"),
    ([actions(button(text=mrkdwn(1)))], "invalid_blocks"),
    ([actions(button(value="v" * 2001))], "invalid_blocks"),
    ([actions(button(style="loud"))], "invalid_blocks"),
    ([actions(button(action_id="a" * 256))], "invalid_blocks"),
    ([actions(button(confirm={**CONFIRM, "deny": plain(31)}))], "invalid_blocks"),
    ([actions(select(count=101))], "invalid_blocks"),
    ([actions(select(count=0))], "invalid_blocks"),
    ([actions({**select(), "options": options(1, text=76)})], "invalid_blocks"),
    ([actions({**select(), "options": options(1, value=151)})], "invalid_blocks"),
    ([actions({**select(), "options": options(1) * 2})], "invalid_blocks"),
    ([actions(select(placeholder=plain(151)))], "invalid_blocks"),
    ([actions(select("overflow", 6))], "invalid_blocks"),
    ([actions(select("external_select"))], "invalid_blocks"),
    ([actions({"type": "external_select", "action_id": "e", "min_query_length": -1})], "invalid_blocks"),
    (
        [
            actions(
                {
                    "type": "static_select",
                    "action_id": "g",
                    "option_groups": [{"label": plain(1), "options": options(1)}] * 101,
                }
            )
        ],
        "invalid_blocks",
    ),
    (
        [
            actions(
                {
                    "type": "static_select",
                    "action_id": "g",
                    "option_groups": [{"label": plain(76), "options": options(1)}],
                }
            )
        ],
        "invalid_blocks",
    ),
    ([actions(select("radio_buttons", 11))], "invalid_blocks"),
    ([actions({"type": "plain_text_input", "action_id": "i"})], "invalid_blocks"),
    ([section(block_id="same"), section(block_id="same")], "invalid_blocks"),
    ([section(block_id="b" * 256)], "invalid_blocks"),
    ([{"type": "markdown", "text": "x" * 12_001}], "invalid_blocks"),
    ([{"type": "markdown", "text": "x" * 6001}] * 2, "msg_blocks_too_long"),
    ([section(3000)] * 4 + [section(1201)], "msg_blocks_too_long"),
    ([actions({**select(), "options": [{"text": mrkdwn(1), "value": "v"}]})], "invalid_blocks"),
    ([actions({**select(), "options": [{**options(1)[0], "description": plain(76)}]})], "invalid_blocks"),
    ([{"type": "image", "image_url": "https://x/y.png"}], "invalid_blocks"),
    ([text_input(max_length=3001)], "invalid_blocks"),
]


@pytest.mark.parametrize("blocks", FITTING)
def test_blocks_at_their_limits_pass(blocks: list[Json]) -> None:
    assert check_message_blocks(blocks) == blocks


@pytest.mark.case("slack-54")
@pytest.mark.parametrize(("blocks", "code"), REFUSED)
def test_blocks_over_a_limit_are_refused(blocks: Any, code: str) -> None:
    with pytest.raises(SlackError) as refused:
        check_message_blocks(blocks)
    assert refused.value.code == code


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["section", "actions", "button"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "text", "elements", "fields", "options", "confirm", "element", "blocks", "title"]
            ),
            inner,
        )
    ),
    max_leaves=12,
)


@given(_json)
@settings(max_examples=150, deadline=None)
def test_any_json_is_either_valid_or_refused_by_code(value: Any) -> None:
    codes = {"invalid_blocks", "invalid_blocks_format", "invalid_arguments", "msg_blocks_too_long"}
    assert _code(check_message_blocks, value) in {None} | codes
    assert _code(check_view, value) in {None} | codes


def _code(check: Callable[[Any], Any], value: Any) -> str | None:
    try:
        check(value)
    except SlackError as error:
        return error.code
    return None


async def refusal(call: Any) -> str:
    with pytest.raises(SlackApiError) as refused:
        await call
    return str(refused.value.response["error"])


async def test_refusals_have_slacks_codes(
    workspace: Workspace, api: AsyncWebClient, incidents: str, drive: Driver
) -> None:
    root = await drive.says("ana", incidents, "root")
    reply = await drive.says("ana", incidents, "reply", thread_ts=root)
    post = api.chat_postMessage
    assert await refusal(post(channel="C404", text="x")) == "channel_not_found"
    assert await refusal(api.api_call("chat.postMessage", json={"channel": incidents})) == "no_text"
    assert await refusal(post(channel=incidents, text="x", markdown_text="y")) == "markdown_text_conflict"
    assert await refusal(post(channel=incidents, markdown_text="y" * 12_001)) == "msg_too_long"
    assert await refusal(post(channel=incidents, text="x", thread_ts="")) == "invalid_thread_ts"
    assert await refusal(post(channel=incidents, text="x", thread_ts=reply)) == "invalid_thread_ts"
    assert await refusal(post(channel=incidents, text="x", thread_ts="1.000001")) == "thread_not_found"
    assert (
        await refusal(post(channel=incidents, text="x", metadata={"event_type": ""}))
        == "invalid_metadata_format"
    )
    assert await refusal(api.chat_update(channel=incidents, ts="1.0", text="x")) == "message_not_found"
    assert await refusal(api.chat_update(channel=incidents, ts=root, text="x")) == "cant_update_message"
    assert await refusal(api.chat_delete(channel=incidents, ts=root)) == "cant_delete_message"
    assert await refusal(api.conversations_replies(channel=incidents, ts="1.0")) == "thread_not_found"
    assert await refusal(api.conversations_history(channel=incidents, limit=1001)) == "invalid_limit"
    assert await refusal(api.conversations_history(channel=incidents, cursor="junk")) == "invalid_cursor"
    assert await refusal(api.users_info(user="U404")) == "user_not_found"
    assert await refusal(api.bots_info(bot="B404")) == "bot_not_found"
    assert await refusal(api.api_call("conversations.open")) == "users_list_not_supplied"
    direct = workspace.identity.people[0].dm
    assert await refusal(api.conversations_join(channel=direct)) == "method_not_supported_for_channel_type"
    nobody = api.chat_postEphemeral(channel=incidents, user="U404", text="psst")
    assert await refusal(nobody) == "user_not_in_channel"
    assert (
        await refusal(api.reactions_add(channel=incidents, timestamp=root, name="no such")) == "invalid_name"
    )
    assert await refusal(api.api_call("chat.sendTelegram")) == "unknown_method"
    assert (
        await refusal(AsyncWebClient(base_url=api.base_url, session=api.session).auth_test()) == "not_authed"
    )
    stranger = AsyncWebClient(token="xoxb-0", base_url=api.base_url, session=api.session)
    assert await refusal(stranger.auth_test()) == "invalid_auth"


async def test_details_of_bad_blocks_come_with_the_refusal(api: AsyncWebClient, incidents: str) -> None:
    with pytest.raises(SlackApiError) as refused:
        await api.chat_postMessage(channel=incidents, text="x", blocks=[section(3001)])
    assert "/blocks/0/text/text" in refused.value.response["response_metadata"]["messages"][0]


async def test_update_without_blocks_keeps_them_and_empty_blocks_remove_them(
    api: AsyncWebClient, incidents: str, drive: Driver
) -> None:
    ts = (await api.chat_postMessage(channel=incidents, text="a", blocks=[actions(button())]))["ts"]
    kept = await api.chat_update(channel=incidents, ts=ts, text="b")
    assert kept["message"]["blocks"][0]["type"] == "actions"
    assert kept["message"]["edited"]
    gone = await api.chat_update(channel=incidents, ts=ts, text="c", blocks=[])
    assert "blocks" not in gone["message"]
    versions = (await drive.get("versions", channel=incidents, ts=ts))["versions"]
    assert [(one["text"], len(one["blocks"])) for one in versions] == [("a", 1), ("b", 1), ("c", 0)]
    assert versions[0]["at"] <= versions[1]["at"] <= versions[2]["at"]


@pytest.mark.case("slack-4")
async def test_update_text_is_limited_in_bytes_and_markdown_text_is_not(
    api: AsyncWebClient, incidents: str
) -> None:
    ts = (await api.chat_postMessage(channel=incidents, text="a"))["ts"]
    await api.chat_update(channel=incidents, ts=ts, text="x" * 4000)
    assert await refusal(api.chat_update(channel=incidents, ts=ts, text="汉" * 1334)) == "msg_too_long"
    beside = api.chat_update(channel=incidents, ts=ts, text="x" * 4001, blocks=[section()])
    assert await refusal(beside) == "msg_too_long"
    changed = await api.chat_update(channel=incidents, ts=ts, markdown_text="汉" * 4000)
    assert changed["message"]["blocks"][0]["type"] == "markdown"


async def test_rich_text_is_not_replaced_by_other_blocks(api: AsyncWebClient, incidents: str) -> None:
    rich = {"type": "rich_text", "elements": []}
    ts = (await api.chat_postMessage(channel=incidents, text="a", blocks=[rich]))["ts"]
    assert (
        await refusal(api.chat_update(channel=incidents, ts=ts, text="b", blocks=[section()]))
        == "block_mismatch"
    )
    assert (await api.chat_update(channel=incidents, ts=ts, text="b", blocks=[rich, section()]))["ok"]


async def test_attachments_and_metadata_have_limits(api: AsyncWebClient, incidents: str) -> None:
    def post(**extra: Any) -> Any:
        return api.chat_postMessage(channel=incidents, text="x", **extra)

    assert (await post(attachments=[{"text": "a"}] * 100))["ok"]
    assert await refusal(post(attachments=[{"text": "a"}] * 101)) == "too_many_attachments"
    assert await refusal(post(attachments=[7])) == "invalid_attachments"
    assert await refusal(post(attachments=[{"blocks": [section(3001)]}])) == "invalid_blocks"
    large = {"event_type": "e", "event_payload": {"x": "y" * 9000}}
    assert await refusal(post(metadata=large)) == "metadata_too_large"


async def test_text_over_forty_thousand_characters_is_cut(api: AsyncWebClient, incidents: str) -> None:
    posted = await api.chat_postMessage(channel=incidents, text="x" * 41_000)
    assert len(posted["message"]["text"]) == 40_000


async def test_history_and_replies_page_by_cursor(api: AsyncWebClient, incidents: str) -> None:
    root = (await api.chat_postMessage(channel=incidents, text="root"))["ts"]
    sent = [
        (await api.chat_postMessage(channel=incidents, text=str(n), thread_ts=root))["ts"] for n in range(4)
    ]
    assert sorted(sent) == sent
    seen, cursor = [], None
    while cursor != "":
        page = await api.conversations_replies(channel=incidents, ts=root, limit=2, cursor=cursor)
        assert page["has_more"] is bool(page["response_metadata"]["next_cursor"])
        seen += [message["ts"] for message in page["messages"]]
        cursor = page["response_metadata"]["next_cursor"]
    assert seen == [root, *sent]
    window = await api.conversations_replies(channel=incidents, ts=root, oldest=sent[1], latest=sent[3])
    assert [message["ts"] for message in window["messages"]] == [root, sent[2]]
    closed = await api.conversations_replies(
        channel=incidents, ts=root, oldest=sent[1], latest=sent[3], inclusive=True
    )
    assert [message["ts"] for message in closed["messages"]] == [root, *sent[1:]]
    more = [(await api.chat_postMessage(channel=incidents, text=str(n)))["ts"] for n in range(2)]
    first = await api.conversations_history(channel=incidents, limit=2)
    assert [message["ts"] for message in first["messages"]] == more[::-1]
    rest = await api.conversations_history(
        channel=incidents, cursor=first["response_metadata"]["next_cursor"]
    )
    assert [message["ts"] for message in rest["messages"]] == [root]


async def test_metadata_is_returned_only_when_asked_for(api: AsyncWebClient, incidents: str) -> None:
    metadata = {"event_type": "answer", "event_payload": {"out_id": "o-1"}}
    ts = (await api.chat_postMessage(channel=incidents, text="a", metadata=metadata))["ts"]
    without = await api.conversations_replies(channel=incidents, ts=ts)
    assert "metadata" not in without["messages"][0]
    with_it = await api.conversations_replies(channel=incidents, ts=ts, include_all_metadata=True)
    assert with_it["messages"][0]["metadata"] == metadata


async def test_who_and_where_can_be_read(api: AsyncWebClient, workspace: Workspace, incidents: str) -> None:
    ana = workspace.identity.person("ana")
    assert ana is not None
    assert (await api.auth_test())["bot_id"] == workspace.identity.bot_id
    assert (await api.users_info(user=ana.id))["user"]["profile"]["display_name"] == ana.name
    assert len((await api.users_list())["members"]) == 5
    assert len((await api.conversations_list(types="public_channel,im"))["channels"]) == 6
    assert (await api.conversations_open(users=ana.id))["channel"]["id"] == ana.dm
    assert (await api.conversations_info(channel=ana.dm))["channel"]["user"] == ana.id
    assert len((await api.conversations_members(channel=incidents, limit=3))["members"]) == 3
    assert (await api.conversations_join(channel=incidents))["channel"]["is_member"]
    assert len((await api.users_conversations())["channels"]) == 2
    assert (await api.bots_info(bot=workspace.identity.bot_id))["bot"]["name"] == "opsbot"
    assert (await api.team_info())["team"]["id"] == workspace.identity.team_id
    theirs = AsyncWebClient(token=ana.token, base_url=api.base_url, session=api.session)
    vera = workspace.identity.person("vera")
    assert vera is not None
    assert await refusal(theirs.conversations_history(channel=vera.dm)) == "channel_not_found"
    posted = await api.chat_postMessage(channel=ana.id, text="hi")
    assert posted["channel"] == ana.dm
    link = await api.chat_getPermalink(channel=ana.dm, message_ts=posted["ts"])
    assert posted["ts"] in link["permalink"]


async def test_a_user_group_can_be_read(api: AsyncWebClient, workspace: Workspace) -> None:
    wanted = [person.id for person in workspace.identity.people if person.key in ("ana", "adam")]
    (group,) = (await api.usergroups_list(include_users=True))["usergroups"]
    assert (group["handle"], group["users"], group["user_count"]) == ("incident-leads", wanted, 2)
    assert workspace.ready()["groups"] == {"incident-leads": group["id"]}
    assert "users" not in (await api.usergroups_list())["usergroups"][0]
    assert (await api.usergroups_users_list(usergroup=group["id"]))["users"] == wanted
    assert await refusal(api.usergroups_users_list(usergroup="S0")) == "no_such_subteam"


async def test_reactions_are_kept_on_the_message(
    api: AsyncWebClient, incidents: str, workspace: Workspace
) -> None:
    ts = (await api.chat_postMessage(channel=incidents, text="a"))["ts"]
    await api.reactions_add(channel=incidents, timestamp=ts, name="eyes")
    assert await refusal(api.reactions_add(channel=incidents, timestamp=ts, name="eyes")) == "already_reacted"
    message = (await api.conversations_replies(channel=incidents, ts=ts))["messages"][0]
    assert message["reactions"] == [{"name": "eyes", "users": [workspace.identity.bot_user_id], "count": 1}]
    await api.reactions_remove(channel=incidents, timestamp=ts, name="eyes")
    assert "reactions" not in (await api.conversations_replies(channel=incidents, ts=ts))["messages"][0]


async def test_status_shows_until_the_bot_answers(api: AsyncWebClient, incidents: str, drive: Driver) -> None:
    root = await drive.says("ana", incidents, "hello")
    await api.assistant_threads_setStatus(channel_id=incidents, thread_ts=root, status="is thinking…")
    (status,) = (await drive.get("state", person="ana"))["statuses"]
    assert (status["thread_ts"], status["status"]) == (root, "is thinking…")
    await api.chat_postMessage(channel=incidents, thread_ts=root, text="done")
    assert (await drive.get("state", person="ana"))["statuses"] == []
    failed = api.assistant_threads_setStatus(channel_id=incidents, thread_ts="x", status="…")
    assert await refusal(failed) == "invalid_thread_ts"


async def test_status_expires_by_itself(tmp_path: Path, session: aiohttp.ClientSession) -> None:
    async with Workspace.start(tmp_path, settings=Settings(status_seconds=0.05)) as workspace:
        client = AsyncWebClient(workspace.identity.bot_token, workspace.api_url, session=session)
        channel = workspace.ready()["channels"]["ops"]
        root = (await client.chat_postMessage(channel=channel, text="root"))["ts"]
        async with session.ws_connect(f"{workspace.url}/sim/live?person=ana") as page:
            await client.assistant_threads_setStatus(channel_id=channel, thread_ts=root, status="thinks")
            shown = [(await asyncio.wait_for(page.receive_json(), 5))["status"] for _ in range(2)]
    assert shown == ["thinks", ""]


async def test_deleted_root_with_replies_leaves_a_tombstone(
    api: AsyncWebClient, incidents: str, drive: Driver
) -> None:
    root = (await api.chat_postMessage(channel=incidents, text="root"))["ts"]
    reply = await drive.says("ana", incidents, "reply", thread_ts=root)
    await api.chat_delete(channel=incidents, ts=root)
    left = (await api.conversations_replies(channel=incidents, ts=root))["messages"]
    assert [message.get("subtype") for message in left] == ["tombstone", None]
    assert await refusal(api.chat_update(channel=incidents, ts=root, text="x")) == "message_not_found"
    again = await drive.says("ana", incidents, "still here", thread_ts=root)
    assert again > reply


async def test_reply_broadcast_is_shown_in_thread_and_channel(api: AsyncWebClient, incidents: str) -> None:
    root = (await api.chat_postMessage(channel=incidents, text="root"))["ts"]
    reply = await api.chat_postMessage(channel=incidents, text="both", thread_ts=root, reply_broadcast=True)
    assert reply["message"]["subtype"] == "thread_broadcast"
    history = await api.conversations_history(channel=incidents)
    assert [message["ts"] for message in history["messages"]] == [reply["ts"], root]
    assert len((await api.conversations_replies(channel=incidents, ts=root))["messages"]) == 2


async def test_calls_of_the_bot_are_remembered_without_its_token(
    api: AsyncWebClient, incidents: str, drive: Driver, workspace: Workspace, session: aiohttp.ClientSession
) -> None:
    await api.chat_postMessage(channel=incidents, text="a")
    form = {"token": workspace.identity.bot_token, "channel": "C0", "blocks": json.dumps([section()])}
    async with session.post(workspace.api_url + "chat.postMessage", data=form) as response:
        assert (await response.json())["error"] == "channel_not_found"
    calls = (await drive.get("calls"))["calls"]
    assert [(call["method"], call["ok"], call["error"]) for call in calls] == [
        ("chat.postMessage", True, None),
        ("chat.postMessage", False, "channel_not_found"),
    ]
    assert workspace.identity.bot_token not in json.dumps(calls)


@pytest.mark.parametrize(
    ("body", "kind", "error"),
    [
        (b"{", "application/json", "invalid_json"),
        (b"[]", "application/json", "json_not_object"),
        (b"\xff\xfe", "application/json", "invalid_json"),
        (b'{"text": "\\ud800"}', "application/json", "invalid_json"),
        (b'{"text": NaN}', "application/json", "invalid_json"),
        (b"[" * 100_000, "application/json", "invalid_json"),
        (b"text=%ff&token=x\xff", "application/x-www-form-urlencoded", "invalid_form_data"),
        (b"junk", "multipart/form-data; boundary=x", "invalid_form_data"),
        (b"junk", "multipart/form-data", "invalid_form_data"),
        (b"junk", "text/plain", "invalid_post_type"),
        (b'{"text": 1e999}', "application/json", "invalid_json"),
        (b'{"metadata": ' + b"[" * 61 + b"]" * 61 + b"}", "application/json", "invalid_json"),
        (b'{"text": {"a": 1}, "channel": [1]}', "application/json", "invalid_arguments"),
        (b'{"channel": "C0", "blocks": "{"}', "application/json", "channel_not_found"),
    ],
)
async def test_bad_bodies_are_refused_in_json(
    workspace: Workspace, session: aiohttp.ClientSession, body: bytes, kind: str, error: str
) -> None:
    headers = {"Authorization": f"Bearer {workspace.identity.bot_token}", "Content-Type": kind}
    async with session.post(workspace.api_url + "chat.postMessage", data=body, headers=headers) as response:
        assert response.status == 200
        assert (await response.json())["error"] == error


_values = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.lists(st.integers(), max_size=2)
)
NAMES = [
    "channel",
    "ts",
    "text",
    "thread_ts",
    "blocks",
    "view",
    "trigger_id",
    "user",
    "users",
    "limit",
    "cursor",
    "oldest",
    "latest",
    "timestamp",
    "name",
    "metadata",
    "attachments",
    "channel_id",
    "loading_messages",
    "status",
    "view_id",
    "types",
    "message_ts",
    "markdown_text",
    "chunks",
    "recipient_team_id",
    "recipient_user_id",
]


@given(st.sampled_from(sorted(METHODS)), st.dictionaries(st.sampled_from(NAMES), _values), st.booleans())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_no_arguments_make_a_method_fail_inside(
    workspace: Workspace, method: str, arguments: Json, in_channel: bool
) -> None:
    headers = {"Authorization": f"Bearer {workspace.identity.bot_token}"}
    channel = workspace.ready()["channels"]["ops"]
    body = {**arguments, **({"channel": channel, "channel_id": channel} if in_channel else {})}
    async with (
        aiohttp.ClientSession() as session,
        session.post(workspace.api_url + method, json=body, headers=headers) as response,
    ):
        assert response.status == 200
        assert "ok" in await response.json()
