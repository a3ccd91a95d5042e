"""A call that the asker's role does not allow is refused before anything is read or proposed."""

from chatops_bot.domain.errors import ToolRefused
from chatops_bot.domain.people import may_ask
from chatops_bot.tools.invocation import Dispatched, Handler, Invocation


def authorised(inner: Handler) -> Handler:
    async def authorise(invocation: Invocation) -> Dispatched:
        refusal = may_ask(invocation.context.person, invocation.tool.spec.effect)
        if refusal is not None:
            raise ToolRefused(refusal)
        return await inner(invocation)

    return authorise
