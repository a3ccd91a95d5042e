"""Heads of the audit are noted down in time, and a tail that was cut is told at the next start."""

import logging
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from chatops_bot.app.anchoring import ANCHOR_RECORDS, Anchoring, posting, read_anchors
from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.audit_chain import Head
from chatops_bot.domain.audit_check import Broken, verify
from chatops_bot.domain.errors import PlatformUnavailable
from chatops_bot.domain.session import MessageRef
from chatops_bot.domain.view import View
from chatops_bot.ports import Place
from chatops_bot.stores.sqlite import SqliteStore
from tests.audit_rows import read_rows
from tests.stores.test_sqlite_audit import KEY, a_record, the_database


@pytest.fixture
async def store(tmp_path: Path, clock: ManualClock) -> AsyncIterator[SqliteStore]:
    opened = await SqliteStore.open(tmp_path / "bot" / "bot.db", clock, KEY)
    yield opened
    await opened.aclose()


def noted(path: Path) -> list[int]:
    return [head.seq for head in read_anchors(path.read_text().splitlines())] if path.exists() else []


async def recorded(store: SqliteStore, clock: ManualClock, count: int) -> None:
    for number in range(count):
        await store.audit.record(a_record(clock, number))


async def test_a_head_is_noted_down_once_there_are_64_records(
    store: SqliteStore, clock: ManualClock, tmp_path: Path
):
    path = tmp_path / "elsewhere" / "anchors"
    anchoring = Anchoring(store.audit, clock, path)
    await recorded(store, clock, ANCHOR_RECORDS - 1)
    await anchoring.look()
    assert noted(path) == []
    await recorded(store, clock, 1)
    await anchoring.look()
    await anchoring.look()
    assert noted(path) == [64]
    assert path.read_text().startswith("2026-03-02T14:32:00+00:00 64 ")
    assert path.stat().st_mode & 0o777 == 0o600


async def test_a_head_is_noted_down_after_60_seconds_if_it_is_another(
    store: SqliteStore, clock: ManualClock, tmp_path: Path
):
    path = tmp_path / "anchors"
    anchoring = Anchoring(store.audit, clock, path)
    await recorded(store, clock, 1)
    clock.advance(timedelta(seconds=59))
    await anchoring.look()
    assert noted(path) == []
    clock.advance(timedelta(seconds=1))
    await anchoring.look()
    clock.advance(timedelta(seconds=120))
    await anchoring.look()
    assert noted(path) == [1], "nothing new was recorded"
    await recorded(store, clock, 1)
    await anchoring.look()
    assert noted(path) == [1, 2], "the last note is long ago"
    await recorded(store, clock, 1)
    await anchoring.look()
    assert noted(path) == [1, 2]


async def test_the_last_head_is_noted_down_at_the_end(store: SqliteStore, clock: ManualClock, tmp_path: Path):
    path = tmp_path / "anchors"
    anchoring = Anchoring(store.audit, clock, path)
    await anchoring.end()
    assert not path.exists(), "there is nothing to note down"
    await recorded(store, clock, 3)
    await anchoring.end()
    await anchoring.end()
    assert noted(path) == [3]


async def test_a_line_that_a_crash_cut_off_spoils_no_other(
    store: SqliteStore, clock: ManualClock, tmp_path: Path
):
    path = tmp_path / "anchors"
    path.write_text("2026-03-02T14:32:00+00:00 64 5ab0")
    await recorded(store, clock, 1)
    await Anchoring(store.audit, clock, path).end()
    assert noted(path) == [1]


async def test_a_tail_that_was_cut_while_the_bot_was_away_is_told_at_its_start_and_stays_broken(
    store: SqliteStore, clock: ManualClock, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    path, database = tmp_path / "anchors", tmp_path / "bot" / "bot.db"
    await recorded(store, clock, 5)
    await Anchoring(store.audit, clock, path).end()
    anchoring = Anchoring(store.audit, clock, path)
    await anchoring.begin()
    assert caplog.text == ""
    with the_database(database) as db:
        db.execute("DELETE FROM audit WHERE seq > 3")
    await anchoring.begin()
    assert "the audit does not hold record 5 as" in caplog.text
    assert "look with `chatops-bot audit verify`" in caplog.text
    await recorded(store, clock, 4)  # it goes on, and hides nothing by that
    await anchoring.end()
    found = verify([KEY], read_rows(database), read_anchors(path.read_text().splitlines()))
    assert isinstance(found, Broken)
    assert (found.seq, found.wrong) == (5, "not_as_anchored")


async def test_a_key_that_is_lost_is_told_at_the_start(
    store: SqliteStore, clock: ManualClock, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    anchoring = Anchoring(store.audit, clock, tmp_path / "anchors")
    await anchoring.begin(["another"])
    await recorded(store, clock, 1)
    await anchoring.begin(["another", KEY.id])
    assert caplog.text == ""
    await anchoring.begin(["another"])
    assert f"was sealed with a key that this bot does not have ({KEY.id})" in caplog.text


async def test_a_place_that_takes_no_note_is_told_once_and_tried_again(
    store: SqliteStore, clock: ManualClock, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    path = tmp_path / "folder" / "anchors"
    path.parent.write_text("a file where the folder belongs")
    anchoring = Anchoring(store.audit, clock, path)
    await recorded(store, clock, 64)
    await anchoring.look()
    await anchoring.look()
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert f"the head of the audit could not be noted down in {path}" in caplog.text
    path.parent.unlink()
    await anchoring.look()
    assert noted(path) == [64]


class _Channel:
    """Takes posts, or fails."""

    def __init__(self) -> None:
        self.posts: list[tuple[str, str]] = []
        self.is_down = False

    async def post(self, place: Place, view: View, key: str = "") -> MessageRef:
        if self.is_down:
            raise PlatformUnavailable("Slack does not answer.")
        self.posts.append((place.channel, view.fallback))
        return MessageRef(place.channel, str(len(self.posts)))


async def _mine() -> bool:
    return True


async def test_each_noted_head_is_posted_too_and_a_post_that_fails_stops_nothing(
    store: SqliteStore, clock: ManualClock, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    path, channel = tmp_path / "anchors", _Channel()
    anchoring = Anchoring(store.audit, clock, path, posting(channel, "C9", _mine))  # type: ignore[arg-type]  # only its posts are used
    await recorded(store, clock, 1)
    await anchoring.end()
    head = await store.audit.head()
    assert channel.posts == [("C9", f"audit head 1:{head.mac}")]
    channel.is_down = True
    await recorded(store, clock, 1)
    await anchoring.end()
    assert "the head of the audit could not be posted: Slack does not answer." in caplog.text
    assert noted(path) == [1, 2]


def test_what_is_no_line_of_an_anchor_file_is_left_out():
    mac = "a" * 64
    lines = ["", f"now 7 {mac}", f"now 7 {mac[:-1]}", f"now 0 {mac}", f"7 {mac}", f"now 8 {mac} more", "\x00"]
    assert [*read_anchors(lines)] == [Head(7, mac)]
