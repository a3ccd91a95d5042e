"""Payloads as they come from Slack: what is handed on, in which order, and what is not."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from chatops_bot.domain.errors import PlatformError, StoreError
from chatops_bot.domain.event import DialogUsed, MessageReceived, ModalSubmitted
from chatops_bot.domain.people import Role
from chatops_bot.domain.roster import Roster
from chatops_bot.domain.view import View
from chatops_bot.platforms.slack.api import Identity
from chatops_bot.platforms.slack.directory import SlackDirectory
from chatops_bot.platforms.slack.inbound import OnEvent, SlackInbound
from chatops_bot.ports import Place
from chatops_bot.sessions.commands import parse_command
from tests.platforms.slack.conftest import RealClock, Recorder, http_429, waits_for

Json = dict[str, Any]


@pytest.fixture
def whispers() -> Recorder:
    return Recorder()


@pytest.fixture
async def inbound(api, slack, events: Recorder, whispers: Recorder) -> AsyncIterator[SlackInbound]:
    slack.users["U1"] = {"id": "U1", "team_id": "T1", "name": "ana"}
    slack.users["U2"] = {"id": "U2", "team_id": "T1", "name": "oscar"}

    async def whisper(place: Place, person_id: str, view: View) -> None:
        await whispers.add((place, person_id, view.fallback))

    directory = SlackDirectory(api, RealClock(), Roster({"U1": Role.ADMIN}))
    made = SlackInbound(Identity("T1", "UBOT", "BBOT"), directory, whisper, events.add)
    yield made
    await made.drain()


@pytest.fixture
def inbound_of(api, slack, whispers: Recorder) -> Callable[[OnEvent], SlackInbound]:
    """The way in with another end than `events`."""
    slack.users["U1"] = {"id": "U1", "team_id": "T1", "name": "ana"}

    async def whisper(place: Place, person_id: str, view: View) -> None:
        await whispers.add((place, person_id, view.fallback))

    def make(on_event: OnEvent) -> SlackInbound:
        directory = SlackDirectory(api, RealClock(), Roster())
        return SlackInbound(Identity("T1", "UBOT", "BBOT"), directory, whisper, on_event)

    return make


def message(text: str = "hello", **fields: Any) -> Json:
    event = {"type": "message", "channel": "C1", "user": "U1", "ts": "5.1", "text": text, **fields}
    return {
        "type": "event_callback",
        "event": {name: value for name, value in event.items() if value is not None},
    }


def click(action_id: str, **fields: Any) -> Json:
    container = {"channel_id": "C1", "message_ts": "6.1", "thread_ts": "5.1"}
    actions = [{"action_id": action_id, "value": "v"}]
    return {
        "type": "block_actions",
        "user": {"id": "U1"},
        "container": container,
        "actions": actions,
        **fields,
    }


@pytest.mark.case("slack-49")
@pytest.mark.parametrize(
    "fields",
    [
        {"user": "UBOT"},
        {"user": "UBOT", "bot_id": "BBOT"},
        {"user": "U7", "bot_id": "B7"},
        {"user": "U7", "app_id": "A7"},
        {"user": "USLACKBOT"},
        {"user": None},
        {"subtype": "bot_message", "user": None, "bot_id": "B7"},
        {"subtype": "message_changed"},
        {"subtype": "message_deleted"},
        {"subtype": "channel_join"},
        {"type": "reaction_added"},
        {"ts": None},
    ],
)
async def test_bots_edits_and_notices_hand_on_nothing(inbound, events, fields):
    inbound.receive(message(**fields))
    await inbound.drain()
    assert events.items == []


@pytest.mark.parametrize("subtype", [None, "thread_broadcast", "file_share"])
async def test_new_messages_of_people_are_handed_on(inbound, events, subtype):
    inbound.receive(message(subtype=subtype, thread_ts="4.1", files=[{"id": "F1"}]))
    await inbound.drain()
    (event,) = events.items
    assert (event.session.thread, event.message_id, event.has_attachments) == ("4.1", "5.1", True)


@pytest.mark.parametrize(("text", "own"), [("", ""), (None, ""), (" ", ""), ("look", "look")])
async def test_what_a_person_forwards_is_not_taken_for_their_own_words(inbound, events, text, own):
    command = {"type": "section", "text": {"type": "mrkdwn", "text": "<@UBOT> approve ABC234"}}
    forwarded = {"text": "approve ABC234", "fallback": "approve ABC234", "blocks": [command]}
    inbound.receive(message(text=text, attachments=[forwarded], blocks=[command]))
    await inbound.drain()
    (event,) = events.items
    assert (event.text, event.mentions_bot, event.has_attachments) == (own, False, True)


@pytest.mark.case("hitl-C43")
async def test_what_somebody_is_called_is_not_taken_for_the_words_of_who_mentions_them(
    inbound, events, slack
):
    slack.users["U9"] = {"id": "U9", "team_id": "T1", "name": "approve ABC234"}
    inbound.receive(message("<@UBOT> <@U9>"))
    await inbound.drain()
    (event,) = events.items
    assert (event.text, event.mentioned) == ("@U9", {"U9": "approve ABC234"})
    assert parse_command(event.text) is None


async def test_messages_of_a_thread_keep_their_order_however_slow_a_lookup_is(inbound, events, slack):
    answered = asyncio.Event()
    slack.fault("users.info", waits_for(answered))
    inbound.receive(message("first", thread_ts="4.1"))
    await slack.calls.until(lambda calls: len(calls) == 1)
    inbound.receive(message("second", ts="5.2", thread_ts="4.1", user="U2"))
    inbound.receive(message("elsewhere", ts="5.3", thread_ts="4.9", user="U2"))
    await events.until(lambda items: [event.text for event in items] == ["elsewhere"])
    answered.set()
    await inbound.drain()
    assert [event.text for event in events.items] == ["elsewhere", "first", "second"]


async def test_a_message_waits_until_the_one_before_was_handed_on_even_past_a_failed_lookup(
    api, slack, events, whispers
):
    began, go_on = asyncio.Event(), asyncio.Event()

    async def on_event(event: Any) -> None:
        if event.text == "first":
            began.set()
            await asyncio.wait_for(go_on.wait(), 5)
        await events.add(event.text)

    async def whisper(place: Place, person_id: str, _view: View) -> None:
        await whispers.add((place, person_id))
        await asyncio.Event().wait()

    slack.users["U1"] = {"id": "U1", "team_id": "T1", "name": "ana"}
    inbound = SlackInbound(
        Identity("T1", "UBOT", "BBOT"), SlackDirectory(api, RealClock(), Roster()), whisper, on_event
    )
    inbound.receive(message("first", thread_ts="4.1"))
    await asyncio.wait_for(began.wait(), 5)
    slack.fault("users.info", http_429(30))
    inbound.receive(message("of nobody", ts="5.2", thread_ts="4.1", user="U2"))
    inbound.receive(message("third", ts="5.3", thread_ts="4.1"))
    inbound.receive(message("elsewhere", ts="5.4", thread_ts="4.9"))
    inbound.receive(message("elsewhere still", ts="5.5", thread_ts="4.9"))
    assert await events.until(lambda items: len(items) == 2) == ["elsewhere", "elsewhere still"]
    go_on.set()
    assert (await events.until(lambda items: len(items) == 4))[2:] == ["first", "third"]
    assert await whispers.until(lambda items: items) == [(Place("C1", "4.1"), "U2")]
    await inbound.drain(grace=0.01)


async def test_a_slow_click_holds_up_no_message_and_no_other_click(inbound_of, slack):
    handled: list[str] = []
    go_on = asyncio.Event()

    async def on_event(event: Any) -> None:
        if isinstance(event, MessageReceived):
            handled.append(event.text)
        elif event.control == "approve":
            await asyncio.wait_for(go_on.wait(), 5)
        else:
            handled.append(event.control)
        if len(handled) == 2:
            go_on.set()

    inbound = inbound_of(on_event)
    inbound.receive(click("approve"))
    inbound.receive(message("hello", ts="5.2", thread_ts="5.1"))
    inbound.receive(click("stop"))
    await inbound.drain()
    assert sorted(handled) == ["hello", "stop"]
    assert go_on.is_set()


async def test_a_slow_turn_holds_up_no_click(api, slack):
    stopped = asyncio.Event()

    async def on_event(event: Any) -> None:
        if isinstance(event, MessageReceived):
            await asyncio.wait_for(stopped.wait(), 5)
        else:
            stopped.set()

    async def whisper(*_: Any) -> None:
        raise AssertionError("nobody is told anything")

    slack.users["U1"] = {"id": "U1", "team_id": "T1", "name": "ana"}
    inbound = SlackInbound(
        Identity("T1", "UBOT", "BBOT"), SlackDirectory(api, RealClock(), Roster()), whisper, on_event
    )
    inbound.receive(message(thread_ts="5.1", ts="5.3"))
    inbound.receive(click("stop"))
    await inbound.drain()
    assert stopped.is_set()


async def test_a_control_is_named_without_its_number(inbound, events):
    inbound.receive(click("followup:2"))
    await inbound.drain()
    (event,) = events.items
    assert (event.control, event.value, event.session.thread, event.message.id) == (
        "followup",
        "v",
        "5.1",
        "6.1",
    )


@pytest.mark.case("slack-63")
@pytest.mark.parametrize(
    "body", [click("ancient"), click("x", actions=[]), click("x", actions=[{"type": "button"}])]
)
async def test_unknown_and_malformed_controls_are_explained(inbound, events, whispers, body):
    inbound.receive(body)
    await inbound.drain()
    ((place, person, text),) = whispers.items
    assert (place, person) == (Place("C1", "5.1"), "U1")
    assert "no longer valid" in text
    assert events.items == []


async def test_an_interaction_from_nowhere_is_let_go(inbound, events, whispers):
    inbound.receive({"type": "block_actions"})
    inbound.receive({"type": "view_submission"})
    inbound.receive({})
    await inbound.drain()
    assert events.items == whispers.items == []


async def test_a_person_whom_slack_cannot_name_is_told_so(inbound, events, whispers, slack):
    slack.fault("users.info", http_429(30))
    inbound.receive(message())
    await inbound.drain()
    assert "Slack cannot say who you are" in whispers.items[0][2]
    assert events.items == []


@pytest.mark.parametrize("error", [RuntimeError("broken"), PlatformError("refused")])
async def test_a_click_that_fails_is_logged_and_its_person_told(inbound_of, whispers, caplog, error):
    async def on_event(_event: Any) -> None:
        raise error

    inbound = inbound_of(on_event)
    inbound.receive(click("approve"))
    await inbound.drain()
    ((place, person, text),) = whispers.items
    assert (place, person) == (Place("C1", "5.1"), "U1")
    assert "请查看卡片" in text
    assert "nothing was decided that the card does not show" in text
    assert str(error) not in text
    assert "An event was not handled to its end." in caplog.text


async def test_an_event_that_fails_is_logged_and_the_next_one_works(api, slack, caplog):
    async def on_event(_event: Any) -> None:
        raise RuntimeError("broken")

    async def whisper(*_: Any) -> None:
        return None

    slack.users["U1"] = {"id": "U1", "team_id": "T1", "name": "ana"}
    inbound = SlackInbound(
        Identity("T1", "UBOT", "BBOT"), SlackDirectory(api, RealClock(), Roster()), whisper, on_event
    )
    inbound.receive(message())
    inbound.receive(message(ts="5.2"))
    await inbound.drain()
    assert caplog.text.count("An event was not handled to its end.") == 2


def submission(**values: Any) -> Json:
    state = {f"block.{name}": {f"input:{name}": element} for name, element in values.items()}
    view = {"private_metadata": "form_1", "callback_id": "form", "state": {"values": state}}
    return {"type": "view_submission", "user": {"id": "U1"}, "view": view}


TYPED = {"type": "plain_text_input", "value": "a <b> & c"}
CHOSEN = {
    "type": "static_select",
    "selected_option": {"text": {"type": "plain_text", "text": "x"}, "value": "3"},
}
SEVERAL = {"type": "multi_static_select", "selected_options": [{"value": "0"}, {"value": "2"}]}
EMPTY = {"type": "static_select", "selected_option": None}


async def test_a_click_brings_along_what_the_inputs_beside_it_hold(inbound, events: Recorder):
    body = {
        "type": "block_actions", "user": {"id": "U1"}, "trigger_id": "trigger-1",
        "container": {"channel_id": "C1", "message_ts": "5.1", "thread_ts": "4.1"},
        "state": {"values": {"b1": {"input:name": TYPED}, "b2": {"input:type": CHOSEN}, "b3": {"input:hosts": SEVERAL},
                             "b4": {"input:none": EMPTY}, "b5": {"other": CHOSEN}}},
        "actions": [{"action_id": "form_submit", "value": "form_1"}],
    }  # fmt: skip
    inbound.receive(body)
    (event,) = await events.until(lambda items: items)
    assert (event.control, event.value, event.trigger) == ("form_submit", "form_1", "trigger-1")
    assert event.inputs == {"name": ("a <b> & c",), "type": ("3",), "hosts": ("0", "2"), "none": ()}


async def nobody_is_told(place: Place, person_id: str, view: View) -> None:
    raise AssertionError("nobody is told anything")


async def test_a_dialog_that_is_not_checked_in_time_stays_open_with_what_was_typed(api, slack):
    slack.users["U1"] = {"id": "U1", "team_id": "T1", "name": "ana"}
    go_on = asyncio.Event()
    taken: list[ModalSubmitted] = []

    async def on_modal(event: ModalSubmitted) -> dict[str, str]:
        await asyncio.wait_for(go_on.wait(), 5)
        taken.append(event)
        return {}

    directory = SlackDirectory(api, RealClock(), Roster())
    made = SlackInbound(
        Identity("T1", "UBOT", "BBOT"), directory, nobody_is_told, Recorder().add, on_modal, modal_seconds=0.05
    )  # fmt: skip
    answer = made.receive(submission(name=TYPED, type=CHOSEN))
    assert answer is not None
    kept_open = await answer
    assert kept_open["response_action"] == "errors"
    assert list(kept_open["errors"]) == ["block.name"]
    assert "Not checked yet" in kept_open["errors"]["block.name"]
    assert taken == []
    go_on.set()
    await made.drain()
    assert len(taken) == 1, "what was sent off is judged to its end all the same"


@pytest.mark.parametrize("broken", [{"user": None}, {"view": {"state": {"values": {"block.name": "?"}}}}])
async def test_a_dialog_that_cannot_be_read_stays_open_with_what_was_typed(inbound, broken: Json):
    answer = inbound.receive({**submission(name=TYPED), **broken})
    assert "cannot read what Slack sent" in (await answer)["errors"]["block.name"]


async def test_a_dialog_is_acknowledged_with_what_is_wrong_at_its_fields(api, slack, whispers: Recorder):
    slack.users["U1"] = {"id": "U1", "team_id": "T1", "name": "ana"}
    taken: list[ModalSubmitted] = []

    async def on_modal(event: ModalSubmitted) -> dict[str, str]:
        taken.append(event)
        if event.inputs["name"] == ("boom",):
            raise StoreError("The disk is full.")
        return {"name": "Taken already."} if event.inputs["name"] else {}

    async def whisper(place: Place, person_id: str, view: View) -> None:
        await whispers.add((place, person_id, view.fallback))

    directory = SlackDirectory(api, RealClock(), Roster({"U1": Role.ADMIN}))
    made = SlackInbound(Identity("T1", "UBOT", "BBOT"), directory, whisper, Recorder().add, on_modal)
    answer = made.receive(submission(name=TYPED))
    assert answer is not None
    assert await answer == {"response_action": "errors", "errors": {"block.name": "Taken already."}}
    accepted = made.receive(submission(name={"type": "plain_text_input", "value": None}))
    assert accepted is not None
    assert await accepted == {}
    failed = made.receive(submission(name={"type": "plain_text_input", "value": "boom"}))
    assert failed is not None
    assert "nothing was sent" in (await failed)["errors"]["block.name"], "the dialog stays open"
    unreadable = made.receive({"type": "view_submission"})
    assert unreadable is not None
    assert await unreadable == {}
    assert [(event.person.role, event.value) for event in taken] == [(Role.ADMIN, "form_1")] * 3
    await made.drain()


def press(**fields: Any) -> Json:
    """A press of a button inside a dialog, as Slack sends it."""
    return {
        "type": "block_actions",
        "user": {"id": "U1"},
        "container": {"type": "view", "view_id": "V1"},
        "view": {"id": "V1", "private_metadata": "prop_1"},
        "actions": [{"action_id": "page_2", "value": "prop_1.0.seal"}],
        **fields,
    }


async def test_a_press_in_a_dialog_names_its_dialog_and_no_session(inbound, events, whispers):
    inbound.receive(press())
    await inbound.drain()
    (event,) = events.items
    assert isinstance(event, DialogUsed)
    assert (event.person.id, event.control, event.value, event.dialog) == (
        "U1",
        "page_2",
        "prop_1.0.seal",
        "V1",
    )
    assert whispers.items == []


@pytest.mark.parametrize("fields", [{"actions": []}, {"view": {"id": 7}}, {"user": {}}, {"view": ["V1"]}])
async def test_a_press_in_a_dialog_that_cannot_be_read_hands_on_nothing(inbound, events, fields):
    inbound.receive(press(**fields))
    await inbound.drain()
    assert events.items == []


async def test_a_press_in_a_dialog_by_somebody_unknown_hands_on_nothing(inbound, events, slack):
    slack.fault("users.info", http_429(1))
    inbound.receive(press(user={"id": "U2"}))
    await inbound.drain()
    assert events.items == []
