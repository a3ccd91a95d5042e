"""A call that the policy does not allow the asker is refused before anything is read or proposed."""

from chatops_bot.domain.errors import ToolRefused
from chatops_bot.domain.policy import Policy
from chatops_bot.tools.invocation import Dispatched, Handler, Invocation


def authorised(policy: Policy, inner: Handler) -> Handler:
    async def authorise(invocation: Invocation) -> Dispatched:
        spec, context = invocation.tool.spec, invocation.context
        refusal = policy.may_ask(context.person, spec.name, spec.effect, context.session.channel)
        if refusal is not None:
            raise ToolRefused(refusal)
        return await inner(invocation)

    return authorise
