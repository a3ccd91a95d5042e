"""Every command with a name that is none, a file that cannot be read, one that holds something else, or a place that cannot be
written: it ends with code 2 and one sentence that says what is wrong, and nothing was begun."""

import re
from pathlib import Path

import pytest

from chatops_bot.app.cli import main

WRONG = {
    "run --config {}": ("nope.yaml", "broken.yaml", "binary.yaml", "folder"),
    "ask hi --config {}": ("nope.yaml", "broken.yaml", "binary.yaml", "folder"),
    "ask hi --data {}": ("nope", "garbage"),
    "approve ABCDEF --config {}": ("nope.yaml", "broken.yaml"),
    "reject ABCDEF --data {}": ("nope", "garbage", "folder"),
    "audit show --config {}": ("nope.yaml", "broken.yaml"),
    "audit show --data {}": ("nope", "garbage", "folder"),
    "audit show --data folder --since {}": ("garbage",),
    "audit show --data folder --decision {}": ("garbage",),
    "audit verify --file {}": ("nope.jsonl", "broken.json", "binary.yaml", "folder"),
    "audit verify --data folder --anchor {}": ("garbage",),
    "audit export --data folder --out {}": ("/proc/nope/x",),
    "audit export --data {}": ("nope", "garbage"),
    "skills list --config {}": ("nope.yaml", "broken.yaml", "folder"),
    "skills list --data {}": ("nope",),
    "prompt show abcd --data {}": ("nope", "garbage", "folder"),
    "prompt show {} --data folder": ("xyz", "abc"),
    "prompt diff abcd abce --data {}": ("nope", "garbage"),
    "prompt explain {}": ("--agent=nope", "--version=v9", "--config=broken.yaml", "abcd"),
    "prompt lint --config {}": ("nope.yaml", "broken.yaml"),
    "prompt budgets --approver a --reason b --file {}": ("broken.json", "folder", "/proc/nope/x.json"),
    "prompt budgets {}": ("--approver=a",),
    "eval run {}": (
        "nosuch.yaml",
        "broken.yaml",
        "binary.yaml",
        "folder",
        "--tag=zz",
        "--config=broken.yaml",
    ),
    "eval run health-zh-1 --json {}": ("/proc/nope/x", "folder"),
    "eval run --compare v1 {}": ("v2", "v1", "v2 --model live"),
    "eval record 1.2 --data folder -o {}": ("broken.yaml", "/proc/nope/x1.yaml", "new.yaml"),
    "eval record 1.2 -o new.yaml --data {}": ("nope", "garbage"),
    "eval record 1.2 -o new.yaml --config {}": ("nope.yaml", "broken.yaml"),
    "eval import holmes {} -o out": ("nope", "folder", "broken.json"),
    "eval import opensre {} -o out": ("nope", "folder"),
    "doctor --data {}": ("nope",),
    "demo --no-browser --data {}": ("broken.json", "/proc/nope"),
}
USAGE = {
    "": "arguments are required: command",
    "policy": "invalid choice: 'policy'",
    "audit show --last 0": "'0' is not a number of rows; give 1 or more.",
    "demo --port 70000": "'70000' is not a port; give a number from 0 to 65535.",
    "ask": "arguments are required: question",
    "eval run --repeat 0": "'0' is not a number from 1 on; give 1 or more.",
    "eval record 1.2 -o x.yaml --turn -1": "'-1' is not a number from 1 on; give 1 or more.",
    "eval run --model gpt": "invalid choice: 'gpt'",
    "prompt show abcd --data a --config b": "not allowed with argument",
    "approve ABCDEF --as king": "invalid choice: 'king'",
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with something wrong of each kind, in which the commands run."""
    (tmp_path / "broken.yaml").write_text("a: [1\n", encoding="utf-8")
    (tmp_path / "broken.json").write_text('{"a": ', encoding="utf-8")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "folder").mkdir()
    (tmp_path / "garbage").mkdir()
    (tmp_path / "garbage" / "bot.db").write_text("this is no database")
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def ended(command: str, capsys: pytest.CaptureFixture[str]) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as exit_info:
        main(command.split())
    out, err = capsys.readouterr()
    return exit_info.value.code, out, err


@pytest.mark.parametrize(
    "command", [template.format(wrong) for template, values in WRONG.items() for wrong in values]
)
def test_what_cannot_be_done_is_one_sentence_and_code_2(
    command: str, here: Path, capsys: pytest.CaptureFixture[str]
):
    before = sorted(here.rglob("*"))
    code, out, err = ended(command, capsys)
    # Which texts are shown where no configuration is named is said first.
    said = [line for line in err.splitlines() if "this is what ships" not in line]
    assert (code, out, len(said)) == (2, "", 1), err
    assert re.fullmatch(r"chatops-bot: \S.{20,700}[.…]", said[0]), err
    assert "Traceback" not in err
    assert "https://errors.pydantic" not in err
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize(("command", "says"), USAGE.items())
def test_a_wrong_argument_is_told_under_the_usage(
    command: str, says: str, here: Path, capsys: pytest.CaptureFixture[str]
):
    code, out, err = ended(command, capsys)
    assert (code, out) == (2, "")
    assert err.startswith("usage: ")
    assert says in err.splitlines()[-1]
