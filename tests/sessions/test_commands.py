"""A command is a whole message of exactly the right form; everything else is for the model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.sessions.commands import CancelWord, DecideByCode, DecideSomething, StopWord, parse_command


@pytest.mark.parametrize(
    ("text", "verdict", "code"),
    [
        ("approve HJYHFA", "approve", "HJYHFA"),
        ("approve hjyhfa", "approve", "hjyhfa"),
        ("Approve HJYHFA.", "approve", "HJYHFA"),
        ("REJECT Q968NT!", "reject", "Q968NT"),
        ("  reject   Q968NT  ", "reject", "Q968NT"),
        ("`approve Q968NT`", "approve", "Q968NT"),
        ("批准 Q968NT", "approve", "Q968NT"),
        ("拒绝 Q968NT。", "reject", "Q968NT"),
        ("“批准\u3000Q968NT”", "approve", "Q968NT"),
    ],
)
def test_what_decides(text: str, verdict: str, code: str):
    assert parse_command(text) == DecideByCode(verdict, code)  # type: ignore[arg-type]  # one of the two


@pytest.mark.parametrize(
    "text",
    [
        "",
        "approve it",
        "yes, approve Q968NT",
        "approve Q968NT please",
        "do not approve Q968NT",
        "approve Q968NT and Q968NX",
        "approve\nQ968NT\nnow",
        "approved Q968NT",
        "disapprove Q968NT",
        "approve Q968NTQ968NTQ",
        "approve Q96-8NT",
        "批准Q968NT吗",
        "不批准 Q968NT",
        "我批准 Q968NT",
        "> approve Q968NT",
        ">>> approve Q968NT",
        "~approve Q968NT~",
        "> yes",
        "ok",
        "👍",
    ],
)
def test_what_does_not(text: str):
    assert parse_command(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "stop",
        "Stop!",
        "STOP",
        "/stop",
        "stop.",
        " stop ",
        "please stop",
        "Stop now!",
        "stop please",
        "请停止",
        "停",
        "停止",
        "停下。",
        "“停一下”",
        "停！",
    ],
)
def test_what_stops(text: str):
    assert parse_command(text) == StopWord()


@pytest.mark.parametrize(
    "text",
    ["stop it", "don't stop", "stop\nnow", "stopped", "nonstop", "停止 nightly-report", "不要停", "停了吗"],
)  # fmt: skip
def test_what_does_not_stop(text: str):
    assert parse_command(text) is None


@pytest.mark.parametrize(
    ("text", "verdict"),
    [("approve", "approve"), ("Approve!", "approve"), ("批准", "approve"), ("yes", "approve"), ("同意。", "approve"),
     ("reject", "reject"), ("拒绝", "reject")],
)  # fmt: skip
def test_what_gives_a_verdict_and_not_on_what(text: str, verdict: str):
    assert parse_command(text) == DecideSomething(verdict)  # type: ignore[arg-type]  # one of the two


@pytest.mark.parametrize(
    "text", ["cancel", "Cancel.", "please cancel", "cancel the form", "取消", "取消表单"]
)
def test_what_cancels(text: str):
    assert parse_command(text) == CancelWord()


@pytest.mark.parametrize(
    "text", ["cancel run 8", "取消暂停 nightly-report", "yes please do", "approve all", "don't cancel"]
)
def test_what_is_no_word_alone(text: str):
    assert parse_command(text) is None


@given(st.text(max_size=30), st.text(max_size=30))
def test_words_around_a_command_make_it_an_ordinary_message(before: str, after: str):
    """Only signs may stand around it, such as quotes and full stops."""
    parsed = parse_command(f"{before} approve Q968NT {after}")
    if any(character.isalnum() for character in before + after):
        assert parsed is None
