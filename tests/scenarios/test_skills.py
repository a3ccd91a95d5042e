"""Skills through the whole product: listed, loaded, with their tools and steps, and out of reach of whoever may not see them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chatops_bot.app.config import Config
from chatops_bot.app.skills_config import SkillsConfig
from chatops_bot.domain.model import ContextMessage, ModelRequest, SystemMessage, ToolMessage
from chatops_bot.llm.scripted import ScriptedModel, calls, says
from tests.scenarios.conftest import World, visible

TRIAGE = """---
name: task-triage
description: Find out why a task failed.
builtin_tools: [query_instances]
max_iterations: 14
---
# Triage

Look at the newest failed run first.
---
Then compare it with the last good one.
"""


def write(folder: Path, *texts: str) -> Path:
    """Skills in `folder`, each in a folder of its name."""
    for text in texts:
        name = next(line.split(": ")[1] for line in text.splitlines() if line.startswith("name: "))
        (folder / name).mkdir(parents=True)
        (folder / name / "SKILL.md").write_text(text, encoding="utf-8")
    return folder


def secret_skill(*, visibility: Mapping[str, Any]) -> str:
    limits = "\n".join(f"  {key}: [{', '.join(names)}]" for key, names in visibility.items())
    return f"---\nname: payroll-repair\ndescription: Repair payroll.\nvisibility:\n{limits}\n---\nUse the vault of floor three.\n"


def config_with(world: World, folder: Path, **more: Any) -> Config:
    return world.config(skills=SkillsConfig(folders=(folder,), **more))


def prefix(request: ModelRequest) -> str:
    return next(m.text for m in request.messages if isinstance(m, SystemMessage))


def suffix(request: ModelRequest) -> str:
    return next(m.text for m in request.messages if isinstance(m, ContextMessage))


def results(request: ModelRequest, tool: str) -> list[str]:
    return [m.text for m in request.messages if isinstance(m, ToolMessage) and m.name == tool]


async def test_a_listed_skill_is_loaded_whole_and_leaves_the_list(world: World, tmp_path: Path):
    folder = write(tmp_path / "skills", TRIAGE)
    model = ScriptedModel([calls(("load_skill", {"name": "task-triage"})), says("Triage it is.")])
    async with world.bot(model, config=config_with(world, folder)):
        ts = await world.says("oscar", f"{world.mention} why did db-backup fail?")
        _, answer = await world.settled(ts, 1)
    assert "Triage it is." in visible(answer)
    first, second = model.requests
    assert "- task-triage: Find out why a task failed." in prefix(first)
    assert "- task-triage:" not in prefix(second)
    (loaded,) = results(second, "load_skill")
    assert "Look at the newest failed run first.\n---\nThen compare" in loaded
    assert "UNTRUSTED" not in loaded
