"""`apps.connections.open`, `views.*`, `assistant.threads.setStatus`: sockets, modals and the status line."""

from typing import Any

from chatops_bot.simulators.slack import messages
from chatops_bot.simulators.slack.arguments import Api, Arguments
from chatops_bot.simulators.slack.errors import SlackError
from chatops_bot.simulators.slack.identity import Caller

Json = dict[str, Any]
LOADING_MESSAGES = 10


async def open_connection(api: Api, caller: Caller, args: Arguments) -> Json:
    """A Socket Mode URL that opens once, soon."""
    ticket = api.socket_mode.issue_ticket()
    return {"url": f"{api.url.replace('http', 'ws', 1)}/socket?ticket={ticket}&app_id={api.identity.app_id}"}


async def open_view(api: Api, caller: Caller, args: Arguments) -> Json:
    return {"view": await api.views.open(_trigger(args), args.structure("view"))}


async def push_view(api: Api, caller: Caller, args: Arguments) -> Json:
    return {"view": await api.views.push(_trigger(args), args.structure("view"))}


async def update_view(api: Api, caller: Caller, args: Arguments) -> Json:
    view_id, external_id = args.optional_text("view_id"), args.optional_text("external_id")
    view = await api.views.update(args.structure("view"), view_id, external_id, args.optional_text("hash"))
    return {"view": view}


async def set_status(api: Api, caller: Caller, args: Arguments) -> Json:
    channel, thread_ts = api.channel(args, caller, "channel_id", use="write"), args.text("thread_ts")
    loading = args.structure("loading_messages") or []
    if not isinstance(loading, list) or len(loading) > LOADING_MESSAGES:
        raise SlackError("invalid_arguments", ["[ERROR] at most 10 loading_messages"])
    await api.database.run(lambda connection: messages.thread_root(connection, channel.id, thread_ts))
    api.posting.set_status(channel, thread_ts, args.text("status"), [str(message) for message in loading])
    return {}


def _trigger(args: Arguments) -> str:
    trigger = args.text("trigger_id")
    if not trigger:
        raise SlackError("invalid_arguments", ["[ERROR] missing required field: trigger_id"])
    return trigger


METHODS = {
    "apps.connections.open": open_connection,
    "views.open": open_view,
    "views.push": push_view,
    "views.update": update_view,
    "assistant.threads.setStatus": set_status,
}
