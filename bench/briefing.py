"""What it costs to write a prompt for eight tools and a catalogue of fifty skills, beside joining the same lines by hand."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from bench.measuring import in_turns, table
from chatops_bot.app.bundled import load_skill_words
from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.prompt_files import configured_texts
from chatops_bot.context.prompt_factory import AgentPrompt, build_agent_system_prompt
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.context.prompt_types import PromptOptions, SessionContext, ToolBrief
from chatops_bot.context.skill_text import ShownSkills, skill_section
from chatops_bot.domain.skill import Skill

TOOLS = 8
SKILLS = 50
AGENT = PromptRegistry(configured_texts(AgentsConfig())).get("incident_responder", "en")
WORDS = load_skill_words()["en"]
SESSION = SessionContext(session_id="slack:T1:C1:1.1", current_time=datetime(2026, 3, 2, 14, 32, tzinfo=UTC))
BRIEFS = tuple(
    ToolBrief(
        name=f"query_part_{number}",
        description=f"Lists the parts of kind {number}, by name or by state. Use it first when one is mentioned.",
        permission_level="write" if number > 5 else "read",
    )
    for number in range(TOOLS)
)
CATALOGUE = ShownSkills(
    tuple(
        Skill(
            f"skill-{number:02}",
            f"How work of kind {number} is done here, step by step.",
            "x",
            Path(),
            "bench",
        )
        for number in range(SKILLS)
    )
)


def built() -> AgentPrompt:
    """The whole of it: the catalogue as lines, every value made harmless, five sections, four hashes."""
    options = PromptOptions(tool_text="names", skills=skill_section(CATALOGUE, (), WORDS, "en"))
    return build_agent_system_prompt(AGENT, BRIEFS, SESSION, "what failed?", options=options)


def joined(text: str) -> str:
    """The same lines, joined: what a hard-coded prompt would cost at least."""
    return "\n".join(text.splitlines())


def contenders() -> dict[str, Callable[[], object]]:
    return {"joining the same lines": partial(joined, str(built())), "building": built}


def report(rounds: int) -> str:
    found = in_turns(contenders(), rounds)
    return table(f"a prompt of {TOOLS} tools and {SKILLS} skills in a catalogue", found)
