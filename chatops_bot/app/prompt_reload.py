"""Texts that were edited are read again while the bot runs: the whole set takes the place of the old one, or nothing does."""

import logging
from collections.abc import Sequence

from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.prompt_files import configured_texts
from chatops_bot.context.prompt_factory import confidential
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.domain.errors import ConfigInvalid
from chatops_bot.domain.withheld import Withheld
from chatops_bot.ports import ToolSpec

_log = logging.getLogger(__name__)


class PromptReload:
    """Keeps `registry` and what `withheld` takes out of answers in step. `tools` are those that the texts speak of, beside the
    ones that this program has."""

    def __init__(
        self,
        config: AgentsConfig,
        registry: PromptRegistry,
        withheld: Withheld,
        tools: Sequence[ToolSpec] = (),
    ) -> None:
        self._config = config
        self._tools = tools
        self.registry = registry
        self._withheld = withheld
        self._withhold()

    def reload(self) -> None:
        """Read the files again. Turns that run keep the text that they began with; a set with a fault is left where it is."""
        try:
            self.registry.replace(configured_texts(self._config, self._tools))
        except (ConfigInvalid, OSError) as error:
            _log.error(
                "the prompts were not read again, and those before stay in use (%s): %s", self._told(), error
            )
            return
        self._withhold()
        _log.info("the prompts were read again; in use: %s", self._told())

    def _told(self) -> str:
        return ", ".join(dict.fromkeys(f"{agent.agent_id} {agent.version}" for agent in self.registry))

    def _withhold(self) -> None:
        self._withheld.withhold([sentence for agent in self.registry for sentence in confidential(agent)])
