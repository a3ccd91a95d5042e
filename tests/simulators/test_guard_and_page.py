"""Only this machine drives the workspace; the page's calls answer what people see."""

import asyncio
import json
from pathlib import Path
from typing import Any, get_args

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient
from yarl import URL

from chatops_bot.simulators.slack import Workspace
from chatops_bot.simulators.slack.driving import Driving
from chatops_bot.simulators.slack.faults import CallFault, EventFault
from chatops_bot.simulators.slack.web_api import METHODS

from .conftest import Driver


@pytest.mark.parametrize(
    ("path", "headers", "error"),
    [
        ("/sim/state?person=ana", {"Host": "evil.example"}, "host_not_allowed"),
        ("/api/auth.test", {"Host": "evil.example:80"}, "host_not_allowed"),
        ("/", {"Host": "127.0.0.1.evil.example"}, "host_not_allowed"),
        ("/sim/state?person=ana", {"Origin": "https://evil.example"}, "origin_not_allowed"),
        ("/sim/state?person=ana", {"Origin": "null"}, "origin_not_allowed"),
        ("/sim/live?person=ana", {"Origin": "http://127.0.0.1:1"}, "origin_not_allowed"),
    ],
)
async def test_foreign_host_or_origin_is_refused(
    workspace: Workspace, session: aiohttp.ClientSession, path: str, headers: dict[str, str], error: str
) -> None:
    async with session.get(workspace.url + path, headers=headers) as response:
        answer = await response.json()
        assert (response.status, answer["error"]) == (403, error)
        assert answer["message"].endswith(".")
        assert "Access-Control-Allow-Origin" not in response.headers


async def test_post_needs_json_and_its_own_origin(
    workspace: Workspace, session: aiohttp.ClientSession
) -> None:
    body = json.dumps({"person": "ana", "channel": "C0", "ts": "1.000000"})
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        async with session.post(
            f"{workspace.url}/sim/read", data=body, headers={"Content-Type": kind}
        ) as response:
            assert (response.status, (await response.json())["error"]) == (403, "content_type_not_allowed")
    own = {"Content-Type": "application/json", "Origin": workspace.url}
    async with session.post(f"{workspace.url}/sim/read", data=body, headers=own) as response:
        assert (response.status, (await response.json())["error"]) == (200, "channel_not_found")


async def test_foreign_page_cannot_open_the_live_socket(
    workspace: Workspace, session: aiohttp.ClientSession
) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await session.ws_connect(f"{workspace.url}/sim/live?person=ana", origin="https://evil.example")


@pytest.mark.parametrize(
    "name", ["../server.py", "..%2fserver.py", "%2e%2e", "nope.js", "x.py", ".hidden.js"]
)
async def test_page_serves_only_its_own_files(
    workspace: Workspace, session: aiohttp.ClientSession, name: str
) -> None:
    async with session.get(URL(f"{workspace.url}/page/{name}", encoded=True)) as response:
        assert response.status == 404


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"null", b"\xff", b'{"person": 1}', b"[" * 100_000, b'"\\ud800"', b""]
)
@pytest.mark.parametrize("name", ["click", "submit", "post", "read", "close_view"])
async def test_bad_bodies_are_refused_in_words(
    workspace: Workspace, session: aiohttp.ClientSession, name: str, body: bytes
) -> None:
    headers = {"Content-Type": "application/json"}
    async with session.post(f"{workspace.url}/sim/{name}", data=body, headers=headers) as response:
        answer = await response.json()
        assert (response.status, answer["ok"]) == (200, False)
        assert answer["error"] in ("invalid_json", "invalid_body")


async def test_messages_page_backwards_and_threads_stay_out_of_the_channel(
    drive: Driver, incidents: str
) -> None:
    roots = [await drive.says("oscar", incidents, f"alert {number}") for number in range(5)]
    reply = await drive.says("ana", incidents, "mine", thread_ts=roots[4])
    page = await drive.get("messages", person="vera", channel=incidents, limit="2")
    assert ([message["ts"] for message in page["messages"]], page["has_more"]) == (roots[3:], True)
    assert page["messages"][1]["reply_count"] == 1
    page = await drive.get("messages", person="vera", channel=incidents, before=roots[3])
    assert ([message["ts"] for message in page["messages"]], page["has_more"]) == (roots[:3], False)
    page = await drive.get("messages", person="vera", channel=incidents, thread_ts=roots[4])
    assert [message["ts"] for message in page["messages"]] == [roots[4], reply]
    assert all("html" in message for message in page["messages"])


async def test_unread_counts_others_messages_until_read(
    drive: Driver, incidents: str, workspace: Workspace
) -> None:
    await drive.says("oscar", incidents, "one")
    last = await drive.says("oscar", incidents, "@vera two")

    async def counts(person: str) -> tuple[int, int]:
        channels = (await drive.get("state", person=person))["channels"]
        shown = next(channel for channel in channels if channel["id"] == incidents)
        return shown["unread"], shown["mentions"]

    assert await counts("vera") == (2, 1)
    assert await counts("oscar") == (0, 0)
    assert (await drive.call("read", person="vera", channel=incidents, ts=last))["ok"]
    assert await counts("vera") == (0, 0)


async def test_live_pushes_each_kind_of_change_to_those_who_see_it(
    workspace: Workspace, session: aiohttp.ClientSession, drive: Driver, api: AsyncWebClient, incidents: str
) -> None:
    ana = workspace.identity.person("ana")
    assert ana is not None
    live = f"{workspace.url}/sim/live?person="
    async with session.ws_connect(live + "ana") as hers, session.ws_connect(live + "vera") as theirs:
        await api.chat_postEphemeral(channel=incidents, user=ana.id, text="psst")
        await api.chat_postMessage(channel=ana.dm, text="private")
        root = (await api.chat_postMessage(channel=incidents, text="<b>"))["ts"]
        await api.assistant_threads_setStatus(channel_id=incidents, thread_ts=root, status="thinks")
        await api.chat_update(channel=incidents, ts=root, text="new")
        await api.reactions_add(channel=incidents, timestamp=root, name="eyes")
        await api.chat_delete(channel=incidents, ts=root)
        common = ["message", "status", "changed", "reaction", "deleted"]
        seen = [await _receive(hers) for _ in range(7)]
        assert [event["type"] for event in seen] == ["ephemeral", "message", *common]
        assert seen[2]["message"]["html"] == "&lt;b&gt;"
        assert [(await _receive(theirs))["type"] for _ in range(5)] == common


def test_documentation_names_every_path_method_and_fault() -> None:
    text = (Path(__file__).parents[2] / "docs" / "simulator.md").read_text()
    for name in (*Driving.POSTS, *Driving.GETS):
        assert f"/sim/{name}" in text
    for method in METHODS:
        assert f"`{method}`" in text
    for fault in (*get_args(CallFault), *get_args(EventFault)):
        assert f"\n| `{fault}` |" in text


async def _receive(page: aiohttp.ClientWebSocketResponse) -> dict[str, Any]:
    event: dict[str, Any] = await asyncio.wait_for(page.receive_json(), 5)
    return event
