"""Checks of who may do what: the rules themselves, and, at Slack, the groups and the people whom they rest on."""

from collections.abc import Sequence

import aiohttp

from chatops_bot.app.clock import SystemClock
from chatops_bot.app.config import Config, Secrets
from chatops_bot.app.doctor.findings import Check, Finding, failed, ok, warning
from chatops_bot.app.doctor.tools import open_tools
from chatops_bot.app.policy_check import effects_of, flaws_of, known_people, said
from chatops_bot.app.skills import skills_of
from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.people import Effect
from chatops_bot.domain.policy_lint import Flaw, lint
from chatops_bot.platforms.slack.api import SlackApi
from chatops_bot.platforms.slack.directory import SlackDirectory


def policy_check(config: Config, secrets: Secrets) -> Check:
    """The rules, with the people whom config names."""
    return Check("policy", _check_policy(config, secrets))


def people_of_today_checks(config: Config, secrets: Secrets, session: aiohttp.ClientSession) -> list[Check]:
    """The rules, with the people and the groups as Slack knows them; none without a token, or without a rule or a group."""
    if not secrets.slack_bot_token or not (config.groups or config.policy.rules):
        return []
    api = SlackApi(session, secrets.slack_bot_token, str(config.slack.api_url), timeout=10.0)
    return [
        Check("slack policy", _check_people_of_today(config, secrets, api)),
        Check("policy channels", _check_channels(config, api)),
    ]


async def _tools(config: Config, secrets: Secrets) -> dict[str, Effect]:
    async with open_tools(config, secrets, skills_of(config)) as registry:
        return effects_of(registry)


async def _check_policy(config: Config, secrets: Secrets) -> Sequence[Finding]:
    async with open_tools(config, secrets, skills_of(config)) as registry:
        flaws = flaws_of(config, config.make_policy(), registry)
    rules, freezes = len(config.policy.rules), len(config.policy.freezes)
    if not flaws and not rules and not freezes:
        return [ok("policy", "No rules: the roles alone say who may ask and approve (docs/policy.md).")]
    well = (
        f"{_count(rules, 'rule')} and {_count(freezes, 'freeze')} can be met by the people that config names."
    )
    if not flaws and config.groups:
        well = f"{_count(rules, 'rule')} and {_count(freezes, 'freeze')}; what depends on user groups is looked at under slack policy."
    return _findings(config, "policy", flaws) or [ok("policy", well)]


async def _check_people_of_today(config: Config, secrets: Secrets, api: SlackApi) -> Sequence[Finding]:
    directory = SlackDirectory(api, SystemClock(), config.roster, config.groups)
    found = []
    try:
        for group in sorted(config.groups):
            members = await directory.members(group)
            if not members:
                says = f"User group {group} has no members; what rests on it nobody may do. Correct the id, or fill it."
                found.append(warning("slack policy", says))
        known = await known_people(config, directory, directory.members)
    except PlatformError as error:
        says = f"{error} Correct the ids of user groups, and see that the app has the scope usergroups:read."
        return [*found, failed("slack policy", says)]
    if known is None:
        return [
            *found,
            warning("slack policy", "Config names too many people to look at each; nothing else was tried."),
        ]
    flaws = lint(config.make_policy(), await _tools(config, secrets), known)
    well = f"The rules can be met by the {_count(len(known), 'person', 'people')} of today."
    return [*found, *_findings(config, "slack policy", flaws)] or [ok("slack policy", well)]


async def _check_channels(config: Config, api: SlackApi) -> Sequence[Finding]:
    flaws, unseen = [], dict[str, str]()
    by_rule = {
        rule.name: rule.scope.channels | (rule.only_in or frozenset()) for rule in config.make_policy().rules
    }
    named = sorted({channel for channels in by_rule.values() for channel in channels})
    for channel in named:
        try:
            await api.read("conversations.info", channel=channel)
        except PlatformError as error:
            unseen[channel] = error.code or str(error)
    for name, channels in by_rule.items():
        for channel in sorted(channels & unseen.keys()):
            says = (
                f"the bot sees no channel {channel} ({unseen[channel]}); correct the id, or invite the bot."
            )
            flaws.append(Flaw(name, says, is_fatal=False))
    if flaws or not named:
        return _findings(config, "policy channels", flaws)
    return [ok("policy channels", f"The bot sees the {_count(len(named), 'channel')} that the rules name.")]


def _findings(config: Config, check: str, flaws: Sequence[Flaw]) -> list[Finding]:
    return [(failed if flaw.is_fatal else warning)(check, said(config, flaw)) for flaw in flaws]


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
