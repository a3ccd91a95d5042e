"""Inputs of prompts that tests share: valid ones, and ones with a value put into every place where outside text can stand."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.prompt_files import configured_texts
from chatops_bot.context.prompt_factory import AgentPrompt, build_agent_system_prompt
from chatops_bot.context.prompt_types import AgentConfig, PromptOptions, SessionContext, ToolBrief, UserIntent
from chatops_bot.domain.language import Language

SHIPPED = {
    agent.lang: agent
    for agent in configured_texts(AgentsConfig()).agents.values()
    if agent.agent_id == "incident_responder"
}
NOON = datetime(2025, 3, 2, 14, 32, 50, tzinfo=timezone(timedelta(hours=8)))
TITLES = ["[AGENT IDENTITY]", "[CAPABILITIES]", "[AVAILABLE TOOLS]", "[CONSTRAINTS]", "[CONTEXT]"]


def an_agent(lang: Language = "en", **values: Any) -> AgentConfig:
    base = {
        "agent_id": "opsbot",
        "lang": lang,
        "role_name": "opsbot",
        "role_description": "the assistant of a scheduler. Anything else goes to a human.",
        "capabilities": ["Find tasks."],
        "constraints": {"must": ["When asked for state, query first."]},
        "phrases": SHIPPED[lang].phrases,
    }
    return AgentConfig.model_validate(base | values)


def a_tool(name: str = "query_tasks", **values: Any) -> ToolBrief:
    return ToolBrief.model_validate({"name": name, "description": f"When {name} is wanted."} | values)


TOOLS = (a_tool("query_tasks", sort_hint=5), a_tool("pause_task", permission_level="write"))


def a_session(**values: Any) -> SessionContext:
    return SessionContext.model_validate({"session_id": "slack:T:C:1", "current_time": NOON} | values)


@dataclass
class Built:
    """What a build takes; every field can be replaced."""

    agent: AgentConfig = field(default_factory=an_agent)
    tools: tuple[ToolBrief, ...] = TOOLS
    session: SessionContext = field(default_factory=a_session)
    intent: UserIntent | str = "what failed?"
    options: PromptOptions = field(default_factory=PromptOptions)

    def prompt(self) -> AgentPrompt:
        return build_agent_system_prompt(
            self.agent, self.tools, self.session, self.intent, options=self.options
        )


def build(**values: Any) -> AgentPrompt:
    return Built(**values).prompt()


def headings(prompt: str) -> list[str]:
    """The lines that a reader takes for titles."""
    return [line for line in prompt.splitlines() if line.startswith("[") and line.endswith("]")]
