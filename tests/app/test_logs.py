"""Log lines: for machines or for people, each with the ids of its own turn, none with a secret or with what people write."""

import asyncio
import io
import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from chatops_bot.app.logs import set_up_logs
from chatops_bot.domain.errors import ModelError, ModelUnavailable
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.model import ModelDelta
from chatops_bot.domain.redaction import Redactor
from chatops_bot.llm.scripted import ScriptedModel, calls, fails, says
from chatops_bot.sessions.log_ids import bound, log_ids
from tests.scenarios.conftest import World, action_ids, until

SECRET = "swordfish-of-the-tests"
TOKEN = "xoxb-123456789012-abcdefghijkl"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"
QUOTED = 'a"quoted\\secret'
"""In JSON it looks different."""
REDACTOR = Redactor([SECRET, QUOTED])


class _Screen(io.StringIO):
    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


class Lines:
    """What was written since the logs were set up."""

    def __init__(self, stream: io.StringIO) -> None:
        self.stream = stream

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def json(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]


@pytest.fixture
def logs() -> Iterator[Any]:
    """`set_up_logs` on a stream of the test's own, undone after it."""
    root, stderr = logging.getLogger(), sys.stderr
    before = (root.level, list(root.handlers))

    def begin(log_format: Any = "json", *, terminal: bool = False, level: str = "info") -> Lines:
        sys.stderr = _Screen(terminal=terminal)
        for handler in before[1]:
            root.removeHandler(handler)  # `set_up_logs` closes what it finds
        set_up_logs(REDACTOR, log_format, level)
        return Lines(sys.stderr)

    yield begin
    sys.stderr = stderr
    for handler in list(root.handlers):
        root.removeHandler(handler)
    for handler in before[1]:
        root.addHandler(handler)
    root.setLevel(before[0])
    logging.captureWarnings(capture=False)


def test_a_line_is_one_json_object_with_time_level_logger_and_message(logs: Any):
    lines = logs()
    logging.getLogger("chatops_bot.x").warning("two\nlines of %s", "中文")
    (line,) = lines.json
    assert line["time"].endswith("+00:00")
    assert {name: line[name] for name in ("level", "logger", "message")} == {
        "level": "warning",
        "logger": "chatops_bot.x",
        "message": "two\nlines of 中文",
    }
    assert set(line) == {"time", "level", "logger", "message"}


@pytest.mark.parametrize(
    ("log_format", "terminal", "is_json"),
    [("auto", True, False), ("auto", False, True), ("json", True, True), ("text", False, False)],
)
def test_people_read_text_and_machines_json(logs: Any, log_format: str, terminal: bool, is_json: bool):
    lines = logs(log_format, terminal=terminal)
    with bound(session="slack:T:C:1", turn="turn_1"):
        logging.getLogger("chatops_bot.x").info("hello")
    if is_json:
        assert lines.json[0]["turn"] == "turn_1"
    else:
        assert lines.text.endswith("INFO chatops_bot.x: hello [session=slack:T:C:1 turn=turn_1]\n")


@pytest.mark.parametrize("log_format", ["json", "text"])
@pytest.mark.parametrize("secret", [SECRET, TOKEN, KEY, QUOTED])
def test_a_secret_in_message_arguments_or_exception_is_redacted(logs: Any, log_format: str, secret: str):
    lines = logs(log_format)
    log = logging.getLogger("chatops_bot.x")
    log.error(f"plain {secret}")
    log.error("argument %s", secret)
    try:
        raise RuntimeError(f"with {secret} inside")
    except RuntimeError:
        log.exception("failed")
    assert "MIIEpAIBAAKCAQEA" not in lines.text
    assert secret not in (
        " ".join(str(v) for line in lines.json for v in line.values()) if log_format == "json" else lines.text
    )
    assert lines.text.count("[redacted") == 3
    if log_format == "json":
        assert [("exception" in line) for line in lines.json] == [False, False, True]
        assert "Traceback (most recent call last)" in lines.json[-1]["exception"]


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_no_text_from_outside_looks_like_a_record_or_drives_the_terminal(logs: Any, log_format: str):
    forged = "x\x1b[2J\x9b31m\u202e\r\n2026-03-02 14:32:00,000 ERROR chatops_bot.x: forged\x0b\u2028"
    lines = logs(log_format)
    log = logging.getLogger("chatops_bot.x")
    with bound(session=forged):
        log.error("failed: %s", forged)
        try:
            raise RuntimeError(forged)
        except RuntimeError:
            log.exception(forged)
    if log_format == "json":
        assert [line["level"] for line in lines.json] == ["error", "error"]
        assert set("\x1b\x9b\u202e\x0b\u2028") & set(lines.text) == set()
        return
    at_the_margin = [line for line in lines.text.splitlines() if not line.startswith("    ")]
    assert len(at_the_margin) == 2
    assert all(
        line.index("forged") > line.index("⟨U+001B⟩[2J⟨U+009B⟩31m⟨U+202E⟩ 2026") for line in at_the_margin
    )
    assert set("\x1b\x9b\u202e\x0b\u2028") & set(lines.text) == set()


@pytest.mark.parametrize(
    "name", ["slack_bolt.App", "slack_sdk.web", "aiohttp.server", "aiohttp.client", "asyncio"]
)
def test_libraries_speak_through_the_same_formatter(logs: Any, name: str):
    lines = logs()
    logging.getLogger(name).error("failed with %s", TOKEN)
    (line,) = lines.json
    assert (line["logger"], line["message"]) == (name, "failed with [redacted:slack-token]")


def test_what_libraries_say_in_passing_is_not_logged(logs: Any):
    lines = logs()
    logging.getLogger("slack_bolt.App").info("body: what a person wrote")
    logging.getLogger("slack_sdk.socket_mode").debug("what a person wrote")
    logging.getLogger("httpx").info("GET http://scheduler")
    assert lines.text == ""


def test_a_level_keeps_what_is_below_it_out(logs: Any):
    lines = logs(level="error")
    logging.getLogger("chatops_bot.x").warning("no")
    logging.getLogger("slack_bolt").warning("no")
    logging.getLogger("slack_bolt").error("yes")
    assert [line["message"] for line in lines.json] == ["yes"]


async def test_ids_are_those_of_the_task_and_end_with_the_block():
    async def inner() -> dict[str, str]:
        await asyncio.sleep(0)
        return dict(log_ids())

    with bound(session="a"), bound(turn="b"):
        inherited = asyncio.create_task(inner())
    assert log_ids() == {}
    assert await inherited == {"session": "a", "turn": "b"}


async def test_two_turns_at_once_log_with_their_own_ids(world: World, logs: Any):
    """Both are held in the middle until both run, and then both fail, which is logged."""
    lines = logs()
    both, arrived = asyncio.Event(), 0

    async def meet(_: ModelDelta | ModelError) -> None:
        nonlocal arrived
        arrived += 1
        if arrived == 2:
            both.set()
        await asyncio.wait_for(both.wait(), 10)

    broken = fails(ModelUnavailable(Phrase("忙。", f"Busy: {TOKEN}.")))
    async with world.bot(ScriptedModel([broken, broken], before_delta=meet)):
        asked = await asyncio.gather(
            *(world.says(who, f"{world.mention} my word is plugh") for who in ("oscar", "ana"))
        )
        await asyncio.gather(*(world.settled(ts, 1) for ts in asked))

        async def rested() -> bool | None:
            return True if lines.text.count("the turn rests") == 2 else None

        await until(rested, "both turns to rest")
    about = [line for line in lines.json if line["logger"].startswith("chatops_bot.sessions")]
    about = [
        line for line in about if "over its soft limit" not in line["message"]
    ]  # once a text, not a turn
    assert len(about) == 8  # of each: it begins, its prompt, what failed, it rests
    turns = {line["turn"]: line["session"] for line in about}
    assert len(turns) == 2
    assert {session.rpartition(":")[2] for session in turns.values()} == set(asked)
    for line in about:
        assert line["session"] == turns[line["turn"]]
        assert all(turn not in line["message"] for turn in turns if turn != line["turn"])
    assert TOKEN not in lines.text
    assert "plugh" not in lines.text


async def test_a_decision_logs_with_its_proposal(world: World, logs: Any):
    lines = logs()
    model = ScriptedModel([calls(("pause_task", {"task_id": 1, "action": "pause"}), text="I will ask.")])
    async with world.bot(model):
        ts = await world.says("oscar", f"{world.mention} pause nightly-report")
        card = next(message for message in await world.settled(ts, 2) if "approve" in action_ids(message))
        await world.click("ana", card, "approve")
        await world.becomes(ts, card, "Done: ")
    (line,) = [line for line in lines.json if line["message"] == "the proposal is applied"]
    (begun,) = [line for line in lines.json if line["message"] == "a turn begins"]
    assert line["proposal"].startswith("prop")
    assert (line["session"], line["turn"]) == (begun["session"], begun["turn"])


async def test_a_good_turn_logs_nothing_of_what_was_said(world: World, logs: Any):
    lines = logs()
    async with world.bot(ScriptedModel([says("The answer is xyzzy.")])):
        ts = await world.says("oscar", f"{world.mention} my word is plugh")
        await world.settled(ts, 1)
    assert "a turn begins" in lines.text
    for word in ("plugh", "xyzzy", "林浩然"):
        assert word not in lines.text
