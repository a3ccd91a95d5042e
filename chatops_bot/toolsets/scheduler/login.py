"""One login per account: lazy, cached, and never twice at the same time.

A token is replaced after four fifths of its life, and at once when the service refuses it. Tokens stay in this module's
memory: they are in no repr, no log and no URL.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from chatops_bot.toolsets.scheduler.wire import Login

_USED_SHARE_OF_LIFE = 0.8


@dataclass(frozen=True, slots=True)
class Account:
    """A user of the scheduler."""

    username: str
    password: str = field(repr=False)


@dataclass(slots=True)
class _Held:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    token: str = field(default="", repr=False)
    role: str = ""
    renew_at: float = 0.0


class Logins:
    """The tokens of all accounts. `log_in` performs one login; `monotonic` gives seconds."""

    def __init__(self, log_in: Callable[[Account], Awaitable[Login]], monotonic: Callable[[], float]) -> None:
        self._log_in = log_in
        self._monotonic = monotonic
        self._held: dict[Account, _Held] = {}

    async def token(self, account: Account, *, instead_of: str = "") -> str:
        """A token that should work; `instead_of` is one that the service has just refused."""
        held = self._held.setdefault(account, _Held())
        async with held.lock:
            if held.token in ("", instead_of) or self._monotonic() >= held.renew_at:
                login = await self._log_in(account)
                held.token, held.role = login.token, login.role
                held.renew_at = self._monotonic() + login.expires_in * _USED_SHARE_OF_LIFE
            return held.token

    async def role(self, account: Account) -> str:
        """What the service said of the account's role when it logged in."""
        await self.token(account)
        return self._held[account].role
