"""What an answer says of a thread that was read in part or not at all, as its session remembers it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.thread import EarlierMessage, ThreadExcerpt
from chatops_bot.sessions.memory import ThreadMemory
from tests.small_tools import SESSION

AT = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)
READ = tuple(EarlierMessage("Ana", AT, f"message {number}") for number in range(3))


@dataclass
class Thread:
    """A platform that gives `excerpt`, or refuses with a code."""

    excerpt: ThreadExcerpt | str

    async def earlier(self, *_: Any) -> ThreadExcerpt:
        if isinstance(self.excerpt, str):
            raise PlatformError("refused", self.excerpt)
        return self.excerpt


async def recalled(excerpt: ThreadExcerpt | str, clock: ManualClock) -> Any:
    platform: Any = Thread(excerpt)
    return await ThreadMemory(platform, Redactor(), clock).recall(SESSION, "turn_1", "1700000000.000100", [])


async def test_a_thread_of_which_slack_gave_a_part_is_said_to_be_that(clock: ManualClock):
    read, notice = await recalled(ThreadExcerpt(READ, 40, is_partial=True), clock)
    assert (read.messages, read.left_out) == (READ, 40)
    assert notice.en.startswith(
        "Only a part of this thread's earlier messages could be read (3; about 40 more"
    )
    assert "只读到一部分（3 条" in notice.zh


async def test_a_thread_that_is_only_too_long_is_not(clock: ManualClock):
    read, notice = await recalled(ThreadExcerpt(READ, 40), clock)
    assert (read.left_out, notice) == (40, None)


@pytest.mark.parametrize("code", ["missing_scope", "not_in_channel", "ratelimited", "odd_error"])
async def test_why_nothing_was_read_is_said_and_kept(clock: ManualClock, code: str):
    read, notice = await recalled(code, clock)
    assert (read.messages, read.problem) == ((), code)
    assert "could not be read, so the answer does not know them" in notice.en
