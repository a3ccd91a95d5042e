"""One version of what the model is told, under the name by which it is compared."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chatops_bot.app.bundled import bundled
from chatops_bot.app.evals.case import Case
from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.prompt_files import configured_texts, read_prompts
from chatops_bot.context.prompt_factory import confidential
from chatops_bot.context.prompt_registry import PromptRegistry, PromptTexts
from chatops_bot.context.rollout import Rollouts
from chatops_bot.domain.errors import ConfigInvalid

CONFIGURED = "configured"


@dataclass(frozen=True, slots=True)
class Arm:
    name: str
    texts: PromptTexts

    @property
    def agents(self) -> tuple[str, ...]:
        return PromptRegistry(self.texts).agent_ids

    def secret(self, case: Case) -> Sequence[str]:
        """The sentences of this case's prompt that no answer may repeat. Raises ConfigInvalid for an agent that there is not."""
        return confidential(PromptRegistry(self.texts).get(case.agent, case.language))


def named_arm(config: AgentsConfig, name: str = "") -> Arm:
    """The texts that are configured, with the version `name` of every agent that has it; a path names a folder of prompts
    instead. No rollout chooses among them: an arm is one text. Raises ConfigInvalid for what there is not."""
    texts = configured_texts(config)
    if name and Path(name).is_dir():
        if not any(Path(name).glob("**/*.yaml")):
            raise ConfigInvalid(
                f"{name} holds no prompts (agents/*.yaml, tools.*.yaml); name another folder."
            )
        texts = read_prompts([bundled("prompts"), Path(name)])
    elif name:
        having = {agent for agent, _, version in texts.agents if version == name}
        if not having:
            versions = ", ".join(sorted({version for _, _, version in texts.agents}))
            raise ConfigInvalid(
                f"No agent has a version {name}, and no folder is called that; there are {versions}."
            )
        texts = replace(texts, defaults={**texts.defaults, **dict.fromkeys(having, name)})
    return Arm(name or CONFIGURED, replace(texts, rollouts=Rollouts({}, False)))
