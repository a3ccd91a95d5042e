"""Every point at which a process can be struck: before each thing that it waits for, in the middle of it, and after it.

Nothing is counted before `arm`. Points are numbered from 1 in the order in which a process comes to them. A phase ends with the step of the proposal that it
leads to.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import httpx

T = TypeVar("T")
BEGUN = 3
"""Turns of the loop after which a call is surely under way, and hardly ever over."""
Strike = Callable[[str], Awaitable[None]]
"""What happens at the point, whose name it is given."""


async def _nothing(point: str) -> None:
    """A process that nobody strikes."""


class Taps:
    """Strikes at point `at`; 0 never. `awaits` and `points` are counted by phase; `phases` are those to come, each begun by one
    move of a proposal."""

    def __init__(self, phases: Sequence[str], at: int = 0, strike: Strike = _nothing) -> None:
        self._phases = list(phases)
        self._at = at
        self._strike = strike
        self.phase = self._phases.pop(0)
        self._passed = 0
        self._armed = False
        self.awaits: list[tuple[str, str]] = []
        self.points: list[tuple[str, str]] = []

    def arm(self) -> None:
        self._armed = True

    async def around(self, name: str, call: Callable[[], Awaitable[T]]) -> T:
        """Await `call` with a point on either side of it and one in the middle."""
        self.begun(name)
        await self.point(f"before {name}")
        if self._passed + 1 == self._at:
            begun = asyncio.ensure_future(call())
            for _ in range(BEGUN):
                await asyncio.sleep(0)
            await self.point(f"in {name}")
            done = await begun
        else:
            await self.point(f"in {name}")
            done = await call()
        await self.point(f"after {name}")
        return done

    def begun(self, name: str) -> None:
        """Something is about to be awaited."""
        if self._armed:
            self.awaits.append((self.phase, name))

    async def point(self, name: str) -> None:
        if not self._armed:
            return
        self._passed += 1
        self.points.append((self.phase, name))
        if self._passed == self._at:
            await self._strike(f"{self.phase}: {name}")

    async def store(self, name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        """For `tapped_store`: as `around`; with the move of a proposal its phase is over."""
        done = await self.around(name, call)
        if name == "proposals.move" and self._phases:
            self.phase = self._phases.pop(0)
        return done

    def decided(self) -> None:
        """The card stands, and somebody decides."""
        if self.phase == "propose" and self._phases:
            self.phase = self._phases.pop(0)


class TappedTransport(httpx.AsyncBaseTransport):
    """HTTP with a point before a request, one when all of it was sent, and one when its answer is there."""

    def __init__(self, taps: Taps) -> None:
        self._inner = httpx.AsyncHTTPTransport(trust_env=False, verify=False)
        self._taps = taps

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        name = f"{request.method} {request.url.path}"

        async def trace(event: str, info: Any) -> None:
            if event.endswith("send_request_body.complete"):
                await self._taps.point(f"in {name}")

        self._taps.begun(name)
        await self._taps.point(f"before {name}")
        request.extensions = {**request.extensions, "trace": trace}
        response = await self._inner.handle_async_request(request)
        await self._taps.point(f"after {name}")
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()
