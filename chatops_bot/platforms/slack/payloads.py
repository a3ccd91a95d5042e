"""What Slack sends, as far as the bot reads it. Unknown fields are ignored, missing ones are refused here."""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

Json = dict[str, Any]


class _Payload(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class MessageEvent(_Payload):
    """`message` and `app_mention` events; one message may cause both."""

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
    blocks: list[Json] = []

    @property
    def readable_text(self) -> str:
        """The text or, where there is none (forwarded alerts), that of the attachments and blocks. In Slack's format."""
        if self.text and self.text.strip():
            return self.text
        return "\n".join(_texts_of(self.attachments) or _texts_of(self.blocks))


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


_TEXT_FIELDS = ("pretext", "title", "text")
_NESTED_FIELDS = ("blocks", "elements", "fields")


def _texts_of(holders: Sequence[Json]) -> list[str]:
    return [text for holder in holders for text in (*_texts(holder),) if text.strip()]


def _texts(holder: Json) -> Iterator[str]:
    """Texts of an attachment or block in reading order; `fallback` only where nothing else can be read."""
    found = False
    for name in _TEXT_FIELDS:
        value = holder.get(name)
        text = value.get("text") if isinstance(value, dict) else value
        if isinstance(text, str) and text:
            found = True
            yield text
    for name in _NESTED_FIELDS:
        nested = holder.get(name)
        for each in nested if isinstance(nested, list) else ():
            if isinstance(each, dict):
                for text in _texts(each):
                    found = True
                    yield text
    if isinstance(value := holder.get("value"), str) and "elements" not in holder:
        found = True
        yield value
    if not found and isinstance(fallback := holder.get("fallback"), str):
        yield fallback
