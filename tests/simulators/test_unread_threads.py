"""Threads that wait for a person: those they wrote in, and those that name them, until they are read."""

from typing import Any

from chatops_bot.simulators.slack.server import Workspace
from tests.simulators.conftest import Driver


async def waiting(drive: Driver, person: str) -> list[tuple[str, int, int]]:
    threads: list[dict[str, Any]] = (await drive.get("state", person=person))["threads"]
    return [(thread["html"], thread["unread"], thread["mentions"]) for thread in threads]


async def test_a_thread_waits_for_those_who_wrote_in_it_and_for_those_it_names(
    drive: Driver, incidents: str
) -> None:
    root = await drive.says("oscar", incidents, "why *so* slow?")
    await drive.says("vera", incidents, "no idea", thread_ts=root)
    last = await drive.says("vera", incidents, "@ana may know", thread_ts=root)
    assert await waiting(drive, "oscar") == [("why <strong>so</strong> slow?", 2, 0)]
    assert await waiting(drive, "ana") == [("why <strong>so</strong> slow?", 1, 1)]
    assert await waiting(drive, "vera") == await waiting(drive, "adam") == []

    await drive.call("read", person="oscar", channel=incidents, ts=last)
    assert len(await waiting(drive, "oscar")) == 1  # the channel was read, not the thread
    await drive.call("read", person="oscar", channel=incidents, ts=last, thread_ts=root)
    assert await waiting(drive, "oscar") == []
    assert len(await waiting(drive, "ana")) == 1
    await drive.says("ana", incidents, "I do", thread_ts=root)
    assert await waiting(drive, "ana") == []
    assert [unread for _, unread, _ in await waiting(drive, "oscar")] == [1]


async def test_a_mention_in_a_thread_counts_there_and_not_in_its_channel(
    drive: Driver, incidents: str, workspace: Workspace
) -> None:
    root = await drive.says("oscar", incidents, "root")
    await drive.says("vera", incidents, "@ana look", thread_ts=root)
    channels = (await drive.get("state", person="ana"))["channels"]
    shown = next(channel for channel in channels if channel["id"] == incidents)
    assert (shown["unread"], shown["mentions"]) == (1, 0)
