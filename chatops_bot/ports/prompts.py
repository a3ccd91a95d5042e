"""Where the system texts of model calls are kept, so that a hash in a log line leads to the very text; and how the turns ended
that were told them."""

from collections.abc import Sequence
from typing import Protocol

from chatops_bot.domain.kept_prompt import KeptPrompt, PromptRef


class PromptReader(Protocol):
    async def get(self, agent_id: str, prompt_hash: str) -> KeptPrompt | None:
        """The prompt of this agent with exactly this hash; None when there is none, or its time is over.

        Raises StoreError when its text is not what its hashes say.
        """

    async def find(self, beginning: str) -> list[PromptRef]:
        """Every kept prompt whose hash begins so (hex digits), of whatever agent, in order of hash and agent."""


class Prompts(PromptReader, Protocol):
    """What a store has. Whether a text may be kept as it is, its caller has decided."""

    async def put(self, prompt: KeptPrompt, seconds: float) -> None:
        """Keep it for so many seconds from now, also if it was kept before. Prompts with one prefix keep one copy of it.

        Durable on return.
        """

    async def drop_overdue(self) -> None:
        """Delete what `get` gives to nobody any more, and prefixes with which no kept prompt begins."""


class Arms(Protocol):
    """How turns ended under each text of an agent while a new one is rolled out, and which texts are paused: for all processes
    that share the store, and over their ends. A text is named by what its caller makes of it."""

    async def ended(self, agent_id: str, text: str, most: int, *, failed: bool) -> None:
        """Note the end of one more turn, and forget all but the newest `most` of that text. Durable on return."""

    async def turns(self, agent_id: str, text: str) -> Sequence[bool]:
        """Those that are noted, oldest first; True is one that failed."""

    async def pause(self, agent_id: str, text: str) -> bool:
        """True for the first who pauses it, False for every later one."""

    async def paused(self) -> frozenset[tuple[str, str]]:
        """Agent and text of each that is paused."""

    async def forget(self) -> None:
        """All ends and all pauses."""
