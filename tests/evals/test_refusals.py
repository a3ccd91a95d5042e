"""What a tired person may get wrong on the command line: each answer says what is wrong and what to do, before anything runs."""

import re
from pathlib import Path

import pytest

from chatops_bot.app.evals.case import CaseInvalid
from chatops_bot.app.evals.command import EvalOptions, EvalRefused, chosen_cases, evaluate
from chatops_bot.app.evals.imported import ImportRefused, read_json, read_mapping, texts
from chatops_bot.app.evals.keeping_cases import import_set, record_thread
from chatops_bot.app.evals.recording import NotRecorded
from chatops_bot.app.evals.writing import NotWritten, write_case
from chatops_bot.app.prompt_budgets import read_budgets, write_budgets
from chatops_bot.app.where import Where
from chatops_bot.domain.errors import ConfigInvalid, StoreError

CASE = "id: one\nlanguage: en\nask: Is it up?\nexpected: {}\n"
NO_VALUES = {
    "no character": 'a: 1\nb: "\\UFFFFFFFF"\n',
    "beyond the last character": 'a: 1\nb: "\\U00110000"\n',
    "half a character": 'a: 1\nb: "\\uD800"\n',
    "no such day": "a: 1\nb: 2025-02-31\n",
    "tagged bool": "a: 1\nb: !!bool maybe\n",
    "tagged time": "a: 1\nb: !!timestamp soon\n",
    "tagged int": 'a: 1\nb: !!int ""\n',
    "too many digits": f"a: 1\nb: {'9' * 5000}\n",
    "python object": "a: 1\nb: !!python/object:os.system x\n",
}


def put(path: Path, text: str = CASE) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_name_is_a_file_a_folder_or_the_id_of_a_shipped_case(tmp_path: Path):
    named = (put(tmp_path / "one.yaml"), Path("health-zh-1"))
    cases = chosen_cases(EvalOptions(paths=named, kinds=("live",)))
    assert [case.id for case in cases] == ["health-zh-1", "one"]
    with pytest.raises(
        EvalRefused, match=r"^helth-zh-1 is no file, no folder, and no id .*near: health-zh-1"
    ):
        chosen_cases(EvalOptions(paths=(Path("helth-zh-1"),)))


def test_a_folder_without_cases_and_tags_that_nothing_has_are_said(tmp_path: Path):
    with pytest.raises(CaseInvalid, match="holds no case"):
        chosen_cases(EvalOptions(paths=(tmp_path,)))
    with pytest.raises(EvalRefused, match=r"none with the tags nosuch .* leave out --tag"):
        chosen_cases(EvalOptions(tags=("nosuch",)))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (CASE.replace("en", "fr"), "line 2: language: input should be 'zh' or 'en'; correct it."),
        (CASE.replace("ask", "aks"), "line 3: aks is not a known key; did you mean ask?"),
        (CASE.replace("Is it up?", '"\\UFFFFFFFF"'), "line 3: this is not valid YAML: an escape stands for"),
        (CASE.replace("Is", "[Is"), "line 3: this is not valid YAML"),
    ],
)
def test_a_wrong_case_names_its_line(tmp_path: Path, text: str, says: str):
    with pytest.raises(CaseInvalid, match=re.escape(says)):
        chosen_cases(EvalOptions(paths=(put(tmp_path / "one.yaml", text),)))


async def test_what_could_not_be_used_is_refused_before_anything_runs(tmp_path: Path):
    path = put(tmp_path / "one.yaml", CASE + "agent: nobody\n")
    options = EvalOptions(paths=(path,), kinds=("offline",))
    with pytest.raises(EvalRefused, match=r"one is for the agent nobody, .* there are incident_responder"):
        await evaluate(options, {})
    put(path)
    options = EvalOptions(paths=(path,), kinds=("offline",), out=tmp_path / "nowhere" / "runs.jsonl")
    with pytest.raises(EvalRefused, match=r"cannot be written .* name another file with --json"):
        await evaluate(options, {})
    (empty := tmp_path / "empty").mkdir()
    options = EvalOptions(paths=(path,), kinds=("live",), arms=("v1", str(empty)))
    model = {"OPENAI_BASE_URL": "http://127.0.0.1:9", "OPENAI_MODEL": "m", "OPENAI_API_KEY": "k"}
    with pytest.raises(ConfigInvalid, match="empty holds no prompts"):
        await evaluate(options, model)


async def test_prompts_are_not_compared_on_what_reads_none(tmp_path: Path):
    options = EvalOptions(paths=(put(tmp_path / "one.yaml"),), arms=("v1", "v2"))
    with pytest.raises(
        EvalRefused, match=r"^Only a language model reads prompts, so --compare needs --model live"
    ):
        await evaluate(options, {})


def test_what_cannot_be_recorded_or_imported_is_said(tmp_path: Path):
    out = tmp_path / "out.yaml"
    with pytest.raises(ConfigInvalid, match="nowhere is no folder; name the data folder"):
        record_thread(Where(data=tmp_path / "nowhere"), "1.2", out, 0)
    with pytest.raises(StoreError, match="name the data folder of a bot that has run"):
        record_thread(Where(data=tmp_path), "1.2", out, 0)
    with pytest.raises(NotRecorded, match="is there already"):
        record_thread(Where(data=tmp_path), "1.2", put(out), 0)
    with pytest.raises(ImportRefused, match="nowhere is no folder; name a checkout"):
        import_set("holmes", tmp_path / "nowhere", tmp_path)
    with pytest.raises(ImportRefused, match=r"holds no answer.yml; name a checkout of OpenSRE"):
        import_set("opensre", tmp_path, tmp_path)
    case = chosen_cases(EvalOptions(paths=(out,), kinds=("live",)))[0]
    with pytest.raises(NotWritten, match="cannot be written"):
        write_case(out / "below.yaml", case)


def test_a_file_of_budgets_that_is_none_or_has_no_place_is_said(tmp_path: Path):
    with pytest.raises(ConfigInvalid, match=r"is no file of budgets \(invalid json"):
        read_budgets(put(tmp_path / "b.json"))
    with pytest.raises(ConfigInvalid, match=r"cannot be written .* with --file"):
        write_budgets(tmp_path / "nowhere" / "b.json", [], approver="a", reason="b")


def test_values_of_a_public_set_are_the_texts_that_were_written(tmp_path: Path):
    written = "a: 12:30\nb: [no, 2025-02-31, 0x10, 1_000, 1.50, {it says: so}]\nc: ~\n"
    read = read_mapping(put(tmp_path / "y.yaml", written))
    assert read["a"] == "12:30"
    assert texts(read["b"], tmp_path, "b") == ("no", "2025-02-31", "0x10", "1_000", "1.50", "it says: so")
    assert texts(read["c"], tmp_path, "c") == ()


@pytest.mark.parametrize("name", sorted(NO_VALUES.keys() - {"no such day", "too many digits"}))
def test_a_value_of_a_public_set_that_is_none_names_its_line(tmp_path: Path, name: str):
    with pytest.raises(ImportRefused, match=r"y\.yaml, line 2: is not valid YAML"):
        read_mapping(put(tmp_path / "y.yaml", NO_VALUES[name]))


def test_json_with_half_a_character_is_refused(tmp_path: Path):
    with pytest.raises(ImportRefused, match="is not JSON that can be read"):
        read_json(put(tmp_path / "y.json", '{"a": "\\ud800"}'))
