"""A call that the policy does not allow the asker is refused before anything is read or proposed."""

from chatops_bot.domain.errors import Told, ToolRefused
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.policy import Policy
from chatops_bot.tools.invocation import Dispatched, Handler, Invocation

NOT_IN_A_CONSULTATION = Phrase("咨询中只读", "only looking is allowed in a consultation")


def authorised(policy: Policy, inner: Handler) -> Handler:
    async def authorise(invocation: Invocation) -> Dispatched:
        spec, context = invocation.tool.spec, invocation.context
        refusal = policy.may_ask(context.person, spec.name, spec.effect, context.session.channel)
        if refusal is not None:
            raise ToolRefused(refusal)
        if context.reads_only and (spec.effect is not Effect.READ or spec.asks):
            raise ToolRefused(NOT_IN_A_CONSULTATION, told=Told("consulted_only"))
        return await inner(invocation)

    return authorise
