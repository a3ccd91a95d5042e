"""A thread becomes a case that plays again without the systems that it was about, and names nobody."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from chatops_bot.app.clock import ManualClock
from chatops_bot.app.evals.case import load_case
from chatops_bot.app.evals.recording import NotRecorded, record
from chatops_bot.domain.model import Reasoning
from chatops_bot.domain.session import SessionKey, TurnOutcome
from chatops_bot.domain.tool import ToolCall
from chatops_bot.domain.transcript import Entry, ModelSaid, ToolReturned, TurnRested, UserSaid
from chatops_bot.stores.sqlite import SqliteStore
from tests.evals.test_shipped_cases import run

KEY = SessionKey("slack", "T1", "C0123", "1700000000.000100")
AT = datetime(2026, 3, 2, 14, 32, tzinfo=UTC)
SECRET = "xoxb-123456789012-123456789012-abcdefghijklmnopqrstuvwx"


def turn(name: str, asked: str, tool: str, arguments: str, content: str, answer: str) -> list[Entry]:
    return [
        UserSaid(name, AT, "U0OSCAR", "Oscar Diaz", "operator", asked, "en"),
        ModelSaid(name, AT, "", Reasoning(), (ToolCall(f"call_{name}", tool, arguments),)),
        ToolReturned(name, AT, f"call_{name}", tool, "ok", content),
        ModelSaid(name, AT, answer, Reasoning(), ()),
        TurnRested(name, AT, TurnOutcome.ANSWERED, answer),
    ]


async def store_with_a_thread(tmp_path: Path) -> Path:
    path = tmp_path / "bot.db"
    store = await SqliteStore.open(path, ManualClock(AT))
    await store.transcripts.append(
        KEY, turn("t1", "list tasks", "query_tasks", "{}", '{"count": 2}', "2 tasks.")
    )
    detail = '{"id": 2, "name": "db-backup", "payload": "export TOKEN=' + SECRET + '"}'
    asked = f"Oscar Diaz here, U0OSCAR: show task 2 with {SECRET}"
    await store.transcripts.append(
        KEY, turn("t2", asked, "get_task_detail", '{"task_id": 2}', detail, "Task `db-backup` (#2).")
    )
    await store.aclose()
    return path


@pytest.mark.case("prompt-R53")
@pytest.mark.parametrize(
    "named", ["1700000000.000100", str(KEY), "https://x.slack.com/archives/C0123/p1700000000000100"]
)
async def test_a_recorded_thread_plays_again_and_names_nobody(named: str, tmp_path: Path):
    out = tmp_path / "cases" / "detail.yaml"
    record(await store_with_a_thread(tmp_path), named, out)
    text = out.read_text(encoding="utf-8")
    assert [word for word in (SECRET, "Oscar", "U0OSCAR") if word in text] == []
    case = load_case(out)
    assert case.expected.tools.must == ("get_task_detail",)
    assert case.expected.facts == ("db-backup",)
    assert case.thread[0].person == "list tasks"
    code, said = await run(tmp_path, ["scripted"], [out])
    assert code == 0, said


async def test_what_cannot_be_recorded_says_why(tmp_path: Path):
    path = await store_with_a_thread(tmp_path)
    with pytest.raises(NotRecorded, match="no thread 17"):
        record(path, "17", tmp_path / "out.yaml")
    with pytest.raises(NotRecorded, match="2 questions"):
        record(path, str(KEY), tmp_path / "out.yaml", turn=3)


async def test_what_the_agent_read_of_skills_and_tools_plays_from_the_recording(tmp_path: Path):
    """The skill is one of the bot that was recorded, and that bot had its tools routed."""
    store = await SqliteStore.open(tmp_path / "bot.db", ManualClock(AT))
    calls = (
        ("load_skill", '{"name": "payroll"}', '{"skill": "Step one"}'),
        ("find_tools", '{"query": "x"}', '{"found": []}'),
    )
    entries: list[Entry] = [UserSaid("t1", AT, "U1", "Oscar", "operator", "How?", "en")]
    for tool, arguments, content in calls:
        entries += [
            ModelSaid("t1", AT, "", Reasoning(), (ToolCall(tool, tool, arguments),)),
            ToolReturned("t1", AT, tool, tool, "ok", content),
        ]
    entries += [
        ModelSaid("t1", AT, "By `Step one`.", Reasoning(), ()),
        TurnRested("t1", AT, TurnOutcome.ANSWERED, "By `Step one`."),
    ]
    await store.transcripts.append(KEY, entries)
    await store.aclose()
    out = tmp_path / "skill.yaml"
    assert record(tmp_path / "bot.db", str(KEY), out).expected.facts == ("Step one",)
    code, said = await run(tmp_path, ["scripted"], [out])
    assert code == 0, said
