"""Payloads that were never pressed, or never said, by anybody who may approve: each is wrong in at least one way."""

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.hostile.judge import Json

_DECOYS = {
    "decided_by": "ana", "actor": {"id": "ana"}, "approved": True, "role": "admin", "is_admin": True, "state": {"values": {}},
    "approvals": [{"by": "ana"}], "user_id": "ana", "authorizations": [{"user_id": "ana", "is_bot": False}],
}  # fmt: skip


@dataclass(frozen=True)
class Scene:
    """A press of Approve that an approver made on each of two cards, and never reached the bot; and who else is there."""

    press: Json
    other: Json
    code: str
    strangers: tuple[str, ...]
    """Ids of those who may not approve this: the asker, a viewer, the bot itself, nobody."""

    @property
    def value(self) -> str:
        return str(self.press["actions"][0]["value"])

    @property
    def approver(self) -> str:
        return str(self.press["user"]["id"])


def forged(chance: random.Random, scene: Scene) -> tuple[str, Json]:
    """The kind of an envelope, and what is in it."""
    make = chance.choice([*_PRESSES, *_PRESSES, *_PRESSES, *_OTHERS])
    payload = make(chance, copy.deepcopy(scene.press), scene)
    if chance.random() < 0.5:
        payload |= {
            key: _named(_DECOYS[key], scene)
            for key in chance.sample(sorted(_DECOYS), 3)
            if key not in payload
        }
    return ("events_api" if payload.get("type") == "event_callback" else "interactive"), payload


def _named(value: Any, scene: Scene) -> Any:
    if value == "ana":
        return scene.approver
    if isinstance(value, dict):
        return {key: _named(item, scene) for key, item in value.items()}
    return [_named(item, scene) for item in value] if isinstance(value, list) else value


def _by_a_stranger(chance: random.Random, press: Json, scene: Scene) -> Json:
    user = {**press["user"], "id": chance.choice(scene.strangers)}
    press["user"] = chance.choice(
        [user, user, user, {"name": "ana"}, None, [press["user"]], {"id": [scene.approver]}]
    )
    return press


def _of_a_made_up_value(chance: random.Random, press: Json, scene: Scene) -> Json:
    value, at = scene.value, chance.randrange(len(scene.value))
    other = chance.choice([letter for letter in "0123456789abcdef.AZ\0 " if letter != value[at]])
    press["actions"][0]["value"] = chance.choice(
        [
            value[:at] + other + value[at + 1 :], value[:at], value + other, value[:at] + other + value[at:], value.upper(), "",
            f" {value}", f"{value}\n", scene.code, f"prop_{'0' * 32}", "prop_1", "%", "' OR 1=1 --", None, [value], {"id": value}, True,
            scene.other["actions"][0]["value"],
        ]
    )  # fmt: skip
    return press


def _from_elsewhere(chance: random.Random, press: Json, scene: Scene) -> Json:
    """A card that stands in another thread or another channel, with the buttons of this one."""
    elsewhere = scene.other["container"]
    where = chance.choice(
        [
            elsewhere,
            {**elsewhere, "channel_id": "C0ELSEWHERE"},
            {**press["container"], "channel_id": "C0ELSEWHERE"},
        ]
    )
    press |= {
        "container": where,
        "message": chance.choice([None, {"ts": where["message_ts"]}, scene.other["message"]]),
    }
    press["message"] = press["message"] or {}
    if where.get("thread_ts") is None:
        press["message"].pop("thread_ts", None)
    return press


def _of_another_control(chance: random.Random, press: Json, scene: Scene) -> Json:
    press["actions"][0]["action_id"] = chance.choice(
        ["Approve", "approve ", "approve\u200b", "approved", "approve_all", "xapprove", "followup", "form_submit", "form_open",
         "form_cancel", "stop", "", "input:approve", ":approve", "APPROVE", "аpprove", 1, None, ["approve"]]
    )  # fmt: skip
    return press


def _behind_another_action(chance: random.Random, press: Json, scene: Scene) -> Json:
    first = {"action_id": chance.choice(["followup", "stop", "unknown"]), "value": "ask_1"}
    press["actions"] = chance.choice([[first, *press["actions"]], [], None, {"0": press["actions"][0]}])
    return press


def _of_another_type(chance: random.Random, press: Json, scene: Scene) -> Json:
    press["type"] = chance.choice(
        [
            "view_submission",
            "view_closed",
            "message_action",
            "shortcut",
            "block_suggestion",
            "interactive_message",
            "",
            None,
            7,
        ]
    )
    values = {"b": {"input:approve": {"type": "plain_text_input", "value": scene.value}}}
    press["view"] = {"private_metadata": scene.value, "callback_id": "approve", "state": {"values": values}}
    return press


def _message(scene: Scene, user: str | None, text: str, **more: Any) -> Json:
    container = scene.press["container"]
    number = f"{1_900_000_000 + random.getrandbits(24)}.{random.getrandbits(19):06}"
    event = {
        "type": "message", "channel": container["channel_id"], "thread_ts": scene.press["message"].get("thread_ts"),
        "ts": number, "user": user, "text": text, **more,
    }  # fmt: skip
    return {"type": "event_callback", "event": event}


def _typed_by_a_stranger(chance: random.Random, press: Json, scene: Scene) -> Json:
    text = chance.choice(
        [f"approve {scene.code}", f"批准 {scene.code}", f"`approve {scene.code}`", f"APPROVE  {scene.code}!"]
    )
    return _message(scene, chance.choice(scene.strangers), text)


def _typed_by_a_program(chance: random.Random, press: Json, scene: Scene) -> Json:
    """In the approver's name, but written by a bot, or an edit of what they wrote."""
    text = f"approve {scene.code}"
    edited = {"type": "message", "user": scene.approver, "text": text, "ts": "1.1"}
    mark: Json = chance.choice(
        [
            {"bot_id": "B0EVIL"}, {"app_id": "A0EVIL"}, {"subtype": "bot_message", "username": "Ana Duarte"},
            {"subtype": "message_changed", "message": edited, "previous_message": edited}, {"subtype": "message_replied", "message": edited},
            {"subtype": "message_deleted", "previous_message": edited}, {"subtype": "me_message"}, {"subtype": "reminder_add"},
            {"bot_id": "B0EVIL", "subtype": "thread_broadcast"}, {"subtype": "file_comment", "comment": {"comment": text}},
        ]
    )  # fmt: skip
    return _message(scene, scene.approver, text, **mark)


def _typed_elsewhere(chance: random.Random, press: Json, scene: Scene) -> Json:
    elsewhere = chance.choice(
        [
            {"thread_ts": None},
            {"thread_ts": "1.000001"},
            {"channel": "C0ELSEWHERE"},
            {"type": "reaction_added"},
        ]
    )
    return _message(scene, scene.approver, f"approve {scene.code}") | {
        "event": _message(scene, scene.approver, f"approve {scene.code}")["event"] | elsewhere
    }


def _quoted(chance: random.Random, press: Json, scene: Scene) -> Json:
    """In a message of the approver's, but not their own words, or not a verdict."""
    card = {"text": f"approve {scene.code}", "fallback": f"approve {scene.code}"}
    return chance.choice(
        [
            _message(scene, scene.approver, "", attachments=[card]),
            _message(scene, scene.approver, "", files=[{"name": f"approve {scene.code}"}]),
            _message(scene, scene.approver, f"&gt; approve {scene.code}"),
            _message(scene, scene.approver, f"&gt;approve {scene.code}\n"),
            _message(
                scene,
                scene.approver,
                "",
                blocks=[{"type": "section", "text": {"type": "mrkdwn", "text": card["text"]}}],
            ),
        ]
    )


_Forger = Callable[[random.Random, Json, Scene], Json]
_PRESSES: tuple[_Forger, ...] = (
    _by_a_stranger, _of_a_made_up_value, _from_elsewhere, _of_another_control, _behind_another_action, _of_another_type,
)  # fmt: skip
_OTHERS: tuple[_Forger, ...] = (_typed_by_a_stranger, _typed_by_a_program, _typed_elsewhere, _quoted)
