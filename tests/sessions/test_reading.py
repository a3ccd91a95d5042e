"""Reading goes on record for who may decide, in time, once, and only after the last page; an approval waits for it."""

import asyncio
import json
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.event import DialogUsed
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.sealed_button import sealed_button
from chatops_bot.domain.view import Button, Buttons, Modal
from chatops_bot.sessions.reading import Reading
from tests.sessions.panel import ADAM, ANA, BEN, BUTTONS, SEALS, VERA, Board, Panel, People
from tests.small_tools import HOUR

AWAY = PlatformError("Slack is away.", "unreachable")
WHOLE = "x" * 9_500
"""A summary that takes two pages."""


def readers(proposal: Proposal) -> list[str]:
    return [one.person_id for one in proposal.read_by]


@dataclass
class Dialogs(Board):
    """A board that opens dialogs too; `trouble` is raised in place of one. `opened` is by trigger, `updated` by dialog."""

    trouble: PlatformError | None = None
    opened: list[tuple[str, Modal]] = field(default_factory=list)
    updated: list[tuple[str, Modal]] = field(default_factory=list)

    async def open_modal(self, trigger: str, modal: Modal) -> None:
        if self.trouble is not None:
            raise self.trouble
        self.opened.append((trigger, modal))

    async def update_modal(self, dialog: str, modal: Modal) -> None:
        if self.trouble is not None:
            raise self.trouble
        self.updated.append((dialog, modal))


@dataclass
class Room:
    """The panel with a reading over it."""

    panel: Panel
    dialogs: Dialogs
    reading: Reading

    async def long(self, text: str = WHOLE) -> Proposal:
        self.panel.switches.summary = text
        return await self.panel.propose()

    async def opened(self, person: Person, proposal: Proposal) -> Modal:
        event = replace(self.panel.event(person, proposal, "show"), trigger="trigger_1")
        await self.reading.open(event)
        return self.dialogs.opened[-1][1]

    async def press(
        self, person: Person, proposal: Proposal, control: str, value: str | None = None
    ) -> Modal | None:
        """A press in the dialog, as the platform tells of it: it knows no role there. What stands in the dialog after it."""
        before = len(self.dialogs.updated)
        sealed = sealed_button(BUTTONS, control, proposal.id, proposal.revision)
        nobody_yet = replace(person, role=Role.GUEST)
        await self.reading.press(
            DialogUsed(nobody_yet, control, sealed if value is None else value, "dialog_1")
        )
        if len(self.dialogs.updated) == before:
            return None
        ((dialog, modal),) = self.dialogs.updated[before:]
        assert dialog == "dialog_1"
        return modal


def reading_of(panel: Panel, dialogs: Dialogs, clock: ManualClock | None = None) -> Reading:
    return Reading(
        proposals=panel.store.proposals, platform=dialogs, directory=panel.people, policy=panel.policy, moves=panel.moves,
        cards=panel.one.cards, decisions=panel.one.decisions, redactor=panel.redactor, keys=[BUTTONS], seals=SEALS,
        clock=clock or panel.clock,
    )  # fmt: skip


@pytest.fixture
def room(panel: Panel) -> Room:
    dialogs = Dialogs()
    panel.board = dialogs
    panel.one = panel.process("process_1")
    return Room(panel, dialogs, reading_of(panel, dialogs))


def controls(modal: Modal | None) -> list[str]:
    assert modal is not None
    rows = [block for block in modal.blocks if isinstance(block, Buttons)]
    return [button.control for row in rows for button in row.buttons if isinstance(button, Button)]


async def test_show_all_opens_the_first_page_and_its_buttons_turn_to_the_others(room: Room):
    proposal = await room.long()
    first = await room.opened(ANA, proposal)
    assert (room.dialogs.opened[0][0], controls(first)) == ("trigger_1", ["page_2"])
    assert first.value == proposal.id
    last = await room.press(ANA, proposal, "page_2")
    assert controls(last) == ["page_1", "read"]
    assert await room.press(ANA, proposal, "page_1") == first
    assert (await room.panel.now(proposal)).read_by == ()


async def test_an_approval_counts_once_its_reading_is_on_record(room: Room):
    panel, proposal = room.panel, await room.long()
    assert (await panel.press(ANA, proposal)).state is ProposalState.PENDING
    recorded = str(await room.press(ANA, proposal, "read"))
    assert "Recorded: you have read all of it." in recorded
    now = await panel.now(proposal)
    assert (readers(now), now.state) == ([ANA.id], ProposalState.PENDING)
    assert "Read to the end by 1" in str(panel.board.cards[proposal.id])
    row = (await panel.rows(proposal))[-1]
    assert (row.decision, row.person_id, row.status) == ("read", ANA.id, "pending")
    assert json.loads(row.result)["digest"] == proposal.digest
    assert (await panel.press(BEN, proposal)).state is ProposalState.PENDING, "Ben has not read it"
    assert (await panel.press(ANA, proposal)).state is ProposalState.APPLIED


async def test_who_has_read_is_noted_once_and_is_not_asked_again(room: Room):
    proposal = await room.long()
    for _ in range(2):
        assert "Recorded" in str(await room.press(ANA, proposal, "read"))
    now = await room.panel.now(proposal)
    assert readers(now) == [ANA.id]
    assert controls(await room.press(ANA, now, "page_2")) == ["page_1"]
    assert controls(await room.press(BEN, now, "page_2")) == ["page_1", "read"]


async def test_two_who_come_to_the_end_at_once_are_both_on_record(room: Room):
    proposal = await room.long()
    await asyncio.gather(*(room.reading.press(_read(person, proposal)) for person in (ANA, BEN, ADAM)))
    assert sorted(readers(await room.panel.now(proposal))) == [ANA.id, BEN.id, ADAM.id]


def _read(person: Person, proposal: Proposal) -> DialogUsed:
    return DialogUsed(
        person, "read", sealed_button(BUTTONS, "read", proposal.id, 0), f"dialog of {person.id}"
    )


async def test_who_may_not_decide_turns_the_pages_and_leaves_no_mark(room: Room):
    proposal = await room.long()
    assert controls(await room.press(VERA, proposal, "page_2")) == ["page_1"]
    assert "nothing left to decide" in str(await room.press(VERA, proposal, "read"))
    assert await room.panel.now(proposal) == proposal


@pytest.mark.parametrize(("late", "is_recorded"), [(-1, True), (0, False), (1, False)])
async def test_a_reading_counts_until_the_change_expires(room: Room, late: int, is_recorded: bool):
    proposal = await room.long()
    room.panel.clock.advance(proposal.expires_at - room.panel.clock.now() + timedelta(seconds=late))
    assert controls(await room.press(ANA, proposal, "page_2")) == ["page_1", *(["read"] * is_recorded)]
    assert ("Recorded" in str(await room.press(ANA, proposal, "read"))) is is_recorded
    assert readers(await room.panel.now(proposal)) == ([ANA.id] if is_recorded else [])


async def test_by_a_slow_clock_a_reading_is_still_too_late(room: Room):
    proposal, slow = await room.long(), ManualClock(room.panel.clock.now())
    room.reading = reading_of(room.panel, room.dialogs, slow)
    room.panel.clock.advance(HOUR)
    async with asyncio.timeout(10):
        assert "nothing left to decide" in str(await room.press(ANA, proposal, "read"))
    assert (await room.panel.now(proposal)).read_by == ()


async def test_of_what_is_decided_nothing_is_recorded(room: Room):
    proposal = await room.long()
    await room.panel.press(BEN, proposal, "reject")
    assert controls(await room.press(ANA, proposal, "page_2")) == ["page_1"]
    assert "nothing left to decide" in str(await room.press(ANA, proposal, "read"))
    assert (await room.panel.now(proposal)).read_by == ()


@pytest.mark.parametrize("control", ["read", "page_2"])
@pytest.mark.parametrize("forged", ["", "x", "another press", "another key", "no proposal"])
async def test_a_press_that_is_not_ours_changes_nothing(room: Room, control: str, forged: str):
    proposal = await room.long()
    value = {
        "another press": sealed_button(BUTTONS, "approve", proposal.id, 0),
        "another key": sealed_button(b"another key", control, proposal.id, 0),
        "no proposal": sealed_button(BUTTONS, control, "prop_999", 0),
    }.get(forged, forged)
    assert await room.press(ANA, proposal, control, value) is None
    assert await room.panel.now(proposal) == proposal


@pytest.mark.parametrize("control", ["page_0", "page_x", "approve", "page_1234567", "xpage_1"])
async def test_a_sealed_press_that_a_dialog_does_not_have_shows_nothing(room: Room, control: str):
    proposal = await room.long()
    assert await room.press(ANA, proposal, control) is None


@pytest.mark.parametrize("control", ["read", "page_2"])
async def test_a_dialog_that_cannot_be_brought_up_to_date_is_no_failure(room: Room, control: str):
    proposal = await room.long()
    room.dialogs.trouble = AWAY
    assert await room.press(ANA, proposal, control) is None
    assert readers(await room.panel.now(proposal)) == ([ANA.id] if control == "read" else [])


async def test_who_presses_is_asked_for_in_the_channel_of_the_card(room: Room):
    proposal = await room.long()
    room.panel.people.fault = AWAY
    assert await room.press(ANA, proposal, "read") is None
    assert (await room.panel.now(proposal)).read_by == ()


async def test_pages_that_do_not_open_are_told_to_whom_pressed(room: Room):
    proposal = await room.long()
    room.dialogs.trouble = AWAY
    await room.reading.open(room.panel.event(VERA, proposal, "show"))
    assert room.panel.board.heard(VERA) == ["The whole could not be opened; press Show all once more."]


async def test_a_forged_show_all_opens_nothing(room: Room):
    proposal = await room.long()
    await room.reading.open(room.panel.event(ANA, proposal, "show", "x"))
    assert room.dialogs.opened == []
    assert "This button belongs to no proposal here" in room.panel.board.heard(ANA)[0]


# -- at a terminal ----------------------------------------------------------------------------------------------------


async def test_at_a_terminal_all_of_it_is_shown_once_and_goes_on_record(room: Room):
    proposal = await room.long(f"{WHOLE} hunter2-and-more")
    view = await room.reading.here(proposal, ANA)
    assert view is not None
    assert WHOLE in str(view)
    assert "hunter2" not in str(view)
    now = await room.panel.now(proposal)
    assert readers(now) == [ANA.id]
    assert await room.reading.here(now, ANA) is None
    assert await room.reading.here(now, BEN) is not None


@pytest.mark.parametrize("why", ["short", "viewer", "decided", "late", "decided meanwhile"])
async def test_at_a_terminal_nothing_is_shown_where_there_is_nothing_to_read_first(room: Room, why: str):
    panel, proposal = room.panel, await room.long("short" if why == "short" else WHOLE)
    if why.startswith("decided"):
        await panel.press(BEN, proposal, "reject")
    elif why == "late":
        panel.clock.advance(timedelta(minutes=61))
    before = await panel.now(proposal)
    stored = proposal if why == "decided meanwhile" else before
    assert await room.reading.here(stored, VERA if why == "viewer" else ANA) is None
    assert await panel.now(proposal) == before


async def test_what_is_decided_while_somebody_presses_records_no_reader(room: Room):
    panel, proposal = room.panel, await room.long()
    panel.people = Meanwhile(panel.people.known, panel=panel, proposal=proposal)
    room.reading = reading_of(panel, room.dialogs)
    assert "nothing left to decide" in str(await room.press(ANA, proposal, "read"))
    now = await panel.now(proposal)
    assert (now.state, now.read_by) == (ProposalState.REJECTED, ())


@dataclass
class Meanwhile(People):
    """Before it says who somebody is, Ben rejects the proposal."""

    panel: Panel = field(kw_only=True)
    proposal: Proposal = field(kw_only=True)

    async def person(self, user_id: str, channel: str = "", *, fresh: bool = False) -> Person:
        await self.panel.press(BEN, self.proposal, "reject")
        return await People.person(self, user_id, channel, fresh=fresh)
