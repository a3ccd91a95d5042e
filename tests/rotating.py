"""A tool that takes a secret: it puts a new key into a service, and is careless with it."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict

from chatops_bot.app.clock import CountingIds, SystemClock
from chatops_bot.domain.form import AskedAs
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.secret_argument import SecretArgument
from chatops_bot.domain.tool import Change, Outcome, Plan
from chatops_bot.domain.withheld import Withheld
from chatops_bot.ports import Clock, Store, ToolContext, ToolSpec
from chatops_bot.tools.sealed_secrets import SealedSecrets

CANARY = "kanarie Vogel-7 ütter+ance/42"
"""Looks like no secret of any rule, and every encoding spells it in another way."""
SEALING_KEY = b"seals what people type, 32 bytes"


class RotateArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")
    service: str
    key: Annotated[str, AskedAs(Phrase("新密钥", "New key")), SecretArgument(min_chars=8)]


ROTATE = ToolSpec("rotate_key", RotateArgs, Effect.WRITE, Phrase("更换", "rotating"))


@dataclass
class Rotate:
    """`got` are the keys that reached it, `planned` what its plans were given; `fault` is raised in place of its outcome."""

    got: list[str] = field(default_factory=list)
    planned: list[str] = field(default_factory=list)
    fault: Exception | None = None
    current: str = "old"
    spec: ToolSpec = ROTATE

    async def plan(self, arguments: RotateArgs, context: ToolContext) -> Plan:
        self.planned.append(arguments.key)
        return Plan(
            f"key of {arguments.service}", Phrase("更换密钥", "put in the new key"), (Change("key", "old", "new"),), "low",
            {"current": self.current},
        )  # fmt: skip

    async def apply(self, arguments: RotateArgs, context: ToolContext) -> Outcome:
        self.got.append(arguments.key)
        if self.fault is not None:
            raise self.fault
        said = f"{arguments.service} has {arguments.key} now"
        return Outcome(True, True, Phrase(said, said), {"key": arguments.key, "said": said})

    async def probe(self, arguments: RotateArgs, plan: Plan, context: Any) -> Outcome | None:
        said = f"it holds {self.got[-1]}" if self.got else ""
        return Outcome(True, True, Phrase(said, said), {}) if said else None


def sealed_secrets(store: Store, *withheld: Withheld, clock: Clock | None = None) -> SealedSecrets:
    return SealedSecrets(
        store.secret_values,
        store.proposals,
        [SEALING_KEY],
        withheld,
        CountingIds(),
        timedelta(hours=1),
        clock or SystemClock(),
    )
