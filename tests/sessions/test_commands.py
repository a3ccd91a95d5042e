"""A command is a whole message of exactly the right form; everything else is for the model."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.sessions.commands import (
    CancelWord,
    DecideByCode,
    DecideSomething,
    DecideUnclear,
    StopWord,
    parse_command,
)


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
        ("批准Q968NT", "approve", "Q968NT"),
        ("approve Q968NT break-glass:", "approve", "Q968NT"),
        ("reject Q968NT because", "reject", "Q968NT"),
        ("reject Q968NT?", "reject", "Q968NT"),
    ],
)
def test_what_decides(text: str, verdict: str, code: str):
    assert parse_command(text) == DecideByCode(verdict, code)  # type: ignore[arg-type]  # one of the two


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("approve Q968NT break-glass: the site is down", "the site is down"),
        ("Approve q968nt Break glass： the site is down", "the site is down"),
        ("批准 Q968NT 紧急: 站点宕机", "站点宕机"),
        ("批准 Q968NT，紧急：站点宕机", "站点宕机"),
        ("approve Q968NT break-glass the site is down", "the site is down"),
        ("approve Q968NT: break-glass – the site is down", "– the site is down"),
        ("批准 Q968NT 紧急", ""),
        ("批准 Q968NT 紧急 站点宕机", "站点宕机"),
    ],
)
def test_what_breaks_the_glass(text: str, reason: str):
    command = parse_command(text)
    assert isinstance(command, DecideByCode)
    assert (command.verdict, command.code.upper(), command.reason) == ("approve", "Q968NT", reason)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "> approve Q968NT break-glass: the site is down",
        "I would approve Q968NT break-glass: the site is down",
        "approve it",
        "yes, approve Q968NT",
        "do not approve Q968NT",
        "approved Q968NT",
        "disapprove Q968NT",
        "approve Q968NTQ968NTQ",
        "approve Q96-8NT",
        "不批准 Q968NT",
        "我批准 Q968NT",
        "> approve Q968NT",
        ">>> approve Q968NT",
        "~approve Q968NT~",
        "> yes",
        "@approve Q968NT",
        "#approve Q968NT",
        "ok",
        "👍",
    ],
)
def test_what_does_not(text: str):
    assert parse_command(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("reject Q968NT because the backup runs", "the backup runs"),
        ("Reject q968nt, because: no", "no"),
        ("reject Q968NT reason: wrong task\nsecond line", "wrong task\nsecond line"),
        ("拒绝 Q968NT 因为备份还在跑", "备份还在跑"),
        ("拒绝 Q968NT，原因：时间不对", "时间不对"),
        ("拒绝 Q968NT 原因是 时间不对", "时间不对"),
        ("拒绝 Q968NT 磁盘满了，先清理", "磁盘满了，先清理"),
        ("拒绝Q968NT磁盘满了", "磁盘满了"),
        ("reject Q968NT disk is full", "disk is full"),
        ("reject Q968NT: disk is full", "disk is full"),
        ("reject Q968NT - disk is full", "disk is full"),
        ("reject Q968NT, since when do we do this?", "when do we do this?"),
        ("reject Q968NT reasonable, but not tonight", "reasonable, but not tonight"),
    ],
)
def test_a_rejection_may_say_why(text: str, reason: str):
    parsed = parse_command(text)
    assert isinstance(parsed, DecideByCode)
    assert (parsed.verdict, parsed.code.upper(), parsed.reason) == ("reject", "Q968NT", reason)


@pytest.mark.parametrize(
    "text",
    [
        "> reject Q968NT because no",
        "do not reject Q968NT because it is fine",
    ],
)
def test_what_is_no_rejection_with_a_reason(text: str):
    assert parse_command(text) is None


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("approve Q968NT please", "approve"),
        ("approve Q968NT?", "approve"),
        ("approve Q968NT because the site is down", "approve"),
        ("approve Q968NT and Q968NX", "approve"),
        ("approve Q968NT, but not before ten", "approve"),
        ("approve Q968NT ~break-glass: no~", "approve"),
        ("approve Q968NT\n> break-glass: no", "approve"),
        ("approve\nQ968NT\nnow", "approve"),
        ("批准Q968NT吗", "approve"),
        ("“approve Q968NT break-glass: x” is what Ben typed", "approve"),
        ("“reject Q968NT” is what Ben typed", "reject"),
    ],
)
def test_what_is_answered_and_decides_nothing(text: str, verdict: str):
    assert parse_command(text) == DecideUnclear(verdict, "Q968NT")  # type: ignore[arg-type]  # one of the two


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
def test_words_around_an_approval_make_it_none(before: str, after: str):
    """Only signs may stand around it, such as quotes and full stops."""
    parsed = parse_command(f"{before} approve Q968NT {after}")
    if any(character.isalnum() for character in before):
        assert parsed is None
    elif any(character.isalnum() for character in after):
        assert not isinstance(parsed, DecideByCode)
