"""Public sets are read from a checkout in their format; a file that does not fit is named, and the rest is imported."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.app.evals.case import CaseInvalid, load_case, load_cases
from chatops_bot.app.evals.holmes import import_holmes, recording_in
from chatops_bot.app.evals.imported import ImportRefused
from chatops_bot.app.evals.keeping_cases import import_set
from chatops_bot.app.evals.opensre import import_opensre
from tests.evals.test_shipped_cases import run

HEAD = {"toolset_name": "pods", "tool_name": "pod_logs", "match_params": {"namespace": "shop", "tail": None}}


def put(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def mock(status: str, output: str, **envelope: Any) -> str:
    return f"{json.dumps(HEAD)}\n{json.dumps({'status': status, **envelope})}\n{output}"


def test_recorded_results_prompts_and_histories_become_cases(tmp_path: Path):
    folder = tmp_path / "fixtures" / "01_cart"
    put(
        folder / "test_case.yaml",
        "user_prompt: [why is the cart slow, the cart]\nexpected_output: names the pool\ntags: [easy]\n",
    )
    put(folder / "logs.txt", mock("success", "pool exhausted\n"))
    put(folder / "notes.txt", "no recording")
    call = {"id": "c1", "function": {"name": "pod_logs", "arguments": '{"namespace": "shop"}'}}
    history = [
        {"role": "system", "content": "rules"}, {"role": "user", "content": "hello"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "two pods"},
        {"role": "assistant", "content": [{"type": "text", "text": "Two pods."}]},
    ]  # fmt: skip
    put(folder / "conversation_history.json", history)
    put(tmp_path / "fixtures" / "02_bad" / "test_case.yaml", "user_prompt: [\n")
    put(tmp_path / "fixtures" / "03_none" / "test_case.yaml", "tags: [x]\n")
    found = import_holmes(tmp_path)
    assert [case.id for case in found.cases] == ["holmes-01_cart-1", "holmes-01_cart-2"]
    one = found.cases[0]
    assert one.recordings[0].match == HEAD["match_params"]
    assert one.recordings[0].content == {"status": "success", "output": "pool exhausted\n"}
    assert [(said.person, said.bot, len(said.results)) for said in one.thread] == [
        ("hello", "", 0),
        ("", "", 1),
        ("", "Two pods.", 0),
    ]
    assert one.expected.rubric == ("names the pool",)
    assert len(found.problems) == 2
    assert "02_bad/test_case.yaml, line" in found.problems[0]
    assert "03_none/test_case.yaml: user_prompt is missing" in found.problems[1]
    assert import_set("holmes", tmp_path, tmp_path / "out") == 1
    assert load_cases([tmp_path / "out"]) == list(found.cases)


async def test_a_synthetic_scenario_becomes_a_case_that_plays_on_its_own_answer(tmp_path: Path):
    folder = tmp_path / "suite" / "001-pool"
    put(folder / "alert.json", {"title": "Checkout errors", "commonAnnotations": {"summary": "5xx"}})
    put(folder / "aws_cloudwatch_metrics.json", {"metrics": [{"name": "Connections", "values": [64, 64]}]})
    put(folder / "answer.yml", (
        "root_cause_category: pool\nrequired_keywords: [connection pool]\nforbidden_categories: [cpu_saturation]\n"
        "required_evidence_sources: [aws_cloudwatch_metrics, logs]\nmax_investigation_loops: 2\n"
        "model_response: The connection pool is full.\n"
    ))  # fmt: skip
    put(tmp_path / "suite" / "002-broken" / "answer.yml", "required_keywords: {a: b}\n")
    put(tmp_path / "suite" / "002-broken" / "alert.json", "{")
    found = import_opensre(tmp_path)
    (case,) = found.cases
    assert case.expected.tools.must == ("aws_cloudwatch_metrics",)
    assert case.expected.max_rounds == 3
    assert any("names logs, but the folder holds no logs.json" in problem for problem in found.problems)
    assert any("002-broken/alert.json, line 1: is not valid JSON" in problem for problem in found.problems)
    import_set("opensre", tmp_path, tmp_path / "out")
    code, said = await run(tmp_path, ["scripted"], [tmp_path / "out"])
    assert code == 0, said


@pytest.mark.parametrize("work", [import_holmes, import_opensre])
def test_a_folder_that_is_no_checkout_is_refused(work: Any, tmp_path: Path):
    with pytest.raises(ImportRefused, match="name a checkout"):
        work(tmp_path)


@given(st.text(max_size=80) | st.builds(lambda second: f"{json.dumps(HEAD)}\n{second}", st.text(max_size=40)))
def test_any_text_is_a_recording_none_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str):
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with suppress(ImportRefused):
        found = recording_in(path)
        assert found is None or found.tool == "pod_logs"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id: a-case\nlanguage: en\nask: x\nexpected: {}\nwrold: demo\n", "line 5: wrold"),
        ("id: a-case\nlanguage: fr\nask: x\nexpected: {}\n", "line 2: language"),
        (
            "id: a-case\nlanguage: en\nask: x\nexpected:\n  tools:\n    most: [a]\n",
            "line 6: expected.tools.most",
        ),
        ("id: a-case\nlanguage: en\nask: x\nexpected: {}\nscript:\n  - {sees: a}\n", "line 6: script.0"),
        ("- a\n", "line 1: a case holds keys"),
        ("id: [\n", "not valid YAML"),
    ],
)
def test_a_case_that_is_wrong_names_its_file_and_line(text: str, said: str, tmp_path: Path):
    path = put(tmp_path / "wrong.yaml", text)
    with pytest.raises(CaseInvalid) as caught:
        load_case(path)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)
