"""What people typed for secret arguments, from the form to the tool: sealed, kept apart, opened once, deleted.

As long as a value lives it is taken out of every text that leaves, so that a tool which repeats it tells nobody.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from chatops_bot.domain.errors import ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.sealed_value import seal, unseal
from chatops_bot.domain.secret_argument import reference, references_in
from chatops_bot.domain.withheld import Withheld
from chatops_bot.ports import Ids, SecretValues

GIVEN_FOR = timedelta(hours=1)
"""How long after a form was filled in its call may become a proposal."""
MARGIN = timedelta(minutes=5)
"""An action that was claimed in the last moment of its proposal still finds its secret."""

_GONE = Phrase(
    "表单里填写的机密已过期或已删除；请重新发起请求并再次填写。",
    "What was typed into the form has expired or was deleted; ask for the change again and fill it in anew.",
)


class SealedSecrets:
    """`keys` seal and open, the first one seals. `lifetime` is that of a proposal. `withheld` hide what lives."""

    def __init__(
        self,
        values: SecretValues,
        keys: Sequence[bytes],
        withheld: Sequence[Withheld],
        ids: Ids,
        lifetime: timedelta,
    ) -> None:
        self._values = values
        self._keys = keys
        self._withheld = withheld
        self._ids = ids
        self._kept_for = GIVEN_FOR + lifetime + MARGIN

    async def keep(self, form_id: str, typed: str) -> str:
        """Seal and store what was typed into a form; returns its reference."""
        ref = reference(form_id, self._ids.new("s"))
        self._hide(ref, typed)
        await self._values.put(ref, seal(self._keys[0], ref, typed), self._kept_for.total_seconds())
        return ref

    async def is_kept(self, ref: str) -> bool:
        return await self._values.get(ref) is not None

    async def opened(self, arguments: BaseModel) -> BaseModel:
        """The arguments with values in the place of references, for the tool alone. Raises ToolFailed where one is gone."""
        found: dict[str, str] = {}
        for name, ref in _held(arguments).items():
            sealed = await self._values.get(ref)
            value = None if sealed is None else unseal(self._keys, ref, sealed)
            if value is None:
                raise ToolFailed(_GONE)
            self._hide(ref, value)
            found[name] = value
        return arguments.model_copy(update=found) if found else arguments

    async def watch(self, arguments: BaseModel) -> None:
        """Hide what the references stand for, as far as it is still there, without giving it to anybody."""
        for ref in _held(arguments).values():
            sealed = await self._values.get(ref)
            value = None if sealed is None else unseal(self._keys, ref, sealed)
            if value is not None:
                self._hide(ref, value)

    async def forget(self, arguments: Mapping[str, Any]) -> None:
        """Delete what the references of a call stand for, since it is needed no more."""
        refs = references_in(arguments)
        if refs:
            await self._values.drop(refs)
        for ref in refs:
            for withheld in self._withheld:
                withheld.show(ref)

    async def sweep(self) -> None:
        """Delete what is overdue: what was typed for a call that nobody proposed."""
        await self._values.drop_overdue()
        for withheld in self._withheld:
            for ref in withheld.hidden:
                if not await self.is_kept(ref):
                    withheld.show(ref)

    def _hide(self, ref: str, value: str) -> None:
        for withheld in self._withheld:
            withheld.hide(ref, value)


def _held(arguments: BaseModel) -> dict[str, str]:
    """The references among the arguments, by name."""
    values = {name: getattr(arguments, name) for name in type(arguments).model_fields}
    refs = references_in(values)
    return {name: value for name, value in values.items() if isinstance(value, str) and value in refs}
