"""A draft: the call of a write tool, planned by reading, as a sealed proposal that nobody has seen or stored yet."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.errors import ToolFailed, ToolRefused
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Effect, Risk
from chatops_bot.domain.policy import Policy, Subject
from chatops_bot.domain.proposal import Proposal, sealed_digest
from chatops_bot.domain.secret_argument import form_of
from chatops_bot.domain.tool import Plan
from chatops_bot.ports import Clock, Ids, Proposals, ToolContext, WriteTool
from chatops_bot.tools.argument_model import secret_labels
from chatops_bot.tools.doubt import in_doubt
from chatops_bot.tools.registry import contract_hash

READABLE_CHARS = 200_000
"""Some 5,000 lines, two hours of reading. Whoever would page through more of it at night approves without having read it."""


_TAKEN_BACK = Phrase("自动撤销", "Taken back")
_KEPT_ANYWAY = Phrase(
    "不会自动撤销，尽管规则要求在 {minutes} 分钟后撤销：现在还说不出如何撤销",
    "never by itself, although the rules say after {minutes} min: nothing says beforehand how",
)
_KEPT_SINCE_IN_PART = Phrase(
    "不会自动撤销，尽管规则要求在 {minutes} 分钟后撤销：删除只能部分撤销",
    "never by itself, although the rules say after {minutes} min: what is deleted comes back only in part",
)
_SEALED = Phrase("由填表人提供，加密保存，执行时才取用", "given in a form, sealed until it runs")


def subject_of(proposal: Proposal) -> Subject:
    """What a question about rights is about, of a proposal."""
    return Subject(
        proposal.tool, proposal.effect, proposal.risk, proposal.plan.target, proposal.requester_id, proposal.session.channel,
        proposal.code,
    )  # fmt: skip


class Drafter:
    """Makes drafts. `lifetime` is how long a proposal may be approved; `key` seals its action; `proposals` tell what is in doubt."""

    def __init__(
        self, policy: Policy, clock: Clock, ids: Ids, lifetime: timedelta, key: bytes, proposals: Proposals
    ) -> None:
        self._policy = policy
        self._clock = clock
        self._ids = ids
        self._lifetime = lifetime
        self._key = key
        self._proposals = proposals

    async def draft(
        self,
        tool: WriteTool,
        arguments: BaseModel,
        context: ToolContext,
        *,
        call_id: str,
        language: Language,
        supersedes: str = "",
        may_repeat: str = "",
        inverse_of: str = "",
    ) -> Proposal:
        """The proposal of a call, asked for by the person of `context`. Raises ToolError where it makes no sense now, ToolRefused
        where they may not. `may_repeat` is the proposal of which nobody knows what came; else it is looked for."""
        stored = arguments.model_dump(mode="json")
        plan = _with_secrets_named(await tool.plan(arguments, context), tool, stored, language)
        refuse_what_nobody_would_read(plan, stored)
        now = self._clock.now()
        bare = Proposal(
            id=self._ids.new("prop"),
            code=self._ids.code(),
            session=context.session,
            turn_id=context.turn_id,
            call_id=call_id,
            tool=tool.spec.name,
            effect=tool.spec.effect,
            arguments=stored,
            plan=plan,
            risk=Risk(plan.risk),
            requester_id=context.person.id,
            requester_name=context.person.name,
            language=language,
            created_at=now,
            expires_at=now + self._lifetime,
            digest="",
            tool_hash=contract_hash(tool.spec),
            policy_version=self._policy.version,
            supersedes=supersedes,
            inverse_of=inverse_of,
        )
        subject = subject_of(bare)
        refusal = self._policy.may_propose(context.person, subject)
        if refusal is not None:
            raise ToolRefused(refusal)
        may_repeat = may_repeat or await in_doubt(self._proposals, bare)
        bare = replace(bare, quorum=self._policy.quorum(subject), may_repeat=may_repeat)
        return self.sealed(self._with_time_to_keep(bare, subject, language))

    def _with_time_to_keep(self, bare: Proposal, subject: Subject, language: Language) -> Proposal:
        """`bare` with how long it stands unless it is kept, or, where it stands for good against the rules, with that on its card."""
        # What takes something back stands for good, whatever the rules wish.
        keep_for = None if bare.inverse_of else self._policy.keep_for(subject)
        if keep_for is None:
            return bare
        # So does what nobody can take back, and what the seal cannot cover since only the outcome will tell how to take it back.
        plan, is_in_part = bare.plan, bare.effect is Effect.DESTRUCTIVE
        is_sealed = plan.inverse is not None and not plan.inverse.filled
        # What is deleted comes back in part at most, which nobody should find out afterwards.
        if is_sealed and not is_in_part:
            return replace(bare, keep_for=keep_for)
        phrase = _KEPT_SINCE_IN_PART if is_sealed else _KEPT_ANYWAY
        said = phrase.filled(minutes=f"{keep_for.total_seconds() / 60:g}").said_in(language)
        return replace(bare, plan=replace(plan, details=(*plan.details, (_TAKEN_BACK, said))))

    def sealed(self, proposal: Proposal) -> Proposal:
        """`proposal` with the seal of the action that it holds."""
        return replace(proposal, digest=sealed_digest(self._key, proposal))


def _with_secrets_named(plan: Plan, tool: WriteTool, stored: Mapping[str, Any], language: Language) -> Plan:
    """A plan that also says which secrets the action holds: who approves must know that there are some."""
    labels = secret_labels(tool.spec.arguments)
    said = _SEALED.said_in(language)
    given = [(label, said) for name, label in labels.items() if form_of(stored[name]) is not None]
    return replace(plan, details=(*plan.details, *given))


def refuse_what_nobody_would_read(plan: Plan, arguments: Mapping[str, Any]) -> None:
    """Raises ToolFailed for an action too long to be read before it is approved: nobody can approve what they did not read."""
    texts = [text for _, text in plan.details]
    texts += [side for change in plan.changes for side in (change.before, change.after) if side is not None]
    length = max(sum(map(len, texts)), len(canonical_json(arguments)))
    if length > READABLE_CHARS:
        raise ToolFailed(
            Phrase(
                f"这个变更有 {length:,} 个字符，没有人会在批准前读完超过 {READABLE_CHARS:,} 个字符，因此没有提出；请缩短内容，例如改为调用一个脚本。",
                f"The action is {length:,} characters long; nobody reads more than {READABLE_CHARS:,} before they approve, so it was "
                "not proposed. Shorten it, for example by calling a script.",
            )
        )
