"""No tool may take for ever, and no result may fill the context."""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from chatops_bot.domain.errors import ToolTimedOut
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.proposal import canonical_json
from chatops_bot.domain.skill import LOAD_SKILL
from chatops_bot.ports import ToolSpec
from chatops_bot.tools.invocation import Dispatched, Handler, Invocation

T = TypeVar("T")

RESULT_CHARS = 24_000
"""Longest result in the context, about 7,000 tokens; a longer one keeps its head and says what was left out."""


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


def capped(inner: Handler) -> Handler:
    async def cap(invocation: Invocation) -> Dispatched:
        done = await inner(invocation)
        if (
            invocation.call.name == LOAD_SKILL
        ):  # half a workflow is worse than none, and its file had its own limit
            return done
        content = cap_content(done.result.content, RESULT_CHARS)
        return (
            done
            if content is done.result.content
            else replace(done, result=replace(done.result, content=content))
        )

    return cap


def cap_content(content: Mapping[str, Any], limit: int) -> Mapping[str, Any]:
    """`content` within `limit` characters of JSON, still valid JSON: long lists lose their tail, then long strings do.

    What was cut is said in `cut`, so that the model can tell people.
    """
    if len(canonical_json(content)) <= limit:
        return content
    smaller = dict(content)
    cuts: list[str] = []
    lists = sorted(
        (k for k, v in smaller.items() if isinstance(v, list)), key=lambda k: -len(canonical_json(smaller[k]))
    )
    for key in lists:
        rows, kept = smaller[key], []
        room = limit - len(canonical_json({**smaller, key: [], "cut": cuts})) - 200
        for row in rows:
            room -= len(canonical_json(row)) + 1
            if room < 0:
                break
            kept.append(row)
        if len(kept) < len(rows):
            smaller[key] = kept
            cuts.append(f"{key}: the first {len(kept)} of {len(rows)}")
    if len(canonical_json(smaller)) > limit:
        share = max(limit // max(len(smaller), 1) // 2, 100)
        for key, value in smaller.items():
            text = value if isinstance(value, str) else canonical_json(value)
            if len(text) > share:
                smaller[key] = text[:share]
                cuts.append(f"{key}: the first {share} of {len(text)} characters")
    smaller["cut"] = cuts
    return smaller
