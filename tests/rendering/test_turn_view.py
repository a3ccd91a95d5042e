"""A turn's events become what people see."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.tool import ToolStatus
from chatops_bot.domain.turn_event import (
    CallEnded,
    CallStarted,
    Noted,
    ReasoningStreamed,
    Rested,
    RoundEnded,
    TextStreamed,
    TurnEvent,
)
from chatops_bot.domain.view import Buttons, Lines, Markdown, Notice
from chatops_bot.domain.withheld import Withheld
from chatops_bot.rendering import notices
from chatops_bot.rendering.links import Links
from chatops_bot.rendering.turn_view import TurnView

QUERYING = Phrase("查询运行", "querying runs")
RESTARTING = Phrase("重跑任务", "rerunning the task")
FOUND = Phrase("找到 12 条", "12 found")
NO_MODEL = Phrase("没有连接语言模型。", "No language model is connected.")


def turn(*events: TurnEvent, language="en", text_chars=4000, redactor=None) -> TurnView:
    view = TurnView(language, text_chars, redactor, stop_value="turn_1")
    for event in events:
        view.fold(event)
    return view


def blocks(view: TurnView, kind: type) -> list[Any]:
    return [block for page in view.pages() for block in page.blocks if isinstance(block, kind)]


FIRST_ROUND = (
    TextStreamed("Let me look"),
    TextStreamed(" at the **runs**."),
    RoundEnded(),
    CallStarted("c1", "query_runs", QUERYING),
)
WHOLE_TURN = (
    *FIRST_ROUND,
    CallEnded("c1", "query_runs", "ok", FOUND, 40),
    CallStarted("c2", "rerun", RESTARTING),
    CallEnded("c2", "rerun", "waits", Phrase("等待批准 K7Q2MX", "waits for approval K7Q2MX"), 1200),
    CallEnded("c3", "tail_logs", "error", Phrase("超时", "timed out"), 30_000),
    CallEnded("c4", "tail_logs", "not_run", Phrase("没有运行", "not run"), 0),
    RoundEnded(),
    TextStreamed("Twelve runs failed <!channel>."),
    Noted(NO_MODEL),
)
ENDING = Rested(
    TurnOutcome.ANSWERED,
    "Twelve runs **failed** <!channel>.",
    ("Why did they fail?", "Rerun them", "A third"),
)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_turn_looks_as_drawn(language, golden):
    golden(f"turn_before_{language}", *turn(language=language).pages())
    golden(f"turn_running_{language}", *turn(*FIRST_ROUND, language=language).pages())
    ended = turn(*WHOLE_TURN, language=language)
    ended.offer((("Why did they fail?", "token-1"), ("Rerun them", "token-2"), ("A third", "token-3")))
    ended.fold(ENDING)
    golden(f"turn_ended_{language}", *ended.pages())
    stopped = Rested(TurnOutcome.STOPPED, "")
    golden(f"turn_stopped_{language}", *turn(*FIRST_ROUND, stopped, language=language).pages())


@pytest.mark.case("nightingale-T41")
def test_the_authoritative_body_takes_the_place_of_what_streamed():
    view = turn(
        ReasoningStreamed("hmm"),
        TextStreamed("Looking."),
        RoundEnded(),
        CallStarted("c1", "query_runs", QUERYING),
        CallEnded("c1", "query_runs", "ok", FOUND, 40),
        ReasoningStreamed("so"),
        TextStreamed("All is well. {followups"),
        Rested(TurnOutcome.ANSWERED, "All is well."),
    )
    assert view.visible_text == "Looking.\n\nAll is well."
    assert [type(block) for block in view.pages()[0].blocks] == [Lines, Markdown]


def test_what_explains_the_answer_stands_above_it():
    view = turn(
        TextStreamed("As far as I can."),
        Noted(NO_MODEL, is_first=True),
        Rested(TurnOutcome.ANSWERED, "As far as I can."),
    )
    for shown in (view, TurnView.restore(view.snapshot())):
        first, text = shown.pages()[0].blocks[:2]
        assert isinstance(first, Notice)
        assert first.text == NO_MODEL.en
        assert isinstance(text, Markdown)


def test_a_blank_round_leaves_no_gap():
    view = turn(
        RoundEnded(),
        TextStreamed(" \n"),
        RoundEnded(),
        TextStreamed("a"),
        RoundEnded(),
        RoundEnded(),
        TextStreamed("b"),
    )
    assert view.visible_text == "a\n\nb"


def test_a_body_that_repeats_the_last_round_is_shown_once():
    view = turn(TextStreamed("It waits."), RoundEnded(), Rested(TurnOutcome.WAITING, "It waits."))
    assert view.visible_text == "It waits."


def test_an_earlier_text_for_a_body_does_not_push_out_what_streamed_since():
    view = turn(
        TextStreamed("First."), RoundEnded(), TextStreamed("Summing"), Rested(TurnOutcome.CAPPED, "First.")
    )
    assert view.visible_text == "First.\n\nSumming"


def test_a_broken_off_text_stays_when_there_is_no_body():
    view = turn(TextStreamed("Half an ans"), Rested(TurnOutcome.STOPPED, ""))
    assert view.visible_text == "Half an ans"
    assert blocks(view, Notice) == [Notice(notices.STOPPED.en, "info")]


@pytest.mark.parametrize("outcome", [TurnOutcome.STOPPED, TurnOutcome.FAILED, TurnOutcome.INTERRUPTED])
def test_half_a_secret_is_not_let_out_when_the_text_breaks_off(outcome):
    view = turn(TextStreamed("The key is hunter2-config"), redactor=Redactor(["hunter2-configured"]))
    view.fold(Rested(outcome, ""))
    assert view.visible_text == "The key is …"


def test_text_after_the_end_is_dropped():
    view = turn(Rested(TurnOutcome.ANSWERED, "Done."), TextStreamed("late"), RoundEnded())
    assert view.visible_text == "Done."


def test_the_stop_button_stands_while_the_turn_runs_and_no_longer():
    running = blocks(turn(TextStreamed("a")), Buttons)
    assert [(button.control, button.value) for button in running[0].buttons] == [("stop", "turn_1")]
    assert blocks(turn(TextStreamed("a"), Rested(TurnOutcome.ANSWERED, "a")), Buttons) == []


def test_at_most_two_followups_with_short_labels_and_the_callers_values():
    view = turn(TextStreamed("a"))
    view.offer((("x" * 100, "t1"), ("b", "t2"), ("c", "t3")))
    view.fold(Rested(TurnOutcome.ANSWERED, "a"))
    (row,) = blocks(view, Buttons)
    assert [(button.control, button.value, len(button.label)) for button in row.buttons] == [
        ("followup", "t1", 75),
        ("followup", "t2", 1),
    ]


def test_older_tool_lines_are_counted():
    view = turn(*(CallStarted(f"c{number}", "q", QUERYING) for number in range(14)))
    (lines,) = blocks(view, Lines)
    assert len(lines.lines) == 10
    assert lines.lines[0] == "+5 more"


def test_each_call_has_a_line_of_its_own_in_call_order():
    def asked(number: int, found: str, status: ToolStatus = "ok") -> tuple[TurnEvent, ...]:
        call = f"c{number}"
        return CallStarted(call, "q", QUERYING), CallEnded(call, "q", status, Phrase(found, found), 7)

    calls = (*asked(1, "none"), *asked(2, "8 tasks"), *asked(3, "refused", "error"))
    (lines,) = blocks(turn(*calls, Rested(TurnOutcome.ANSWERED, "done")), Lines)
    assert lines.lines == (
        "querying runs → none, 7 ms",
        "querying runs → 8 tasks, 7 ms",
        "✗ querying runs → refused, 7 ms",
    )


@pytest.mark.parametrize(
    ("language", "line"),
    [("zh", "✗ 查询运行 → 没有暂停，无需恢复，7 毫秒"), ("en", "✗ querying runs → it is not paused, 7 ms")],
)
def test_a_sentence_in_a_tool_line_does_not_end_in_its_middle(language: Language, line: str):
    told = Phrase("没有暂停，无需恢复。", "it is not paused.")
    view = turn(CallStarted("c1", "q", QUERYING), CallEnded("c1", "q", "error", told, 7), language=language)
    (lines,) = blocks(view, Lines)
    assert lines.lines[0] == line


@pytest.mark.parametrize(
    "text", ["Half of an answer that stops", "Half then silence", "Calling: ", "说到一半"]
)
def test_a_text_that_breaks_off_keeps_its_last_word(text: str):
    view = turn(TextStreamed(text), Rested(TurnOutcome.FAILED, ""))
    assert view.visible_text == text.rstrip()


def test_a_turn_without_any_text_says_so():
    assert blocks(turn(Rested(TurnOutcome.ANSWERED, "")), Notice) == [Notice(notices.NO_ANSWER.en, "warning")]


def test_the_loops_own_reason_replaces_the_general_one():
    reason = Phrase("模型不可用。", "The model is not available.")
    failed = turn(Noted(reason), Noted(reason), Rested(TurnOutcome.FAILED, ""))
    assert blocks(failed, Notice) == [Notice(reason.en, "danger")]
    assert blocks(turn(Rested(TurnOutcome.FAILED, "")), Notice) == [Notice(notices.FAILED.en, "danger")]


def test_a_long_text_becomes_pages_with_lines_first_and_buttons_last():
    body = "\n\n".join(f"Paragraph {number} " + "word " * 20 for number in range(20))
    view = turn(*WHOLE_TURN[:-2], Rested(TurnOutcome.ANSWERED, body), text_chars=500)
    view.offer((("Why?", "t1"),))
    pages = view.pages()
    assert len(pages) > 4
    assert (
        "".join(block.text for page in pages for block in page.blocks if isinstance(block, Markdown))
        == view.visible_text
    )
    assert [any(isinstance(block, Lines) for block in page.blocks) for page in pages] == [True] + [False] * (
        len(pages) - 1
    )
    assert [any(isinstance(block, Buttons) for block in page.blocks) for page in pages] == [False] * (
        len(pages) - 1
    ) + [True]


def test_half_streamed_text_is_closed_for_display_only():
    view = turn(TextStreamed("```sql\nSELECT"))
    assert blocks(view, Markdown) == [Markdown("```sql\nSELECT\n```")]
    assert view.visible_text == "```sql\nSELECT"


SECRETS = {
    "xoxb-1234567890-abcdefghij": "xoxb-1",
    "sk-abcdefghijklmnopqrstuvwx": "sk-a",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P": "eyJh",
    "hunter2-configured": "hunt",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\n-----END PRIVATE KEY-----": "MI",
}
"""Secrets, each with a part of it that must not even begin to show."""


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("before", ["The token is ", "令牌：", "Authorization: Bearer ", "`"])
def test_a_secret_split_over_deltas_never_shows(secret, before):
    view = TurnView("en", 4000, Redactor(["hunter2-configured"]), stop_value="turn_1")
    for character in f"{before}{secret} and that is all.":
        view.fold(TextStreamed(character))
        seen = "".join(str(page) for page in view.pages()) + view.snapshot()
        assert SECRETS[secret] not in seen
    view.fold(Rested(TurnOutcome.ANSWERED, f"{before}{secret} and that is all."))
    assert secret not in view.visible_text
    assert "redacted" in view.visible_text
    assert "that is all." in view.visible_text


def test_a_sentence_of_the_prompt_never_begins_to_show():
    rule = "Never claim that a change was made before a person approved it."
    view = turn(redactor=Withheld((), [rule]))
    for character in f"My rule: {rule} That is all.":
        view.fold(TextStreamed(character))
        assert "claim that" not in view.visible_text
    assert view.visible_text.startswith("My rule: [redacted:prompt] That is")
    view = turn(
        TextStreamed(f"My rule: {rule[:30]}"), Rested(TurnOutcome.STOPPED, ""), redactor=Withheld((), [rule])
    )
    assert view.visible_text == "My rule: …"


def test_only_links_that_are_allowed_live():
    view = TurnView("en", 4000, stop_value="turn_1", links=Links.to(["wiki.example.com"]))
    view.fold(TextStreamed("[a](https://wiki.example.com/a) [b](https://evil.example/b) "))
    assert view.visible_text.strip() == r"[a](https://wiki.example.com/a) [b]\(`https://evil.example/b`)"


def test_an_assigned_secret_never_begins_to_show():
    view = turn(redactor=Redactor())
    for character in "password: correct-horse and api_key=密钥密钥密钥 end":
        view.fold(TextStreamed(character))
        assert "co" not in view.visible_text
        assert "密" not in view.visible_text
    assert view.visible_text == "password: [redacted] and api_key=[redacted]"


def test_a_held_back_tail_comes_with_the_end():
    view = turn(TextStreamed("All is well"), redactor=Redactor())
    assert view.visible_text == "All is"
    view.fold(RoundEnded())
    assert view.visible_text == "All is well"


TEXT = st.text(alphabet="ab `*<!>\n磁|", max_size=40)
EVENTS = st.lists(
    st.one_of(
        TEXT.map(TextStreamed),
        st.just(RoundEnded()),
        st.just(CallStarted("c1", "q", QUERYING)),
        st.just(CallEnded("c1", "q", "ok", FOUND, 5)),
        st.just(Noted(NO_MODEL)),
        st.just(Noted(NO_MODEL, is_first=True)),
        TEXT.map(lambda body: Rested(TurnOutcome.ANSWERED, body)),
    ),
    max_size=12,
)


@given(EVENTS, st.booleans())
def test_a_snapshot_gives_the_same_pages_back(events, redacts):
    redactor = Redactor() if redacts else None
    view = turn(*events, text_chars=100, redactor=redactor)
    view.offer((("Why?", "t1"),))
    restored = TurnView.restore(view.snapshot(), redactor)
    assert restored.pages() == view.pages()
    assert restored.snapshot() == view.snapshot()


@given(TEXT, st.lists(st.integers(0, 40), max_size=6))
def test_it_makes_no_difference_how_a_text_is_cut_into_deltas(text, cuts):
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    deltas = [TextStreamed(text[start:end]) for start, end in pairwise(edges)]
    assert turn(*deltas).pages() == turn(TextStreamed(text)).pages()


@pytest.mark.parametrize("language", ["zh", "en"])
def test_an_interrupted_turn_keeps_what_was_found_and_says_so(language, golden):
    view = TurnView.restore(turn(*FIRST_ROUND, TextStreamed("So far: 12"), language=language).snapshot())
    view.interrupted()
    golden(f"turn_interrupted_{language}", *view.pages())


def test_a_turn_that_had_ended_is_not_interrupted():
    view = TurnView.restore(turn(Rested(TurnOutcome.ANSWERED, "Done.")).snapshot())
    view.interrupted()
    assert blocks(view, Notice) == []


@pytest.mark.parametrize("snapshot", ["", "{}", "[]", '{"version": 2}'])
def test_what_is_no_snapshot_is_refused(snapshot):
    with pytest.raises(ValueError):
        TurnView.restore(snapshot)


def test_the_fallback_is_the_visible_text_as_plain_text():
    view = turn(Rested(TurnOutcome.ANSWERED, "Ask <@U1>\n\n" + "word " * 200))
    assert view.pages()[0].fallback == ("Ask <@U1>\n\n" + "word " * 200).rstrip()
