"""`chat.startStream`, `chat.appendStream`, `chat.stopStream`."""

from typing import Any

from chatops_bot.simulators.slack.arguments import Api, Arguments
from chatops_bot.simulators.slack.content import read_metadata
from chatops_bot.simulators.slack.errors import SlackError
from chatops_bot.simulators.slack.identity import Caller, Channel
from chatops_bot.simulators.slack.posting import Content
from chatops_bot.simulators.slack.streams import Stream
from chatops_bot.simulators.slack.validation import BLOCKS_PER_MESSAGE, MARKDOWN_TEXT, check_message_blocks

Json = dict[str, Any]
DISPLAY_MODES = ("", "timeline", "plan", "dense")


async def start_stream(api: Api, caller: Caller, args: Arguments) -> Json:
    """A message in a thread that grows; in a channel it names whom it is for."""
    channel, thread_ts = api.channel(args, caller, use="write"), args.text("thread_ts")
    if channel.kind != "im":
        _check_recipient(api, args)
    if args.text("task_display_mode") not in DISPLAY_MODES:
        raise SlackError("invalid_arguments", ["[ERROR] unknown mode [json-pointer:/task_display_mode]"])
    stream = api.streams.begin(caller.user_id)
    _append(api, stream, args)
    stored, _ = await api.posting.post(caller.user_id, channel, _content(stream), thread_ts=thread_ts)
    api.streams.keep(channel.id, stored.ts, stream)
    return {"channel": channel.id, "ts": stored.ts}


async def append_stream(api: Api, caller: Caller, args: Arguments) -> Json:
    channel, ts = api.channel(args, caller, use="write"), args.text("ts")
    stream = api.streams.live(channel.id, ts, caller.user_id, to_append=True)
    if not (args.text("markdown_text") or args.structure("chunks")):
        raise SlackError("no_text")
    _append(api, stream, args)
    await _show(api, channel, ts, stream)
    return {"channel": channel.id, "ts": ts}


async def stop_stream(api: Api, caller: Caller, args: Arguments) -> Json:
    """Close the stream; its last text, blocks and metadata come with the call."""
    channel, ts = api.channel(args, caller, use="write"), args.text("ts")
    stream = api.streams.live(channel.id, ts, caller.user_id, to_append=False)
    blocks, metadata = args.structure("blocks"), args.structure("metadata")
    extra = {} if metadata is None else {"metadata": read_metadata(metadata)}
    closing = [] if blocks is None else check_message_blocks(blocks)
    if len(stream.blocks) > BLOCKS_PER_MESSAGE:
        raise SlackError(
            "invalid_blocks", ["[ERROR] no more than 50 blocks by chunks [json-pointer:/chunks]"]
        )
    _append(api, stream, args)
    stream.blocks += closing
    stream.stopped = True
    shown = await _show(api, channel, ts, stream, extra)
    return {"channel": channel.id, "ts": ts, "message": shown}


def _append(api: Api, stream: Stream, args: Arguments) -> None:
    markdown = args.text("markdown_text")
    if len(markdown) > MARKDOWN_TEXT:
        raise SlackError("msg_too_long")
    api.streams.append(stream, markdown, args.structure("chunks"))


async def _show(api: Api, channel: Channel, ts: str, stream: Stream, extra: Json | None = None) -> Json:
    return await api.posting.grow(channel, ts, _content(stream, extra), final=stream.stopped)


def _content(stream: Stream, extra: Json | None = None) -> Content:
    return Content(stream.text, stream.shown(), extra or {})


def _check_recipient(api: Api, args: Arguments) -> None:
    for name in ("recipient_team_id", "recipient_user_id"):
        if not args.text(name):
            raise SlackError(f"missing_{name}")
    if args.text("recipient_team_id") != api.identity.team_id:
        raise SlackError("team_not_found")
    if api.identity.person_by_id(args.text("recipient_user_id")) is None:
        raise SlackError("user_not_found")


METHODS = {
    "chat.startStream": start_stream,
    "chat.appendStream": append_stream,
    "chat.stopStream": stop_stream,
}
