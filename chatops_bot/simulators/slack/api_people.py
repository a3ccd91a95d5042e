"""`auth.test`, `users.*`, `usergroups.*`, `bots.info`, `team.info`: who is here."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from chatops_bot.simulators.slack.api_reads import page_of
from chatops_bot.simulators.slack.arguments import Api, Arguments
from chatops_bot.simulators.slack.errors import SlackError
from chatops_bot.simulators.slack.identity import BOT_COLOR, Caller, Group

Json = dict[str, Any]


async def auth_test(api: Api, caller: Caller, args: Arguments) -> Json:
    identity = api.identity
    answer: Json = {
        "url": f"{api.url}/",
        "team": identity.team_name,
        "team_id": identity.team_id,
        "user": identity.bot_name if caller.person is None else caller.person.key,
        "user_id": caller.user_id,
        "is_enterprise_install": False,
    }
    return answer if caller.person is not None else answer | {"bot_id": identity.bot_id}


async def users_info(api: Api, caller: Caller, args: Arguments) -> Json:
    user_id = args.text("user")
    if user_id not in _user_ids(api):
        raise SlackError("user_not_found")
    return {"user": _user(api, user_id)}


async def users_list(api: Api, caller: Caller, args: Arguments) -> Json:
    page, cursor = page_of(_user_ids(api), args)
    return {
        "members": [_user(api, user_id) for user_id in page],
        "response_metadata": {"next_cursor": cursor},
    }


async def bots_info(api: Api, caller: Caller, args: Arguments) -> Json:
    app = api.apps.by_bot(args.text("bot") or api.identity.bot_id)
    if app is None:
        raise SlackError("bot_not_found")
    bot = {"id": app.bot_id, "app_id": app.app_id, "user_id": app.user_id, "name": app.name}
    return {"bot": {**bot, "deleted": False, "updated": api.identity.created, "icons": {}}}


async def team_info(api: Api, caller: Caller, args: Arguments) -> Json:
    identity = api.identity
    return {
        "team": {
            "id": identity.team_id,
            "name": identity.team_name,
            "domain": identity.team_domain,
            "icon": {},
        }
    }


async def usergroups_list(api: Api, caller: Caller, args: Arguments) -> Json:
    wants_users = args.flag("include_users")
    return {
        "usergroups": [
            _group(api, group) | ({"users": _members(api, group)} if wants_users else {})
            for group in api.identity.groups
        ]
    }


async def usergroups_users_list(api: Api, caller: Caller, args: Arguments) -> Json:
    wanted = args.text("usergroup")
    group = next((group for group in api.identity.groups if group.id == wanted), None)
    if group is None:
        raise SlackError("no_such_subteam")
    return {"users": _members(api, group)}


def _group(api: Api, group: Group) -> Json:
    return {
        "id": group.id,
        "team_id": api.identity.team_id,
        "is_usergroup": True,
        "is_external": False,
        "handle": group.handle,
        "name": group.name,
        "description": "",
        "date_create": api.identity.created,
        "date_update": api.identity.created,
        "date_delete": 0,
        "auto_type": None,
        "user_count": len(group.people),
    }


def _members(api: Api, group: Group) -> list[str]:
    return [person.id for person in api.identity.people if person.key in group.people]


def _user_ids(api: Api) -> list[str]:
    return [*(person.id for person in api.identity.people), *(app.user_id for app in api.apps.all())]


def _user(api: Api, user_id: str) -> Json:
    identity, app = api.identity, api.apps.by_user(user_id)
    person = identity.person_by_id(user_id)
    name = person.name if person is not None else "" if app is None else app.name
    profile = {"real_name": name, "display_name": name, "title": "" if person is None else person.title}
    if app is not None:
        profile |= {"bot_id": app.bot_id, "api_app_id": app.app_id}
    return {
        "id": user_id,
        "team_id": identity.team_id,
        "name": name if person is None else person.key,
        "real_name": name,
        "deleted": False,
        "color": (BOT_COLOR if person is None else person.color).lstrip("#"),
        **_zone("UTC" if person is None else person.tz, api.clock.time()),
        "profile": {**profile, "team": identity.team_id},
        "is_admin": person is not None and person.role == "admin",
        "is_owner": False,
        "is_restricted": False,
        "is_ultra_restricted": False,
        "is_stranger": False,
        "is_bot": person is None,
        "is_app_user": False,
        "updated": identity.created,
    }


def _zone(name: str, now: float) -> Json:
    moment = datetime.fromtimestamp(now, UTC).astimezone(ZoneInfo(name))
    offset = moment.utcoffset() or timedelta()
    return {"tz": name, "tz_label": str(moment.tzname()), "tz_offset": int(offset.total_seconds())}


METHODS = {
    "auth.test": auth_test,
    "usergroups.list": usergroups_list,
    "usergroups.users.list": usergroups_users_list,
    "users.info": users_info,
    "users.list": users_list,
    "bots.info": bots_info,
    "team.info": team_info,
}
