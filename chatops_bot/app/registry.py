"""Every tool of a bot, assembled in one place: what a bot may call is what its policy, its skills and `doctor` are held against."""

import ssl
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from zoneinfo import ZoneInfo

import httpx

from chatops_bot.agent.consulting import Aside, ConsultAgent
from chatops_bot.app.config import Config, Secrets
from chatops_bot.app.prompt_files import configured_texts
from chatops_bot.app.routing import routes, with_finder
from chatops_bot.app.skills import BotSkills
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.domain.people import Role
from chatops_bot.domain.session import SessionKey
from chatops_bot.ports import Clock, Store, Tool
from chatops_bot.tools.registry import Registry
from chatops_bot.toolsets.scheduler.client import SchedulerClient
from chatops_bot.toolsets.scheduler.login import Account
from chatops_bot.toolsets.scheduler.toolset import scheduler_tools


@cache
def trusted_authorities() -> ssl.SSLContext:
    """Those that httpx trusts by itself; read once a process, since each reading takes 25 ms."""
    return httpx.create_ssl_context(trust_env=False)


@asynccontextmanager
async def open_registry(
    config: Config,
    secrets: Secrets,
    clock: Clock,
    skills: BotSkills,
    store: Store | None = None,
    *,
    prompts: PromptRegistry | None = None,
    more: Sequence[Tool] = (),
    routed: bool | None = None,
) -> AsyncGenerator[Registry, None]:
    """Every tool that `config` connects, and `more`.

    Without a `store` they are there to be looked at; `prompts` are those that `config` names, and tools are `routed` where it
    says so, unless others are given. Raises ConfigInvalid for texts that cannot be used.
    """
    prompts = prompts or PromptRegistry(configured_texts(config.agents))
    routed = routes(config, secrets) if routed is None else routed
    async with httpx.AsyncClient(trust_env=False, verify=trusted_authorities()) as http:
        tools = [*scheduler_tools(_scheduler(config, secrets, http), clock), *more]
        yield assembled(config, tools, skills, store, prompts, routed=routed)


def assembled(
    config: Config,
    tools: Sequence[Tool],
    skills: BotSkills,
    store: Store | None,
    prompts: PromptRegistry,
    *,
    routed: bool,
) -> Registry:
    """The tools of back ends, and those of the agent itself: what reaches skills and earlier results, what finds a tool where
    they are `routed`, and what asks another agent where there are several that may. On the wire they stand in the order that
    they have in the text of the prompt, the most used first."""
    read_back = (
        skills.read_result(store.transcripts, store.results)
        if store
        else skills.read_result(Aside(), _NoResults())
    )
    tools = [*tools, *skills.tools, read_back]
    if routed:
        tools = with_finder(tools, prompts)
    depth = config.agents.consult_depth
    consult = [ConsultAgent(depth)] if depth and len(prompts.agent_ids) > 1 else []
    return Registry(
        sorted([*tools, *consult], key=lambda tool: (-prompts.rank(tool.spec.name), tool.spec.name))
    )


class _NoResults:
    async def put(self, session: SessionKey, handle: str, content: str, seconds: float) -> None:
        pass

    async def get(self, session: SessionKey, handle: str) -> str | None:
        return None


def _scheduler(config: Config, secrets: Secrets, http: httpx.AsyncClient) -> SchedulerClient:
    accounts = {
        Role(name): Account(getattr(config.scheduler.accounts, name).username, password)
        for name, password in secrets.scheduler_passwords.items()
    }
    return SchedulerClient(
        http, str(config.scheduler.url), accounts, zone=ZoneInfo(config.scheduler.timezone)
    )
