"""What is kept and told of each model call's prompt: its text under its hash, an entry in the transcript, a line in the log.

The texts were redacted before they were sent, so what is kept is what was sent. The volatile part may be left out by config;
then its hash alone is known.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from chatops_bot.context.prompt_types import AgentConfig
from chatops_bot.context.tokens import estimate
from chatops_bot.domain.kept_prompt import KeptPrompt, prompt_of
from chatops_bot.domain.language import Language
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.transcript import Prompted
from chatops_bot.ports import Clock, Prompts, Transcripts
from chatops_bot.sessions.log_ids import bound

_log = logging.getLogger(__name__)

SECONDS_A_DAY = 24 * 3600

Keep = Callable[[str, Sequence[str]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class PromptKeeper:
    """`days` is how long a text can be looked up after it was last used; without `keep_suffix` the volatile part cannot."""

    prompts: Prompts
    transcripts: Transcripts
    clock: Clock
    days: int
    keep_suffix: bool
    told: dict[tuple[str, str, Language], AgentConfig] = field(default_factory=dict)
    """By id, version and language, the agents of which the log has said that they are over their soft limit. It says so again
    once their texts were read anew, which are other objects then."""

    def of_turn(self, session: SessionKey, turn_id: str, agent: AgentConfig, suffix: str) -> Keep:
        """To be called before each model call of a turn, with its prefix and the tools on offer. Raises StoreError."""
        last: list[str] = []

        async def keep(prefix: str, tools: Sequence[str]) -> None:
            prompt = await self._put(agent, prefix, suffix, tools)
            if last != [prompt.prompt_hash]:
                last[:] = [prompt.prompt_hash]
                await self.transcripts.append(session, [self._entry(turn_id, prompt)])
            _tell(prompt, prefix, suffix)

        return keep

    def of_consultation(self, agent: AgentConfig, suffix: str) -> Keep:
        """The same for the calls of an agent that another one consults. The transcript notes only what its own agent was told:
        that says which version the thread keeps and which tools it had last."""

        async def keep(prefix: str, tools: Sequence[str]) -> None:
            _tell(await self._put(agent, prefix, suffix, tools), prefix, suffix)

        return keep

    async def _put(self, agent: AgentConfig, prefix: str, suffix: str, tools: Sequence[str]) -> KeptPrompt:
        # The volatile part has limits of its own, and nobody can shorten what people say.
        chars, tokens = len(prefix), estimate(prefix)
        soft = agent.limits.soft_chars, agent.limits.soft_tokens
        over = chars > soft[0] or tokens > soft[1]
        prompt = prompt_of(
            agent.agent_id, agent.version, agent.lang, tools, prefix, suffix, keep_suffix=self.keep_suffix, over_soft=over
        )  # fmt: skip
        which = (agent.agent_id, agent.version, agent.lang)
        if over and self.told.get(which) is not agent:
            self.told[which] = agent
            _log.warning(
                "a prompt of %s %s in %s is over its soft limit: %d characters of %d, about %d tokens of %d; see `prompt explain %s`",
                *which, chars, soft[0], tokens, soft[1], prompt.prompt_hash[:12],
            )  # fmt: skip
        await self.prompts.put(prompt, self.days * SECONDS_A_DAY)
        return prompt

    def _entry(self, turn_id: str, prompt: KeptPrompt) -> Prompted:
        return Prompted(
            turn_id, self.clock.now(), prompt.agent_id, prompt.version, prompt.prompt_hash, prompt.prefix_hash, prompt.tools
        )  # fmt: skip


def _tell(prompt: KeptPrompt, prefix: str, suffix: str) -> None:
    facts = {
        "agent": prompt.agent_id,
        "version": prompt.version,
        "prompt": prompt.prompt_hash,
        "prefix": prompt.prefix_hash,
        "chars": len(prefix) + len(suffix),
        "tokens": estimate(prefix) + estimate(suffix),
        "tools": ",".join(prompt.tools),
    }
    with bound(**facts):
        _log.info("the model is asked")
