"""Which bot, and whose settings, a command on this machine means."""

from pathlib import Path

import pytest

from chatops_bot.app.prompt_cli import agents_of
from chatops_bot.app.skills_list import list_skills
from chatops_bot.app.where import Where
from chatops_bot.domain.errors import ConfigInvalid
from tests.app.test_config import GOOD
from tests.skillpacks.conftest import put

OWN = "data: .\nskills: {folders: [own]}\nagents: {default: scheduler_operator}\n"


def beside(folder: Path, text: str) -> None:
    """A configuration that lies beside its store."""
    folder.mkdir(exist_ok=True)
    put(folder / "own", "alpha")
    (folder / "chatops-bot.yaml").write_text(GOOD + text, encoding="utf-8")
    (folder / "bot.db").touch()


@pytest.mark.parametrize("named", ["", "bot"])
def test_a_data_folder_means_the_configuration_that_lies_in_it(
    tmp_path: Path, named: str, capsys: pytest.CaptureFixture[str]
):
    beside(tmp_path / "bot", OWN)
    where = Where(data=tmp_path / named)
    assert agents_of(where).default == "scheduler_operator"
    assert list_skills(where, as_json=False) == 0
    told = capsys.readouterr()
    assert f"alpha ({tmp_path}/bot/own; everybody)" in told.out
    assert told.err == ""


def test_the_demo_that_lies_here_is_meant_with_its_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / ".chatops-demo").mkdir()
    beside(tmp_path / ".chatops-demo" / "bot", OWN)
    monkeypatch.chdir(tmp_path)
    assert agents_of(Where()).default == "scheduler_operator"
    list_skills(Where(), as_json=True)
    assert '"alpha"' in capsys.readouterr().out


def test_where_no_configuration_lies_it_is_said_that_defaults_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert list_skills(Where(data=tmp_path), as_json=True) == 0
    agents_of(Where(data=tmp_path))
    told = capsys.readouterr()
    line = f"chatops-bot: No chatops-bot.yaml lies in {tmp_path}: this is what ships, with the default settings; name a configuration with --config."
    assert told.err.splitlines() == [line, line]
    assert told.out.startswith('{"skills": [')


def test_a_configuration_with_a_fault_is_not_passed_over(tmp_path: Path):
    beside(tmp_path, "odd: 1\n")
    with pytest.raises(ConfigInvalid, match="odd is not a known key"):
        list_skills(Where(data=tmp_path), as_json=True)


def test_a_store_is_looked_into_although_the_configuration_beside_it_has_a_fault(tmp_path: Path):
    beside(tmp_path, "odd: 1\n")
    assert Where(data=tmp_path).find() == (tmp_path, None)


@pytest.mark.parametrize("name", ["nothing", "file", "file/below"])
def test_what_is_no_folder_is_told(tmp_path: Path, name: str):
    (tmp_path / "file").touch()
    with pytest.raises(ConfigInvalid, match="is no folder"):
        Where(data=tmp_path / name).find()


def test_a_folder_that_the_system_does_not_let_one_look_into_is_told(tmp_path: Path):
    with pytest.raises(ConfigInvalid, match=r"cannot be looked into \(File name too long\)"):
        Where(data=tmp_path / ("x" * 300)).find()
