"""Running an approved action: the stored one, as it stands, with no model in reach.

What was sealed is looked at first, then the plan is made again; where the action, its tool, the rules or the facts have
changed, nothing runs. The caller holds the claim.
"""

import hmac
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.errors import ToolError, ToolFailed, ToolImpossible, ToolTimedOut
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.proposal import Proposal, ProposalState, sealed_digest
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.tool import Outcome
from chatops_bot.ports import ToolContext, ToolSpec, WriteTool
from chatops_bot.tools.border import guarded
from chatops_bot.tools.bounds import in_time
from chatops_bot.tools.registry import Registry, contract_hash
from chatops_bot.tools.sealed_secrets import SealedSecrets
from chatops_bot.tools.validation import stored_arguments

T = TypeVar("T")
IsOurs = Callable[[], Awaitable[bool]]
"""Whether the caller still has what it needs to run an action; it then has it for longer than any step of this takes."""
SIDE_CHARS = 300
"""Of what a fact was and of what it is, in a sentence; a payload may be 200,000 characters long."""
HASH_CHARS = 12
"""How much of a hash people are shown."""

_ALTERED = Phrase(
    "存储中的提案被改动过：存储的动作与显示给大家的不一致，未执行任何操作；请通知管理员。",
    "Somebody changed this proposal in the store: the stored action is not the one that was shown, so nothing ran; tell whoever "
    "looks after the bot.",
)
_CUT_OFF = Phrase(
    "执行它的进程在得到结果之前结束了。", "The process that ran it ended before it had an answer."
)
_NOT_OURS = Phrase(
    "执行前机器人中断过久，其他进程可能已接手，未执行任何操作；如仍需要，请重新发起请求。",
    "The bot was cut off for so long before this could run that it is not its to run any more, so nothing ran; ask for the "
    "change again if it is still needed.",
)


@dataclass(frozen=True, slots=True)
class Applied:
    """Where the proposal goes from `claimed`, the sentence for people, and the facts for transcript and audit.

    `is_tampered`: what is stored is not what was sealed.
    """

    state: ProposalState
    summary: Phrase
    content: Mapping[str, Any]
    is_tampered: bool = False


class Applier:
    def __init__(
        self,
        registry: Registry,
        redactor: Redactor,
        policy: Policy,
        keys: Sequence[bytes],
        secrets: SealedSecrets | None = None,
    ) -> None:
        """`keys` are those with which actions were sealed; `secrets` keep what people typed for them."""
        self._registry = registry
        self._redactor = redactor
        self._policy = policy
        self._keys = keys
        self._secrets = secrets

    async def apply(self, proposal: Proposal, approver: Person, is_ours: IsOurs | None = None) -> Applied:
        """Run the stored action with the approver's rights, unless the caller's claim is over by then, which `is_ours` is asked
        right before. Never raises for what the back end does."""
        return self._redacted(await self._apply(proposal, approver, is_ours))

    async def recover(self, proposal: Proposal, approver: Person) -> Applied:
        """What became of an action whose process died while it ran: proved by reading back, or unknown, with what its target reads
        now. Changes nothing."""
        context = _context(proposal, approver)
        try:
            tool, arguments = self._call_of(proposal)
            if self._secrets is not None:
                await self._secrets.watch(arguments, proposal.tool, proposal.session)
            outcome = await called(tool.spec, tool.probe(arguments, proposal.plan, context))
        except ToolError:
            return self._redacted(_unknown(_CUT_OFF))
        if outcome is not None:
            return self._redacted(_came_to(outcome))
        return self._redacted(_unknown(_CUT_OFF, await _read_now(tool, arguments, proposal, context)))

    async def _apply(self, proposal: Proposal, approver: Person, is_ours: IsOurs | None) -> Applied:
        if not any(
            hmac.compare_digest(sealed_digest(key, proposal).encode(), proposal.digest.encode())
            for key in self._keys
        ):
            return Applied(ProposalState.FAILED, _ALTERED, {"tampered": True, "error": _ALTERED.en}, True)
        context = _context(proposal, approver)
        try:
            drift = self._changed_rules(proposal)
            if drift:
                return _drifted(drift)
            tool, arguments = self._call_of(proposal)
            fresh = await called(tool.spec, tool.plan(arguments, context))
        except ToolImpossible as error:
            return await self._impossible(proposal, context, error.phrase)
        except ToolError as error:
            return _nothing_ran(error.phrase)
        drift = _differences(proposal.plan.preconditions, fresh.preconditions)
        if drift:
            return _drifted(drift)
        try:
            # Not before this: no plan, and nothing that is stored or shown, holds what was typed.
            if self._secrets is not None:
                arguments = await self._secrets.opened(arguments, proposal.tool, proposal.session)
        except ToolError as error:
            return _nothing_ran(error.phrase)
        if is_ours is not None and not await is_ours():
            return _failed(_NOT_OURS)
        try:
            return _came_to(await called(tool.spec, tool.apply(arguments, context)))
        except ToolTimedOut as error:
            return _unknown(_after_timeout(error.phrase))
        except ToolFailed as error:
            state = ProposalState.OUTCOME_UNKNOWN if error.outcome_unknown else ProposalState.FAILED
            return Applied(state, error.phrase, {"error": error.phrase.en})
        except ToolError as error:
            return _failed(error.phrase)

    async def _impossible(self, proposal: Proposal, context: ToolContext, why: Phrase) -> Applied:
        """Drift that no plan can be made on. Where things are already as the action would make them, that is what changed."""
        try:
            tool, arguments = self._call_of(proposal)
            is_so = await called(tool.spec, tool.probe(arguments, proposal.plan, context)) is not None
        except ToolError:
            is_so = False
        changes = [one for one in proposal.plan.changes if is_so and one.before != one.after]
        content = {one.field: {"before": one.before, "now": one.after} for one in changes}
        return Applied(ProposalState.DRIFTED, _overtaken(why), {"drifted": content, "error": why.en})

    def _changed_rules(self, proposal: Proposal) -> dict[str, tuple[Any, Any]]:
        """What the approval rested on beside the facts: the tool's contract and the policy. Raises ToolUnknown."""
        now = contract_hash(self._registry.find(proposal.tool).spec)
        hashes = {
            "tool": (proposal.tool_hash, now),
            "policy": (proposal.policy_version, self._policy.version),
        }
        return {
            name: (before[:HASH_CHARS], after[:HASH_CHARS])
            for name, (before, after) in hashes.items()
            if before != after
        }

    def _call_of(self, proposal: Proposal) -> tuple[WriteTool, BaseModel]:
        """The tool and the stored arguments, as it takes them. Raises ToolError."""
        tool = cast("WriteTool", self._registry.find(proposal.tool))
        return tool, stored_arguments(proposal.arguments, tool.spec.arguments)

    def _redacted(self, applied: Applied) -> Applied:
        content = self._redactor.value(applied.content)
        return replace(applied, summary=self._redactor.phrase(applied.summary), content=content)


async def called(spec: ToolSpec, work: Awaitable[T]) -> T:
    """What a step of a tool returns, within its time; raises only ToolError."""
    return await in_time(spec, guarded(spec.name, work))


def _context(proposal: Proposal, approver: Person) -> ToolContext:
    return ToolContext(approver, proposal.session, proposal.turn_id, idempotency_key=proposal.id)


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """By field what it was and what it is, where that differs."""
    fields = sorted({*before, *now})
    pairs = {field: (before.get(field), now.get(field)) for field in fields}
    return {
        field: pair for field, pair in pairs.items() if canonical_json(pair[0]) != canonical_json(pair[1])
    }


def _drifted(differences: Mapping[str, tuple[Any, Any]]) -> Applied:
    sides = {field: (_short(before), _short(now)) for field, (before, now) in differences.items()}
    listed = "; ".join(f"{field}: {before} → {now}" for field, (before, now) in sides.items())
    content = {field: {"before": before, "now": now} for field, (before, now) in differences.items()}
    return Applied(ProposalState.DRIFTED, _drift_phrase(listed), {"drifted": content})


def _short(value: Any) -> str:
    """A side of a difference as the sentence holds it, which goes to the model too; all of it is in the outcome."""
    text = str(value)
    return text if len(text) <= SIDE_CHARS else f"{text[:SIDE_CHARS]}… ({len(text):,})"


def _overtaken(why: Phrase) -> Phrase:
    return Phrase(
        f"没有执行，提出之后情况已经变化：{why.zh.rstrip('。.')}。",
        f"Nothing was run, since things changed after it was asked for: {why.en.rstrip('。.')}.",
    )


def _drift_phrase(what: str) -> Phrase:
    return Phrase(
        f"提案之后情况已变化，未执行任何操作：{what}。请重新发起请求。",
        f"Things changed after this was proposed, so nothing ran: {what}. Ask for the change again.",
    )


def _came_to(outcome: Outcome) -> Applied:
    state = ProposalState.APPLIED if outcome.ok else ProposalState.FAILED
    return Applied(state, outcome.summary, {**outcome.content, "verified": outcome.verified})


def _failed(phrase: Phrase) -> Applied:
    return Applied(ProposalState.FAILED, phrase, {"error": phrase.en})


def _nothing_ran(why: Phrase) -> Applied:
    return _failed(Phrase(f"未执行任何操作：{why.zh}", f"Nothing ran: {why.en}"))


async def _read_now(
    tool: WriteTool, arguments: BaseModel, proposal: Proposal, context: ToolContext
) -> Mapping[str, Mapping[str, str | None]]:
    """By field that the action changes what it was when it was proposed, and what it is; empty where a new plan cannot say."""
    try:
        fresh = await called(tool.spec, tool.plan(arguments, context))
    except ToolError:
        return {}
    now = {change.field: change.before for change in fresh.changes}
    return {
        change.field: {"before": change.before, "now": now[change.field]}
        for change in proposal.plan.changes
        if change.field in now and change.before is not None
    }


def _unknown(phrase: Phrase, reads: Mapping[str, Any] | None = None) -> Applied:
    content = {"outcome": "unknown"} | ({"reads": reads} if reads else {})
    return Applied(ProposalState.OUTCOME_UNKNOWN, phrase, content)


def _after_timeout(why: Phrase) -> Phrase:
    return Phrase(
        f"{why.zh}变更可能已生效。",
        f"{why.en} The change may have happened.",
    )
