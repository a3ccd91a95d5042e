"""A store whose every call passes through a tap, so that a test can hold it, count it, or die at it."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from chatops_bot.ports import Store

Tap = Callable[[str, Callable[[], Awaitable[Any]]], Awaitable[Any]]
"""Takes the call's name, such as `proposals.move`, and the call itself; returns what the caller shall get."""

ROLES = (
    "transcripts",
    "turns",
    "inbox",
    "proposals",
    "forms",
    "audit",
    "leases",
    "secret_values",
    "results",
    "controls",
    "prompts",
    "arms",
)
WRITES = frozenset(
    {
        "transcripts.append",
        "turns.begin",
        "turns.checkpoint",
        "turns.end",
        "inbox.claim",
        "proposals.add",
        "proposals.move",
        "proposals.shown",
        "forms.add",
        "forms.move",
        "forms.shown",
        "audit.record",
        "secret_values.put",
        "results.put",
        "secret_values.drop",
        "controls.put",
    }
)


class _TappedRole:
    def __init__(self, name: str, role: Any, tap: Tap) -> None:
        self._name, self._role, self._tap = name, role, tap

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        inner = getattr(self._role, method)

        async def call(*args: Any, **kwargs: Any) -> Any:
            return await self._tap(f"{self._name}.{method}", lambda: inner(*args, **kwargs))

        return call


class _TappedStore:
    def __init__(self, store: Store, tap: Tap) -> None:
        for name in ROLES:
            setattr(self, name, _TappedRole(name, getattr(store, name), tap))
        self.process, self.relay = store.process, store.relay


def tapped(tap: Tap) -> Callable[[Store], Store]:
    """For `open_bot(wrap_store=…)`."""
    return lambda store: cast("Store", _TappedStore(store, tap))


def before(name: str, meanwhile: Callable[[], Awaitable[object]], nth: int = 1) -> Callable[[Store], Store]:
    """A store with which `meanwhile` happens before the `nth` call of this name; what it raises, that call raises."""
    count = 0

    async def tap(called: str, call: Callable[[], Awaitable[Any]]) -> Any:
        nonlocal count
        if called == name:
            count += 1
            if count == nth:
                await meanwhile()
        return await call()

    return tapped(tap)
