"""The section `agents` of the configuration: which agent answers where, and what is kept of its prompts."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from chatops_bot.app.policy_config import Id, Section
from chatops_bot.context.prompt_types import AgentId
from chatops_bot.domain.errors import ConfigInvalid

ROLLOUT = "CHATOPS_ROLLOUT"


class AgentsConfig(Section):
    default: AgentId = "incident_responder"
    channels: dict[Id, AgentId] = Field(default_factory=dict)
    """Channel id → the agent that answers there."""
    folder: Path | None = None
    """A folder laid out as the shipped `prompts/`: its files add to those, and replace those of the same name. Resolved against
    the folder of the config."""
    rollout: bool = True
    """False gives every thread the default version of its agent, whatever `rollout.yaml` says."""
    keep_days: int = Field(default=30, ge=1, le=366)
    """How long the text of a prompt can be looked up by its hash after it was last used."""
    consult_depth: int = Field(default=1, ge=0, le=3)
    """How many consultations of agents may stand inside each other; 0 lets none consult another."""
    keep_suffix: bool = True
    """Whether the volatile part, with names of people and channels, is kept as well; else its hash alone."""

    def resolved(self, folder: Path) -> "AgentsConfig":
        if self.folder is None:
            return self
        return self.model_copy(update={"folder": (folder / self.folder).resolve()})

    def as_ordered(self, env: Mapping[str, str]) -> "AgentsConfig":
        """With the kill switch of the environment: CHATOPS_ROLLOUT=off. Raises ConfigInvalid for another value."""
        order = env.get(ROLLOUT, "")
        if order not in ("", "on", "off"):
            raise ConfigInvalid(f"{ROLLOUT} is {order!r}; set it to off, or to on, or leave it out.")
        return self.model_copy(update={"rollout": False}) if order == "off" else self

    def agent_in(self, channel: str) -> str:
        return self.channels.get(channel, self.default)
