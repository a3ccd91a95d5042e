"""No result may fill the context, and none is lost: a long one goes to the store whole, and a short form of it to the model.

The short form names the handle under which `read_result` gives back the rest. What is stored has been redacted by then.
"""

from dataclasses import replace

from chatops_bot.domain.cutting import cap_content, ends
from chatops_bot.domain.skill import LOAD_SKILL
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
        whole = done.result.text
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
