"""Texts and skills that were edited are read again when somebody asks for it; what was broken by the edit stays as it was."""

import logging
import shutil
from pathlib import Path

import pytest

from chatops_bot.app.bundled import bundled
from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.skills_config import SkillsConfig
from chatops_bot.llm.scripted import ScriptedModel, says
from tests.prompts.test_files import edit
from tests.scenarios.conftest import World, until
from tests.skillpacks.conftest import put, text_of


async def test_one_line_says_what_is_in_use_of_the_prompts_and_one_what_of_the_skills(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    folder, own = shutil.copytree(bundled("prompts"), tmp_path / "prompts"), tmp_path / "own"
    alpha = put(own, "alpha") / "SKILL.md"
    config = world.config(
        agents=AgentsConfig(folder=folder), skills=SkillsConfig(folders=(own,), scripts="off")
    )
    agent = folder / "agents" / "incident_responder.en.yaml"
    caplog.set_level(logging.INFO, "chatops_bot.app")
    model = ScriptedModel([says("first"), says("second"), says("third")])

    def told(beginning: str) -> list[str]:
        return [record.getMessage() for record in caplog.records if record.getMessage().startswith(beginning)]

    async def asked_prompt(times: int) -> str:
        """The prompt of the next question, after everything was read again for the n-th time."""
        bot.read_again()

        async def read() -> bool | None:
            return len(told("the skills were read again")) == times or None

        await until(read, "the skills")
        ts = await world.says("oscar", f"{world.mention} hello")
        await world.settled(ts, 1)
        return str(model.requests[-1].messages)

    async with world.bot(model, config=config) as bot:
        edit(agent, "role_name: opsbot", "role_name: renamed")
        put(own, "beta")
        prompt = await asked_prompt(1)
        assert "renamed" in prompt
        assert "What beta does." in prompt
        assert told("the prompts were") == [
            "the prompts were read again; in use: incident_responder v1, scheduler_operator v1"
        ]
        assert told("the skills were")[-1].startswith("the skills were read again; in use: alpha, beta,")

        edit(agent, "role_name: renamed", "role_nmae: again")
        alpha.write_text(text_of("alpha", "max_iterations: many\n"), encoding="utf-8")
        prompt = await asked_prompt(2)
        assert "renamed" in prompt
        assert "What alpha does." in prompt
        (refused,) = told("the prompts were not")
        assert "those before stay in use (incident_responder v1, scheduler_operator v1): " in refused
        assert "role_nmae" in refused
        in_use = told("the skills were")[-1]
        assert "in use: alpha (as it was before), " in in_use
        assert in_use.endswith("; 1 broken, which `chatops-bot skills list` names")

        edit(agent, "role_nmae: again", "role_name: again")
        alpha.write_text(text_of("alpha").replace("What", "All that"), encoding="utf-8")
        prompt = await asked_prompt(3)
        assert "again" in prompt
        assert "All that alpha does." in prompt
        assert "as it was before" not in told("the skills were")[-1]
