"""`chat.*` and `reactions.*`: what the bot and people write."""

from typing import Any

from chatops_bot.simulators.slack import messages
from chatops_bot.simulators.slack.arguments import Api, Arguments
from chatops_bot.simulators.slack.content import read_content
from chatops_bot.simulators.slack.errors import SlackError
from chatops_bot.simulators.slack.identity import Caller
from chatops_bot.simulators.slack.validation import UPDATE_TEXT_BYTES

Json = dict[str, Any]


async def post_message(api: Api, caller: Caller, args: Arguments) -> Json:
    channel = api.channel(args, caller, use="write")
    content = read_content(args)
    thread_ts = args.optional_text("thread_ts")
    if thread_ts is not None and args.flag("reply_broadcast"):
        content.extra["subtype"] = "thread_broadcast"
    stored, shown = await api.posting.post(caller.user_id, channel, content, thread_ts=thread_ts)
    return {"channel": channel.id, "ts": stored.ts, "message": shown}


async def post_ephemeral(api: Api, caller: Caller, args: Arguments) -> Json:
    channel = api.channel(args, caller, use="write")
    content = read_content(args)
    person = api.identity.person_by_id(args.text("user"))
    if person is None or not api.identity.sees(person.id, channel):
        raise SlackError("user_not_in_channel")
    stored, _ = await api.posting.post(
        caller.user_id, channel, content, thread_ts=args.optional_text("thread_ts"), ephemeral_to=person.id
    )
    return {"message_ts": stored.ts}


async def update(api: Api, caller: Caller, args: Arguments) -> Json:
    """Without `blocks` the blocks stay; `blocks: []` removes them; `text` has a limit in bytes."""
    channel = api.channel(args, caller, use="write")
    content = read_content(args)
    if len(args.text("text").encode()) > UPDATE_TEXT_BYTES:
        raise SlackError("msg_too_long")
    ts = args.text("ts")
    if api.streams.is_live(channel.id, ts):
        raise SlackError("streaming_state_conflict")
    shown = await api.posting.edit(caller.user_id, channel, ts, content)
    return {"channel": channel.id, "ts": ts, "text": shown["text"], "message": shown}


async def delete(api: Api, caller: Caller, args: Arguments) -> Json:
    channel, ts = api.channel(args, caller, use="write"), args.text("ts")
    await api.posting.delete(channel, ts, caller.user_id)
    return {"channel": channel.id, "ts": ts}


async def get_permalink(api: Api, caller: Caller, args: Arguments) -> Json:
    channel, ts = api.channel(args, caller), args.text("message_ts")
    message = await api.database.run(lambda connection: messages.find_visible(connection, channel.id, ts))
    if message is None:
        raise SlackError("message_not_found")
    link = f"{api.url}/?channel={channel.id}&ts={ts}"
    if message.thread_ts is not None:
        link += f"&thread_ts={message.thread_ts}"
    return {"channel": channel.id, "permalink": link}


async def add_reaction(api: Api, caller: Caller, args: Arguments) -> Json:
    return await _react(api, caller, args, add=True)


async def remove_reaction(api: Api, caller: Caller, args: Arguments) -> Json:
    return await _react(api, caller, args, add=False)


async def _react(api: Api, caller: Caller, args: Arguments, *, add: bool) -> Json:
    channel, name = api.channel(args, caller, use="write"), args.text("name").strip(":")
    if not (name.isascii() and name.replace("_", "").replace("-", "").replace("+", "").isalnum()):
        raise SlackError("invalid_name")
    await api.posting.react(caller.user_id, channel, args.text("timestamp"), name, add=add)
    return {}


METHODS = {
    "chat.postMessage": post_message,
    "chat.postEphemeral": post_ephemeral,
    "chat.update": update,
    "chat.delete": delete,
    "chat.getPermalink": get_permalink,
    "reactions.add": add_reaction,
    "reactions.remove": remove_reaction,
}
