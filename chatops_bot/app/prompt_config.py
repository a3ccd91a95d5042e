"""The section `agents` of the configuration: which agent answers where, and what is kept of its prompts."""

from pathlib import Path

from pydantic import Field

from chatops_bot.app.policy_config import Id, Section
from chatops_bot.context.prompt_types import AgentId


class AgentsConfig(Section):
    default: AgentId = "incident_responder"
    channels: dict[Id, AgentId] = Field(default_factory=dict)
    """Channel id → the agent that answers there."""
    folder: Path | None = None
    """A folder laid out as the shipped `prompts/`: its files add to those, and replace those of the same name. Resolved against
    the folder of the config."""
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

    def agent_in(self, channel: str) -> str:
        return self.channels.get(channel, self.default)
