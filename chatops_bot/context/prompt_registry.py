"""Every text that prompts are made of, behind one door: an agent is reached by its id, language and version, and in no other way.

The texts are one value, so a new set takes the place of the old one in a single step; whoever has taken an agent out goes on
with what it took.
"""

import hashlib
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from chatops_bot.context.arm_guard import REMEMBERED
from chatops_bot.context.prompt_types import AgentConfig, Scenarios
from chatops_bot.context.rollout import Rollouts
from chatops_bot.domain.errors import ConfigInvalid
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.tool import ToolText


@dataclass(frozen=True, slots=True)
class PromptTexts:
    """A whole set, checked. `agents` by id, language and version; `defaults` is the version by agent that no rollout changes;
    `tools` says by language and tool what a model reads of it, `ranks` by tool how far to the front it stands, 0 for one it does not name."""

    agents: Mapping[tuple[str, Language, str], AgentConfig]
    defaults: Mapping[str, str]
    tools: Mapping[Language, Mapping[str, ToolText]]
    rollouts: Rollouts
    ranks: Mapping[str, int] = field(default_factory=dict)


class PromptRegistry:
    def __init__(self, texts: PromptTexts) -> None:
        self._texts = texts
        self.generation = 0
        """How often the texts were replaced."""
        self.ended: deque[tuple[str, str, bool]] = deque(maxlen=REMEMBERED)
        """Agent and version of each turn that ended since somebody asked, and whether it failed; of agents with a rollout."""
        self.paused: frozenset[tuple[str, str]] = frozenset()
        """Agent and version of the arms that are given to nobody."""
        self._text_ids: dict[tuple[str, str], str] = {}

    def replace(self, texts: PromptTexts) -> None:
        """Give out `texts` from now on. What was paused is tried again."""
        self._texts = texts
        self.ended.clear()
        self.paused = frozenset()
        self._text_ids.clear()
        self.generation += 1

    def get(self, agent_id: str, lang: Language, version: str = "") -> AgentConfig:
        """The agent in this language, in its default version unless another is named. Raises ConfigInvalid for what there is not."""
        texts = self._texts
        found = texts.agents.get((agent_id, lang, version or texts.defaults.get(agent_id, "")))
        if found is not None:
            return found
        if agent_id not in texts.defaults:
            known = ", ".join(sorted(texts.defaults))
            raise ConfigInvalid(f"There is no agent {agent_id}; there are {known}.")
        versions = ", ".join(self.versions(agent_id))
        raise ConfigInvalid(f"The agent {agent_id} has no version {version}; it has {versions}.")

    @property
    def agent_ids(self) -> tuple[str, ...]:
        return tuple(sorted(self._texts.defaults))

    def versions(self, agent_id: str) -> tuple[str, ...]:
        """Those of an agent, sorted."""
        return tuple(sorted({version for known, _, version in self._texts.agents if known == agent_id}))

    def version_for(self, agent_id: str, channel: str, pinned: str = "") -> str:
        """Which version a thread in `channel` gets. One that it began with, and that there is no more, counts as none."""
        texts = self._texts
        still_there = pinned if (agent_id, "en", pinned) in texts.agents else ""
        default = self.default(agent_id)
        version = texts.rollouts.version(agent_id, channel, default=default, pinned=still_there)
        return default if (agent_id, version) in self.paused else version

    def default(self, agent_id: str) -> str:
        """The version that no rollout changes; empty for an agent that there is not."""
        return self._texts.defaults.get(agent_id, "")

    @property
    def arms(self) -> list[tuple[str, str]]:
        """Agent and version of what is being rolled out, or was and is still told to the threads that began with it."""
        rollouts = self._texts.rollouts
        return [
            (agent_id, version)
            for agent_id in rollouts.agents
            if rollouts.enabled
            for version in self.versions(agent_id)
        ]

    def rested(self, agent_id: str, version: str, *, failed: bool) -> None:
        """Take note of how a turn with a version ended."""
        if self._texts.rollouts.enabled and agent_id in self._texts.rollouts.agents:
            self.ended.append((agent_id, version, failed))

    def text_id(self, agent_id: str, version: str) -> str:
        """The name and a hash of a version: another one when its text changes in any language."""
        found = self._text_ids.get((agent_id, version))
        if found is None:
            agents = self._texts.agents
            texts = [
                agents[key].model_dump_json()
                for key in sorted(agents)
                if (key[0], key[2]) == (agent_id, version)
            ]
            found = f"{version}@{hashlib.sha256(''.join(texts).encode()).hexdigest()[:16]}"
            self._text_ids[agent_id, version] = found
        return found

    def tools(self, lang: Language) -> Mapping[str, ToolText]:
        """What a model reads of each tool."""
        return self._texts.tools[lang]

    def scenarios(self, tool: str) -> Scenarios:
        """When to use a tool; empty for one that the texts do not know."""
        zh, en = (self._texts.tools[lang].get(tool) for lang in ("zh", "en"))
        return Scenarios(zh=(zh.when,) if zh else (), en=(en.when,) if en else ())

    def hints(self, tool: str) -> Mapping[str, Phrase]:
        """What is said of each argument of a tool, for people who are asked for it."""
        zh, en = (self._texts.tools[lang].get(tool) for lang in ("zh", "en"))
        if zh is None or en is None:
            return {}
        return {name: Phrase(zh.arguments[name], said) for name, said in en.arguments.items()}

    def rank(self, tool: str) -> int:
        """How far to the front a tool stands, in the text and on the wire."""
        return self._texts.ranks.get(tool, 0)

    def __iter__(self) -> Iterator[AgentConfig]:
        """Every agent in each language and version, for what has to know all texts, such as the redactor and the linter."""
        return iter(self._texts.agents.values())
