"""Scripts of skills in a whole bot: switched by the configuration, told by the doctor, counted."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from prometheus_client import generate_latest

from chatops_bot.app.config import load_config
from chatops_bot.app.doctor.findings import Status
from chatops_bot.app.doctor.scripts import check_scripts
from chatops_bot.app.metering import MeteredScripts
from chatops_bot.app.metrics import Metrics
from chatops_bot.app.skills import read_skills
from chatops_bot.app.skills_config import SkillsConfig
from chatops_bot.domain.errors import ConfigInvalid, ToolFailed
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.skill import RUN_SKILL_SCRIPT, ScriptRun, Skill
from chatops_bot.ports import ToolContext
from chatops_bot.sandbox.runner import NoScripts
from chatops_bot.tools.run_skill_script import RunSkillScript, RunSkillScriptArguments
from tests.app.test_config import GOOD, written
from tests.app.test_metrics import parsed, value
from tests.small_tools import SESSION
from tests.tools.test_run_skill_script import Scripts

CONTEXT = ToolContext(Person("U1", "Oscar", Role.VIEWER), SESSION, "turn_1")
WORKERS = {"workers": [{"id": "w1", "status": "online", "max_concurrency": 4}], "peak_load": 1}
TRIAGE = Skill("triage", "d", "b", Path("triage"), "tests")


@pytest.mark.parametrize(
    ("written_as", "meant"), [("off", "off"), ('"off"', "off"), ("false", "off"), ("auto", "auto")]
)
def test_scripts_are_switched_by_a_word(tmp_path: Path, written_as: str, meant: str):
    path = written(tmp_path, GOOD + f"skills:\n  scripts: {written_as}\n")
    assert load_config(path).skills.scripts == meant


@pytest.mark.parametrize("other", ["on", "always", "1"])
def test_scripts_cannot_be_forced_on(tmp_path: Path, other: str):
    with pytest.raises(ConfigInvalid, match=r"line 8: skills\.scripts"):
        load_config(written(tmp_path, GOOD + f"skills:\n  scripts: {other}\n"))


async def test_a_script_that_ships_runs_in_the_sandbox_of_this_machine(tmp_path: Path):
    skills = await read_skills(load_config(written(tmp_path, GOOD)))
    (tool,) = [each for each in skills.tools if each.spec.name == RUN_SKILL_SCRIPT]
    assert isinstance(tool, RunSkillScript)
    if skills.scripts is None or skills.scripts.disabled_because is not None:
        pytest.skip("bubblewrap does not work on this machine")
    call = RunSkillScriptArguments(
        skill="capacity-check", script="scripts/headroom.py", stdin=json.dumps(WORKERS)
    )
    done = await tool.run(call, CONTEXT)
    assert done.content["exit"] == 0, done.content
    assert done.content["isolation"].startswith("bubblewrap: no network")


@pytest.mark.parametrize("section", ["scripts: off", "enabled: false"])
async def test_what_is_turned_off_has_no_tool(tmp_path: Path, section: str):
    skills = await read_skills(load_config(written(tmp_path, GOOD + f"skills:\n  {section}\n")))
    assert RUN_SKILL_SCRIPT not in [tool.spec.name for tool in skills.tools]


async def test_the_doctor_says_whether_scripts_run_and_what_to_do(tmp_path: Path):
    config = load_config(written(tmp_path, GOOD))
    missing = NoScripts(Phrase("没有", "bubblewrap is not installed; install it."))
    (broken,) = await check_scripts(config, missing)
    assert broken.status is Status.WARNING
    assert "install it. To do without them: skills.scripts: off." in broken.says
    (fine,) = await check_scripts(config, Scripts())
    assert fine.status is Status.OK
    (off,) = await check_scripts(config.model_copy(update={"skills": SkillsConfig(scripts="off")}), missing)
    assert off.status is Status.OK
    assert "turned off" in off.says


@dataclass
class Faulty:
    disabled_because: Phrase | None = None

    async def run(self, skill: Skill, script: str, arguments: Sequence[str], stdin: str = "") -> ScriptRun:
        raise ToolFailed(Phrase("坏了", "broken"))


async def test_runs_are_counted_by_how_they_end():
    metrics = Metrics()
    for code, seconds in ((0, 0.02), (3, 0.2), (None, 30.0)):
        await MeteredScripts(Scripts(ScriptRun(code, "", "", (), seconds)), metrics).run(TRIAGE, "a.sh", [])
    with pytest.raises(ToolFailed):
        await MeteredScripts(Faulty(), metrics).run(TRIAGE, "a.sh", [])
    series = parsed(generate_latest(metrics.registry).decode())
    for outcome in ("ok", "failed", "killed", "not_started"):
        assert value(series, "chatops_skill_script_runs_total", outcome=outcome) == 1
    assert value(series, "chatops_skill_script_seconds_count") == 3
    assert value(series, "chatops_skill_script_seconds_sum") == pytest.approx(30.22)
