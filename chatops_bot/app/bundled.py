"""The texts that ship with the program: `prompts/` and `skills/`, in the wheel or beside the package in a checkout."""

from pathlib import Path

import yaml

from chatops_bot.context.agent_config import AgentConfig
from chatops_bot.context.skill_text import SkillWords
from chatops_bot.domain.language import Language

_PACKAGE = Path(__file__).resolve().parent.parent


def bundled(name: str) -> Path:
    """The folder or file `name`: inside the package where a wheel put it, else at the root of the checkout."""
    installed = _PACKAGE / "_bundled" / name
    return installed if installed.exists() else _PACKAGE.parent / name


def load_agents(agent_id: str = "opsbot") -> dict[Language, AgentConfig]:
    """The agent in both languages. Raises pydantic's ValidationError, naming the field, when a file is wrong."""
    agents: dict[Language, AgentConfig] = {}
    for language in ("zh", "en"):
        text = (bundled("prompts") / "agents" / f"{agent_id}.{language}.yaml").read_text(encoding="utf-8")
        agents[language] = AgentConfig.model_validate(yaml.safe_load(text)["agent"])
    return agents


def load_read_result() -> str:
    """What the tool `read_result` does, as a model reads it."""
    text = (bundled("prompts") / "results.en.yaml").read_text(encoding="utf-8")
    return str(yaml.safe_load(text)["results"]["read_result"])


def load_skill_words() -> dict[Language, SkillWords]:
    """What the model is told of skills, in both languages. Raises pydantic's ValidationError when a file is wrong."""
    words: dict[Language, SkillWords] = {}
    for language in ("zh", "en"):
        text = (bundled("prompts") / f"skills.{language}.yaml").read_text(encoding="utf-8")
        words[language] = SkillWords.model_validate(yaml.safe_load(text)["skills"])
    return words
