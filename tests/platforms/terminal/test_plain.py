"""Views as text for a terminal: readable, as wide as it is, and nothing in it that a terminal obeys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.view import (
    Button,
    Buttons,
    Code,
    Fact,
    Facts,
    Heading,
    Lines,
    Markdown,
    Notice,
    View,
)
from chatops_bot.platforms.terminal.letters import Look, columns, harmless, wrapped
from chatops_bot.platforms.terminal.markdown import markdown_text, settled
from chatops_bot.platforms.terminal.plain import view_text
from chatops_bot.rendering.sanitise import sanitise
from tests.platforms.terminal.conftest import OWN_STYLES, hostile, markdown, obeyed, views

PLAIN = Look()


@given(views, st.none() | st.integers(1, 90))
def test_nothing_in_a_view_can_drive_the_terminal(view: View, width: int | None):
    assert obeyed(view_text(view, Look(width))) == []


@given(views, st.none() | st.integers(1, 90))
def test_with_colours_only_our_own_styles_reach_it(view: View, width: int | None):
    styled = view_text(view, Look(width, has_colour=True))
    assert obeyed(OWN_STYLES.sub("", styled)) == []


@given(hostile)
def test_making_harmless_happens_once(text: str):
    assert obeyed(harmless(text)) == []
    assert harmless(harmless(text)) == harmless(text)


def test_an_escape_sequence_is_shown_not_obeyed():
    assert (
        view_text(View((Notice("\x1b]0;owned\x07 \x9b2J"),), ""), PLAIN)
        == "⟨U+001B⟩]0;owned⟨U+0007⟩ ⟨U+009B⟩2J"
    )
    assert markdown_text("log:\r\n```\n\x1b[2J\u202e\n```", PLAIN) == "log:\n```\n⟨U+001B⟩[2J⟨U+202E⟩\n```"


@given(markdown, st.integers(0, 200), st.none() | st.integers(8, 60), st.booleans())
def test_what_is_settled_stays_whatever_follows(text: str, cut: int, width: int | None, has_colour: bool):
    look = Look(width, has_colour)
    assert markdown_text(text, look).startswith(markdown_text(settled(text[:cut]), look))


@given(st.text("abc 中文-", max_size=80), st.integers(8, 40))
def test_wrapping_keeps_every_character_and_the_width(line: str, width: int):
    lines = list(wrapped(line, width))
    assert "".join("".join(lines).split()) == "".join(line.split())
    for one in lines:
        assert columns(one.strip()) <= width or " " not in one.strip()


def test_wide_letters_count_twice():
    assert columns("任务 ok") == 7
    assert list(wrapped("最近二十四小时内有两个任务失败了", 10)) == [
        "最近二十四",
        "小时内有两",
        "个任务失败",
        "了",
    ]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Use `a < b` &lt;now&gt;, \\*not\\* **it**", "Use `a < b` <now>, *not* **it**"),
        ("```\n<\u2060@U1>\n```", "```\n<@U1>\n```"),
        ("| Task | Runs |\n|---|---:|\n| `etl` | 12 |\n| 夜间 | 3 |\n\nEnd", "Task   Runs\n─────  ────\n`etl`  12\n夜间   3\n\nEnd"),
        ("a | b\nc", "a | b\nc"),
    ],
)  # fmt: skip
def test_markdown_reads_as_it_was_meant(source: str, text: str):
    assert markdown_text(source, PLAIN) == text


def test_a_table_too_wide_for_the_terminal_is_told_row_by_row():
    table = "| Task | Error |\n|---|---|\n| db-backup | connection refused by the server |\n| etl | timeout |"
    assert markdown_text(table, Look(24)).split("\n") == [
        "- Task: db-backup", "  Error: connection", "    refused by the", "    server", "- Task: etl", "  Error: timeout",
    ]  # fmt: skip


def test_a_list_item_hangs_and_a_long_word_stays_whole():
    text = markdown_text("- see https://example.com/a/very/long/address for more of it", Look(24))
    assert text.split("\n") == ["- see", "  https://example.com/a/very/long/address", "  for more of it"]


@pytest.mark.parametrize(
    "text", ["<!channel> and <@U1>", "`<@U1>` & **<b>**", "![x](http://a.b) <http://a.b|x>"]
)
def test_a_sanitised_text_shows_its_angle_brackets(text: str):
    shown = markdown_text(sanitise(text), PLAIN)
    assert "&lt;" not in shown
    assert "\u2060" not in shown


@pytest.mark.parametrize(
    "typed", ["Or type: approve ABC234  or  reject ABC234", "也可以输入：批准 ABC234　或　拒绝 ABC234"]
)
def test_a_proposal_is_a_card_with_the_commands_that_decide(typed: str):
    buttons = (
        Button("approve", "Approve", "prop_1", command="approve ABC234"),
        Button("reject", "Reject", "prop_1", command="reject ABC234"),
    )
    card = View(
        (
            Heading("Approval needed: Pause task x"), Facts((Fact("Status", "enabled → disabled"), Fact("On", "task x"))),
            Buttons(buttons), Lines((typed,)), Code("tool: pause_task", "The exact action"),
        ), "",
    )  # fmt: skip
    assert view_text(card, PLAIN).split("\n") == [
        "│ Approval needed: Pause task x", "│ Status  enabled → disabled", "│ On      task x", "│",
        "│ Approve: chatops-bot approve ABC234", "│ Reject: chatops-bot reject ABC234", "│",
        "│ The exact action:", "│     tool: pause_task",
    ]  # fmt: skip


def test_suggested_questions_are_numbered_and_tones_have_marks():
    view = View(
        (
            Markdown("Two failed."), Notice("Stopped.", "warning"),
            Buttons((Button("followup", "Why?", "ask_1"), Button("followup", "Since when?", "ask_2"), Button("stop", "Stop", "t"))),
        ), "",
    )  # fmt: skip
    assert view_text(view, PLAIN) == "Two failed.\n\n! Stopped.\n\n1. Why?\n2. Since when?"


@pytest.mark.parametrize(
    ("label", "said", "warned"),
    [
        ("Fill in", "A terminal cannot fill in", "Never write a password"),
        ("填写", "终端里不能填写表单", "密码等机密绝不要写进消息"),
    ],
)
def test_a_form_says_how_it_is_answered_at_a_terminal(label: str, said: str, warned: str):
    view = View((Buttons((Button("form_open", label, "form_1", "primary"),)),), "")
    text = view_text(view, PLAIN)
    assert text.startswith(said)
    assert warned in " ".join(text.split())


@pytest.mark.parametrize(
    ("label", "said"),
    [
        (
            "Show all",
            "A terminal has no Show all: the first approve prints all of it, the second one approves.",
        ),
        ("显示全部", "终端里没有“显示全部”：第一次输入 approve 会显示完整内容，第二次才批准。"),
    ],
)
def test_what_is_read_in_a_dialog_elsewhere_is_printed_by_the_first_approval(label: str, said: str):
    buttons = (Button("show", label, "v"), Button("approve", "Approve", "v", command="approve K7Q2MX"))
    assert view_text(View((Buttons(buttons),), ""), PLAIN) == f"{said}\nApprove: chatops-bot approve K7Q2MX"
