"""A person uses a control: the payload goes to the bot once, and its acknowledgement decides what happens.

The payloads are Slack's `block_actions`, `view_submission` and `view_closed`. Nothing here is redelivered.
"""

import secrets
import sqlite3
import time
from dataclasses import dataclass
from typing import Any

from chatops_bot.simulators.slack import forms, messages
from chatops_bot.simulators.slack.clock import Clock
from chatops_bot.simulators.slack.database import Database
from chatops_bot.simulators.slack.errors import AppNotResponding, DrivingError, SlackError
from chatops_bot.simulators.slack.identity import Channel, Identity, Person
from chatops_bot.simulators.slack.messages import Stored
from chatops_bot.simulators.slack.settings import Settings
from chatops_bot.simulators.slack.socket_mode import SocketMode
from chatops_bot.simulators.slack.suggestions import EXTERNAL, QUERY_DEFAULT, Suggestions, Surface
from chatops_bot.simulators.slack.validation import check_suggestions
from chatops_bot.simulators.slack.views import Views

Json = dict[str, Any]
SURFACES_KEPT = 2000


@dataclass(frozen=True, slots=True)
class Click:
    """One use of a control: what was used, and the choice where the control offers options."""

    action_id: str
    block_id: str | None = None
    value: str | None = None
    selected: Any = None
    confirm: bool | None = None


@dataclass(frozen=True, slots=True)
class _Unsent:
    """A click that changes only what the person sees; `answer` goes to the driver."""

    answer: Json


_CANCELLED = _Unsent({"ok": True, "cancelled": True})
_FILLED = _Unsent({"ok": True, "dispatched": False})


class Interactions:
    def __init__(
        self,
        identity: Identity,
        database: Database,
        socket_mode: SocketMode,
        views: Views,
        settings: Settings,
        clock: Clock,
        base_url: str,
    ) -> None:
        self._identity = identity
        self._database = database
        self._socket_mode = socket_mode
        self._views = views
        self._settings = settings
        self._clock = clock
        self._base_url = base_url
        self._suggestions = Suggestions()
        # What each person has chosen on each surface and not sent; the real client keeps this too.
        self._chosen: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}

    async def click_message(
        self, person: Person, channel: Channel, ts: str, click: Click, values: forms.Values | None = None
    ) -> Json:
        """Use a control of a message (its ephemerals included); answers after the acknowledgement.

        A control that an edit has just removed still works, as it does in Slack for somebody whose screen is behind:
        the bot gets the click, and it is the bot's to say that it comes too late.
        """
        message, shown, blocks = await self._database.run(
            lambda connection: self._message(connection, person, channel, ts, click)
        )
        surface = (person.id, f"{channel.id}/{ts}")
        blocks = self._suggestions.fill(surface, blocks)
        action = self._action(blocks, surface, click, values)
        if isinstance(action, _Unsent):
            return action.answer
        payload = self._payload("block_actions", person) | {
            **_whereabouts(channel, message, shown),
            "state": {"values": forms.state_values(blocks, self._chosen.get(surface, {}))},
            "trigger_id": self._views.issue_trigger(person),
            "response_url": await self._response_url(person, message),
            "actions": [action],
        }
        if message.ephemeral_to is None:
            # As in Slack, the payload of an ephemeral message carries the container only.
            payload["message"] = shown
        # The answer to a button comes in the message's thread: whoever pressed it is to see that it is there.
        thread_ts = message.thread_ts or message.ts
        await self._database.run(
            lambda connection: messages.follow(connection, channel.id, person.id, thread_ts)
        )
        await self._socket_mode.request(payload)
        return {"ok": True}

    async def click_view(
        self, person: Person, view: Json, click: Click, values: forms.Values | None = None
    ) -> Json:
        surface = (person.id, view["id"])
        blocks = self._suggestions.fill(surface, view["blocks"])
        action = self._action(blocks, surface, click, values)
        if isinstance(action, _Unsent):
            return action.answer
        state = {"values": forms.state_values(blocks, self._chosen.get(surface, {}))}
        payload = self._payload("block_actions", person) | {
            "container": {"type": "view", "view_id": view["id"]},
            "view": {**view, "state": state},
            "trigger_id": self._views.issue_trigger(person, view["id"]),
            "actions": [action],
        }
        await self._socket_mode.request(payload)
        return {"ok": True}

    async def submit_view(self, person: Person, view: Json, values: forms.Values) -> Json:
        """Submit a modal; the acknowledgement may keep it open with errors, change it, or close it."""
        surface = (person.id, view["id"])
        blocks = self._suggestions.fill(surface, view["blocks"])
        chosen = self._remembered(surface, blocks, values)
        state = forms.state_values(blocks, chosen)
        if missing := forms.missing_inputs(blocks, state):
            return _field_errors("missing_input", missing, self._views.page(view))
        self._chosen[surface] = chosen
        payload = self._payload("view_submission", person) | {
            "trigger_id": self._views.issue_trigger(person, view["id"]),
            "view": {**view, "state": {"values": state}},
            "response_urls": [],
        }
        answer = await self._socket_mode.request(payload)
        return await self._apply(person, view, answer)

    async def suggest_in_message(self, person: Person, channel: Channel, ts: str, asked: Click) -> Json:
        """What the bot offers for an external select of a message; `asked.value` is what the person has typed."""
        message, shown, blocks = await self._database.run(
            lambda connection: self._message(connection, person, channel, ts, asked)
        )
        where = _whereabouts(channel, message, shown)
        if message.ephemeral_to is None:
            where["message"] = shown
        return await self._suggest(person, (person.id, f"{channel.id}/{ts}"), blocks, asked, where)

    async def suggest_in_view(self, person: Person, view: Json, asked: Click) -> Json:
        """As `suggest_in_message`, for a modal."""
        where = {"container": {"type": "view", "view_id": view["id"]}, "view": view}
        return await self._suggest(person, (person.id, view["id"]), view["blocks"], asked, where)

    async def _suggest(
        self, person: Person, surface: Surface, blocks: list[Json], asked: Click, where: Json
    ) -> Json:
        found = [one for one in _matching(blocks, asked) if one[1]["type"] in EXTERNAL]
        if not found:
            raise DrivingError("action_not_found", f"There is no external select {asked.action_id!r}.")
        block, element = found[0]
        query = asked.value or ""
        if len(query) < element.get("min_query_length", QUERY_DEFAULT):
            return {"ok": True, "options": []}
        control = {"action_id": element["action_id"], "block_id": block["block_id"], "value": query}
        answer = await self._socket_mode.request(
            {**self._payload("block_suggestion", person), **where, **control}
        )
        try:
            offered = check_suggestions(answer)
        except SlackError as error:
            raise DrivingError("invalid_options", f"Slack would show no options: {error}.") from error
        self._suggestions.keep(surface, block, element, offered)
        return {"ok": True, **{key: offered[key] for key in ("options", "option_groups") if key in offered}}

    async def close_view(self, person: Person, view: Json) -> None:
        """Close a modal; the bot hears of it where it asked to, and its silence changes nothing."""
        await self._views.close(person, view, whole_stack=bool(view["clear_on_close"]))
        if not view["notify_on_close"]:
            return
        payload = self._payload("view_closed", person)
        try:
            await self._socket_mode.request(
                {**payload, "view": view, "is_cleared": bool(view["clear_on_close"])}
            )
        except AppNotResponding:
            return

    async def _apply(self, person: Person, view: Json, answer: Json) -> Json:
        kind = answer.get("response_action")
        try:
            if kind == "errors":
                return _field_errors("view_errors", _checked_errors(view, answer), self._views.page(view))
            if kind == "update":
                changed = await self._views.update(answer.get("view"), view["id"], None, None)
                return {"ok": True, "view": self._views.page(changed)}
            if kind == "push":
                pushed = await self._views.push_on(person, view["id"], answer.get("view"))
                return {"ok": True, "view": self._views.page(pushed)}
        except SlackError as error:
            sentence = f"The bot's answer is one that Slack would refuse: {error}."
            raise DrivingError("invalid_view", sentence) from error
        current = await self._views.find(person, view["id"])
        if current is not None:
            await self._views.close(person, current, whole_stack=kind == "clear")
        return {"ok": True, "view": self._views.page(await self._views.top(person))}

    def _message(
        self, connection: sqlite3.Connection, person: Person, channel: Channel, ts: str, click: Click
    ) -> tuple[Stored, Json, list[Json]]:
        """The message, as Slack shows it, and the blocks of its newest version that has the clicked control."""
        message = messages.find(connection, channel.id, ts)
        if message is None or message.ephemeral_to not in (None, person.id):
            raise DrivingError("message_not_found", f"{person.key} sees no message {ts} in {channel.name}.")
        if message.body.get("bot_id", self._identity.bot_id) != self._identity.bot_id:
            raise DrivingError("other_app", "This control belongs to another app, which does not run here.")
        current: list[Json] = message.body.get("blocks", [])
        earlier = [version["blocks"] for version in reversed(messages.versions(connection, channel.id, ts))]
        clicked = next((blocks for blocks in [current, *earlier] if _matching(blocks, click)), current)
        return message, messages.as_slack(connection, message), clicked

    def _action(
        self, blocks: list[Json], surface: tuple[str, str], click: Click, values: forms.Values | None
    ) -> Json | _Unsent:
        """The action of a click, unless it does not go to the bot. Remembers what was chosen."""
        found = _matching(blocks, click)
        if not found:
            sentence = f"The message has no control {click.action_id!r}"
            raise DrivingError(
                "action_not_found",
                sentence + ("." if click.value is None else f" with the value {click.value!r}."),
            )
        block, element = found[0]
        if click.confirm is False:
            if "confirm" not in element:
                raise DrivingError("no_confirm_dialog", f"{click.action_id!r} asks for no confirmation.")
            return _CANCELLED
        choice = click.selected if click.selected is not None else click.value
        action = forms.action_of(block, element, choice, f"{time.time():.6f}")
        chosen = self._remembered(surface, blocks, values or {})
        if element["type"] in forms.STATEFUL:
            chosen.setdefault(block["block_id"], {})[element["action_id"]] = choice
        forms.state_values(blocks, chosen)
        self._chosen[surface] = chosen
        if len(self._chosen) > SURFACES_KEPT:
            self._chosen.pop(next(iter(self._chosen)))
        return action if forms.dispatches(block) else _FILLED

    def _remembered(
        self, surface: tuple[str, str], blocks: list[Json], values: forms.Values
    ) -> dict[str, dict[str, Any]]:
        """Earlier choices of controls that still stand, overlaid with `values`."""
        chosen: dict[str, dict[str, Any]] = {}
        earlier = self._chosen.get(surface, {})
        for block, element in forms.elements(blocks):
            if element["action_id"] in earlier.get(block["block_id"], {}):
                held = earlier[block["block_id"]][element["action_id"]]
                chosen.setdefault(block["block_id"], {})[element["action_id"]] = held
        for block_id, actions in values.items():
            chosen.setdefault(block_id, {}).update(actions)
        return chosen

    def _payload(self, kind: str, person: Person) -> Json:
        team = {"id": self._identity.team_id, "domain": self._identity.team_domain}
        return {
            "type": kind,
            "team": team,
            "user": {"id": person.id, "username": person.key, "name": person.key, "team_id": team["id"]},
            "api_app_id": self._identity.app_id,
            "token": "unused",
            "enterprise": None,
            "is_enterprise_install": False,
        }

    async def _response_url(self, person: Person, message: Stored) -> str:
        token, settings, now = secrets.token_urlsafe(24), self._settings, self._clock.time()

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "DELETE FROM response_urls WHERE expires_at < ?", (now - settings.response_url_seconds,)
            )
            connection.execute(
                "INSERT INTO response_urls VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    token,
                    message.channel,
                    message.ts,
                    message.thread_ts,
                    person.id,
                    settings.response_url_uses,
                    now + settings.response_url_seconds,
                ),
            )

        await self._database.run(work)
        return f"{self._base_url}/response/{token}"


def _whereabouts(channel: Channel, message: Stored, shown: Json) -> Json:
    """`container` and `channel` of a payload about a message."""
    container: Json = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": channel.id,
        "is_ephemeral": message.ephemeral_to is not None,
    }
    if thread_ts := shown.get("thread_ts"):
        container["thread_ts"] = thread_ts
    name = "directmessage" if channel.kind == "im" else channel.name
    return {"container": container, "channel": {"id": channel.id, "name": name}}


def _matching(blocks: list[Json], click: Click) -> list[tuple[Json, Json]]:
    """The controls that a click may mean, each with its block."""
    return [
        (block, element)
        for block, element in forms.elements(blocks)
        if element["action_id"] == click.action_id
        and click.block_id in (None, block["block_id"])
        and (click.value is None or element["type"] != "button" or element.get("value") == click.value)
    ]


def _checked_errors(view: Json, answer: Json) -> dict[str, str]:
    """The errors that the bot answered with; Slack shows a failure for one that is at no input block of the view."""
    errors = answer.get("errors")
    inputs = {block["block_id"] for block in view["blocks"] if block["type"] == "input"}
    if not isinstance(errors, dict) or not errors or not all(isinstance(one, str) for one in errors.values()):
        raise SlackError("invalid_arguments", ["[ERROR] `errors` maps block_id to a sentence"])
    if unknown := sorted(set(errors) - inputs):
        raise SlackError("invalid_arguments", [f"[ERROR] no input block has the block_id {unknown[0]}"])
    return errors


def _field_errors(code: str, errors: dict[str, str], view: Json | None) -> Json:
    sentence = "The form was not accepted; see `errors`."
    return {"ok": False, "error": code, "message": sentence, "errors": errors, "view": view}
