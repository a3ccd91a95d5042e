"""How often the bot may call: a token bucket a method, and one a channel for posts.

Slack publishes what each method grants at least in a minute, and says that short bursts pass. So a bucket refills at the
published rate and holds a fifth of a minute's calls. A refused call takes nothing. The time is given with each question.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

MAX_BUCKETS = 5_000


@dataclass(frozen=True, slots=True)
class Limit:
    """`per_minute` calls, of which `burst` may come at once."""

    per_minute: float
    burst: int


def _tier(per_minute: int) -> Limit:
    return Limit(per_minute, max(1, per_minute // 5))


TIER_1, TIER_2, TIER_3, TIER_4 = _tier(1), _tier(20), _tier(50), _tier(100)
POSTS_IN_A_CHANNEL = Limit(60, 5)
"""One a second; "short bursts ok"."""
POSTS_IN_ALL = Limit(300, 60)
"""Slack says "several hundred a minute" for a workspace."""
LOOKS = Limit(300, 60)
"""Methods whose special limit allows hundreds of calls a minute."""
READS_OF_DISTRIBUTED_APPS = TIER_1
"""conversations.history and .replies for apps that are sold outside the Marketplace, since 2025-05-29."""

LIMITS: Mapping[str, Limit] = {
    "apps.connections.open": TIER_3,
    "assistant.threads.setStatus": LOOKS,
    "auth.test": LOOKS,
    "bots.info": TIER_3,
    "chat.appendStream": TIER_4,
    "chat.delete": TIER_3,
    "chat.getPermalink": LOOKS,
    "chat.postEphemeral": TIER_4,
    "chat.postMessage": POSTS_IN_ALL,
    "chat.startStream": TIER_2,
    "chat.stopStream": TIER_2,
    "chat.update": TIER_3,
    "conversations.history": TIER_3,
    "conversations.info": TIER_3,
    "conversations.join": TIER_3,
    "conversations.list": TIER_2,
    "conversations.members": TIER_4,
    "conversations.open": TIER_3,
    "conversations.replies": TIER_3,
    "reactions.add": TIER_3,
    "reactions.remove": TIER_2,
    "team.info": TIER_3,
    "users.conversations": TIER_3,
    "usergroups.list": TIER_2,
    "usergroups.users.list": TIER_2,
    "users.info": TIER_4,
    "users.list": TIER_2,
    "views.open": TIER_4,
    "views.push": TIER_4,
    "views.update": TIER_4,
}


@dataclass(slots=True)
class _Bucket:
    left: float
    seen: float

    def refill(self, limit: Limit, now: float) -> None:
        self.left = min(limit.burst, self.left + (now - self.seen) * limit.per_minute / 60)
        self.seen = now

    def wait(self, limit: Limit) -> float:
        return 0.0 if self.left >= 1 else (1 - self.left) * 60 / limit.per_minute


class RateLimits:
    """`distributed` is whether the app counts as one that is sold outside the Marketplace."""

    def __init__(self, *, distributed: bool = False) -> None:
        self._distributed = distributed
        self._buckets: dict[tuple[str, str], _Bucket] = {}

    def take(self, method: str, channel: str, now: float) -> int:
        """0 when the call may be made, which it then counts as; else the whole seconds to wait (`Retry-After`)."""
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.clear()
        asked = []
        for key, limit in self._limits(method, channel):
            bucket = self._buckets.setdefault(key, _Bucket(limit.burst, now))
            bucket.refill(limit, now)
            asked.append((bucket, limit))
        wait = max((bucket.wait(limit) for bucket, limit in asked), default=0.0)
        # The refill adds up fractions: what is within a microsecond of a whole call is one.
        if wait > 1e-6:
            return math.ceil(wait - 1e-6)
        for bucket, _ in asked:
            bucket.left -= 1
        return 0

    def _limits(self, method: str, channel: str) -> Iterator[tuple[tuple[str, str], Limit]]:
        if method == "chat.postMessage":
            yield (method, channel), POSTS_IN_A_CHANNEL
        if self._distributed and method in ("conversations.history", "conversations.replies"):
            yield (method, ""), READS_OF_DISTRIBUTED_APPS
        elif method in LIMITS:
            yield (method, ""), LIMITS[method]
