"""Input blocks in messages and modals: what is sent, what stays on the person's screen, and what a modal may become."""

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from chatops_bot.simulators.slack.errors import SlackError
from chatops_bot.simulators.slack.validation import check_view

from .conftest import Bot, Driver, Json


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def options(*values: str) -> list[Json]:
    return [{"text": plain(value), "value": value} for value in values]


def field(block_id: str, element: Json, **extra: Any) -> Json:
    return {"type": "input", "block_id": block_id, "label": plain(block_id), "element": element, **extra}


NODE = {
    "type": "static_select",
    "action_id": "node",
    "options": options("a", "b"),
    "initial_option": options("a")[0],
}
TAGS = {"type": "multi_static_select", "action_id": "tags", "options": options("x", "y", "z")}
NAME = {"type": "plain_text_input", "action_id": "name", "min_length": 2, "max_length": 9}
BUTTON = {"type": "button", "action_id": "submit", "text": plain("Submit"), "value": "F-1"}
FORM: list[Json] = [
    field("node", NODE),
    field("tags", TAGS),
    field("name", NAME),
    {"type": "actions", "block_id": "buttons", "elements": [BUTTON]},
]
MODAL: Json = {"type": "modal", "title": plain("Task"), "submit": plain("Go"), "blocks": FORM[:3]}


def clicks(bot: Bot) -> list[Json]:
    return [body for body in bot.bodies if body["type"] == "block_actions"]


async def form(bot: Bot, channel: str, blocks: list[Json] = FORM) -> Json:
    for action_id in ("submit", "node", "name"):
        bot.app.action(action_id)(bot.record_action)
    ts = (await bot.client.chat_postMessage(channel=channel, text="form", blocks=blocks))["ts"]
    return {"person": "ana", "channel": channel, "ts": ts}


async def test_fields_of_a_message_are_sent_with_its_button_and_not_before(
    bot: Bot, drive: Driver, incidents: str
) -> None:
    where = await form(bot, incidents)
    filled = await drive.call("click", **where, action_id="node", selected="b")
    assert filled == {"ok": True, "dispatched": False}
    assert clicks(bot) == []
    values = {"tags": {"tags": ["x", "z"]}, "name": {"name": "logs"}}
    assert (await drive.call("submit", **where, action_id="submit", values=values))["ok"]
    (body,) = clicks(bot)
    state = body["state"]["values"]
    assert state["node"]["node"]["selected_option"]["value"] == "b"
    assert [one["value"] for one in state["tags"]["tags"]["selected_options"]] == ["x", "z"]
    assert state["name"]["name"] == {"type": "plain_text_input", "value": "logs"}
    assert body["actions"][0]["value"] == "F-1"


async def test_untouched_fields_are_sent_with_their_preselected_values(
    bot: Bot, drive: Driver, incidents: str
) -> None:
    where = await form(bot, incidents)
    assert (await drive.call("click", **where, action_id="submit"))["ok"]
    state = clicks(bot)[0]["state"]["values"]
    assert state["node"]["node"]["selected_option"]["value"] == "a"
    assert state["tags"]["tags"]["selected_options"] == []
    assert state["name"]["name"]["value"] is None


async def test_a_field_that_dispatches_sends_its_value_at_once(
    bot: Bot, drive: Driver, incidents: str
) -> None:
    blocks = [field("node", NODE, dispatch_action=True), field("name", NAME, dispatch_action=True)]
    where = await form(bot, incidents, blocks)
    assert await drive.call("click", **where, action_id="node", selected="b") == {"ok": True}
    assert await drive.call("click", **where, action_id="name", value="abc") == {"ok": True}
    chosen, typed = (body["actions"][0] for body in clicks(bot))
    assert chosen["selected_option"]["value"] == "b"
    assert (typed["type"], typed["value"]) == ("plain_text_input", "abc")


async def open_modal(bot: Bot, drive: Driver, channel: str, view: Json = MODAL) -> Json:
    """The modal as `views.open` returned it; each of its submissions is answered with `answer`."""
    where = await form(bot, channel)
    assert (await drive.call("click", **where, action_id="submit"))["ok"]
    trigger = clicks(bot)[-1]["trigger_id"]
    return dict((await bot.client.views_open(trigger_id=trigger, view=view))["view"])


@pytest.mark.parametrize("errors", [{"elsewhere": "No."}, {"name": 7}, {"buttons": "Not an input."}])
async def test_errors_that_no_field_can_show_are_told_to_the_driver(
    bot: Bot, drive: Driver, incidents: str, errors: Any
) -> None:
    async def refuse(ack: Any) -> None:
        await ack(response_action="errors", errors=errors)

    bot.app.view("")(refuse)
    view = await open_modal(bot, drive, incidents, {**MODAL, "callback_id": ""})
    sent = await drive.call(
        "submit", person="ana", view_id=view["id"], values={"name": {"name": "ok"}, "tags": {"tags": ["x"]}}
    )
    assert sent["error"] == "invalid_view"
    assert (await drive.get("state", person="ana"))["view"]["id"] == view["id"]


async def test_external_ids_are_unique_and_find_their_view(bot: Bot, drive: Driver, incidents: str) -> None:
    named = {**MODAL, "external_id": "form-1"}
    first = await open_modal(bot, drive, incidents, named)
    changed = await bot.client.views_update(external_id="form-1", view={**named, "title": plain("New")})
    assert (changed["view"]["id"], changed["view"]["title"]["text"]) == (first["id"], "New")
    with pytest.raises(SlackApiError, match="duplicate_external_id"):
        await open_modal(bot, drive, incidents, named)
    with pytest.raises(SlackApiError, match="not_found"):
        await bot.client.views_update(external_id="form-2", view=MODAL)


async def test_a_view_of_more_than_250_kb_is_refused(bot: Bot, drive: Driver, incidents: str) -> None:
    long = {"type": "section", "text": plain("x" * 3000)}
    with pytest.raises(SlackApiError, match="view_too_large"):
        await open_modal(bot, drive, incidents, {**MODAL, "blocks": [long] * 90})


async def test_modals_stack_three_deep_and_no_further(bot: Bot, drive: Driver, incidents: str) -> None:
    button = {"type": "actions", "block_id": "more", "elements": [{**BUTTON, "action_id": "submit"}]}
    view = {**MODAL, "blocks": [*MODAL["blocks"], button]}
    top = await open_modal(bot, drive, incidents, view)
    for depth in range(3):
        assert (await drive.call("click", person="ana", view_id=top["id"], action_id="submit"))["ok"]
        trigger = clicks(bot)[-1]["trigger_id"]
        if depth < 2:
            pushed = (await bot.client.views_push(trigger_id=trigger, view=view))["view"]
            assert (pushed["previous_view_id"], pushed["root_view_id"]) == (
                top["id"],
                top["root_view_id"],
            )
            top = pushed
        else:
            with pytest.raises(SlackApiError, match="push_limit_reached"):
                await bot.client.views_push(trigger_id=trigger, view=view)
    assert (await drive.get("state", person="ana"))["view"]["id"] == top["id"]


async def test_a_view_takes_the_place_of_the_one_that_stood_open(
    bot: Bot, drive: Driver, incidents: str, api: AsyncWebClient
) -> None:
    first = await open_modal(bot, drive, incidents)
    second = await open_modal(bot, drive, incidents)
    with pytest.raises(SlackApiError, match="not_found"):
        await api.views_update(view_id=first["id"], view=MODAL)
    assert (await drive.get("state", person="ana"))["view"]["id"] == second["id"]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"title": plain("t" * 25)}, "/view/title/text"),
        ({"title": {"type": "mrkdwn", "text": "t"}}, "/view/title/type"),
        ({"submit": plain("s" * 25)}, "/view/submit/text"),
        ({"close": plain("c" * 25)}, "/view/close/text"),
        ({"private_metadata": "m" * 3001}, "/view/private_metadata"),
        ({"callback_id": "c" * 256}, "/view/callback_id"),
        ({"external_id": "e" * 256}, "/view/external_id"),
        ({"blocks": [{"type": "divider"}] * 101}, "/blocks"),
        ({"submit": None}, "/view/submit"),
        ({"type": "home"}, "/view/type"),
        ({"blocks": [field("b", {**NAME, "min_length": 10})]}, "/blocks/0/element/min_length"),
        ({"blocks": [field("b", NAME, dispatch_action="yes")]}, "/blocks/0/dispatch_action"),
        ({"blocks": [field("b", NAME, label=plain("l" * 2001))]}, "/blocks/0/label/text"),
        ({"blocks": [field("b", NAME, hint=plain("h" * 2001))]}, "/blocks/0/hint/text"),
        ({"blocks": [field("b", {"type": "button", "action_id": "x"})]}, "/blocks/0/element/type"),
    ],
)
def test_a_view_over_a_limit_is_refused_with_the_place(change: Json, where: str) -> None:
    with pytest.raises(SlackError) as refused:
        check_view({**MODAL, **change})
    assert refused.value.code == "invalid_arguments"
    assert any(f"json-pointer:{where}]" in problem for problem in refused.value.messages)


def test_a_view_at_its_limits_passes() -> None:
    full = {
        **MODAL,
        "title": plain("t" * 24),
        "submit": plain("s" * 24),
        "close": plain("c" * 24),
        "private_metadata": "m" * 3000,
        "callback_id": "c" * 255,
        "external_id": "e" * 255,
        "blocks": [{"type": "divider"}] * 100,
    }
    assert check_view(full) == full


def external(**extra: Any) -> Json:
    return {"type": "external_select", "action_id": "task", "min_query_length": 1, **extra}


async def test_an_external_select_offers_what_the_bot_answers_and_it_can_be_chosen(
    bot: Bot, drive: Driver, incidents: str
) -> None:
    async def offer(ack: Any, body: Json) -> None:
        await bot.record(body)
        await ack(options=options(f"{body['value']}-1", f"{body['value']}-2"))

    bot.app.options("task")(offer)
    bot.app.action("task")(bot.record_action)
    actions = {"type": "actions", "block_id": "row", "elements": [external()]}
    where = await form(bot, incidents, [actions, *FORM])
    assert (await drive.call("click", **where, action_id="task", selected="logs-2"))[
        "error"
    ] == "no_such_option"
    assert (await drive.call("suggest", **where, action_id="task", query=""))["options"] == []
    offered = await drive.call("suggest", **where, action_id="task", query="logs")
    assert [option["value"] for option in offered["options"]] == ["logs-1", "logs-2"]
    asked = bot.bodies[-1]
    assert (asked["type"], asked["value"], asked["container"]["message_ts"]) == (
        "block_suggestion",
        "logs",
        where["ts"],
    )
    assert await drive.call("click", **where, action_id="task", selected="logs-2") == {"ok": True}
    assert (await drive.call("suggest", **where, action_id="task", query="other"))["ok"]
    assert (await drive.call("click", **where, action_id="submit"))["ok"]
    chosen, submitted = clicks(bot)
    assert chosen["actions"][0]["selected_option"]["value"] == "logs-2"
    assert submitted["state"]["values"]["row"]["task"]["selected_option"]["value"] == "logs-2"


async def test_an_external_select_of_a_modal_is_submitted_with_its_choice(
    bot: Bot, drive: Driver, incidents: str
) -> None:
    async def offer(ack: Any) -> None:
        await ack(options=options("a", "b"))

    bot.app.options("task")(offer)
    bot.app.view("")(bot.record_action)
    view = await open_modal(bot, drive, incidents, {**MODAL, "blocks": [field("pick", external())]})
    where = {"person": "ana", "view_id": view["id"]}
    values = {"pick": {"task": "b"}}
    assert (await drive.call("submit", **where, values=values))["error"] == "no_such_option"
    assert (await drive.call("suggest", **where, action_id="task", query="x"))["ok"]
    assert (await drive.call("submit", **where, values=values))["ok"]
    submission = next(body for body in bot.bodies if body["type"] == "view_submission")
    assert submission["view"]["state"]["values"]["pick"]["task"]["selected_option"]["value"] == "b"
    assert "options" not in submission["view"]["blocks"][0]["element"]


@pytest.mark.case("slack-54")
async def test_more_than_a_hundred_suggestions_are_not_shown(bot: Bot, drive: Driver, incidents: str) -> None:
    async def offer(ack: Any) -> None:
        await ack(options=options(*map(str, range(101))))

    bot.app.options("task")(offer)
    actions = {"type": "actions", "block_id": "row", "elements": [external()]}
    where = await form(bot, incidents, [actions])
    assert (await drive.call("suggest", **where, action_id="task", query="x"))["error"] == "invalid_options"
    wrong = await drive.call("suggest", **where, action_id="submit", query="x")
    assert wrong["error"] == "action_not_found"
