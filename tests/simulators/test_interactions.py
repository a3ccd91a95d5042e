"""Clicks, forms, modals and response URLs, through an unchanged Bolt app."""

from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from chatops_bot.simulators.slack import Settings, Workspace
from chatops_bot.simulators.slack.clock import Clock

from .conftest import Bot, Driver, running_bot

Json = dict[str, Any]


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def option(value: str) -> Json:
    return {"text": plain(f"<{value}>"), "value": value}


APPROVE = {"type": "button", "action_id": "approve", "text": plain("Approve & run"), "value": "token-1"}
CONFIRMED = {
    "type": "button",
    "action_id": "drop",
    "text": plain("Drop"),
    "confirm": {
        "title": plain("Sure?"),
        "text": plain("It is gone then."),
        "confirm": plain("Drop"),
        "deny": plain("Keep"),
    },
}
PICK = {"type": "static_select", "action_id": "env", "options": [option("prod"), option("test")]}
MANY = {
    "type": "multi_static_select",
    "action_id": "hosts",
    "options": [option("a"), option("b"), option("c")],
}
NOTE = {"type": "plain_text_input", "action_id": "note", "max_length": 20}
FORM: list[Json] = [
    {"type": "actions", "block_id": "row", "elements": [APPROVE, CONFIRMED, PICK, MANY]},
    {"type": "input", "block_id": "why", "label": plain("Why"), "element": NOTE, "optional": True},
]
MODAL = {
    "type": "modal",
    "callback_id": "silence",
    "title": plain("Silence"),
    "submit": plain("Save"),
    "notify_on_close": True,
    "blocks": [
        {"type": "input", "block_id": "env", "label": plain("Env"), "element": PICK},
        {"type": "input", "block_id": "why", "label": plain("Why"), "element": NOTE},
    ],
}


async def card(bot: Bot, channel: str, **extra: Any) -> str:
    """The ts of a message with the form; clicks on anything in it are acknowledged and recorded."""
    for action_id in ("approve", "drop", "env", "hosts"):
        bot.app.action(action_id)(bot.record_action)
    posted = await bot.client.chat_postMessage(channel=channel, text="card", blocks=FORM, **extra)
    return str(posted["ts"])


def clicks(bot: Bot) -> list[Json]:
    return [body for body in bot.bodies if body["type"] == "block_actions"]


async def test_click_carries_the_block_actions_payload(bot: Bot, drive: Driver, incidents: str) -> None:
    root = await drive.says("oscar", incidents, "hello")
    ts = await card(
        bot, incidents, thread_ts=root, metadata={"event_type": "card", "event_payload": {"id": "P-1"}}
    )
    assert await drive.call("click", person="ana", channel=incidents, ts=ts, action_id="approve") == {
        "ok": True
    }
    (body,) = clicks(bot)
    container = {
        "type": "message",
        "message_ts": ts,
        "channel_id": incidents,
        "is_ephemeral": False,
        "thread_ts": root,
    }
    assert body["container"] == container
    assert body["user"]["username"] == "ana"
    assert body["message"]["ts"] == ts
    assert body["message"]["metadata"]["event_payload"] == {"id": "P-1"}
    action = body["actions"][0]
    assert (action["action_id"], action["block_id"], action["value"]) == ("approve", "row", "token-1")
    assert action["text"]["text"] == "Approve &amp; run"
    assert body["state"]["values"]["why"]["note"] == {"type": "plain_text_input", "value": None}


async def test_the_answer_to_a_button_waits_as_unread_for_whoever_pressed_it(
    bot: Bot, drive: Driver, incidents: str
) -> None:
    ts = await card(bot, incidents)
    await drive.call("click", person="ana", channel=incidents, ts=ts, action_id="approve")
    await bot.client.chat_postMessage(channel=incidents, thread_ts=ts, text="It was the disk.")
    waiting = {
        person: [thread["unread"] for thread in (await drive.get("state", person=person))["threads"]]
        for person in ("ana", "oscar")
    }
    assert waiting == {"ana": [1], "oscar": []}


async def test_selections_are_remembered_in_the_state_of_later_clicks(
    bot: Bot, drive: Driver, incidents: str
) -> None:
    ts = await card(bot, incidents)
    where = {"channel": incidents, "ts": ts}
    assert (await drive.call("click", person="ana", **where, action_id="env", selected="prod"))["ok"]
    assert (await drive.call("click", person="ana", **where, action_id="hosts", selected=["a", "c"]))["ok"]
    assert (await drive.call("click", person="ana", **where, action_id="approve"))["ok"]
    chosen, hosts, approve = clicks(bot)
    assert chosen["actions"][0]["selected_option"]["value"] == "prod"
    assert chosen["actions"][0]["selected_option"]["text"]["text"] == "&lt;prod&gt;"
    assert [one["value"] for one in hosts["actions"][0]["selected_options"]] == ["a", "c"]
    assert approve["state"]["values"]["row"]["env"]["selected_option"]["value"] == "prod"
    assert (await drive.call("click", person="oscar", **where, action_id="approve"))["ok"]
    assert clicks(bot)[-1]["state"]["values"]["row"]["env"]["selected_option"] is None


async def test_submit_fills_the_inputs_of_a_message_and_presses_its_button(
    bot: Bot, drive: Driver, incidents: str
) -> None:
    ts = await card(bot, incidents)
    values = {"row": {"env": "test", "hosts": ["b"]}, "why": {"note": "drill"}}
    sent = await drive.call(
        "submit", person="ana", channel=incidents, ts=ts, action_id="approve", values=values
    )
    assert sent["ok"]
    state = clicks(bot)[0]["state"]["values"]
    assert state["row"]["env"]["selected_option"]["value"] == "test"
    assert state["why"]["note"]["value"] == "drill"


@pytest.mark.parametrize(
    ("click", "error"),
    [
        ({"action_id": "missing"}, "action_not_found"),
        ({"action_id": "approve", "value": "other"}, "action_not_found"),
        ({"action_id": "env"}, "option_needed"),
        ({"action_id": "env", "selected": "moon"}, "no_such_option"),
        ({"action_id": "note", "selected": "x"}, "not_clickable"),
        ({"action_id": "approve", "confirm": False}, "no_confirm_dialog"),
        ({"action_id": "approve", "ts": "1.000000"}, "message_not_found"),
        ({"action_id": "approve", "channel": "C0"}, "channel_not_found"),
        ({"action_id": "approve", "person": "eve"}, "person_not_found"),
        ({"action_id": "approve", "surprise": 1}, "invalid_body"),
    ],
)
async def test_impossible_click_is_refused_in_words(
    bot: Bot, drive: Driver, incidents: str, click: Json, error: str
) -> None:
    ts = await card(bot, incidents)
    answer = await drive.call("click", **{"person": "ana", "channel": incidents, "ts": ts, **click})
    assert (answer["ok"], answer["error"]) == (False, error)
    assert answer["message"].endswith(".")
    assert clicks(bot) == []


async def test_cancelled_confirm_dialog_sends_nothing(bot: Bot, drive: Driver, incidents: str) -> None:
    where = {"person": "ana", "channel": incidents, "ts": await card(bot, incidents), "action_id": "drop"}
    assert await drive.call("click", **where, confirm=False) == {"ok": True, "cancelled": True}
    assert clicks(bot) == []
    assert await drive.call("click", **where) == {"ok": True}
    assert len(clicks(bot)) == 1


@pytest.mark.parametrize("limits", [Settings(ack_seconds=0.3)])
async def test_click_without_a_bot_or_acknowledgement_fails_and_is_not_redelivered(
    workspace: Workspace, drive: Driver, api: AsyncWebClient, incidents: str
) -> None:
    posted = await api.chat_postMessage(channel=incidents, text="card", blocks=FORM)
    where = {"person": "ana", "channel": incidents, "ts": posted["ts"], "action_id": "approve"}
    shown = {"ok": False, "error": "app_not_responding", "message": "This app is not responding."}
    assert await drive.call("click", **where) == shown
    async with running_bot(workspace) as bot:

        async def silent(body: Json) -> None:
            await bot.record(body)

        bot.app.action("approve")(silent)
        assert await drive.call("click", **where) == shown
        await bot.until(lambda: len(clicks(bot)) == 1)


async def test_ephemeral_is_seen_clicked_replaced_and_deleted_by_its_reader_only(
    bot: Bot, drive: Driver, incidents: str, session: aiohttp.ClientSession, workspace: Workspace
) -> None:
    bot.app.action("approve")(bot.record_action)
    person = workspace.identity.person("vera")
    assert person is not None
    await bot.client.chat_postEphemeral(channel=incidents, user=person.id, text="only you", blocks=FORM)
    (seen,) = (await drive.get("ephemerals", person="vera"))["ephemerals"]
    assert (seen["channel"], seen["text"]) == (incidents, "only you")
    assert (await drive.get("ephemerals", person="ana"))["ephemerals"] == []
    where = {"channel": incidents, "ts": seen["ts"], "action_id": "approve"}
    assert (await drive.call("click", person="ana", **where))["error"] == "message_not_found"
    assert (await drive.call("click", person="vera", **where))["ok"]
    (body,) = clicks(bot)
    assert body["container"]["is_ephemeral"] is True
    assert "message" not in body
    assert (await bot.client.conversations_history(channel=incidents))["messages"] == []
    shown = (await drive.get("messages", person="vera", channel=incidents))["messages"]
    assert [message["ephemeral"] for message in shown] == [True]
    with pytest.raises(SlackApiError, match="message_not_found"):
        await bot.client.chat_update(channel=incidents, ts=seen["ts"], text="new")
    url = body["response_url"]
    async with session.post(url, json={"replace_original": True, "text": "replaced"}) as response:
        assert await response.json() == {"ok": True}
    (seen,) = (await drive.get("ephemerals", person="vera"))["ephemerals"]
    assert (seen["text"], seen["blocks"]) == ("replaced", [])
    async with session.post(url, json={"delete_original": True}) as response:
        assert response.status == 200
    assert (await drive.get("ephemerals", person="vera"))["ephemerals"] == []


async def test_response_url_works_five_times_in_the_thread_of_its_click(
    bot: Bot, drive: Driver, incidents: str, session: aiohttp.ClientSession
) -> None:
    root = await drive.says("oscar", incidents, "hello")
    ts = await card(bot, incidents, thread_ts=root)
    assert (await drive.call("click", person="ana", channel=incidents, ts=ts, action_id="approve"))["ok"]
    url = clicks(bot)[0]["response_url"]
    bodies: list[Json] = [
        {"text": "psst"},
        {"text": "all", "response_type": "in_channel"},
        {"markdown_text": "**x**"},
        {"replace_original": True, "text": "closed"},
        {"text": "fifth"},
        {"text": "sixth"},
    ]
    answers = []
    for body in bodies:
        async with session.post(url, json=body) as response:
            answers.append((response.status, (await response.json()).get("error")))
    assert answers == [
        (200, None),
        (200, None),
        (200, "no_text"),
        (200, None),
        (200, None),
        (404, "used_url"),
    ]
    whispers = (await drive.get("ephemerals", person="ana"))["ephemerals"]
    assert [(one["text"], one["thread_ts"]) for one in whispers] == [("psst", root), ("fifth", root)]
    replies = (await bot.client.conversations_replies(channel=incidents, ts=root))["messages"]
    assert [message["text"] for message in replies] == ["hello", "closed", "all"]
    assert "blocks" not in replies[1]


async def with_modal(bot: Bot, drive: Driver, channel: str, answer: Json | None = None) -> Json:
    """The modal open for ana; `answer` is what the bot acknowledges its submission with."""

    async def open_it(ack: Any, body: Json, client: AsyncWebClient) -> None:
        await client.views_open(trigger_id=body["trigger_id"], view=MODAL)
        await ack()

    async def submitted(ack: Any, body: Json) -> None:
        await bot.record(body)
        await ack(**(answer or {}))

    bot.app.action("approve")(open_it)
    bot.app.view("silence")(submitted)
    bot.app.view_closed("silence")(bot.record_action)
    posted = await bot.client.chat_postMessage(channel=channel, text="card", blocks=FORM)
    assert (await drive.call("click", person="ana", channel=channel, ts=posted["ts"], action_id="approve"))[
        "ok"
    ]
    view = (await drive.get("state", person="ana"))["view"]
    assert view["title"]["text"] == "Silence"
    return dict(view)


VALUES = {"env": {"env": "prod"}, "why": {"note": "noise"}}


async def test_modal_submission_closes_it(bot: Bot, drive: Driver, incidents: str) -> None:
    view = await with_modal(bot, drive, incidents)
    sent = await drive.call("submit", person="ana", view_id=view["id"], action_id="submit", values=VALUES)
    assert sent == {"ok": True, "view": None}
    submission = next(body for body in bot.bodies if body["type"] == "view_submission")
    assert submission["view"]["state"]["values"]["env"]["env"]["selected_option"]["value"] == "prod"
    assert (await drive.call("submit", person="ana", view_id=view["id"], values=VALUES))[
        "error"
    ] == "view_not_found"


async def test_modal_keeps_open_with_errors_of_the_bot_or_missing_inputs(
    bot: Bot, drive: Driver, incidents: str
) -> None:
    answer = {"response_action": "errors", "errors": {"why": "Say more."}}
    view = await with_modal(bot, drive, incidents, answer)
    missing = await drive.call("submit", person="ana", view_id=view["id"], values={"env": {"env": "prod"}})
    assert (missing["error"], list(missing["errors"])) == ("missing_input", ["why"])
    refused = await drive.call("submit", person="ana", view_id=view["id"], values=VALUES)
    assert (refused["ok"], refused["errors"]) == (False, {"why": "Say more."})
    assert (await drive.get("state", person="ana"))["view"]["id"] == view["id"]


async def test_modal_can_be_updated_pushed_on_and_cleared(bot: Bot, drive: Driver, incidents: str) -> None:
    changed = {**MODAL, "title": plain("Changed")}
    answer: Json = {"response_action": "update", "view": changed}
    view = await with_modal(bot, drive, incidents, answer)
    sent = await drive.call("submit", person="ana", view_id=view["id"], values=VALUES)
    assert (sent["view"]["id"], sent["view"]["title"]["text"]) == (view["id"], "Changed")
    answer["response_action"] = "push"
    pushed = (await drive.call("submit", person="ana", view_id=view["id"], values=VALUES))["view"]
    assert pushed["previous_view_id"] == view["id"]
    answer.clear()
    answer["response_action"] = "clear"
    sent = await drive.call("submit", person="ana", view_id=pushed["id"], values=VALUES)
    assert sent == {"ok": True, "view": None}


async def test_closed_modal_tells_the_bot_when_it_asked(bot: Bot, drive: Driver, incidents: str) -> None:
    view = await with_modal(bot, drive, incidents)
    assert await drive.call("close_view", person="ana", view_id=view["id"]) == {"ok": True}
    assert next(body for body in bot.bodies if body["type"] == "view_closed")["is_cleared"] is False
    assert (await drive.get("state", person="ana"))["view"] is None


async def test_trigger_opens_one_modal(bot: Bot, drive: Driver, incidents: str) -> None:
    where = {"person": "ana", "channel": incidents, "ts": await card(bot, incidents), "action_id": "approve"}
    assert (await drive.call("click", **where))["ok"]
    first = clicks(bot)[0]["trigger_id"]
    opened = await bot.client.views_open(trigger_id=first, view=MODAL)
    with pytest.raises(SlackApiError, match="exchanged_trigger_id"):
        await bot.client.views_open(trigger_id=first, view=MODAL)
    with pytest.raises(SlackApiError, match="invalid_trigger_id"):
        await bot.client.views_open(trigger_id="1.2", view=MODAL)
    view = opened["view"]
    with pytest.raises(SlackApiError, match="hash_conflict"):
        await bot.client.views_update(view_id=view["id"], hash="old", view=MODAL)
    await bot.client.views_update(
        view_id=view["id"], hash=view["hash"], view={**MODAL, "title": plain("Later")}
    )
    assert (await drive.get("state", person="ana"))["view"]["title"]["text"] == "Later"


@pytest.mark.case("slack-55")
async def test_a_trigger_lives_three_seconds(bot: Bot, drive: Driver, incidents: str, clock: Clock) -> None:
    where = {"person": "ana", "channel": incidents, "ts": await card(bot, incidents), "action_id": "approve"}
    for _ in range(2):
        assert (await drive.call("click", **where))["ok"]
    clock.advance(2.9)
    await bot.client.views_open(trigger_id=clicks(bot)[0]["trigger_id"], view=MODAL)
    clock.advance(0.2)
    with pytest.raises(SlackApiError, match="expired_trigger_id"):
        await bot.client.views_open(trigger_id=clicks(bot)[1]["trigger_id"], view=MODAL)


async def test_a_control_that_an_edit_removed_still_reaches_the_bot(
    bot: Bot, drive: Driver, incidents: str
) -> None:
    ts = await card(bot, incidents)
    await bot.client.chat_update(channel=incidents, ts=ts, text="decided", blocks=[])
    assert await drive.call("click", person="ana", channel=incidents, ts=ts, action_id="approve") == {
        "ok": True
    }
    (body,) = clicks(bot)
    assert body["actions"][0]["value"] == "token-1"
    assert body["message"].get("blocks", []) == []
