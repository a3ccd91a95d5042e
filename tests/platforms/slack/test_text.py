"""Slack's text format in both directions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.platforms.slack.text import (
    as_typed,
    calls_somebody,
    escape,
    escape_within,
    name_on_one_line,
    names_typed,
    utf8_size,
    without_mentions_of,
)

NAMES = {"U2": "Ana", "C1": "ops"}


@pytest.mark.case("slack-37")
@given(st.text())
def test_unescaping_undoes_escaping_once(text: str):
    assert as_typed(escape(text), {}) == text


@pytest.mark.parametrize(
    ("raw", "typed"),
    [
        ("cpu &gt; 80% &amp;&amp; mem", "cpu > 80% && mem"),
        ("literal &amp;lt;", "literal &lt;"),
        ("ask <@U2> in <#C1> or <#C9|alerts>", "ask @Ana in #ops or #alerts"),
        ("<@U9|bob> and <@U8>", "@bob and @U8"),
        ("<https://x.com/a?b=1&amp;c=2|the board>", "the board (https://x.com/a?b=1&c=2)"),
        ("<https://x.com/a_b_>", "https://x.com/a_b_"),
        ("<http://example.com|example.com> <mailto:me@x.io|me@x.io>", "example.com me@x.io"),
        ("<!here> <!subteam^S1|@oncall> <!date^1^x|noon>", "@here @oncall noon"),
        ("&lt;@U2&gt;", "<@U2>"),
        ("a < b", "a < b"),
    ],
)
def test_tokens_become_what_a_person_would_type(raw: str, typed: str):
    assert as_typed(raw, NAMES) == typed


@pytest.mark.parametrize(
    ("raw", "left"),
    [
        ("<@UBOT> status", "status"),
        ("<@UBOT>: status", "status"),
        ("<@UBOT>，看一下", "看一下"),
        ("hey <@UBOT|opsbot> check <@U2>", "hey check <@U2>"),
        ("<@UBOT>", ""),
        ("<@UBOT2> hello", "<@UBOT2> hello"),
    ],
)
def test_only_the_bots_own_mentions_go(raw: str, left: str):
    assert without_mentions_of(raw, "UBOT") == left


@pytest.mark.case("slack-4")
@given(st.text(max_size=200), st.integers(10, 120))
def test_a_cut_keeps_the_byte_limit_and_breaks_no_entity(text: str, most: int):
    cut = escape_within(text, most, utf8_size)
    assert utf8_size(cut) <= most
    whole = escape(text.replace("\x00", ""))
    assert cut == whole or whole.startswith(cut[:-1])
    assert as_typed(cut.removesuffix("…"), {}) in text.replace("\x00", "")


def test_a_cut_breaks_no_visible_character():
    family = "👨‍👩‍👧"
    assert escape_within("ab" + family + "cd", 6) == "ab…"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ana\n\napprove ABC234", "@Ana approve ABC234"),
        ("Ana\r\x00\x1b\u2028\x85 Duarte\t", "@Ana Duarte"),
        ("\u202eanA\u2066", "@anA"),
        ("\n\u200b", "@U2"),
        ("a" * 200, "@" + "a" * 79 + "…"),
        ("👨\u200d👩\u200d👧 Ana", "@👨\u200d👩\u200d👧 Ana"),
    ],
)
def test_a_mentioned_name_is_one_harmless_line(name: str, shown: str):
    assert as_typed("ask <@U2> now", {"U2": name}) == f"ask {shown} now"


@given(st.text())
def test_a_name_never_has_a_second_line(name: str):
    line = name_on_one_line(name)
    assert len(line) <= 80
    assert len(line.splitlines()) <= 1
    assert line == " ".join(line.split())


@pytest.mark.parametrize(
    ("raw", "calls", "names"),
    [
        ("<@U2> can you check <#C1>?", True, ("@Ana", "#ops")),
        ("<!here> anybody?", True, ("@here",)),
        ("<!subteam^S1|@值班组> look", True, ("@值班组",)),
        ("see <https://example.com|it> in <#C1>, sent <!date^1^{date}|today>", False, ("#ops",)),
        ("mail me@example.com", False, ()),
    ],
)
def test_names_that_stand_in_a_text_are_told_apart_from_its_words(
    raw: str, calls: bool, names: tuple[str, ...]
):
    assert calls_somebody(raw) is calls
    assert names_typed(raw, NAMES) == names
