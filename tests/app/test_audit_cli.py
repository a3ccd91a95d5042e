"""`chatops-bot audit`: what it shows, what it exports, and which first bad record it names."""

import ast
import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import pytest

from chatops_bot.app.anchoring import Anchoring, named_anchor
from chatops_bot.app.audit_filter import AuditFilter, known_decision, moment
from chatops_bot.app.audit_show import show
from chatops_bot.app.audit_verify import Proof, export, verify
from chatops_bot.app.clock import ManualClock
from chatops_bot.app.config import anchor_path_of
from chatops_bot.app.keys import open_keys, read_keys
from chatops_bot.app.where import Where
from chatops_bot.domain.audit import AuditRecord, Decision
from chatops_bot.domain.errors import ConfigInvalid, StoreError
from chatops_bot.domain.form import FormState
from chatops_bot.domain.proposal import ProposalState
from chatops_bot.stores.redis import RedisStore
from chatops_bot.stores.sqlite import SqliteStore
from tests.app.conftest import REPOSITORY, DemoProcess, plain_env, run_cli
from tests.app.test_cli import config_file
from tests.redis_server import RedisServer


def a_call(number: int, clock: ManualClock) -> AuditRecord:
    return AuditRecord(
        at=clock.now(), person_id="U1", person_name="奥斯卡", role="operator", session="slack/T1/C1/1.2",
        turn_id=f"turn_{number}", tool="query_tasks", arguments=json.dumps({"page": number}), decision="auto",
        status="ok", result="8 tasks", result_sha256="0" * 64, milliseconds=12,
    )  # fmt: skip


async def filled(folder: Path, clock: ManualClock, rows: int = 3) -> None:
    store = await SqliteStore.open(folder / "bot.db", clock, open_keys({}, folder).audit[0])
    for number in range(1, rows + 1):
        await store.audit.record(a_call(number, clock))
    await store.aclose()


async def test_the_audit_is_read_as_lines_or_as_json(tmp_path: Path, clock: ManualClock):
    await filled(tmp_path, clock)
    read = await asyncio.to_thread(run_cli, "audit", "show", "--data", tmp_path)
    assert (read.returncode, read.stderr) == (0, "")
    lines = read.stdout.splitlines()
    assert len(lines) == 3
    for word in (
        "query_tasks",
        "奥斯卡 (operator)",
        "auto",
        "ok",
        "2026-03-02 14:32:00 UTC",
        '{"page": 1}',
        "12 ms",
    ):
        assert word in lines[0]
    read = await asyncio.to_thread(run_cli, "audit", "show", "--data", tmp_path, "--json", "--last", "2")
    rows = [json.loads(line) for line in read.stdout.splitlines()]
    assert [row["turn_id"] for row in rows] == ["turn_2", "turn_3"]
    assert rows[0]["seq"] == 2
    assert rows[0]["person_name"] == "奥斯卡"


async def test_a_row_of_the_audit_is_one_line_and_does_not_drive_the_terminal(
    tmp_path: Path, clock: ManualClock
):
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    odd = "\x1b[2J\u202e\n     9  forged"
    await store.audit.record(replace(a_call(1, clock), tool=odd, arguments=odd, person_name=odd))
    await store.aclose()
    read = await asyncio.to_thread(run_cli, "audit", "show", "--data", tmp_path)
    (line,) = read.stdout.splitlines()
    assert line.count("⟨U+001B⟩[2J⟨U+202E⟩ 9 forged") == 3
    read = await asyncio.to_thread(run_cli, "audit", "show", "--data", tmp_path, "--json")
    assert not set("\x1b\u202e") & set(read.stdout)
    assert json.loads(read.stdout)["tool"] == odd


async def test_an_empty_audit_says_so_and_is_no_line_of_json(tmp_path: Path, clock: ManualClock):
    await filled(tmp_path, clock, rows=0)
    read = await asyncio.to_thread(run_cli, "audit", "show", "--data", tmp_path)
    assert (read.returncode, read.stdout) == (0, "The audit is empty.\n")
    read = await asyncio.to_thread(run_cli, "audit", "show", "--data", tmp_path, "--json")
    assert (read.returncode, read.stdout) == (0, "")


def no_store(folder: Path) -> None:
    pass


def foreign_file(folder: Path) -> None:
    (folder / "bot.db").write_bytes(b"junk" * 1000)


def foreign_database(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "bot.db")) as other, other:
        other.execute("CREATE TABLE songs (title TEXT)")


@pytest.mark.parametrize("prepare", [no_store, foreign_file, foreign_database])
def test_without_a_store_the_audit_names_the_file_and_what_to_do(tmp_path: Path, prepare: Any):
    prepare(tmp_path)
    before = sorted(tmp_path.iterdir())
    refused = run_cli("audit", "show", "--data", tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith(f"chatops-bot: {tmp_path / 'bot.db'} is not a bot's store (")
    assert refused.stderr.endswith("name the data folder of the bot with --data.\n")
    assert sorted(tmp_path.iterdir()) == before


async def test_the_audit_finds_the_store_by_the_configuration(tmp_path: Path, clock: ManualClock):
    path = config_file(tmp_path, data="kept")
    (tmp_path / "kept").mkdir()
    await filled(tmp_path / "kept", clock, rows=1)
    read = await asyncio.to_thread(run_cli, "audit", "show", "--config", path)
    assert len(read.stdout.splitlines()) == 1


@pytest.mark.processes
def test_the_audit_is_read_beside_a_running_bot(demo: DemoProcess):
    demo.asks("oscar", "Which tasks are there?")
    read = run_cli("audit", "show", "--data", demo.data, "--json")
    assert (read.returncode, read.stderr) == (0, "")
    assert "query_tasks" in {json.loads(line)["tool"] for line in read.stdout.splitlines()}
    whole = run_cli("audit", "verify", "--data", demo.data)
    assert (whole.returncode, whole.stderr) == (0, "")
    assert whole.stdout.startswith("The audit is whole: ")
    assert "nightly-report" in demo.asks("oscar", "Which tasks are there?")


# -- what is shown ----------------------------------------------------------------------------------------------------

PROPOSED: Any = {
    "decision": "proposed",
    "result": '{"proposal":"ABC234","status":"waits"}',
    "proposal_id": "prop_1",
}


async def shown(
    folder: Path, capsys: pytest.CaptureFixture[str], wanted: AuditFilter, last: int = 100
) -> list[str]:
    """The turns of the records that are printed."""
    capsys.readouterr()
    assert await show(Where(data=folder), wanted, as_json=True, last=last) == 0
    return [json.loads(line)["turn_id"] for line in capsys.readouterr().out.splitlines()]


async def test_records_are_found_by_what_somebody_knows_of_them(
    tmp_path: Path, clock: ManualClock, capsys: pytest.CaptureFixture[str]
):
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    await store.audit.record(replace(a_call(1, clock), **PROPOSED))
    clock.advance(timedelta(hours=1))
    await store.audit.record(
        replace(a_call(2, clock), person_id="U2", person_name="Ann", session="slack/T1/C9/1.2")
    )
    await store.audit.record(
        replace(a_call(3, clock), decision="approved", proposal_id="prop_1", tool="pause_task")
    )
    await store.aclose()
    for wanted, turns in (
        (AuditFilter(), ["turn_1", "turn_2", "turn_3"]),
        (AuditFilter(proposal="prop_1"), ["turn_1", "turn_3"]),
        (AuditFilter(proposal="abc234"), ["turn_1", "turn_3"]),
        (AuditFilter(person="ann"), ["turn_2"]),
        (AuditFilter(person="U1"), ["turn_1", "turn_3"]),
        (AuditFilter(session="C9"), ["turn_2"]),
        (AuditFilter(tool="pause_task"), ["turn_3"]),
        (AuditFilter(decision="proposed"), ["turn_1"]),
        (AuditFilter(since=clock.now()), ["turn_2", "turn_3"]),
        (AuditFilter(person="U1", tool="query_tasks"), ["turn_1"]),
        (AuditFilter(tool="nothing"), []),
    ):
        assert await shown(tmp_path, capsys, wanted) == turns, wanted
    assert await shown(tmp_path, capsys, AuditFilter(person="U1"), last=1) == ["turn_3"]
    with pytest.raises(ConfigInvalid, match="no proposal with the code ZZZ999"):
        await show(Where(data=tmp_path), AuditFilter(proposal="ZZZ999"), as_json=True, last=1)


async def test_a_line_of_a_decision_says_why_somebody_decided_so(
    tmp_path: Path, clock: ManualClock, capsys: pytest.CaptureFixture[str]
):
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    decided = replace(a_call(1, clock), tool="delete_task", arguments='{"task_id":3}', milliseconds=0)
    for decision, result in (
        ("broke_glass", '{"via":"code","break_glass":"the site is\\n down"}'),
        ("reason_given", '{"via":"button","reason":"wrong task"}'),
        ("rejected", '{"via":"button","reason":""}'),
        ("shown", '{"revision":1}'),
    ):
        row = replace(decided, decision=decision, result=result)
        await store.audit.record(replace(row, person_id="", person_name="") if decision == "shown" else row)
    await store.aclose()
    assert await show(Where(data=tmp_path), AuditFilter(), as_json=False, last=4) == 0
    assert [line.partition("delete_task ")[2] for line in capsys.readouterr().out.splitlines()] == [
        '{"task_id":3} broke the glass: the site is down  by 奥斯卡 (operator)',
        '{"task_id":3} reason: wrong task  by 奥斯卡 (operator)',
        '{"task_id":3}  by 奥斯卡 (operator)',
        '{"task_id":3}',
    ]


async def test_a_line_says_what_was_asked_and_why_something_was_refused(
    tmp_path: Path, clock: ManualClock, capsys: pytest.CaptureFixture[str]
):
    store = await SqliteStore.open(tmp_path / "bot.db", clock)
    await store.audit.record(
        replace(a_call(1, clock), decision="asked", tool="", arguments="", result='{"text":"pause it"}')
    )
    await store.audit.record(
        replace(a_call(2, clock), decision="refused", result='{"refused":"A viewer may not."}', person_id="")
    )
    await store.aclose()
    assert await show(Where(data=tmp_path), AuditFilter(), as_json=False, last=2) == 0
    asked, refused = capsys.readouterr().out.splitlines()
    assert '{"text":"pause it"}  by 奥斯卡 (operator)' in asked
    assert 'query_tasks {"page": 2} {"refused":"A viewer may not."}  12 ms' in refused


def test_a_time_is_a_moment_or_how_long_ago():
    now = datetime(2026, 3, 2, 14, 0, tzinfo=UTC)
    assert moment("90m", now) == now - timedelta(minutes=90)
    assert moment("7d", now) == now - timedelta(days=7)
    assert moment("2026-03-02T13:00", now) == now - timedelta(hours=1)
    assert moment("2026-03-02T15:00+02:00", now) == now - timedelta(hours=1)
    with pytest.raises(ConfigInvalid, match="'soon' is no time"):
        moment("soon", now)


def test_a_decision_that_no_record_has_is_refused_with_those_that_there_are():
    assert known_decision("refused") == "refused"
    with pytest.raises(
        ConfigInvalid, match=r"'aproved' is no decision of a record; they are asked, .*approved"
    ):
        known_decision("aproved")


def words_of(path: Path) -> Iterator[str]:
    """What a module writes as the decision of a record: `decision="…"`, or where `Dispatched` and `moves.move` take it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            values = [keyword.value for keyword in node.keywords if keyword.arg == "decision"]
            if isinstance(node.func, ast.Name) and node.func.id == "Dispatched":
                values += node.args[1:2]
            if isinstance(node.func, ast.Attribute) and node.func.attr == "move":
                values += node.args[3:4]
            values = [
                side
                for value in values
                for side in ((value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,))
            ]
            yield from (
                str(value.value) for value in values if isinstance(value, ast.Constant) and value.value
            )


def test_every_word_that_is_recorded_is_in_the_vocabulary_and_in_the_docs():
    words = {word for path in (REPOSITORY / "chatops_bot").rglob("*.py") for word in words_of(path)}
    assert {"auto", "asked_back", "read", "approved", "refused", "filled", "imported"} <= words
    ends = {state.value for state in ProposalState} - {"pending"} | {state.value for state in FormState} - {
        "open",
        "submitted",
    }
    assert words | ends <= set(get_args(Decision))
    page = (REPOSITORY / "docs" / "audit.md").read_text()
    assert [word for word in get_args(Decision) if f"`{word}`" not in page] == []


# -- verify and export ------------------------------------------------------------------------------------------------


@pytest.fixture
def verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Awaitable[tuple[int, str]]]:
    """Verifies the bot in `tmp_path / "bot"`: the exit code and what was printed."""

    async def run(as_json: bool = False, where: Where | None = None, **proof: Any) -> tuple[int, str]:
        capsys.readouterr()
        where = where or Where(data=tmp_path / "bot")
        code = await verify(where, Proof(**proof), {}, as_json=as_json)
        return code, capsys.readouterr().out

    return run


async def a_bot(tmp_path: Path, clock: ManualClock, rows: int = 3) -> Path:
    """The data folder of a bot, with that many records and their head noted down."""
    folder = tmp_path / "bot"
    store = await SqliteStore.open(folder / "bot.db", clock, open_keys({}, folder).audit[0])
    for number in range(1, rows + 1):
        await store.audit.record(a_call(number, clock))
    await Anchoring(store.audit, clock, anchor_path_of(folder)).end()
    await store.aclose()
    return folder


def changed(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "bot.db")) as db:
        db.executescript(
            f"DROP TRIGGER audit_is_append_only_u; DROP TRIGGER audit_is_append_only_d; {statement};"
        )


async def test_a_whole_audit_is_said_to_be_whole_with_its_head(
    tmp_path: Path, clock: ManualClock, verified: Any
):
    folder = await a_bot(tmp_path, clock)
    code, said = await verified()
    assert code == 0
    assert said.startswith(
        "The audit is whole: 3 records, each as it was sealed; anchors confirm it up to record 3. Its head is 3:"
    )
    assert json.loads((await verified(as_json=True))[1]) == {
        "ok": True, "records": 3, "head": said.rstrip(".\n").rpartition(":")[2], "anchored": 3,
    }  # fmt: skip
    anchor_path_of(folder).unlink()
    assert "no anchor confirms it, so records may be missing at the end" in (await verified())[1]


@pytest.mark.parametrize(
    ("statement", "record", "words"),
    [
        (
            "UPDATE audit SET body = replace(body, 'turn_2', 'turn_9')",
            2,
            "is not what was sealed: somebody changed it",
        ),
        ("DELETE FROM audit WHERE seq = 2", 2, "is missing: somebody took it out"),
        ("DELETE FROM audit WHERE seq > 1", 2, "is missing, and all after it: the end was cut off"),
        ("DELETE FROM audit", 1, "is missing, and all after it: the end was cut off"),
        ("UPDATE audit SET mac = 7.5 WHERE seq = 3", 3, "is not what was sealed"),
        ("UPDATE audit SET body = CAST(x'ff7b7d' AS TEXT) WHERE seq = 2", 2, "is not what was sealed"),
        ("UPDATE audit SET body = x'ff' WHERE seq = 2", 2, "cannot be read (a field of it is no text)"),
    ],
)
async def test_the_first_bad_record_is_named_in_one_sentence(
    tmp_path: Path, clock: ManualClock, verified: Any, statement: str, record: int, words: str
):
    changed(await a_bot(tmp_path, clock), statement)
    code, said = await verified()
    assert code == 1
    assert said.count("\n") == 1
    assert said.startswith(f"The audit is broken: record {record} {words}")
    value = json.loads((await verified(as_json=True))[1])
    assert (value["ok"], value["record"]) == (False, record)


async def test_an_audit_whose_table_is_gone_is_not_taken_for_an_older_version(
    tmp_path: Path, clock: ManualClock, verified: Any
):
    folder = await a_bot(tmp_path, clock)
    changed(folder, "DROP TABLE audit")
    gone = "The audit is gone: the store has no table of it, and an anchor knows record 3."
    assert await verified() == (1, f"{gone}\n")
    code, said = await verified(as_json=True)
    assert (code, json.loads(said)) == (1, {"ok": False, "record": 1, "wrong": "gone", "says": gone})
    anchor_path_of(folder).unlink()
    with pytest.raises(StoreError, match="has no table of an audit: somebody took it out"):
        await verified()


async def test_a_record_that_cannot_be_read_hides_no_other(
    tmp_path: Path, clock: ManualClock, capsys: pytest.CaptureFixture[str]
):
    folder = await a_bot(tmp_path, clock, rows=4)
    changed(
        folder,
        "UPDATE audit SET body = CAST(x'ff7b7d' AS TEXT) WHERE seq = 2; UPDATE audit SET body = x'ff' WHERE seq = 3",
    )
    capsys.readouterr()
    assert await show(Where(data=folder), AuditFilter(), as_json=True, last=9) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert ["unreadable" in row for row in rows] == [False, True, True, False]
    assert await show(Where(data=folder), AuditFilter(), as_json=False, last=9) == 0
    assert capsys.readouterr().out.count("cannot be read: ") == 2


async def test_an_export_is_verified_where_there_is_no_store(
    tmp_path: Path, clock: ManualClock, verified: Any, capsys: pytest.CaptureFixture[str]
):
    folder = await a_bot(tmp_path, clock)
    out = tmp_path / "export.jsonl"
    assert await export(Where(data=folder), out) == 0
    assert out.stat().st_mode & 0o777 == 0o600
    with pytest.raises(StoreError, match="name a new file with --out"):
        await export(Where(data=folder), out)
    capsys.readouterr()
    assert await export(Where(data=folder), None) == 0
    assert capsys.readouterr().out == out.read_text()
    (folder / "bot.db").unlink()
    code, said = await verified(file=out, anchor_file=anchor_path_of(folder))
    assert (code, "3 records" in said, "up to record 3" in said) == (0, True, True)
    lines = out.read_text().splitlines(keepends=True)
    for kept, words in (
        ([lines[0], lines[2]], "record 2 is missing"),
        ([lines[1], lines[0], lines[2]], "record 1 is not in its place: somebody changed the order"),
        ([lines[0], lines[0], lines[1]], "record 2 is not in its place: an earlier record"),
        (lines[:2], "record 3 is missing, and all after it"),
        ([], "record 1 is missing, and all after it"),
        ([*lines[:2], lines[2][:50]], "record 3 cannot be read (it is no line of JSON)"),
        ([lines[0], "[]\n"], "record 2 cannot be read (it is no JSON object)"),
        ([lines[0], '{"seq": 2}\n'], "record 2 cannot be read (it has not the fields of a row)"),
        ([lines[0], lines[1].replace("turn_2", "turn_3")], "record 2 is not what was sealed"),
    ):
        out.write_text("".join(kept))
        code, said = await verified(file=out, anchor_file=anchor_path_of(folder))
        assert code == 1
        assert words in said


async def test_a_head_from_the_chat_confirms_as_the_file_does(
    tmp_path: Path, clock: ManualClock, verified: Any
):
    folder = await a_bot(tmp_path, clock)
    anchor_path_of(folder).unlink()
    (head,) = [named_anchor((await verified())[1].split()[-1].rstrip("."))]
    assert "up to record 3" in (await verified(anchors=(head,)))[1]
    changed(folder, "DELETE FROM audit WHERE seq = 3")
    assert (await verified(anchors=(head,)))[1].startswith("The audit is broken: record 3 is missing")
    with pytest.raises(ConfigInvalid, match="is no head"):
        named_anchor("3:abc")


async def test_without_the_key_nothing_is_said_about_the_audit(
    tmp_path: Path, clock: ManualClock, verified: Any
):
    folder = await a_bot(tmp_path, clock)
    (folder / "keys" / "chatops.key").unlink()
    with pytest.raises(ConfigInvalid, match="CHATOPS_KEY is not set in the environment, and there is no"):
        await verified()


async def test_verify_on_the_command_line_exits_with_what_it_found(tmp_path: Path, clock: ManualClock):
    folder = await a_bot(tmp_path, clock)
    whole = await asyncio.to_thread(run_cli, "audit", "verify", "--data", folder)
    assert (whole.returncode, whole.stderr) == (0, "")
    assert whole.stdout.startswith("The audit is whole")
    changed(folder, "DELETE FROM audit WHERE seq = 1")
    broken = await asyncio.to_thread(run_cli, "audit", "verify", "--data", folder)
    assert (broken.returncode, broken.stdout) == (
        1,
        "The audit is broken: record 1 is missing: somebody took it out.\n",
    )


async def test_the_audit_of_several_bots_is_shown_verified_and_exported_from_anywhere(
    tmp_path: Path, clock: ManualClock, redis: RedisServer
):
    key = bytes(range(32)).hex()
    store = await RedisStore.open(redis.url, "bot_a", read_keys({"CHATOPS_KEY": key}, None).audit[0])
    for number in (1, 2, 3):
        await store.audit.record(a_call(number, clock))
    await store.aclose()
    config = config_file(tmp_path, store={"redis_url_env": "BOT_REDIS"}, data=str(tmp_path / "bot"))
    env = plain_env(BOT_REDIS=redis.url, CHATOPS_KEY=key)

    async def audit(*words: str | Path) -> Any:
        return await asyncio.to_thread(run_cli, "audit", *words, "--config", config, env=env)

    shown = await audit("show", "--last", "2", "--json")
    assert [json.loads(line)["turn_id"] for line in shown.stdout.splitlines()] == ["turn_2", "turn_3"]
    whole = await audit("verify")
    assert (whole.returncode, whole.stdout.startswith("The audit is whole")) == (0, True)
    assert (await audit("export", "--out", tmp_path / "export.jsonl")).returncode == 0
    assert len((tmp_path / "export.jsonl").read_text().splitlines()) == 3
    assert redis.send("ZREMRANGEBYSCORE", "{chatops}:audit", "2", "2") == b":1\r\n"
    broken = await audit("verify")
    said = "The audit is broken: record 2 is missing: somebody took it out"
    assert (broken.returncode, broken.stdout.startswith(said)) == (1, True)
