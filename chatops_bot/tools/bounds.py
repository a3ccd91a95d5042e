"""No tool may take for ever."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from chatops_bot.domain.errors import ToolTimedOut
from chatops_bot.domain.language import Phrase
from chatops_bot.ports import ToolSpec
from chatops_bot.tools.invocation import Dispatched, Handler, Invocation

T = TypeVar("T")


def timed(inner: Handler) -> Handler:
    """Stop a call at its tool's own timeout."""

    async def time_out(invocation: Invocation) -> Dispatched:
        return await in_time(invocation.tool.spec, inner(invocation))

    return time_out


async def in_time(spec: ToolSpec, work: Awaitable[T]) -> T:
    """What `work` of this tool returns; ToolTimedOut when that takes longer than the tool may."""
    try:
        async with asyncio.timeout(spec.timeout):
            return await work
    except TimeoutError as error:
        raise ToolTimedOut(
            Phrase(
                f"{spec.name} 在 {spec.timeout:g} 秒内没有返回。",
                f"{spec.name} did not return within {spec.timeout:g} s.",
            )
        ) from error
