"""Native text streams: a message that grows by appends until it is stopped, grows too large, gets too old, or is refused.

    live → stopped          chat.stopStream
    live → stopped_by_user  a person pressed Stop; the next append learns of it
    live → dead             too old; a restart of the workspace ends every stream too, since they live in memory

What of this Slack does not document (the size of a stream, its age) was seen in the field.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chatops_bot.simulators.slack.clock import Clock
from chatops_bot.simulators.slack.errors import SlackError
from chatops_bot.simulators.slack.settings import Settings
from chatops_bot.simulators.slack.validation import MARKDOWN_TEXT, check_message_blocks

Json = dict[str, Any]
CHUNK_TITLE = 256
TASK_STATUSES = ("pending", "in_progress", "complete", "error")
STREAMS_KEPT = 1_000


@dataclass(slots=True)
class Stream:
    """What has been streamed so far. `size` counts UTF-8 bytes; details and output of a task weigh double."""

    author: str
    started: float
    text: str = ""
    plan: str = ""
    tasks: dict[str, Json] = field(default_factory=dict)
    blocks: list[Json] = field(default_factory=list)
    size: int = 0
    stopped: bool = False
    stopped_by_user: bool = False

    def shown(self) -> list[Json]:
        """The message's blocks."""
        said = [{"type": "markdown", "text": self.text}] if self.text else []
        tasks = [{"type": "task_card", **task} for task in self.tasks.values()]
        plan = [{"type": "plan", "title": self.plan}] if self.plan else []
        return [*plan, *tasks, *said, *self.blocks]


class Streams:
    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._streams: dict[tuple[str, str], Stream] = {}

    def begin(self, author: str) -> Stream:
        """A stream that is not a message yet; `keep` gives it one."""
        return Stream(author, self._clock.monotonic())

    def keep(self, channel: str, ts: str, stream: Stream) -> None:
        self._streams[channel, ts] = stream
        if len(self._streams) > STREAMS_KEPT:
            del self._streams[next(iter(self._streams))]

    def live(self, channel: str, ts: str, author: str, *, to_append: bool) -> Stream:
        """The stream that may be written to.

        Raises message_not_in_streaming_state, message_not_owned_by_app, and stopped_by_user for an append.
        """
        stream = self._streams.get((channel, ts))
        if stream is None or not self._is_live(stream):
            raise SlackError("message_not_in_streaming_state")
        if stream.author != author:
            raise SlackError("message_not_owned_by_app")
        if to_append and stream.stopped_by_user:
            raise SlackError("stopped_by_user")
        return stream

    def is_live(self, channel: str, ts: str) -> bool:
        stream = self._streams.get((channel, ts))
        return stream is not None and self._is_live(stream)

    def stop_by_user(self, channel: str, ts: str) -> bool:
        """A person presses Stop; False when nothing streams there."""
        if not self.is_live(channel, ts):
            return False
        self._streams[channel, ts].stopped_by_user = True
        return True

    def append(self, stream: Stream, markdown: str, chunks: Any) -> None:
        """Add to a stream, all or nothing. Raises msg_too_long, or invalid_arguments for chunks that mean nothing."""
        if markdown and chunks:
            raise SlackError("invalid_arguments", ["[ERROR] markdown_text and chunks exclude each other"])
        wanted = [{"type": "markdown_text", "text": markdown}] if markdown else _checked(chunks)
        size = stream.size + sum(map(_weight, wanted))
        if size > self._settings.stream_bytes:
            raise SlackError("msg_too_long")
        stream.size = size
        for chunk in wanted:
            _add(stream, chunk)

    def _is_live(self, stream: Stream) -> bool:
        age = self._clock.monotonic() - stream.started
        return not stream.stopped and age < self._settings.stream_seconds


def _add(stream: Stream, chunk: Mapping[str, Any]) -> None:
    match chunk["type"]:
        case "markdown_text":
            stream.text += chunk["text"]
        case "plan_update":
            stream.plan = chunk["title"]
        case "task_update":
            task = {key: value for key, value in chunk.items() if key not in ("type", "id")}
            earlier = stream.tasks.get(chunk["id"], {})
            stream.tasks[chunk["id"]] = {**earlier, "task_id": chunk["id"], **task}
        case _:
            stream.blocks += chunk["blocks"]


def _weight(chunk: Mapping[str, Any]) -> int:
    def size(name: str) -> int:
        value = chunk.get(name)
        return len(value.encode()) if isinstance(value, str) else 0

    return size("text") + size("title") + 2 * (size("details") + size("output"))


def _checked(chunks: Any) -> list[Json]:
    if chunks is None:
        return []
    if not isinstance(chunks, list):
        raise SlackError("invalid_arguments", ["[ERROR] must be a list [json-pointer:/chunks]"])
    for index, chunk in enumerate(chunks):
        if problem := _problem(chunk):
            raise SlackError("invalid_arguments", [f"[ERROR] {problem} [json-pointer:/chunks/{index}]"])
    return chunks


def _problem(chunk: Any) -> str:
    """What is wrong with a chunk, '' when nothing is; raises for text or blocks over their own limits."""
    if not isinstance(chunk, dict):
        return "must be an object"
    title = chunk.get("title")
    if title is not None and not (isinstance(title, str) and 0 < len(title) <= CHUNK_TITLE):
        return f"title has 1 to {CHUNK_TITLE} characters"
    match chunk.get("type"):
        case "markdown_text":
            if not isinstance(chunk.get("text"), str):
                return "missing required field: text"
            if len(chunk["text"]) > MARKDOWN_TEXT:
                raise SlackError("msg_too_long")
        case "plan_update":
            return "" if title else "missing required field: title"
        case "task_update":
            if not isinstance(chunk.get("id"), str) or not title:
                return "id and title are required"
            if chunk.get("status") not in TASK_STATUSES:
                return f"status is one of {', '.join(TASK_STATUSES)}"
        case "blocks":
            check_message_blocks(chunk.get("blocks"))
        case kind:
            return f"unsupported type: {kind}"
    return ""
