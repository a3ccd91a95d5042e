"""The cases that ship all hold: on their scripts, which proves code, and on the offline rules, which answer by themselves."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from chatops_bot.app.bundled import bundled
from chatops_bot.app.evals.case import Kind, load_cases
from chatops_bot.app.evals.command import EvalOptions, evaluate
from tests.scenarios.seeded_scheduler import put_seeded_data

CASES = load_cases([bundled("evals") / "cases"])


async def run(tmp_path: Path, kinds: Sequence[Kind], paths: Sequence[Path] = ()) -> tuple[int, str]:
    await put_seeded_data(tmp_path / "scheduler")
    said: list[str] = []
    options = EvalOptions(paths=tuple(paths), kinds=tuple(kinds), data=tmp_path / "scheduler")
    code = await evaluate(options, {}, said.append)
    return code, "\n".join(said)


@pytest.mark.case("prompt-R52")
@pytest.mark.case("prompt-R53")
async def test_every_shipped_case_holds_on_its_script_and_on_the_offline_rules(tmp_path: Path):
    code, said = await run(tmp_path, ["scripted", "offline"])
    assert "FAILED" not in said, said
    assert code == 0
    assert "A scripted model played the answers; this says nothing about prompt quality." in said
    assert "The offline rules answered; no prompt was read." in said


def test_there_are_enough_cases_in_both_languages_and_of_each_kind():
    assert len(CASES) >= 60
    languages = Counter(case.language for case in CASES)
    assert min(languages["zh"], languages["en"]) >= 30
    tags = {tag for case in CASES for tag in case.tags}
    assert tags >= {
        "health", "triage", "inspect", "create", "trigger", "pause", "retry", "delete", "load", "negative", "refused",
        "injection", "unknown", "empty", "form", "several", "thread", "failure",
    }  # fmt: skip


async def test_a_failed_expectation_is_named_and_the_exit_code_says_so(tmp_path: Path):
    text = (bundled("evals") / "cases" / "no-failures-en.yaml").read_text(encoding="utf-8")
    broken = tmp_path / "broken.yaml"
    broken.write_text(text + "  facts: [db-backup]\n", encoding="utf-8")
    code, said = await run(tmp_path, ["offline"], [broken])
    assert code == 1
    assert "fact: 'db-backup' was returned by no tool" in said
