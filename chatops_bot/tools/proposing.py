"""A call that changes the world becomes a proposal: planned by reading, stored, shown; not run."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Risk
from chatops_bot.domain.proposal import Proposal, action_digest, canonical_json
from chatops_bot.domain.tool import Plan, ToolResult
from chatops_bot.ports import Clock, Ids, Proposals, WriteTool
from chatops_bot.tools.invocation import Dispatched, Handler, Invocation

SHOWABLE_CHARS = 8_000
"""Slack takes about 13,000 characters of blocks in one message; what a card says beside the action fits into the rest."""


class Proposer:
    """Turns write calls into stored proposals. `lifetime` is how long a proposal may be approved."""

    def __init__(self, proposals: Proposals, clock: Clock, ids: Ids, lifetime: timedelta) -> None:
        self._proposals = proposals
        self._clock = clock
        self._ids = ids
        self._lifetime = lifetime

    def proposed(self, inner: Handler) -> Handler:
        async def propose(invocation: Invocation) -> Dispatched:
            if invocation.tool.spec.effect is Effect.READ:
                return await inner(invocation)
            tool = cast("WriteTool", invocation.tool)
            plan = await tool.plan(invocation.arguments, invocation.context)
            refuse_what_no_card_can_show(plan, invocation.arguments.model_dump(mode="json"))
            proposal = self._proposal(invocation, plan, tool)
            await self._proposals.add(proposal)
            return Dispatched(_waits(proposal), "proposed", proposal)

        return propose

    def _proposal(self, invocation: Invocation, plan: Plan, tool: WriteTool) -> Proposal:
        now = self._clock.now()
        context = invocation.context
        arguments: Mapping[str, Any] = invocation.arguments.model_dump(mode="json")
        unsealed = Proposal(
            id=self._ids.new("prop"),
            code=self._ids.code(),
            session=context.session,
            turn_id=context.turn_id,
            call_id=invocation.call.id,
            tool=tool.spec.name,
            effect=tool.spec.effect,
            arguments=arguments,
            plan=plan,
            risk=Risk(plan.risk),
            requester_id=context.person.id,
            requester_name=context.person.name,
            language=invocation.language,
            created_at=now,
            expires_at=now + self._lifetime,
            digest="",
        )
        return replace(unsealed, digest=action_digest(unsealed))


def refuse_what_no_card_can_show(plan: Plan, arguments: Mapping[str, Any]) -> None:
    """Raises ToolFailed for an action too long to be shown whole: nobody can approve what they cannot read."""
    texts = [text for _, text in plan.details]
    texts += [side for change in plan.changes for side in (change.before, change.after) if side is not None]
    length = max(sum(map(len, texts)), len(canonical_json(arguments)))
    if length > SHOWABLE_CHARS:
        raise ToolFailed(
            Phrase(
                f"这个变更有 {length:,} 个字符，超过卡片能完整显示的 {SHOWABLE_CHARS:,} 个，因此没有提出；请缩短内容，例如改为调用一个脚本。",
                f"The action is {length:,} characters long and a card shows at most {SHOWABLE_CHARS:,}, so it was not proposed; "
                "shorten it, for example by calling a script.",
            )
        )


def _waits(proposal: Proposal) -> ToolResult:
    return ToolResult(
        status="waits",
        content={
            "status": "waits for approval; nothing has changed",
            "proposal": proposal.code,
            "target": proposal.plan.target,
            "expires_at": proposal.expires_at.isoformat(timespec="seconds"),
        },
        summary=Phrase(f"等待批准 {proposal.code}", f"waits for approval as {proposal.code}"),
    )
