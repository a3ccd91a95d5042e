"""Rules that hold and change nothing: what they ask for cannot come about. They do no harm, so the bot only tells of them."""

from collections.abc import Iterator, Mapping
from datetime import timedelta

from chatops_bot.domain.people import Effect
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.policy_lint import Flaw
from chatops_bot.domain.policy_rules import Rule


def idle_rules(
    policy: Policy, tools: Mapping[str, Effect], undoable: frozenset[str], lifetime: timedelta
) -> list[Flaw]:
    """What of the rules never shows, for these tools. `undoable` are those whose changes can be taken back, `lifetime` is how
    long a proposal waits."""
    return [
        flaw for rule in policy.rules for flaw in (*_kept(rule, tools, undoable), *_reminded(rule, lifetime))
    ]


def _kept(rule: Rule, tools: Mapping[str, Effect], undoable: frozenset[str]) -> Iterator[Flaw]:
    if rule.keep_for is None:
        return
    covered = {
        tool
        for tool, effect in tools.items()
        if effect is not Effect.READ
        and (not rule.scope.tools or tool in rule.scope.tools)
        and (not rule.scope.effects or effect in rule.scope.effects)
    }
    lasting = covered - undoable
    # A rule that names no tool is about whatever can be taken back, as long as anything can.
    if lasting and (rule.scope.tools or not covered & undoable):
        says = f"keep_minutes takes nothing back of {', '.join(sorted(lasting))}, which cannot be undone; leave it out there."
        yield Flaw(rule.name, says, is_fatal=False)


def _reminded(rule: Rule, lifetime: timedelta) -> Iterator[Flaw]:
    if rule.remind_after is not None and rule.remind_after >= lifetime:
        after, lives = (f"{each.total_seconds() / 60:g}" for each in (rule.remind_after, lifetime))
        says = (
            f"nobody is reminded after remind_minutes: {after}, since a proposal waits {lives} minutes "
            "(proposals.expire_minutes); set fewer minutes."
        )
        yield Flaw(rule.name, says, is_fatal=False)
