"""The tools that the bot would have, for checks that speak of them: also where its texts cannot be used, which `prompts` tells."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from chatops_bot.app.clock import SystemClock
from chatops_bot.app.config import Config, Secrets
from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.prompt_files import configured_texts
from chatops_bot.app.registry import open_registry
from chatops_bot.app.skills import BotSkills
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.domain.errors import ConfigInvalid
from chatops_bot.tools.registry import Registry


@asynccontextmanager
async def open_tools(config: Config, secrets: Secrets, skills: BotSkills) -> AsyncGenerator[Registry, None]:
    try:
        texts = configured_texts(config.agents)
    except ConfigInvalid:
        texts = configured_texts(AgentsConfig())
    async with open_registry(
        config, secrets, SystemClock(), skills, prompts=PromptRegistry(texts)
    ) as registry:
        yield registry
