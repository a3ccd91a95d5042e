"""The texts that ship with the program: `prompts/` and `skills/`, in the wheel or beside the package in a checkout."""

from functools import cache
from pathlib import Path
from typing import Any

from chatops_bot.app.config_file import read_config_file
from chatops_bot.context.prompt_phrases import PromptPhrases
from chatops_bot.context.routing_data import Routing
from chatops_bot.context.skill_text import SkillWords
from chatops_bot.domain.errors import Words
from chatops_bot.domain.language import Language

_PACKAGE = Path(__file__).resolve().parent.parent


def bundled(name: str) -> Path:
    """The folder or file `name`: inside the package where a wheel put it, else at the root of the checkout."""
    installed = _PACKAGE / "_bundled" / name
    return installed if installed.exists() else _PACKAGE.parent / name


@cache
def load_phrases() -> dict[Language, PromptPhrases]:
    """The fixed lines of prompts, in both languages. Raises pydantic's ValidationError when a file is wrong."""
    return {
        language: PromptPhrases.model_validate(_read(f"phrases.{language}.yaml", "phrases"))
        for language in _languages()
    }


def load_call_words() -> Words:
    """What a model is told of calls that came to nothing."""
    phrases = load_phrases()
    return lambda told, language: phrases[language].calls.said(told)


def load_skill_words() -> dict[Language, SkillWords]:
    """What the model is told of skills, in both languages. Raises pydantic's ValidationError when a file is wrong."""
    return {
        language: SkillWords.model_validate(_read(f"skills.{language}.yaml", "skills"))
        for language in _languages()
    }


def load_routing() -> Routing:
    """What routing goes by. Raises pydantic's ValidationError, naming the field, when the file is wrong."""
    return Routing.model_validate(_read("routing.yaml", "routing"))


def _languages() -> tuple[Language, ...]:
    return ("zh", "en")


def _read(name: str, root: str) -> dict[str, Any]:
    value, _ = read_config_file(bundled("prompts") / name)
    return dict(value[root])
