"""Looks at the policy before anything starts, and once a day at what has become of the people whom it rests on."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from chatops_bot.app.config import Config
from chatops_bot.domain.errors import ConfigInvalid, PlatformError, StoreError
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Effect, Person
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.policy_idle import idle_rules
from chatops_bot.domain.policy_lint import Flaw, lint
from chatops_bot.domain.tool import OF_THE_AGENT
from chatops_bot.domain.view import Heading, Notice, View
from chatops_bot.domain.voice import LOCAL_PREFIX
from chatops_bot.ports import Directory, Place, Platform
from chatops_bot.tools.registry import Registry

_log = logging.getLogger(__name__)

FIRST_LOOK_SECONDS = 60.0
"""Config was looked at when the bot started; people are asked for once it has caught up with what it missed."""
LOOK_SECONDS = 24 * 3600.0
MOST_LOOKED_AT = 200
"""People. Where config and its groups name more, one more or less who left changes nothing."""
PAUSE_SECONDS = 1.2
"""Between two people: half of what Slack allows, so that turns have the other half."""

_HEADING = Phrase("策略无法满足", "The policy cannot be met")

Members = Callable[[str], Awaitable[frozenset[str]]]
"""The ids of a user group's members."""


def sound_policy(config: Config, registry: Registry) -> Policy:
    """The policy of `config`. Raises ConfigInvalid with a sentence for each rule that nobody could meet; lesser flaws are logged."""
    policy = config.make_policy()
    flaws = flaws_of(config, policy, registry)
    if fatal := [said(config, flaw) for flaw in flaws if flaw.is_fatal]:
        raise ConfigInvalid("\n".join(fatal))
    for flaw in flaws:
        _log.warning("%s", said(config, flaw))
    return policy


def flaws_of(config: Config, policy: Policy, registry: Registry) -> list[Flaw]:
    """What can be said of the policy before anybody is asked who people are."""
    tools = effects_of(registry)
    undoable = frozenset(tool.spec.name for tool in registry if tool.spec.undoable)
    return [*lint(policy, tools), *idle_rules(policy, tools, undoable, config.proposal_lifetime)]


def effects_of(registry: Registry) -> dict[str, Effect]:
    """The tools by name, with what each does to the world. Those of the agent itself are among them even while they are off,
    since a rule about one holds as soon as it is on."""
    own = dict.fromkeys(OF_THE_AGENT, Effect.READ)
    return {**own, **{tool.spec.name: tool.spec.effect for tool in registry}}


def said(config: Config, flaw: Flaw) -> str:
    """The flaw as a sentence that begins with where its rule stands."""
    return f"{config.where(flaw.key)}: {flaw.says}"


async def known_people(
    config: Config, directory: Directory, members: Members, pause: float = 0.0
) -> list[Person] | None:
    """The people whom config names and the members of its groups, as the platform vouches for them now.

    None when they are more than `MOST_LOOKED_AT`. Raises PlatformError when the platform does not say.
    """
    ids = {one: None for one in config.people if not one.startswith(LOCAL_PREFIX)}
    for group in sorted(config.groups):
        ids |= dict.fromkeys(sorted(await members(group)))
    if len(ids) > MOST_LOOKED_AT:
        return None
    known = []
    for one in ids:
        known.append(await directory.person(one))
        await asyncio.sleep(pause)
    return known


class PolicyWatch:
    """Tries the policy on the people there are today. What nobody could meet any more is logged, and posted where alerts go."""

    def __init__(
        self, config: Config, policy: Policy, registry: Registry, directory: Directory, members: Members, platform: Platform,
        pause: float = PAUSE_SECONDS,
    ) -> None:  # fmt: skip
        self._config = config
        self._policy = policy
        self._tools = effects_of(registry)
        self._directory = directory
        self._members = members
        self._platform = platform
        self._pause = pause
        self._told: list[str] = []

    async def watch(
        self,
        is_mine: Callable[[], Awaitable[bool]],
        first: float = FIRST_LOOK_SECONDS,
        every: float = LOOK_SECONDS,
    ) -> None:
        """Look after `first` seconds and every `every` from then on, until cancelled; each time only where `is_mine`: of several
        bots one tells."""
        await asyncio.sleep(first)
        while True:
            try:
                if await is_mine():
                    await self.look()
            except (PlatformError, StoreError) as error:
                _log.warning("the policy was not tried on the people of today: %s", error)
            await asyncio.sleep(every)

    async def look(self) -> Sequence[str]:
        """The sentences about what nobody could meet; those that are new are told. Raises PlatformError."""
        known = await known_people(self._config, self._directory, self._members, self._pause)
        if known is None:
            return []
        flaws = lint(self._policy, self._tools, known)
        told = [said(self._config, flaw) for flaw in flaws if flaw.is_fatal]
        new = [one for one in told if one not in self._told]
        self._told = told
        for sentence in new:
            _log.error("%s", sentence)
        channel = self._config.alerts.channel
        if new and channel:
            language: Language = self._config.alerts.language
            heading = _HEADING.said_in(language)
            notices = [Notice(sentence, "warning") for sentence in new]
            await self._platform.post(Place(channel), View((Heading(heading), *notices), heading))
        return told
