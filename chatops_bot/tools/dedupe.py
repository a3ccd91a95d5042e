"""The same write with the same arguments runs once a turn, whatever the order of its keys.

Only what worked is remembered: a write that failed may be tried again. Reads are never deduplicated, since a model polls.
"""

from dataclasses import replace

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.errors import Told, Words
from chatops_bot.domain.people import Effect
from chatops_bot.tools.invocation import Dispatched, Handler, Invocation


def deduplicated(words: Words, inner: Handler) -> Handler:
    async def dedupe(invocation: Invocation) -> Dispatched:
        if invocation.tool.spec.effect is Effect.READ:
            return await inner(invocation)
        key = f"{invocation.tool.spec.name} {canonical_json(invocation.arguments.model_dump(mode='json'))}"
        first = invocation.memory.writes.get(key)
        if first is not None:
            content = {**first.result.content, "note": words(Told("same_call"), invocation.language)}
            return Dispatched(replace(first.result, content=content), first.decision)
        done = await inner(invocation)
        if done.result.status != "error":
            invocation.memory.writes[key] = done
        return done

    return dedupe
