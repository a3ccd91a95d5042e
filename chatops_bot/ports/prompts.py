"""Where the system texts of model calls are kept, so that a hash in a log line leads to the very text."""

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
