"""The contract of `ports.Platform`, kept by every twin.

A twin tells how to make a platform, a thread on it, and how to read back what stands there now: each message as text, in
order, and what was whispered to one person.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from chatops_bot.app.clock import RandomIds, SystemClock
from chatops_bot.domain.session import MessageRef
from chatops_bot.domain.view import Button, Buttons, Heading, Markdown, View
from chatops_bot.platforms.slack.adapter import SlackPlatform
from chatops_bot.platforms.terminal.adapter import CHANNEL, TerminalPlatform
from chatops_bot.platforms.terminal.frames import Shown
from chatops_bot.ports import Place, Platform
from chatops_bot.rendering.pacing import Pace
from chatops_bot.simulators.slack import Workspace

DEADLINE = 10.0
QUICK = Pace(first_after=0.01, per_message=0.02, spacing=0.02)


@dataclass(frozen=True)
class Twin:
    platform: Platform
    place: Place
    elsewhere: Place
    person_id: str
    read: Callable[[], Awaitable[list[str]]]
    """The fallback text of every message that the platform put into `place`, as it stands now."""
    versions: Callable[[MessageRef], Awaitable[list[str]]]
    """Every text that a message ever showed, oldest first."""
    whispers: Callable[[], Awaitable[list[str]]]


@asynccontextmanager
async def slack(folder: Path) -> AsyncIterator[Twin]:
    async with Workspace.start(folder / "workspace") as workspace, aiohttp.ClientSession() as session:
        ready = workspace.ready()
        channel, person = ready["channels"]["incidents"], ready["people"]["oscar"]
        platform = SlackPlatform(
            session, SystemClock(), RandomIds(), bot_token=ready["bot_token"], app_token=ready["app_token"],
            base_url=workspace.api_url, pace=QUICK,
        )  # fmt: skip

        async def call(method: str, **arguments: str) -> dict[str, object]:
            headers = {"Authorization": f"Bearer {person['token']}"}
            url = f"{workspace.api_url}{method}"
            async with session.post(url, data=arguments, headers=headers) as response:
                return dict(await response.json())

        async def look(path: str, **query: str) -> list[str]:
            async with session.get(f"{workspace.url}/sim/{path}", params=query) as response:
                return [one["text"] for one in (await response.json())[path]]

        async def read() -> list[str]:
            replies = await call("conversations.replies", channel=channel, ts=root)
            return [message["text"] for message in replies["messages"]][1:]  # type: ignore[attr-defined]

        root = str((await call("chat.postMessage", channel=channel, text="first"))["ts"])
        other = str((await call("chat.postMessage", channel=channel, text="second"))["ts"])
        yield Twin(
            platform, Place(channel, root), Place(channel, other), person["id"], read,
            lambda ref: look("versions", channel=ref.channel, ts=ref.id),
            lambda: look("ephemerals", person="oscar"),
        )  # fmt: skip
        await platform.aclose()


@asynccontextmanager
async def terminal(folder: Path) -> AsyncIterator[Twin]:
    platform = TerminalPlatform(RandomIds())
    shown: list[tuple[str, str]] = []
    whispered: list[str] = []
    seat = platform.sit("t_1")

    async def watch() -> None:
        async for frame in seat.frames():
            if isinstance(frame, Shown):
                shown.append((frame.message, frame.view.fallback))
            else:
                whispered.append(frame.view.fallback)

    async def settled() -> None:
        for _ in range(3):
            await asyncio.sleep(0)

    async def read() -> list[str]:
        await settled()
        return list(dict(shown).values())

    async def versions(ref: MessageRef) -> list[str]:
        await settled()
        return [text for message, text in shown if message == ref.id]

    async def whispers() -> list[str]:
        await settled()
        return whispered

    watching = asyncio.create_task(watch())
    yield Twin(
        platform, Place(CHANNEL, "t_1"), Place(CHANNEL, "t_2"), "local:oscar", read, versions, whispers
    )
    seat.close()
    platform.leave("t_1")
    await asyncio.wait_for(watching, DEADLINE)


TWINS: dict[str, Callable[[Path], AbstractAsyncContextManager[Twin]]] = {"slack": slack, "terminal": terminal}


@pytest.fixture(params=TWINS)
async def twin(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Twin]:
    async with TWINS[request.param](tmp_path) as made:
        yield made


def view(text: str) -> View:
    return View((Markdown(text), Buttons((Button("stop", "Stop", "turn_1"),))), text)


async def until(read: Callable[[], Awaitable[list[str]]], wanted: list[str]) -> None:
    async with asyncio.timeout(DEADLINE):
        while await read() != wanted:  # noqa: ASYNC110  # the world outside only tells when asked
            await asyncio.sleep(0.01)


async def test_a_post_stands_there_once(twin: Twin):
    ref = await twin.platform.post(twin.place, view("hello"), key="turn_1:0")
    assert ref.channel == twin.place.channel
    assert await twin.read() == ["hello"]


async def test_a_message_is_found_by_its_key_where_it_was_posted_and_nowhere_else(twin: Twin):
    ref = await twin.platform.post(twin.place, view("hello"), key="turn_1:0")
    await twin.platform.post(twin.place, view("more"), key="turn_1:1")
    assert await twin.platform.find(twin.place, "turn_1:0") == ref
    assert await twin.platform.find(twin.place, "turn_2:0") is None
    assert await twin.platform.find(twin.elsewhere, "turn_1:0") is None


async def test_messages_without_a_key_are_not_mistaken_for_each_other(twin: Twin):
    first = await twin.platform.post(twin.place, view("one"))
    second = await twin.platform.post(twin.place, view("two"))
    assert first != second
    assert await twin.read() == ["one", "two"]


async def test_of_many_edits_the_newest_lands_and_none_after_it(twin: Twin):
    ref = await twin.platform.post(twin.place, view("0"))
    for number in range(1, 51):
        twin.platform.edit(ref, view(str(number)))
    await until(twin.read, ["50"])
    seen = [int(text) for text in await twin.versions(ref)]
    assert seen == sorted(set(seen))
    assert len(seen) <= 4


async def test_nothing_lands_after_the_final_edit(twin: Twin):
    ref = await twin.platform.post(twin.place, view("0"))
    twin.platform.edit(ref, view("1"))
    assert await twin.platform.finish(ref, view("final")) == ref
    twin.platform.edit(ref, view("too late"))
    await asyncio.sleep(0.1)  # longer than the pace of edits: nothing tells of an edit that does not come
    assert await twin.read() == ["final"]
    assert (await twin.versions(ref))[-1] == "final"


async def test_a_final_edit_may_come_again(twin: Twin):
    """A card is brought to each of its states with a final edit."""
    ref = await twin.platform.post(twin.place, View((Heading("Approval needed"),), "Approval needed"))
    await twin.platform.finish(ref, View((Heading("Running"),), "Running"))
    assert await twin.platform.finish(ref, View((Heading("Done"),), "Done")) == ref
    assert await twin.read() == ["Done"]


async def test_an_edit_of_one_message_leaves_the_others(twin: Twin):
    first = await twin.platform.post(twin.place, view("one"))
    await twin.platform.post(twin.place, view("two"))
    await twin.platform.finish(first, view("one, done"))
    assert await twin.read() == ["one, done", "two"]


async def test_a_whisper_reaches_the_person_and_is_no_message(twin: Twin):
    await twin.platform.whisper(twin.place, twin.person_id, view("not allowed"))
    await until(twin.whispers, ["not allowed"])
    assert await twin.read() == []


async def test_limits_are_told(twin: Twin):
    assert twin.platform.limits.text_chars >= 1_000
    assert twin.platform.limits.edit_interval >= 0
