"""The shipped texts, and every prompt that a review looks at."""

import pytest

from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.prompt_files import configured_texts
from chatops_bot.app.prompt_sizes import Reviewed, reviewed
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.toolsets.scheduler.toolset import SCHEDULER_SPECS


@pytest.fixture(scope="session")
def shipped() -> PromptRegistry:
    return PromptRegistry(configured_texts(AgentsConfig()))


@pytest.fixture(scope="session")
def prompts(shipped: PromptRegistry) -> dict[str, Reviewed]:
    return {each.name: each for each in reviewed(shipped, SCHEDULER_SPECS)}
