"""Running an approved action: the stored one, as it stands, with no model in reach.

The plan is made again first; where the facts it rests on have changed, nothing runs. The caller holds the claim.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from chatops_bot.domain.errors import ToolError, ToolFailed, ToolImpossible
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.proposal import Proposal, ProposalState, action_digest, canonical_json
from chatops_bot.domain.redaction import Redactor
from chatops_bot.ports import ToolContext, WriteTool
from chatops_bot.tools.border import guarded
from chatops_bot.tools.registry import Registry


@dataclass(frozen=True, slots=True)
class Applied:
    """Where the proposal goes from `claimed`, the sentence for people, and the facts for transcript and audit."""

    state: ProposalState
    summary: Phrase
    content: Mapping[str, Any]


class Applier:
    def __init__(self, registry: Registry, redactor: Redactor) -> None:
        self._registry = registry
        self._redactor = redactor

    async def apply(self, proposal: Proposal, approver: Person) -> Applied:
        """Run the stored action with the approver's rights. Never raises for what the back end does."""
        if action_digest(proposal) != proposal.digest:
            return _failed(
                Phrase(
                    "存储的动作与批准时显示的不一致，未执行任何操作；请重新发起请求。",
                    "The stored action is not the one that was shown, so nothing ran; ask for the change again.",
                )
            )
        context = self._context(proposal, approver)
        try:
            tool = self._tool(proposal)
            arguments = tool.spec.arguments.model_validate(dict(proposal.arguments))
            async with asyncio.timeout(tool.spec.timeout):
                fresh = await guarded(proposal.tool, tool.plan(arguments, context))
        except ToolImpossible as error:
            return self._redacted(_drifted([error.phrase.said_in(_language(proposal))]))
        except (ToolError, TimeoutError, ValueError) as error:
            return self._redacted(_failed(_not_run(error)))
        drifted = _drift(proposal.plan.preconditions, fresh.preconditions)
        if drifted:
            return self._redacted(_drifted(drifted))
        try:
            async with asyncio.timeout(tool.spec.timeout):
                outcome = await guarded(proposal.tool, tool.apply(arguments, context))
        except ToolFailed as error:
            state = ProposalState.OUTCOME_UNKNOWN if error.outcome_unknown else ProposalState.FAILED
            return self._redacted(Applied(state, error.phrase, {"error": error.phrase.en}))
        except ToolError as error:
            return self._redacted(_failed(error.phrase))
        except TimeoutError:
            return _unknown(
                Phrase(
                    f"{proposal.tool} 在 {tool.spec.timeout:g} 秒内没有返回；变更可能已生效，请先核实，系统不会自动重试。",
                    f"{proposal.tool} did not return within {tool.spec.timeout:g} s; the change may have happened. "
                    "Check first; it is not tried again.",
                )
            )
        state = ProposalState.APPLIED if outcome.ok else ProposalState.FAILED
        return self._redacted(
            Applied(state, outcome.summary, {**outcome.content, "verified": outcome.verified})
        )

    async def recover(self, proposal: Proposal, approver: Person) -> Applied:
        """What became of an action whose process died while it ran: proved by reading back, or unknown. Changes nothing."""
        context = self._context(proposal, approver)
        try:
            tool = self._tool(proposal)
            arguments = tool.spec.arguments.model_validate(dict(proposal.arguments))
            async with asyncio.timeout(tool.spec.timeout):
                outcome = await guarded(proposal.tool, tool.probe(arguments, proposal.plan, context))
        except (ToolError, TimeoutError, ValueError):
            outcome = None
        if outcome is None:
            return _unknown(
                Phrase(
                    "机器人在执行过程中重启，无法确认变更是否生效；请先核实，系统不会自动重试。",
                    "The bot restarted while this ran, so whether it happened is not known. "
                    "Check first; it is not tried again.",
                )
            )
        state = ProposalState.APPLIED if outcome.ok else ProposalState.FAILED
        return self._redacted(
            Applied(state, outcome.summary, {**outcome.content, "verified": outcome.verified})
        )

    def _tool(self, proposal: Proposal) -> WriteTool:
        return cast("WriteTool", self._registry.find(proposal.tool))

    def _context(self, proposal: Proposal, approver: Person) -> ToolContext:
        return ToolContext(approver, proposal.session, proposal.turn_id, idempotency_key=proposal.id)

    def _redacted(self, applied: Applied) -> Applied:
        content = self._redactor.value(applied.content)
        return Applied(applied.state, self._redactor.phrase(applied.summary), content)


def _language(proposal: Proposal) -> Language:
    return "zh" if proposal.language == "zh" else "en"


def _drift(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    fields = sorted({*before, *now})
    return [
        f"{field}: {before.get(field)} → {now.get(field)}"
        for field in fields
        if canonical_json(before.get(field)) != canonical_json(now.get(field))
    ]


def _drifted(differences: list[str]) -> Applied:
    listed = "; ".join(differences)
    return Applied(
        ProposalState.DRIFTED,
        Phrase(
            f"提案之后目标已变化，未执行任何操作：{listed}。请重新发起请求。",
            f"The target changed after this was proposed, so nothing ran: {listed}. Ask for the change again.",
        ),
        {"drifted": differences},
    )


def _failed(phrase: Phrase) -> Applied:
    return Applied(ProposalState.FAILED, phrase, {"error": phrase.en})


def _unknown(phrase: Phrase) -> Applied:
    return Applied(ProposalState.OUTCOME_UNKNOWN, phrase, {"outcome": "unknown"})


def _not_run(error: Exception) -> Phrase:
    if isinstance(error, ToolError):
        return Phrase(f"未执行任何操作：{error.phrase.zh}", f"Nothing ran: {error.phrase.en}")
    if isinstance(error, TimeoutError):
        return Phrase(
            "执行前的核对超时，未执行任何操作。", "The check before running timed out, so nothing ran."
        )
    return Phrase(
        "存储的参数不再符合工具的要求，未执行任何操作。",
        "The stored arguments no longer fit the tool, so nothing ran.",
    )
