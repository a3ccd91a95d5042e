"""What a driver asks to fail fails, as often as asked, and nothing else does."""

import asyncio
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from chatops_bot.simulators.slack import Settings, Workspace

from .conftest import Driver, Json, running_bot
from .test_events import raw_socket

IMPATIENT = Settings(ack_seconds=0.3, redelivery_delays=(0.0, 0.05, 0.05), rate_limits="off")


class Caller:
    """Posts as the bot and says what came back: (status, body or None, Retry-After), or the error of the connection."""

    def __init__(self, workspace: Workspace, session: aiohttp.ClientSession, channel: str) -> None:
        self.url = workspace.api_url
        self.headers = {"Authorization": f"Bearer {workspace.identity.bot_token}"}
        self.session = session
        self.channel = channel

    async def post(self, text: str = "x", method: str = "chat.postMessage") -> Any:
        form = {"channel": self.channel, "text": text}
        try:
            async with self.session.post(self.url + method, data=form, headers=self.headers) as answer:
                raw = await answer.text()
                return answer.status, raw, answer.headers.get("Retry-After")
        except aiohttp.ClientError as error:
            return type(error)

    async def ok(self, text: str = "x") -> bool:
        answer = await self.post(text)
        return isinstance(answer, tuple) and json.loads(answer[1])["ok"] is True


@pytest.fixture
def caller(workspace: Workspace, session: aiohttp.ClientSession, incidents: str) -> Caller:
    return Caller(workspace, session, incidents)


async def shown(drive: Driver, channel: str) -> list[str]:
    page = await drive.get("messages", person="ana", channel=channel)
    return [message["text"] for message in page["messages"]]


@pytest.mark.case("slack-16")
@pytest.mark.parametrize(
    ("fault", "done"), [("reset_before", []), ("reset_after", ["x"]), ("truncated", ["x"])]
)
async def test_a_call_is_lost_before_or_after_its_effect(
    drive: Driver, caller: Caller, incidents: str, fault: str, done: list[str]
) -> None:
    assert (await drive.call("fault", method="chat.postMessage", fault=fault))["ok"]
    answer = await caller.post()
    if fault == "truncated":
        status, raw, _ = answer
        assert status == 200
        with pytest.raises(json.JSONDecodeError):
            json.loads(raw)
    else:
        assert issubclass(answer, aiohttp.ClientError)
    assert await shown(drive, incidents) == done
    assert await caller.ok()


@pytest.mark.parametrize(
    ("rule", "answer"),
    [
        (
            {"fault": "ratelimited", "seconds": 30},
            (429, {"ok": False, "error": "ratelimited"}, "30"),
        ),
        (
            {"fault": "error", "error": "account_inactive"},
            (200, {"ok": False, "error": "account_inactive"}, None),
        ),
        ({"fault": "error", "error": "ratelimited"}, (200, {"ok": False, "error": "ratelimited"}, None)),
        ({"fault": "status", "status": 500}, (500, None, None)),
        ({"fault": "status"}, (503, None, None)),
    ],
)
async def test_a_call_is_answered_with_a_refusal_and_not_performed(
    drive: Driver, caller: Caller, incidents: str, rule: Json, answer: tuple[int, Json | None, str | None]
) -> None:
    assert (await drive.call("fault", method="chat.*", **rule))["ok"]
    status, raw, retry_after = await caller.post()
    if answer[1] is None:
        assert "<html>" in raw
    else:
        assert json.loads(raw) == answer[1]
    assert (status, retry_after) == (answer[0], answer[2])
    assert await shown(drive, incidents) == []
    (call,) = (await drive.get("calls"))["calls"]
    assert (call["ok"], call["error"]) == (False, rule.get("error", rule["fault"]))
    assert await caller.ok()


async def test_a_delayed_call_is_overtaken_by_the_next(drive: Driver, caller: Caller, incidents: str) -> None:
    first_only = {"arguments": {"text": "first"}}
    await drive.call("fault", method="chat.postMessage", fault="delay", seconds=1, **first_only)
    assert all(await asyncio.gather(caller.ok("first"), caller.ok("second")))
    assert await shown(drive, incidents) == ["second", "first"]


async def test_a_rule_counts_waits_its_turn_and_hits_whom_it_names(
    drive: Driver, caller: Caller, workspace: Workspace
) -> None:
    await drive.call("fault", method="chat.postMessage", fault="error", after=1, times=2)
    assert [await caller.ok() for _ in range(4)] == [True, False, False, True]
    await drive.call("fault", method="chat.postMessage", fault="error", arguments={"text": "this one"})
    assert [await caller.ok(text) for text in ("other", "this one", "this one")] == [True, False, True]
    await drive.call("fault", method="chat.postMessage", fault="error", who="people")
    assert await caller.ok()
    caller.headers = {"Authorization": f"Bearer {workspace.identity.people[0].token}"}
    assert [await caller.ok() for _ in range(2)] == [False, True]


async def test_rules_can_be_listed_and_cleared(drive: Driver, caller: Caller) -> None:
    for number in range(3):
        await drive.call("fault", method="chat.postMessage", fault="error", error=f"e{number}")
    listed = (await drive.get("fault"))["faults"]
    assert [rule["error"] for rule in listed] == ["e0", "e1", "e2"]
    where = f"{drive.url}/sim/fault"
    async with drive.session.delete(where, params={"id": listed[0]["id"]}) as answer:
        assert await answer.json() == {"ok": True, "cleared": 1}
    assert json.loads((await caller.post())[1])["error"] == "e1"
    async with drive.session.delete(where) as answer:
        assert (await answer.json())["cleared"] == 1
    assert await caller.ok()


@pytest.mark.parametrize(
    "body",
    [
        {"fault": "drop"},
        {"method": "chat.update", "fault": "drop"},
        {"event": "message", "fault": "reset_after"},
        {"event": "message", "method": "chat.update", "fault": "delay"},
        {"method": "chat.update", "fault": "status", "status": 200},
        {"method": "chat.update", "fault": "explode"},
    ],
)
async def test_a_rule_that_means_nothing_is_refused_in_words(drive: Driver, body: Json) -> None:
    refused = await drive.call("fault", **body)
    assert refused["error"] in ("invalid_fault", "invalid_body")
    assert refused["message"].endswith(".")


@pytest.mark.case("slack-18")
@pytest.mark.parametrize("limits", [IMPATIENT])
async def test_a_dropped_event_comes_again_as_a_retry(
    drive: Driver, workspace: Workspace, session: aiohttp.ClientSession, incidents: str
) -> None:
    await drive.call("fault", event="message", fault="drop")
    async with await raw_socket(workspace, session) as socket:
        await socket.receive_json()
        await drive.says("ana", incidents, "lost once")
        envelope = await asyncio.wait_for(socket.receive_json(), 5)
        assert (envelope["retry_attempt"], envelope["retry_reason"]) == (1, "timeout")


@pytest.mark.case("slack-17")
async def test_a_duplicated_event_comes_twice_with_one_event_id(
    drive: Driver, workspace: Workspace, session: aiohttp.ClientSession, incidents: str
) -> None:
    await drive.call("fault", event="message", fault="duplicate")
    async with await raw_socket(workspace, session) as socket:
        await socket.receive_json()
        await drive.says("ana", incidents, "twice")
        one, two = [await asyncio.wait_for(socket.receive_json(), 5) for _ in range(2)]
    assert one["payload"]["event_id"] == two["payload"]["event_id"]
    assert one["envelope_id"] != two["envelope_id"]
    assert (one["retry_attempt"], two["retry_attempt"]) == (0, 0), "neither is a redelivery"


async def test_an_event_comes_on_two_sockets(
    drive: Driver, workspace: Workspace, session: aiohttp.ClientSession, incidents: str
) -> None:
    await drive.call("fault", event="message", fault="twice")
    async with await raw_socket(workspace, session) as one, await raw_socket(workspace, session) as two:
        await one.receive_json()
        await two.receive_json()
        await drive.says("ana", incidents, "to both")
        both = [await asyncio.wait_for(each.receive_json(), 5) for each in (one, two)]
    assert len({each["payload"]["event_id"] for each in both}) == 1
    assert [each["retry_attempt"] for each in both] == [0, 0], "neither is a redelivery"


async def test_a_delayed_event_is_overtaken_by_the_next(
    drive: Driver, workspace: Workspace, incidents: str
) -> None:
    await drive.call("fault", event="message", fault="delay", seconds=1)
    async with running_bot(workspace) as bot:
        await drive.says("ana", incidents, "first")
        await drive.says("ana", incidents, "second")
        await bot.until(lambda: len(bot.events()) == 2)
        assert [body["event"]["text"] for body in bot.bodies] == ["second", "first"]


async def test_only_the_named_kind_of_event_is_hit(
    drive: Driver, workspace: Workspace, incidents: str
) -> None:
    await drive.call("fault", event="message.message_changed", fault="drop", times=9)
    async with running_bot(workspace) as bot:
        ts = (await bot.client.chat_postMessage(channel=incidents, text="a"))["ts"]
        await bot.client.chat_update(channel=incidents, ts=ts, text="b")
        await bot.client.chat_postMessage(channel=incidents, text="c")
        await bot.until(lambda: len(bot.events()) == 2)
        assert [event["text"] for event in bot.events()] == ["a", "c"]


async def test_the_examples_of_the_manual_run_as_they_stand(workspace: Workspace, incidents: str) -> None:
    manual = Path(__file__).parents[2] / "docs" / "simulator.md"
    examples = re.findall(r"```sh\n(.*?)```", manual.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) >= 4
    script = "\n".join(f"{example}\necho" for example in examples).replace("\ncurl", "\necho\ncurl")
    environment = {**os.environ, "WORKSPACE": workspace.url, "INCIDENTS": incidents}
    ran = await asyncio.to_thread(
        subprocess.run, ["bash", "-euc", script], env=environment, capture_output=True, text=True, timeout=30
    )
    answers = [json.loads(line) for line in ran.stdout.splitlines() if line.strip()]
    assert ran.returncode == 0, ran.stderr
    assert len(answers) == sum(example.count("curl ") for example in examples)
    assert all(answer["ok"] for answer in answers)
