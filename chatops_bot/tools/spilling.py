"""No result may fill the context, and none is lost: a long one goes to the store whole, and a short form of it to the model.

The short form names the handle under which `read_result` gives back the rest. What is stored has been redacted by then.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from chatops_bot.context.clearing import ends
from chatops_bot.domain.proposal import canonical_json
from chatops_bot.domain.skill import LOAD_SKILL
from chatops_bot.domain.tool import READ_RESULT
from chatops_bot.ports import Results
from chatops_bot.tools.invocation import Dispatched, Handler, Invocation

RESULT_CHARS = 24_000
"""Longest result in the context, about 7,000 tokens; a longer one says what was left out."""

KEPT_SECONDS = 30 * 24 * 3600
"""As long as a button lives: a thread that is older is not gone on with."""

KEPT_CHARS = 8_000_000
"""Longest result that is kept. One that is longer keeps its beginning and its end."""


def capped(results: Results | None, inner: Handler) -> Handler:
    async def cap(invocation: Invocation) -> Dispatched:
        done = await inner(invocation)
        call = invocation.call
        if call.name == LOAD_SKILL:  # half a workflow is worse than none, and its file had its own limit
            return done
        whole = canonical_json(done.result.content)
        if len(whole) <= RESULT_CHARS:
            return done
        handle = None
        if results is not None:
            handle = call.id
            kept = whole if len(whole) <= KEPT_CHARS else "\n…\n".join(ends(whole, KEPT_CHARS))
            await results.put(invocation.context.session, handle, kept, KEPT_SECONDS)
        content = cap_content(done.result.content, RESULT_CHARS, handle)
        return replace(done, result=replace(done.result, content=content))

    return cap


def cap_content(content: Mapping[str, Any], limit: int, handle: str | None = None) -> Mapping[str, Any]:
    """`content` within `limit` characters of JSON, still valid JSON: long lists lose their tail, then long strings their middle.

    What was cut is said in `cut`, so that the model can tell people, and how to read it under the name of that tool.
    """
    if len(canonical_json(content)) <= limit:
        return content
    smaller = dict(content)
    cuts: list[str] = []
    smaller |= {"cut": cuts} | ({READ_RESULT: {"handle": handle}} if handle else {})
    for key in _longest_first(content):
        rows, kept = smaller[key], []
        room = limit - len(canonical_json({**smaller, key: []})) - 200
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
        for key in content:
            text = smaller[key] if isinstance(smaller[key], str) else canonical_json(smaller[key])
            if len(text) > share:
                head, tail = ends(text, share)
                smaller[key] = f"{head}\n…\n{tail}"
                cuts.append(
                    f"{key}: the first {len(head)} and the last {len(tail)} of {len(text)} characters"
                    f" ({text.count(chr(10)) + 1} lines)"
                )
    return smaller


def _longest_first(content: Mapping[str, Any]) -> list[str]:
    lists = [key for key, value in content.items() if isinstance(value, list)]
    return sorted(lists, key=lambda key: -len(canonical_json(content[key])))
