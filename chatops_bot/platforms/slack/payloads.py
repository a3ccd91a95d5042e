"""What Slack sends, as far as the bot reads it. Unknown fields are ignored, missing ones are refused here."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

Json = dict[str, Any]


class _Payload(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


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


class BlockActions(_Payload):
    """A press of a button."""

    user: _User
    container: _Container
    message: _Posted | None = None
    actions: list[Action] = Field(min_length=1)

    @property
    def thread(self) -> str:
        posted = self.message.thread_ts if self.message else None
        return self.container.thread_ts or posted or self.container.message_ts


class Whereabouts(_Payload):
    """As much of an interaction as it takes to answer it: for those that are no `BlockActions`."""

    user: _User
    container: _Container
