"""Arms of rollouts that pause themselves, for all processes that share the store.

What ended in this process is brought to the store at a beat, which also says what is paused, whoever paused it. A pause is of a
text, by its hash: it outlasts a restart, and a new text under the old name is a new try. Reading the prompts again, in any
process, forgets it all. A rollout that nobody configured costs nothing.
"""

import logging

from chatops_bot.context.arm_guard import REMEMBERED, why_paused
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.ports import Arms

_log = logging.getLogger(__name__)


class ArmWatch:
    def __init__(self, prompts: PromptRegistry, arms: Arms) -> None:
        self._prompts = prompts
        self._arms = arms
        self._generation = prompts.generation

    async def sweep(self) -> None:
        """Tell the store how turns ended since the last time, and take over what is paused. Raises StoreError; what was not told
        is told the next time."""
        if self._generation != self._prompts.generation:
            await self._arms.forget()
            self._generation = self._prompts.generation
        while ended := self._prompts.ended:
            oldest = agent_id, version, failed = ended[0]
            await self._arms.ended(
                agent_id, self._prompts.text_id(agent_id, version), REMEMBERED, failed=failed
            )
            if ended and ended[0] is oldest:  # the prompts may have been read again meanwhile
                ended.popleft()
            if failed:
                await self._judge(agent_id, version)
        if arms := self._prompts.arms:
            paused = await self._arms.paused()
            self._prompts.paused = frozenset(
                (agent_id, version)
                for agent_id, version in arms
                if (agent_id, self._prompts.text_id(agent_id, version)) in paused
            )

    async def _judge(self, agent_id: str, version: str) -> None:
        default = self._prompts.default(agent_id)
        if version == default:
            return
        text, other = (self._prompts.text_id(agent_id, each) for each in (version, default))
        why = why_paused(
            await self._arms.turns(agent_id, text), await self._arms.turns(agent_id, other), default
        )
        if why and await self._arms.pause(agent_id, text):
            _log.error(
                "the rollout of %s %s paused itself until the prompts are read again: %s",
                agent_id,
                version,
                why,
            )
