"""Nobody is left in a recorded case, whatever people are called, and its structure is that of the thread."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.app.clock import ManualClock
from chatops_bot.app.evals.case import Case
from chatops_bot.app.evals.recording import NotRecorded, case_of, record
from chatops_bot.domain.model import Reasoning
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import SessionKey, TurnOutcome
from chatops_bot.domain.thread import EarlierMessage
from chatops_bot.domain.tool import ToolCall
from chatops_bot.domain.transcript import (
    EarlierRead,
    Entry,
    FormClosed,
    FormFilled,
    ModelSaid,
    ProposalDecided,
    ToolReturned,
    TurnRested,
    UserSaid,
)
from chatops_bot.stores.sqlite import SqliteStore

AT = datetime(2026, 3, 2, 14, 32, tzinfo=UTC)
WORDS = ["banana", "maximum", "tasks", "analyze_failure", "the", "failed", "数据库", "备份", "alert"]
NAMES = ["ana", "max", "al", "task", "Ana Duarte", "ana duarte", "failed", "status", "name", "林浩", "林浩然", "木", "김철수",
         "O'Neil (SRE)", "-x-", "person1", "Élodie", "query_tasks", "enabled", "A", "U0ANA", "local:ana", "1234567"]  # fmt: skip
names_ = st.sampled_from(NAMES) | st.text("abmxl林浩. ", min_size=1, max_size=6).filter(str.strip)


def thread(people: list[str], said: list[str]) -> list[Entry]:
    """One of everything in which a person may stand. `said` has six texts."""
    seven = (people * 7)[:7]
    found = {"name": said[3], "status": "enabled", "owners": {seven[0]: [seven[1]], "task": said[2]}}
    return [
        EarlierRead("t1", AT, (EarlierMessage(seven[0], AT, said[0]), EarlierMessage(seven[1], AT, "-" + said[1]))),
        UserSaid("t1", AT, "U1", seven[2], "operator", "!" + said[2], "en", {"U2": seven[3]}),
        ProposalDecided("t1", AT, "p1", "ABCDEF", "pause_task", "db", "applied", seven[4], "done"),
        FormClosed("t1", AT, "f1", "create_task", "cancelled", seven[5]),
        FormFilled("t1", AT, "f2", "create_task", {}, "en", "U3", seven[6], "viewer"),
        TurnRested("t1", AT, TurnOutcome.ANSWERED, ":" + said[4]),
        UserSaid("t2", AT, "U1", seven[2], "operator", "?" + said[5], "en"),
        ModelSaid("t2", AT, said[3], Reasoning(), (
            ToolCall("c1", "query_tasks", json.dumps({"name": said[0], "status": "enabled"})),
            ToolCall("c2", "load_skill", json.dumps({"name": "task"})),
        )),
        ToolReturned("t2", AT, "c1", "query_tasks", "ok", json.dumps(found)),
        ToolReturned("t2", AT, "c2", "load_skill", "error", "No skill: " + said[1]),
        TurnRested("t2", AT, TurnOutcome.ANSWERED, f"Found `{said[3]}`."),
    ]  # fmt: skip


def prose(case: Case) -> Iterator[str]:
    """All that somebody or something said, with the keys of results, which are data when they look like it."""

    def strings(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for key, inner in value.items():
                if not re.fullmatch(r"[a-z_][a-z0-9_]*", key):
                    yield key
                if key != "status":
                    yield from strings(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from strings(inner)

    for said in case.thread:
        yield from (said.person, said.bot)
    yield from (*case.ask, *case.expected.facts, *(step.say for step in case.script))
    for one in case.recordings:
        yield from strings(one.content)
        yield one.match["name"] if one.tool == "query_tasks" else ""


def stands_in(name: str, text: str) -> bool:
    """Whether somebody reading `text` would find the name: as a word, or anywhere where words have no borders."""
    if len(name) > 1 and all(ord(each) > 0x2E80 for each in name):
        return name in text
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def structure(case: Case) -> Any:
    return {
        "tools": case.expected.tools.must,
        "calls": [(call.tool, list(call.arguments)) for step in case.script for call in step.call],
        "results": [
            (one.tool, one.status, list(one.match), one.match.get("status")) for one in case.recordings
        ],
        "skill": case.recordings[1].match["name"],
        "keys": list(case.recordings[0].content),
        "rest": (case.language, case.role, case.world, case.expected.outcome, len(case.thread)),
    }


PLAIN = structure(case_of(thread(["Zoe Q"], ["x"] * 6), [], "name.yaml", redactor=Redactor()))


@given(data=st.data(), people=st.lists(names_, min_size=3, max_size=7))
def test_no_name_is_left_and_the_structure_is_untouched(data: st.DataObject, people: list[str]):
    words = st.lists(st.sampled_from([*people, *WORDS]), min_size=1, max_size=5)
    text = st.builds(
        lambda parts, between: between.join(parts), words, st.sampled_from([" ", ", ", "，", "-", "'s ", "/"])
    )
    said = [data.draw(text) for _ in range(6)]
    case = case_of(thread(people, said), [], "name.yaml", redactor=Redactor())
    assert structure(case) == PLAIN
    left = [
        (name, each)
        for name in people
        for each in prose(case)
        if _is_name(name) and stands_in(name.strip(), each)
    ]
    assert left == []


def _is_name(name: str) -> bool:
    return any(each.isalpha() for each in name) or name.isdecimal()


def test_one_person_is_one_alias_wherever_they_stand():
    said = [
        "@Ana Duarte look, 林浩然说过",
        "I am ANA DUARTE; Ana saw it",
        "U1 and Oscar",
        "ana-job",
        "",
        "@Eve Moss? @here ana@corp.com",
    ]
    case = case_of(thread(["Ana Duarte", "林浩然", "Oscar Diaz"], said), [], "x1", redactor=Redactor())
    spoken = [said.person or said.bot for said in case.thread]
    assert spoken[:3] == [
        "@person1 look, person2说过",
        "-I am person1; person1 saw it",
        "!person3 and person3",
    ]
    assert case.ask == ("?@person4? @here person5",)
    assert case.expected.facts == ("ana-job",)


def test_whom_only_a_tool_or_the_model_names_is_known_too():
    says = "It is lena.graf@corp.example; ask @Lena Graf."
    found = {"owner": "lena.graf@corp.example", "alert_to": ["ana.souza@corp.example"]}
    entries: list[Entry] = [
        UserSaid("t1", AT, "U1", "Vera", "operator", "who owns nightly-etl?", "en"),
        ModelSaid("t1", AT, "", Reasoning(), (ToolCall("c1", "get_task_detail", '{"task_id": 1}'),)),
        ToolReturned("t1", AT, "c1", "get_task_detail", "ok", json.dumps(found)),
        ModelSaid("t1", AT, says, Reasoning(), ()),
        TurnRested("t1", AT, TurnOutcome.ANSWERED, says),
    ]
    case = case_of(entries, [], "x1", redactor=Redactor())
    kept = case.model_dump_json()
    assert [name for name in ("lena", "graf", "souza", "corp.example") if name in kept.casefold()] == []
    assert case.recordings[0].content == {"owner": "person3", "alert_to": ["person4"]}
    assert "It is person3; ask @person2." in kept


def test_an_argument_that_its_tool_takes_from_a_list_stays():
    entries = thread(["enabled", "query_tasks", "status"], ["enabled", "x", "x", "x", "x", "x"])
    call = case_of(entries, [], "x1", redactor=Redactor()).script[0].call[0]
    assert (call.tool, call.arguments) == ("query_tasks", {"name": "person1", "status": "enabled"})


async def test_whoever_wrote_in_another_thread_is_known_too(tmp_path: Path):
    store = await SqliteStore.open(tmp_path / "bot.db", ManualClock(AT))
    mine, other = (SessionKey("slack", "T1", "C1", f"17{n}.0001") for n in (1, 2))
    await store.transcripts.append(
        mine, [UserSaid("t1", AT, "U1", "Vera", "viewer", "ask 王小明 or Lee", "en")]
    )
    await store.transcripts.append(other, [UserSaid("t2", AT, "U2", "王小明", "viewer", "up?", "en")])
    await store.aclose()
    assert record(tmp_path / "bot.db", "171.0001", tmp_path / "a-case.yaml").ask == ("ask person2 or Lee",)


@pytest.mark.parametrize(("name", "asked", "says"), [
    ("x", "up?", "'x' gives no name; call the file by two or more"),
    ("录制", "up?", "gives no name"),
    ("fine", " ", "makes no case"),
])  # fmt: skip
def test_a_file_or_a_question_that_makes_no_case_is_told(name: str, asked: str, says: str):
    entries = [UserSaid("t1", AT, "U1", "Vera", "viewer", asked, "en")]
    with pytest.raises(NotRecorded, match=re.escape(says)):
        case_of(entries, [], name, redactor=Redactor())
