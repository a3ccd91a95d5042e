"""What people typed for secret arguments, from the form to the tool: sealed, kept apart, opened once, deleted.

A value is sealed for one tool in one conversation, so a reference in any other call opens and deletes nothing. As long as it
lives, and for a while after it was used, since tools repeat what they were given, it is taken out of every text that leaves, by
every process: each learns at its start, and at each sweep, what waits with a proposal, whoever took it in.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from pydantic import BaseModel

from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.proposal import ENDED, ProposalState
from chatops_bot.domain.sealed_value import seal, unseal
from chatops_bot.domain.secret_argument import reference, references_in
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.withheld import Withheld
from chatops_bot.ports import Clock, Ids, Proposals, SecretValues
from chatops_bot.tools.argument_model import secret_arguments

GIVEN_FOR = timedelta(hours=1)
"""How long after a form was filled in its call may become a proposal."""
MARGIN = timedelta(minutes=5)
"""An action that was claimed in the last moment of its proposal still finds its secret."""
HIDDEN_AFTERWARDS = timedelta(hours=6)
"""How long what is deleted is still taken out of texts: beyond the last look at what came of an action, and most reads of a log."""

_HOLDING = frozenset(ProposalState) - ENDED

_GONE = Phrase(
    "表单里填写的机密已过期或已删除；请重新发起请求并再次填写。",
    "What was typed into the form has expired or was deleted; ask for the change again and fill it in anew.",
)


class SealedSecrets:
    """`proposals` are those whose arguments hold references. `keys` seal and open, the first one seals. `lifetime` is that of a
    proposal. `withheld` hide what lives."""

    def __init__(
        self,
        values: SecretValues,
        proposals: Proposals,
        keys: Sequence[bytes],
        withheld: Sequence[Withheld],
        ids: Ids,
        lifetime: timedelta,
        clock: Clock,
    ) -> None:
        self._values = values
        self._proposals = proposals
        self._keys = keys
        self._withheld = withheld
        self._ids = ids
        self._clock = clock
        self._hidden_until: dict[str, datetime] = {}
        self._kept_for = GIVEN_FOR + lifetime + MARGIN

    async def keep(self, form_id: str, typed: str, tool: str, session: SessionKey) -> str:
        """Seal and store what was typed into a form for a call of `tool` in `session`; returns its reference."""
        ref = reference(form_id, self._ids.new("s"))
        self._hide(ref, typed)
        await self._values.put(
            ref, seal(self._keys[0], _named(ref, tool, session), typed), self._kept_for.total_seconds()
        )
        return ref

    async def is_kept(self, ref: str) -> bool:
        return await self._values.get(ref) is not None

    async def opened(self, arguments: BaseModel, tool: str, session: SessionKey) -> BaseModel:
        """The arguments with values in the place of references, for the tool alone. Raises ToolFailed where one is gone, or is
        of another call."""
        found: dict[str, str] = {}
        for name, ref in _held(arguments).items():
            value = await self._value(ref, tool, session)
            if value is None:
                raise ToolFailed(_GONE)
            self._hide(ref, value)
            found[name] = value
        return arguments.model_copy(update=found) if found else arguments

    async def watch(self, arguments: BaseModel, tool: str, session: SessionKey) -> None:
        """Hide what the references stand for, as far as it is still there, without giving it to anybody."""
        for ref in _held(arguments).values():
            value = await self._value(ref, tool, session)
            if value is not None:
                self._hide(ref, value)

    async def forget(self, arguments: Mapping[str, Any], tool: str, session: SessionKey) -> None:
        """Delete what the references of a call stand for, as far as they are its own, since it is needed no more. It stays hidden
        for a while: a tool that was given it may repeat it yet."""
        for ref in references_in(arguments):
            value = await self._value(ref, tool, session)
            if value is not None:
                self._hide(ref, value)
                await self._values.drop([ref])

    async def learn(self) -> None:
        """Hide what waits with a proposal and this process has not seen: another took it in, or this one's predecessor."""
        known = {ref for withheld in self._withheld for ref in withheld.hidden}
        for proposal in await self._proposals.in_states(_HOLDING):
            for ref in references_in(proposal.arguments):
                if ref not in known and (value := await self._value(ref, proposal.tool, proposal.session)):
                    self._hide(ref, value)

    async def sweep(self) -> None:
        """Learn what others took in, and delete what is overdue: what was typed for a call that nobody proposed."""
        await self.learn()
        await self._values.drop_overdue()
        now = self._clock.now()
        for ref in {ref for withheld in self._withheld for ref in withheld.hidden}:
            if await self.is_kept(ref):
                continue
            if now >= self._hidden_until.setdefault(ref, now + HIDDEN_AFTERWARDS):
                del self._hidden_until[ref]
                for withheld in self._withheld:
                    withheld.show(ref)

    async def _value(self, ref: str, tool: str, session: SessionKey) -> str | None:
        sealed = await self._values.get(ref)
        return None if sealed is None else unseal(self._keys, _named(ref, tool, session), sealed)

    def _hide(self, ref: str, value: str) -> None:
        for withheld in self._withheld:
            withheld.hide(ref, value)


def _named(ref: str, tool: str, session: SessionKey) -> str:
    """What a value is sealed as: good for nothing else."""
    return f"{ref}\0{tool}\0{session}"


def _held(arguments: BaseModel) -> dict[str, str]:
    """The references in secret arguments, by name; in no other argument one stands for anything."""
    values = {name: getattr(arguments, name) for name in secret_arguments(type(arguments))}
    refs = references_in(values)
    return {name: value for name, value in values.items() if isinstance(value, str) and value in refs}
