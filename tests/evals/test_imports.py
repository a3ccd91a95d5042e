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
    assert "03_none/test_case.yaml: user_prompt is missing, and no issue or history asks" in found.problems[1]
    assert import_set("holmes", tmp_path, tmp_path / "out") == 1
    assert load_cases([tmp_path / "out"]) == list(found.cases)


def test_issues_histories_and_included_files_ask_too_and_what_needs_a_live_system_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    root = tmp_path / "tests" / "llm" / "fixtures"
    asked = {"user_prompt": "Why?", "expected_output": ["a", "b"]}
    put(root / "ask" / "1_live" / "test_case.yaml", asked)
    put(root / "ask" / "2_skip" / "test_case.yaml", asked | {"skip": True, "skip_reason": "flaky"})
    put(root / "ask" / "3_both" / "test_case.yaml", asked | {"include_files": ["notes.md"]})
    put(root / "ask" / "3_both" / "notes.md", "the pool has 8")
    put(root / "ask" / "3_both" / "pods.txt", mock("no_data", ""))
    put(root / "ask" / "3_both" / "events.txt", mock("error", "", error="forbidden"))
    put(root / "ask" / "3_both" / "old.txt", f"{json.dumps(HEAD)}\nraw output of the old format")
    put(root / "ask" / "4_out" / "test_case.yaml", asked | {"include_files": ["../../../secrets"]})
    put(root / "ask" / "4_out" / "pods.txt", mock("success", "x"))
    put(root / "issue" / "3_both" / "test_case.yaml", {"expected_output": "a"})
    put(root / "issue" / "3_both" / "issue_data.json", {"title": "Pod is down"})
    put(
        root / "issue" / "3_both" / "any.txt",
        json.dumps(HEAD | {"match_params": None}) + '\n{"status": "success"}\nup',
    )
    put(root / "compaction" / "001" / "test_case.yaml", {"expected_output": "least"})
    history = [{"role": role, "content": role} for role in ("system", "user", "assistant")]
    put(
        root / "compaction" / "001" / "conversation_history.json",
        [*history, {"role": "user", "content": "Now?"}],
    )
    put(root / "ask" / "5_md" / "test_case.yaml", asked)
    put(root / "ask" / "5_md" / "conversation_history" / "01_system.md", "rules")
    put(root / "ask" / "5_md" / "conversation_history" / "02_user.md", "Hello")
    assert import_set("holmes", tmp_path, tmp_path / "out") == 1
    said = capsys.readouterr().out
    cases = {case.id: case for case in load_cases([tmp_path / "out"])}
    assert sorted(cases) == ["holmes-001", "holmes-5_md", "holmes-ask-3_both", "holmes-issue-3_both"]
    both = cases["holmes-ask-3_both"]
    assert both.ask == ("Why?\n\nnotes.md:\nthe pool has 8",)
    assert [(one.status, one.content) for one in both.recordings] == [
        ("error", "forbidden"), ("ok", {"status": "no_data", "output": ""}),
    ]  # fmt: skip
    assert '"title": "Pod is down"' in cases["holmes-issue-3_both"].ask[0]
    assert cases["holmes-issue-3_both"].recordings[0].match == {}
    compacted = cases["holmes-001"]
    assert (compacted.ask, [said.person or said.bot for said in compacted.thread]) == (
        ("Now?",),
        ["user", "assistant"],
    )
    assert [said.person for said in cases["holmes-5_md"].thread] == ["Hello"]
    assert "only a live system could answer: 1_live\n" in said
    assert "left out, skipped in the set itself: 2_skip\n" in said
    assert "old.txt, line 2: is no JSON object with the status" in said
    assert "include_files names ../../../secrets, which lies outside of the case" in said
    assert "4 cases are in" in said


async def test_a_synthetic_scenario_becomes_a_case_that_plays_on_its_own_answer(tmp_path: Path):
    folder = tmp_path / "suite" / "001-pool"
    put(folder / "alert.json", {"title": "Checkout errors", "commonAnnotations": {"summary": "5xx"}})
    put(folder / "aws_cloudwatch_metrics.json", {"metrics": [{"name": "Connections", "values": [64, 64]}]})
    put(folder / "aws_rds_events.json", {"events": []})
    put(folder / "scenario.yml", {"available_evidence": ["aws_cloudwatch_metrics"]})
    key = {
        "root_cause_category": "resource_exhaustion", "required_keywords": ["connection pool"],
        "forbidden_categories": ["cpu_saturation"], "forbidden_keywords": ["replication"], "ruling_out_keywords": ["not CPU"],
        "required_evidence_sources": ["aws_cloudwatch_metrics", "logs"], "max_investigation_loops": 2,
    }  # fmt: skip
    gold = "ROOT_CAUSE: The connection pool is full; not CPU.\nROOT_CAUSE_CATEGORY: resource_exhaustion\n"
    put(folder / "answer.yml", key | {"model_response": gold})
    put(tmp_path / "suite" / "002-odd" / "answer.yml", key | {"model_response": "It is replication."})
    put(tmp_path / "suite" / "002-odd" / "alert.json", {"title": "x"})
    put(tmp_path / "suite" / "002-odd" / "aws_cloudwatch_metrics.json", [1, 2])
    put(tmp_path / "suite" / "003-broken" / "answer.yml", "required_keywords: {a: b}\n")
    put(tmp_path / "suite" / "003-broken" / "alert.json", "{")
    found = import_opensre(tmp_path)
    case, odd = found.cases
    assert case.expected.tools.must == ("aws_cloudwatch_metrics",)
    assert [one.tool for one in case.recordings] == ["aws_cloudwatch_metrics"], (
        "only what the scenario says there is"
    )
    assert case.expected.rubric == ("Rules out: not CPU",)
    assert case.expected.says == ("connection pool", "ROOT_CAUSE_CATEGORY: resource_exhaustion")
    assert case.expected.never == ("replication", "ROOT_CAUSE_CATEGORY: cpu_saturation")
    assert "one of: cpu_saturation, resource_exhaustion." in case.ask[0]
    assert case.expected.max_rounds == 3
    assert (odd.script, odd.recordings[0].content) == ((), {"rows": [1, 2]})
    assert any(
        "002-odd/answer.yml: model_response does not fit its own key (connection pool" in one
        for one in found.problems
    )
    assert any("names logs, but the folder holds no logs.json" in one for one in found.problems)
    assert any("003-broken/alert.json, line 1: is not valid JSON" in one for one in found.problems)
    import_set("opensre", tmp_path, tmp_path / "out")
    code, said = await run(tmp_path, ["scripted"], [tmp_path / "out"])
    assert code == 0, said


def test_a_scenario_takes_what_it_lacks_from_the_one_that_it_is_based_on(tmp_path: Path):
    suite = tmp_path / "suite"
    put(suite / "000-healthy" / "alert.json", {"title": "all well"})
    put(suite / "000-healthy" / "eks_pods.json", {"pods": 3})
    put(suite / "000-healthy" / "eks_events.json", {"events": 0})
    put(suite / "000-healthy" / "scenario.yml", {"available_evidence": ["eks_pods", "eks_events"]})
    put(suite / "005-quota" / "scenario.yml", {"base": "000-healthy", "failure_mode": "quota"})
    put(suite / "005-quota" / "eks_events.json", {"events": 9})
    put(suite / "005-quota" / "answer.yml", {"root_cause_category": "quota"})
    for name, base in (
        ("006-self", "006-self"),
        ("007-out", "../../secrets"),
        ("008-none", "nobody"),
        ("009-number", 7),
    ):
        put(suite / name / "scenario.yml", {"base": base})
        put(suite / name / "answer.yml", {"root_cause_category": "quota"})
    found = import_opensre(tmp_path)
    (case,) = found.cases
    assert {one.tool: one.content for one in case.recordings} == {
        "eks_pods": {"pods": 3},
        "eks_events": {"events": 9},
    }
    assert '"all well"' in case.ask[0]
    assert len(found.problems) == 4
    assert all("which is no other scenario beside it" in problem for problem in found.problems)


def test_files_as_people_and_tools_write_them_are_read(tmp_path: Path):
    """Any value written as a star, output inside the envelope, bytes that are no text, a byte order mark, a text that looks like a
    key or a number, a workload's question, the time that a case plays at, and a history that asks nothing."""
    root = tmp_path / "fixtures"
    head = {"toolset_name": "logs", "tool_name": "pod_logs", "match_params": {"from": "*", "pod": "cart"}}
    written = "\ufeffuser_prompt: 'Why?'\nmocked_date: 2026-03-02T14:30:00Z\nexpected_output:\n  - it says: the pool is full\n  - 12:30\n  - no\n"
    put(root / "1_odd" / "test_case.yaml", written)
    put(root / "1_odd" / "a.txt", json.dumps(head) + '\n{"status": "success", "data": {"lines": 2}}\n')
    raw = f'{json.dumps(head)}\n{{"status": "success"}}\n'.encode() + b"caf\xe9 \x1b[31mred\x1b[0m \xc2\x86\n"
    (root / "1_odd" / "b.txt").write_bytes(raw)
    put(root / "2_health" / "test_case.yaml", "expected_output: crash\n")
    put(
        root / "2_health" / "workload_health_request.json",
        {"ask": "Is the cart well?", "alert_history": True},
    )
    put(root / "2_health" / "pods.txt", mock("success", "1 pod"))
    put(root / "3_sum" / "test_case.yaml", "expected_output: a summary\n")
    said = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": "All is well."}]
    put(root / "3_sum" / "conversation_history.json", said)
    found = import_holmes(tmp_path)
    odd, health = found.cases
    assert found.problems == ()
    assert [one.match for one in odd.recordings] == [{"from": None, "pod": "cart"}] * 2
    assert [one.content for one in odd.recordings] == [
        {"status": "success", "output": '{"lines": 2}'},
        {"status": "success", "output": "caf\ufffd \x1b[31mred\x1b[0m \x86\n"},
    ]
    assert odd.expected.rubric == ("it says: the pool is full", "12:30", "no")
    assert odd.ask == ("Why?\n\nIt is 2026-03-02T14:30:00Z now.",)
    assert health.ask == ("Is the cart well?",)
    assert [*found.left_out.values()] == [["3_sum"]]
    import_set("holmes", tmp_path, tmp_path / "out")
    assert load_cases([tmp_path / "out"]) == [odd, health]


def test_what_does_not_fit_into_a_case_is_named_and_the_rest_is_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    root = tmp_path / "fixtures"
    for name, output in (("1_huge", "x\n" * 3_000_000), ("2_fine", "x\n")):
        put(root / name / "test_case.yaml", "user_prompt: Why?\n")
        put(root / name / "logs.txt", mock("success", output))
    long = "a_very_long_name_of_a_case_" * 4
    put(root / long / "test_case.yaml", "user_prompt: ['Why?', 'And why?']\n")
    put(root / long / "logs.txt", mock("success", "x"))
    assert import_set("holmes", tmp_path, tmp_path / "out") == 1
    said = capsys.readouterr().out
    assert "HolmesGPT 1_huge: does not fit into a case" in said
    assert "3 cases are in" in said
    assert len(load_cases([tmp_path / "out"])) == 3, (
        "each paraphrase has an id of its own, however long the name is"
    )


def test_a_scenario_that_calls_its_evidence_by_other_names_keeps_it_all_and_a_category_may_begin_like_the_right_one(
    tmp_path: Path,
):
    folder = tmp_path / "suite" / "001-lag"
    put(folder / "alert.json", {"title": "lag"})
    put(folder / "cloudwatch_metrics.json", {"lag": 30})
    put(folder / "scenario.yml", "available_evidence: [graphs]\n")
    put(folder.parent / "002-named" / "alert.json", {"title": "lag"})
    put(folder.parent / "002-named" / "cloudwatch_metrics.json", {"lag": 30})
    put(folder.parent / "002-named" / "rds_events.json", {"events": []})
    put(folder.parent / "002-named" / "scenario.yml", "available_evidence: [rds_metrics]\n")
    put(
        folder.parent / "002-named" / "answer.yml",
        "forbidden_phrases: [two causes]\nrequired_evidence_sources: [rds_metrics]\n",
    )
    key = "root_cause_category: resource_exhaustion\nforbidden_categories: [resource, cpu]\nrequired_keywords: [12:30]\nmax_investigation_loops: 2\n"
    put(folder / "answer.yml", key)
    found = import_opensre(tmp_path)
    case, named = found.cases
    assert [one.tool for one in case.recordings] == ["cloudwatch_metrics"]
    assert [one.tool for one in named.recordings] == ["cloudwatch_metrics"]
    assert (named.expected.tools.must, named.expected.never) == (("cloudwatch_metrics",), ("two causes",))
    assert case.expected.never == ("ROOT_CAUSE_CATEGORY: cpu",)
    assert case.expected.says[0] == "12:30"
    assert case.expected.max_rounds == 3
    assert len(found.problems) == 1


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
