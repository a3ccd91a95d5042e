"""The whole text of each prompt, to be read in the diff of whoever changes it, and what each may measure."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chatops_bot.app.prompt_budgets import problems_of_budgets, read_budgets, write_budgets
from chatops_bot.app.prompt_sizes import SCENARIOS, Reviewed, prompt_for, shipped_skills
from chatops_bot.context.prompt_registry import PromptRegistry
from chatops_bot.toolsets.scheduler.toolset import SCHEDULER_SPECS
from tests.tracked import ROOT

GOLDEN = Path(__file__).parent / "golden"
BUDGETS = ROOT / "prompts" / "budgets.json"


@pytest.mark.case("prompt-R6")
@pytest.mark.case("prompt-R53")
@pytest.mark.case("prompt-R66")
def test_each_prompt_reads_as_it_was_reviewed(prompts: dict[str, Reviewed], shipped: PromptRegistry):
    """`GOLDEN=write` stores what is built."""
    assert len(prompts) == len(list(shipped)) * len(SCENARIOS)
    if os.environ.get("GOLDEN") == "write":
        for name, each in prompts.items():
            (GOLDEN / f"{name}.txt").write_text(f"{each.prompt}\n", encoding="utf-8")
    kept = {path.stem: path.read_text(encoding="utf-8") for path in GOLDEN.glob("*.txt")}
    assert kept.keys() == prompts.keys()
    for name, each in prompts.items():
        assert kept[name] == f"{each.prompt}\n", f"{name} is not what was reviewed; see it with GOLDEN=write"


@pytest.mark.case("prompt-R44")
@pytest.mark.case("prompt-R48")
@pytest.mark.case("prompt-V20")
def test_no_prompt_grew_beyond_what_somebody_approved(prompts: dict[str, Reviewed]):
    assert problems_of_budgets(read_budgets(BUDGETS), prompts.values()) == []


@pytest.mark.case("prompt-R48")
def test_the_skills_that_ship_and_the_tools_of_the_agent_itself_are_measured(shipped: PromptRegistry):
    """Most model calls of a bot as it ships have them, and a description that grows is paid for in each."""
    agent = shipped.get("incident_responder", "en")
    skills = shipped_skills()
    told = prompt_for(shipped, agent, SCHEDULER_SPECS, skills=skills)
    assert {"load_skill", "run_skill_script", "find_tools", "read_result", "consult_agent"} < set(told.tools)
    assert all(f"- {skill.name}: " in told.prefix for skill in skills)
    longer = [replace(skill, description=f"{skill.description} And more of it." * 2) for skill in skills]
    grown = Reviewed(
        "incident_responder.v1.en.with_skills", prompt_for(shipped, agent, SCHEDULER_SPECS, skills=longer)
    )
    [problem] = (
        each for each in problems_of_budgets(read_budgets(BUDGETS), [grown]) if "no such" not in each
    )
    assert problem.startswith(f"{grown.name}: {len(grown.prompt)} characters")


@pytest.mark.case("prompt-R48")
@pytest.mark.case("prompt-V20")
def test_growth_fails_until_it_is_approved_by_somebody_for_a_reason(
    prompts: dict[str, Reviewed], tmp_path: Path
):
    path = tmp_path / "budgets.json"
    write_budgets(path, list(prompts.values()), approver="Ana", reason="first")
    assert problems_of_budgets(read_budgets(path), prompts.values()) == []
    entries: dict[str, Any] = json.loads(path.read_text())
    name = next(iter(entries))
    for grown, is_wrong in ((1.04, False), (1.06, True)):
        changed = entries[name] | {"chars": round(entries[name]["chars"] / grown)}
        path.write_text(json.dumps(entries | {name: changed}))
        assert bool(problems_of_budgets(read_budgets(path), prompts.values())) is is_wrong
    write_budgets(path, list(prompts.values()), approver="Adam", reason="a new rule")
    assert problems_of_budgets(read_budgets(path), prompts.values()) == []
    after = json.loads(path.read_text())
    assert (after[name]["approver"], after[name]["reason"]) == ("Adam", "a new rule")
    assert {entry["approver"] for key, entry in after.items() if key != name} == {"Ana"}


def test_a_prompt_without_a_budget_and_a_budget_without_a_prompt_are_told(
    prompts: dict[str, Reviewed], tmp_path: Path
):
    path = tmp_path / "budgets.json"
    first, *others = prompts.values()
    write_budgets(path, others, approver="Ana", reason="first")
    [missing] = problems_of_budgets(read_budgets(path), prompts.values())
    assert first.name in missing
    [left] = problems_of_budgets(read_budgets(path), others[1:])
    assert others[0].name in left
