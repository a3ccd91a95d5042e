"""`chatops-bot demo --policy FILE`: the rules of the page run, and a file with a mistake is refused before anything starts."""

import re
from pathlib import Path

import pytest

from chatops_bot.app.demo_policy import read_policy, with_ids
from chatops_bot.domain.errors import ConfigInvalid
from tests.app.conftest import ANY_PORTS, REPOSITORY, StartDemo, run_cli
from tests.scenarios.conftest import everything


def example() -> str:
    """The rules that the page shows."""
    page = (REPOSITORY / "docs" / "simulator.md").read_text(encoding="utf-8")
    found = re.search(r"```yaml\n(policy:.*?)```", page, re.DOTALL)
    assert found is not None
    return found[1]


def test_the_rules_of_the_page_run_in_the_demo(start_demo: StartDemo, tmp_path: Path):
    file = tmp_path / "rules.yaml"
    file.write_text(example())
    demo = start_demo(*ANY_PORTS, "--policy", str(file))
    demo.wait_ready()
    card = everything(demo.settled(demo.says("oscar", "pause nightly-report"), 2)[1])
    assert "2 different people needed" in card
    assert "5 min after it ran, unless somebody keeps it" in card
    assert "10 min from request" in card
    answer = str(demo.settled(demo.says("oscar", "run nightly-report now"))[0]["blocks"])
    assert demo.ready["channels"]["ops"] in answer, "what may be asked for in #ops alone is refused here"
    assert demo.end()[0] == 0


def test_names_become_ids_where_the_platform_is_meant_and_nowhere_else():
    rules = {"rules": [{"tools": ["ana"], "approve": {"people": ["@ana", "U9"]}, "only_in": ["#ops"]}]}
    assert with_ids(rules, {"ana": "U1", "ops": "C1"}) == {
        "rules": [{"tools": ["ana"], "approve": {"people": ["U1", "U9"]}, "only_in": ["C1"]}]
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("policy:\n  rules:\n    - cuont: 2\n", "line 3: policy.rules.0.cuont is not a known key; did you mean count?"),
        ("scheduler: {}\n", "line 1: scheduler is not a known key; remove it."),
        ("- count: 2\n", "line 1: the file must hold the key `policy:`, as a configuration does."),
        ("policy: {rules: [{count: 99}]}\n", "line 1: policy.rules.0.count: input should be less than or equal to 10"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_file_is_one_sentence(tmp_path: Path, text: str, said: str):
    file = tmp_path / "rules.yaml"
    file.write_text(text)
    with pytest.raises(ConfigInvalid) as refused:
        read_policy(file)
    assert str(refused.value).startswith(f"{file}, {said}")
    assert "\n" not in str(refused.value)


def test_a_file_that_there_is_not_is_named_and_nothing_starts(tmp_path: Path):
    refused = run_cli(
        "demo", *ANY_PORTS, "--no-browser", "--data", tmp_path / "data", "--policy", tmp_path / "no.yaml"
    )
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        f"chatops-bot: {tmp_path / 'no.yaml'}: cannot be read (No such file or directory); name the file with --policy.\n"
    )
    assert not (tmp_path / "data").exists()
