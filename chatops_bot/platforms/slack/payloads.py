"""What Slack sends, as far as the bot reads it. Unknown fields are ignored, missing ones are refused here."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

Json = dict[str, Any]


class _Payload(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


class MessageEvent(_Payload):
    """`message` and `app_mention` events; one message may cause both.

    Only `text` holds the author's own words. What they forward or share comes in `attachments` and is somebody else's: it
    must not be read as if its bearer had said it, since words may be commands.
    """

    type: str
    channel: str
    ts: str
    user: str | None = None
    text: str | None = None
    thread_ts: str | None = None
    channel_type: str | None = None
    subtype: str | None = None
    bot_id: str | None = None
    app_id: str | None = None
    files: list[Json] = []
    attachments: list[Json] = []


class _User(_Payload):
    id: str


class _Container(_Payload):
    channel_id: str
    message_ts: str
    thread_ts: str | None = None


class _Posted(_Payload):
    thread_ts: str | None = None


class Action(_Payload):
    action_id: str
    value: str = ""


class _State(_Payload):
    """What the inputs of a message or a dialog hold: block → action → element."""

    values: dict[str, dict[str, Json]] = {}


class BlockActions(_Payload):
    """A press of a button."""

    user: _User
    container: _Container
    message: _Posted | None = None
    actions: list[Action] = Field(min_length=1)
    state: _State = Field(default_factory=_State)
    trigger_id: str = ""

    @property
    def thread(self) -> str:
        posted = self.message.thread_ts if self.message else None
        return self.container.thread_ts or posted or self.container.message_ts


class _Opened(_Payload):
    id: str


class DialogActions(_Payload):
    """A press of a button inside a dialog."""

    user: _User
    view: _Opened
    actions: list[Action] = Field(min_length=1)


class Whereabouts(_Payload):
    """As much of an interaction as it takes to answer it: for those that are no `BlockActions`."""

    user: _User
    container: _Container


class _View(_Payload):
    private_metadata: str = ""
    state: _State = Field(default_factory=_State)

    @property
    def block_of(self) -> dict[str, str]:
        """The block that an input stands in, by the input's name."""
        blocks = self.state.values.items()
        return {input_name(action): block for block, actions in blocks for action in actions}


class ViewSubmission(_Payload):
    """A dialog that was sent off."""

    user: _User
    view: _View


class _AnyState(_Payload):
    values: dict[str, Any] = {}


class _AnyView(_Payload):
    state: _AnyState = Field(default_factory=_AnyState)


class AnyDialog(_Payload):
    """As much of a dialog as it takes to answer at one of its inputs: for those that are no `ViewSubmission`."""

    view: _AnyView = Field(default_factory=_AnyView)

    @property
    def blocks(self) -> list[str]:
        return list(self.view.state.values)


INPUT = "input:"
"""How the action ids of inputs begin, so that none is taken for a button."""


def input_name(action_id: str) -> str:
    return action_id.removeprefix(INPUT)


def inputs_in(values: dict[str, dict[str, Json]]) -> dict[str, tuple[str, ...]]:
    """What inputs hold, by name. Slack escapes the texts of options but not their values, nor what people type."""
    return {
        input_name(action): _held(element)
        for actions in values.values()
        for action, element in actions.items()
        if action.startswith(INPUT)
    }


def _held(element: Json) -> tuple[str, ...]:
    if element.get("type") == "plain_text_input":
        return (str(element["value"]),) if element.get("value") else ()
    options = element.get("selected_options") or [element.get("selected_option")]
    return tuple(str(option.get("value")) for option in options if isinstance(option, dict))
