"""A growing answer on a screen: every step adds, nothing is said twice, and what came first stands first."""

import io
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.turn_event import CallEnded, CallStarted, Noted, Rested, RoundEnded, TextStreamed
from chatops_bot.domain.view import Button, Buttons, Heading, Lines, Markdown, Notice, View
from chatops_bot.platforms.terminal.frames import Ended, Shown, Whispered
from chatops_bot.platforms.terminal.letters import Look
from chatops_bot.platforms.terminal.markdown import markdown_text
from chatops_bot.platforms.terminal.screen import Screen
from chatops_bot.rendering import notices
from chatops_bot.rendering.turn_view import TurnView
from tests.platforms.terminal.conftest import markdown, obeyed

MakeView = Callable[..., View]
STOP = Buttons((Button("stop", "Stop", "turn_1"),))
LABEL = Phrase("查询任务", "querying tasks")


class Recording:
    """A screen over a text, and what each frame added to it."""

    def __init__(self, look: Look | None = None, *, is_live: bool = False) -> None:
        self.out = io.StringIO()
        self.screen = Screen(self.out, look or Look(), is_live=is_live)

    def shows(self, view: View, message: str = "m1") -> str:
        before = len(self.out.getvalue())
        self.screen.show(Shown(message, view))
        return self.out.getvalue()[before:]

    def text(self) -> str:
        self.screen.close()
        return self.out.getvalue()


def test_an_edit_that_only_extends_prints_the_extension(view: MakeView):
    recording = Recording()
    assert recording.shows(view(Markdown("Two tasks"), STOP)) == "Two"
    assert recording.shows(view(Markdown("Two tasks failed in the ni"), STOP)) == " tasks failed in the"
    assert recording.shows(view(Markdown("Two tasks failed in the night."))) == " night."
    assert recording.text() == "Two tasks failed in the night.\n"


def test_a_text_that_turns_out_otherwise_is_printed_once_more_whole(view: MakeView):
    recording = Recording()
    recording.shows(view(Markdown("The password is hunter2 and so on"), STOP))
    recording.shows(view(Markdown("The password is [redacted] and so on, it is"), STOP))
    recording.shows(view(Markdown("The password is [redacted] and so on, it is said.")))
    assert recording.text() == (
        "The password is hunter2 and so\n\n↻\nThe password is [redacted] and so on, it is said.\n"
    )


def test_calls_and_rounds_stand_in_the_order_in_which_they_happened():
    recording, turn = Recording(), TurnView("en", 10_000, Redactor(()), stop_value="t")
    done = CallEnded("c1", "query_tasks", "ok", Phrase("8 个", "8 tasks"), 12)
    for event in (
        TextStreamed("Let me look."), RoundEnded(), CallStarted("c1", "query_tasks", LABEL), done,
        TextStreamed("All "), TextStreamed("eight "), TextStreamed("are fine."),
        Noted(Phrase("没有", "No language model is connected.")), Rested(TurnOutcome.ANSWERED, "All eight are fine."),
    ):  # fmt: skip
        turn.fold(event)
        recording.shows(turn.pages()[0])
    assert recording.text() == (
        "Let me look.\n\nquerying tasks → 8 tasks, 12 ms\n\nAll eight are fine.\n\nNo language model is connected.\n"
    )


def test_steps_that_were_skipped_lose_no_half_sentence():
    """A slow reader sees the text of the next round and the ended call in one step."""
    recording, turn = Recording(), TurnView("en", 10_000, Redactor(()), stop_value="t")
    turn.fold(TextStreamed("Let me look."))
    recording.shows(turn.pages()[0])
    for event in (
        RoundEnded(), CallStarted("c1", "query_tasks", LABEL), CallEnded("c1", "query_tasks", "ok", Phrase("", "8"), 1),
        TextStreamed("All of the"),
    ):  # fmt: skip
        turn.fold(event)
    recording.shows(turn.pages()[0])
    assert recording.text().startswith("Let me look.\n\nquerying tasks → 8, 1 ms\n\nAll")


@given(st.lists(markdown, max_size=4), st.integers(1, 30), st.none() | st.integers(20, 60), st.booleans())
def test_an_answer_in_pieces_of_any_size_prints_what_it_is_at_the_end(
    rounds: list[str], size: int, width: int | None, has_colour: bool
):
    look = Look(width, has_colour)
    recording, turn = Recording(look), TurnView("en", 100_000, Redactor(()), stop_value="t")
    for number, text in enumerate(rounds):
        for start in range(0, len(text), size):
            turn.fold(TextStreamed(text[start : start + size]))
            recording.shows(turn.pages()[0])
        if number < len(rounds) - 1:
            turn.fold(RoundEnded())
    turn.fold(Rested(TurnOutcome.ANSWERED, rounds[-1] if rounds else ""))
    (page,) = turn.pages()
    recording.shows(page)
    printed = recording.text()
    whole = markdown_text(next((b.text for b in page.blocks if isinstance(b, Markdown)), ""), look)
    assert "↻" not in printed
    assert printed.rstrip("\n") == whole.strip("\n") or not whole


def test_a_card_that_comes_while_an_answer_grows_stands_below_it(view: MakeView):
    recording = Recording()
    recording.shows(view(Markdown("I will ask for"), STOP))
    assert recording.shows(view(Heading("Approval needed")), "card") == ""
    recording.shows(view(Markdown("I will ask for it.")))
    assert recording.text() == "I will ask for it.\n\n│ Approval needed\n"


def test_a_card_that_never_saw_the_end_of_its_answer_is_still_shown(view: MakeView):
    recording = Recording()
    recording.shows(view(Markdown("I will ask for"), STOP))
    recording.shows(view(Heading("Approval needed")), "card")
    assert recording.text() == "I will ask\n\n│ Approval needed\n"


def test_a_card_that_changes_is_printed_anew(view: MakeView):
    recording = Recording()
    recording.shows(view(Heading("Approval needed")), "card")
    recording.shows(view(Heading("Done")), "card")
    assert recording.text() == "│ Approval needed\n\n↻\n│ Done\n"


def test_whispers_and_pages_are_apart(view: MakeView):
    recording = Recording()
    recording.shows(view(Markdown("Page one."), STOP))
    recording.shows(view(Markdown("Page one.")))
    recording.shows(view(Markdown("Page two."), Notice("Cut.", "warning")), "m2")
    recording.screen.show(Whispered(view(Notice("No.", "warning"))))
    recording.screen.show(Ended(None))
    assert recording.text() == "Page one.\n\nPage two.\n\n! Cut.\n\n! No.\n"


def test_only_a_terminal_sees_what_is_under_way(view: MakeView):
    steps = (
        view(Lines(("Working…",)), STOP),
        view(Lines(("querying \x1b[2Jtasks…",)), STOP),
        view(Lines(("querying tasks → 8",)), Markdown("Fine.")),
    )
    piped, live = Recording(), Recording(Look(30), is_live=True)
    for step in steps:
        piped.shows(step)
        live.shows(step)
    assert piped.text() == "querying tasks → 8\n\nFine.\n"
    assert live.text() == "Working…\r\x1b[Kquerying ⟨U+001B⟩[2Jtasks…\r\x1b[Kquerying tasks → 8\n\nFine.\n"


@pytest.mark.parametrize("phrase", [notices.WAITING.filled(ahead=2), notices.SILENT.filled(seconds=20)])
def test_what_is_said_of_the_moment_only_is_not_left_behind(view: MakeView, phrase: Phrase):
    recording = Recording()
    for said in (phrase.en, phrase.zh):
        recording.shows(view(Markdown("So far so good and"), Lines((said,)), STOP))
    recording.shows(view(Markdown("So far so good and done.")))
    assert recording.text() == "So far so good and done.\n"


@given(st.text(max_size=60))
def test_the_status_line_cannot_drive_the_terminal(text: str):
    live = Recording(Look(20), is_live=True)
    live.shows(View((Lines((f"{text}…",)), STOP), ""))
    assert obeyed(live.text().replace("\r\x1b[K", "")) == []


@pytest.mark.parametrize("count", [12, 40])
def test_lines_that_a_message_has_no_room_for_all_stand_here(count: int):
    recording, turn = Recording(), TurnView("en", 10_000, Redactor(()), stop_value="t")
    for number in range(count):
        turn.fold(CallStarted(f"c{number}", "query_tasks", LABEL))
        turn.fold(CallEnded(f"c{number}", "query_tasks", "ok", Phrase("", f"page {number}"), 1))
        recording.shows(turn.pages()[0])
    turn.fold(Rested(TurnOutcome.ANSWERED, "Done."))
    recording.shows(turn.pages()[0])
    assert [f"page {number}," in recording.text() for number in range(count)] == [True] * count
    assert " more" not in recording.text()
