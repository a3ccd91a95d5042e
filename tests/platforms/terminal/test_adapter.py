"""What only a terminal's threads do: one reader, who may come late, be slow, or go."""

import asyncio

import pytest

from chatops_bot.app.clock import CountingIds
from chatops_bot.domain.people import Role
from chatops_bot.domain.session import MessageRef
from chatops_bot.domain.view import Markdown, View
from chatops_bot.platforms.terminal.adapter import CHANNEL, REMEMBERED_MESSAGES, Seat, TerminalPlatform
from chatops_bot.platforms.terminal.frames import Shown, Whispered
from chatops_bot.platforms.terminal.people import LocalPeople, LocalRefused
from chatops_bot.ports import Place

PLACE = Place(CHANNEL, "t_1")


def view(text: str) -> View:
    return View((Markdown(text),), text)


@pytest.fixture
def platform(ids: CountingIds) -> TerminalPlatform:
    return TerminalPlatform(ids)


async def rest_of(seat: Seat) -> list[str]:
    """All that a seat still tells, after it is closed."""
    seat.close()
    async with asyncio.timeout(5):
        return [frame.view.fallback async for frame in seat.frames()]


async def test_a_slow_reader_sees_each_message_as_it_is_by_now_in_their_order(platform: TerminalPlatform):
    seat = platform.sit("t_1")
    one = await platform.post(PLACE, view("one"))
    await platform.post(PLACE, view("two"))
    platform.edit(one, view("one, edited"))
    await platform.whisper(PLACE, "local:oscar", view("psst"))
    await platform.finish(one, view("one, done"))
    await platform.whisper(PLACE, "local:oscar", view("psst"))
    assert await rest_of(seat) == ["one, done", "two", "psst", "psst"]


async def test_what_nobody_reads_is_not_kept_for_the_next_reader(platform: TerminalPlatform):
    ref = await platform.post(PLACE, view("unread"))
    await platform.whisper(PLACE, "local:oscar", view("unheard"))
    seat = platform.sit("t_1")
    assert platform.is_taken("t_1")
    await platform.post(Place(CHANNEL, "t_2"), view("of another thread"))
    await platform.finish(ref, view("seen now"))
    platform.leave("t_1")
    await platform.post(PLACE, view("after"))
    assert not platform.is_taken("t_1")
    assert await rest_of(seat) == ["seen now"]


async def test_frames_say_which_message_they_are_of(platform: TerminalPlatform):
    seat = platform.sit("t_1")
    ref = await platform.post(PLACE, view("one"))
    await platform.whisper(PLACE, "local:oscar", view("psst"))
    seat.close()
    assert [frame async for frame in seat.frames()] == [Shown(ref.id, view("one")), Whispered(view("psst"))]


async def test_a_message_of_an_earlier_process_is_posted_anew_in_its_thread(platform: TerminalPlatform):
    seat = platform.sit("t_1")
    platform.edit(MessageRef(CHANNEL, "t_1/message_9"), view("progress"))
    ref = await platform.finish(MessageRef(CHANNEL, "t_1/message_9"), view("final"))
    platform.edit(ref, view("too late"))
    assert await rest_of(seat) == ["final"]


async def test_a_message_without_a_thread_begins_one(platform: TerminalPlatform):
    ref = await platform.post(Place(CHANNEL), view("alert"), key="alert:1")
    assert await platform.find(Place(CHANNEL), "alert:1") == ref
    assert await platform.find(Place(CHANNEL), "") is None


async def test_memory_is_bounded(platform: TerminalPlatform):
    for number in range(REMEMBERED_MESSAGES + 1):
        await platform.post(PLACE, view("x"), key=str(number))
    assert await platform.find(PLACE, "0") is None
    assert await platform.find(PLACE, "1") is not None


# -- people ------------------------------------------------------------------------------------------------------------

PEOPLE = LocalPeople({"local:ana": Role.APPROVER, "U1": Role.ADMIN}, Role.OPERATOR)


def test_a_person_acts_with_what_was_given_or_less_never_with_more():
    assert PEOPLE.acting("oscar").role is Role.OPERATOR
    assert PEOPLE.acting("oscar", Role.VIEWER).role is Role.VIEWER
    assert PEOPLE.acting("ana", Role.APPROVER).role is Role.APPROVER
    assert PEOPLE.acting("ana").id == PEOPLE.acting("ana").name == "local:ana"
    for user, role in (("oscar", Role.APPROVER), ("oscar", Role.ADMIN), ("ana", Role.ADMIN)):
        with pytest.raises(
            LocalRefused, match=f"local:{user} may act as .* at most, not as {role}; local.role"
        ):
            PEOPLE.acting(user, role)


async def test_the_directory_knows_local_people_only():
    assert (await PEOPLE.person("local:ana")).role is Role.APPROVER
    assert (await PEOPLE.person("local:oscar")).role is Role.OPERATOR
    assert (await PEOPLE.person("U1")).role is Role.GUEST
