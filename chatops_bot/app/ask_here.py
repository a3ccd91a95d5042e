"""A bot for one question, in the process that asks it: for `ask` where no bot runs.

It acts as viewer, for whom no change is even proposed: a proposal would be gone before anybody could approve it.
"""

import os
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from chatops_bot.app.bootstrap import CUT_SECONDS
from chatops_bot.app.clock import RandomIds, SystemClock
from chatops_bot.app.config import Config, StoreConfig, load_secrets
from chatops_bot.app.core import build_core, local_desk, open_store
from chatops_bot.app.engine import node_of
from chatops_bot.app.local_desk import LocalDesk, Rests
from chatops_bot.app.local_socket import user_name
from chatops_bot.app.logs import set_up_logs
from chatops_bot.app.model_choice import configured_model
from chatops_bot.app.prompt_files import configured_texts
from chatops_bot.app.registry import open_registry
from chatops_bot.app.routing import routes
from chatops_bot.app.skills import borrowed_library, read_skills
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.domain.people import Role
from chatops_bot.domain.redaction import Redactor
from chatops_bot.platforms.terminal.adapter import TerminalPlatform
from chatops_bot.platforms.terminal.frames import Frame
from chatops_bot.platforms.terminal.people import LocalPeople, LocalRefused


@dataclass(frozen=True, slots=True)
class Here:
    """A desk in this process, asked by the user of this process."""

    desk: LocalDesk
    user: str

    def ask(self, text: str, *, thread: str | None, role: Role | None) -> AsyncGenerator[Frame, None]:
        return self.desk.ask(self.user, text, thread=thread, role=role)

    async def stop(self, thread: str) -> None:
        await self.desk.stop(self.user, thread)


@asynccontextmanager
async def bot_for_one_question(
    config: Config, *, thread: str | None, role: Role | None
) -> AsyncGenerator[Here, None]:
    """The configured scheduler and model around a store that is gone afterwards; no Slack."""
    if role not in (None, Role.VIEWER):
        raise LocalRefused(
            f"No bot runs on {config.data}, so a change could neither be approved nor run; start the bot, or ask as viewer."
        )
    if thread is not None:
        raise LocalRefused(
            f"No bot runs on {config.data}, so there is no thread to go on with; ask without --thread."
        )
    secrets = load_secrets(config, os.environ, with_slack=False)
    set_up_logs(Redactor(secrets.values()), config.logging.format, "error")
    clock, ids, rests, people = (
        SystemClock(),
        RandomIds(),
        Rests(),
        LocalPeople({}, Role.VIEWER, config.timezone or ""),
    )
    terminal = TerminalPlatform(ids)
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="chatops-bot-"))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        store = await stack.enter_async_context(
            open_store(
                config.model_copy(update={"data": Path(folder), "store": StoreConfig()}), secrets, clock, ids
            )
        )
        library = stack.enter_context(borrowed_library(config.skills, config.data))
        skills = await read_skills(config, library)
        prompts = PromptRegistry(configured_texts(config.agents))
        registry = await stack.enter_async_context(
            open_registry(config, secrets, clock, skills, store, prompts=prompts)
        )
        core = build_core(
            config, secrets, clock=clock, ids=ids, store=store, model=configured_model(config, secrets, session),
            registry=registry, rerouted=(lambda: None) if routes(config, secrets) else None,
            prompts=prompts, platform=terminal, directory=people, on_rest=rests.tell, node=node_of(store, ids, None),
            skills=skills.choice,
        )  # fmt: skip
        desk = local_desk(core, terminal, terminal, people, rests, ids)
        stack.push_async_callback(desk.aclose, CUT_SECONDS)
        stack.push_async_callback(core.router.cut, CUT_SECONDS)
        yield Here(desk, user_name(os.getuid()))
