"""Checks of what the bot speaks to: the scheduler, the model, Slack. Each through the client that the bot itself uses."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from time import monotonic
from zoneinfo import ZoneInfo

import aiohttp
import httpx
import yaml

from chatops_bot.app.bundled import bundled
from chatops_bot.app.config import Config, ModelEndpoint
from chatops_bot.app.doctor.findings import Check, Finding, failed, ok, warning
from chatops_bot.app.local_client import reach
from chatops_bot.domain.clocks import Clocks, zone_label
from chatops_bot.domain.errors import ConfigInvalid, ModelError, PlatformError, ToolFailed
from chatops_bot.domain.model import (
    ContextMessage,
    ModelRequest,
    ReasoningDelta,
    SystemMessage,
    TextDelta,
    ToolCallDelta,
    ToolDefinition,
    UserMessage,
)
from chatops_bot.domain.people import Role
from chatops_bot.llm.offline import OfflineModel
from chatops_bot.llm.openai_client import ModelTimeouts, OpenAIClient
from chatops_bot.platforms.slack.api import SlackApi
from chatops_bot.platforms.terminal.people import LocalRefused
from chatops_bot.toolsets.scheduler.api import SchedulerApi
from chatops_bot.toolsets.scheduler.approval_facts import zone_for
from chatops_bot.toolsets.scheduler.client import SchedulerClient
from chatops_bot.toolsets.scheduler.errors import Unreachable
from chatops_bot.toolsets.scheduler.login import Account
from chatops_bot.toolsets.scheduler.wire import Capabilities

SKEW_SECONDS = 30.0
"""Clocks that differ by more make "in the last hour" wrong enough to mislead; the header itself is whole seconds."""
MOST_PEOPLE = 40
"""Slack allows about a hundred of these calls a minute."""
_SCHEDULER_SECONDS = 8.0
_MODEL_SECONDS = 30.0
_RUNNING_SECONDS = 3.0
"""What a bot on this machine gets to say which model it uses; one that hangs is told of under bot."""
_TOKEN_REFUSED = frozenset(
    {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"}
)
_FOLLOWS = "This follows from slack bot."
_ENOUGH = ("viewer", "operator", "admin")

_ASKED = ModelRequest(
    messages=(
        SystemMessage("You check that a connection works."),
        UserMessage("Answer with the word ok."),
        ContextMessage("This is a test of the connection."),
    ),
    tools=(
        ToolDefinition(
            "report_health", "Report that all is well.", {"type": "object", "properties": {}, "required": []}
        ),
    ),
)


# -- scheduler ----------------------------------------------------------------------------------------------------------


def scheduler_checks(config: Config, passwords: Mapping[str, str], http: httpx.AsyncClient) -> list[Check]:
    """`passwords` by account; an account without one was told as missing already."""
    accounts = {
        Role(name): Account(getattr(config.scheduler.accounts, name).username, password)
        for name, password in passwords.items()
        if password
    }
    url = str(config.scheduler.url)
    zone = ZoneInfo(config.scheduler.timezone)
    client = SchedulerClient(http, url, accounts, zone=zone, read_seconds=_SCHEDULER_SECONDS)
    logins = [
        Check(f"scheduler {role}", _check_login(client, role, accounts[role].username)) for role in accounts
    ]
    return [Check("scheduler", _check_scheduler(client, url)), *logins]


async def _check_scheduler(client: SchedulerClient, url: str) -> Sequence[Finding]:
    try:
        reply = await client.get_open(f"{url.rstrip('/')}/healthz", {})
    except ToolFailed as error:
        return [failed("scheduler", _checked(error, "Check scheduler.url, and that the service runs."))]
    skew = _skew(reply.headers.get("date", ""))
    if skew is not None and abs(skew) > SKEW_SECONDS:
        which = "ahead of" if skew > 0 else "behind"
        return [
            warning(
                "scheduler",
                f"The scheduler at {client.host} answers, but its clock is {abs(skew):.0f} s {which} this machine's; "
                "set both by the same time service.",
            )
        ]
    return [ok("scheduler", f"The scheduler at {client.host} answers, and its clock agrees.")]


def _skew(date: str) -> float | None:
    try:
        return (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return None


async def _check_login(client: SchedulerClient, role: Role, username: str) -> Sequence[Finding]:
    check, key = f"scheduler {role}", f"scheduler.accounts.{role}"
    try:
        has = await client.role_of(role)
        capabilities = await SchedulerApi(client, role).capabilities()
    except ToolFailed as error:
        advice = "This follows from scheduler." if isinstance(error, Unreachable) else f"See {key}."
        return [failed(check, _checked(error, advice))]
    at, version = f"{username} logs in", capabilities.version
    if role is Role.VIEWER and (other := _other_zone(client, capabilities)):
        return [failed(check, other)]
    if has not in _ENOUGH:
        return [ok(check, f"{at}; the scheduler does not say with which role ({version}).")]
    if _ENOUGH.index(has) < _ENOUGH.index(role.value):
        return [
            failed(
                check,
                f"{at}, but only as {has}, so what the role {role} approves would be refused; name an account of that role in {key}.",
            )
        ]
    if has != role.value:
        return [
            warning(
                check,
                f"{at} as {has}, with more rights than the role {role} needs; name an account of that role in {key}, "
                "so that the scheduler enforces the roles once more.",
            )
        ]
    return [ok(check, f"{at} as {has} ({version}).")]


def _other_zone(client: SchedulerClient, capabilities: Capabilities) -> str:
    said = zone_for(client, capabilities)
    if not Clocks(client.zone, said).differ(datetime.now(UTC)):
        return ""
    return (
        f"The scheduler reads cron in {zone_label(said)}, but scheduler.timezone is {zone_label(client.zone)}, so times that people "
        f"say would be put into the wrong zone; set scheduler.timezone to {zone_label(said)}."
    )


def _checked(error: ToolFailed, advice: str) -> str:
    return f"{error.phrase.en.replace('; nothing was changed', '')} {advice}"


# -- model --------------------------------------------------------------------------------------------------------------


def model_check(endpoint: ModelEndpoint | None, session: aiohttp.ClientSession, data: Path) -> Check:
    """`endpoint` is what this environment configures; a bot that runs on `data` may have been started with another."""
    return Check("model", _check_model(endpoint, session, data), _MODEL_SECONDS)


async def _check_model(
    endpoint: ModelEndpoint | None, session: aiohttp.ClientSession, data: Path
) -> Sequence[Finding]:
    try:
        client = _model_client(endpoint, session) if endpoint else None
        ours = client.name if client else OfflineModel().name
        running = await _running_model(data)
        if running not in ("", ours):
            says = (
                f"The running bot uses {running}, but the environment of this shell says {ours}. Run the doctor with the "
                "bot's OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL to have its model looked at."
            )
            return [warning("model", says)]
        if client is None:
            return [ok("model", "None is configured: the offline rules answer, and say so.")]
        began = monotonic()
        async with aclosing(client.stream(_ASKED)) as deltas:
            async for delta in deltas:
                if not isinstance(delta, TextDelta | ReasoningDelta | ToolCallDelta):
                    continue
                return [
                    ok(
                        "model",
                        f"{client.name} answers, with a tool offered; first piece after {monotonic() - began:.1f} s.",
                    )
                ]
    except (ModelError, ConfigInvalid) as error:
        return [failed("model", str(error))]
    return [warning("model", f"{client.name} answers, but with nothing; try another model.")]


def _model_client(endpoint: ModelEndpoint, session: aiohttp.ClientSession) -> OpenAIClient:
    """Raises ConfigInvalid for an address that is none."""
    timeouts = ModelTimeouts(connect=5.0, first_delta=20.0, between=20.0)
    return OpenAIClient(
        session, base_url=endpoint.base_url, api_key=endpoint.api_key, model=endpoint.name, timeouts=timeouts
    )


async def _running_model(data: Path) -> str:
    """The model of the bot that runs on a data folder; empty when none runs there or it does not say."""
    try:
        async with asyncio.timeout(_RUNNING_SECONDS), reach(data) as running:
            return running.model_name if running else ""
    except (LocalRefused, TimeoutError):
        return ""


# -- Slack --------------------------------------------------------------------------------------------------------------


def slack_checks(
    config: Config, bot_token: str, app_token: str, session: aiohttp.ClientSession
) -> list[Check]:
    """An empty token was told as missing already."""
    url = str(config.slack.api_url)
    bot = SlackApi(session, bot_token, url, timeout=10.0)
    checks = []
    if bot_token:
        checks.append(Check("slack bot", _check_bot_token(bot)))
    if app_token:
        checks.append(Check("slack app", _check_app_token(SlackApi(session, app_token, url, timeout=10.0))))
    if bot_token and config.people:
        checks.append(Check("slack people", _check_people(bot, list(config.people))))
    if bot_token and config.alerts.channel:
        checks.append(Check("slack channel", _check_channel(bot, config.alerts.channel)))
    return checks


def asked_scopes() -> frozenset[str]:
    """The scopes that the Slack app's manifest asks for."""
    manifest = yaml.safe_load(bundled("manifest.yaml").read_text(encoding="utf-8"))
    return frozenset(manifest["oauth_config"]["scopes"]["bot"])


async def _check_bot_token(api: SlackApi) -> Sequence[Finding]:
    try:
        identity, granted = await api.identity(), await api.scopes()
    except PlatformError as error:
        advice = "Check the network and slack.api_url." if _is_silence(error) else "See SLACK_BOT_TOKEN."
        return [failed("slack bot", f"{error} {advice}")]
    found = ok(
        "slack bot", f"The bot token is accepted: user {identity.user_id} in workspace {identity.team_id}."
    )
    if not granted:
        says = "Slack does not say which scopes the app has; compare them with manifest.yaml by hand."
        return [found, warning("slack scopes", says)]
    asked = asked_scopes()
    if missing := sorted(asked - granted):
        says = f"The app lacks {', '.join(missing)}; add to its scopes what manifest.yaml asks for and install it again."
        return [found, failed("slack scopes", says)]
    return [found, ok("slack scopes", f"All {len(asked)} scopes that manifest.yaml asks for are granted.")]


async def _check_app_token(api: SlackApi) -> Sequence[Finding]:
    try:
        await api.call("apps.connections.open")
    except PlatformError as error:
        advice = "See SLACK_APP_TOKEN: an app-level token (xapp-…) with the scope connections:write."
        return [failed("slack app", f"{error} {_FOLLOWS if _is_silence(error) else advice}")]
    return [ok("slack app", "The app token opens a socket.")]


def _is_silence(error: PlatformError) -> bool:
    """Whether Slack was not reached or said nothing, which is no matter of tokens."""
    return error.code in ("unreachable", "unanswered")


async def _check_people(api: SlackApi, people: Sequence[str]) -> Sequence[Finding]:
    """A mistyped id gives a stranger's role to nobody; Slack is asked for `MOST_PEOPLE` of them."""
    asked = people[:MOST_PEOPLE]
    known = await asyncio.gather(*(_is_known(api, person) for person in asked))
    unknown = [person for person, is_known in zip(asked, known, strict=True) if is_known is False]
    if unknown:
        says = f"Slack does not know {', '.join(unknown)}; correct the ids under roles.people."
        return [warning("slack people", says)]
    if None in known:
        return [warning("slack people", f"Slack did not say who the people of roles.people are. {_FOLLOWS}")]
    return [ok("slack people", f"Slack knows all {len(asked)} people of roles.people that were looked at.")]


async def _is_known(api: SlackApi, person: str) -> bool | None:
    """None when Slack does not say."""
    try:
        await api.read("users.info", user=person)
    except PlatformError as error:
        return False if error.code in ("user_not_found", "user_not_visible") else None
    return True


async def _check_channel(api: SlackApi, channel: str) -> Sequence[Finding]:
    try:
        found = (await api.read("conversations.info", channel=channel)).get("channel", {})
    except PlatformError as error:
        if _is_silence(error) or error.code in _TOKEN_REFUSED:
            return [failed("slack channel", f"{error} {_FOLLOWS}")]
        return [failed("slack channel", f"alerts.channel is {channel}: {error}")]
    if found.get("is_archived"):
        return [failed("slack channel", f"alerts.channel {channel} is archived; name another one.")]
    if not found.get("is_member"):
        return [
            failed(
                "slack channel", f"The bot is not in alerts.channel {channel}; invite it there with /invite."
            )
        ]
    return [ok("slack channel", f"The bot is in alerts.channel {channel}.")]
