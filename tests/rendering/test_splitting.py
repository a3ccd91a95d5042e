"""Long answers become several messages without losing, changing or breaking anything."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatops_bot.rendering.graphemes import clip, may_cut
from chatops_bot.rendering.markdown import open_fence
from chatops_bot.rendering.splitting import SMALLEST_LIMIT, pieces, split

FRAGMENTS = st.sampled_from(
    [
        "word ", "磁盘使用率过高。", "\n", "\n\n", "```sql\n", "```\n", "~~~\n", "> ", "`code` ", "**bold** ", "&lt;", "&amp;",
        "| a | b |\n", "|---|---|\n", "👨‍👩‍👧‍👦", "🇨🇳", "e\u0301", "[text](https://example.com/a) ", "x" * 37, "    indented\n",
        "- item\n", "👍🏽", "한", "\r\n", "- ```\n", "  ```py\n", "> ```\n", "````\n", "> x\n", "```", "1. ", "\t", "    ",
    ]
)  # fmt: skip
TEXTS = st.lists(FRAGMENTS, max_size=120).map("".join)
LIMITS = st.integers(SMALLEST_LIMIT, 400)


@given(TEXTS, LIMITS)
def test_the_bodies_joined_are_the_text_and_every_piece_fits(text, limit):
    found = pieces(text, limit)
    assert "".join(piece.body for piece in found) == text
    assert all(len(str(piece)) <= limit for piece in found)
    assert all(piece.body for piece in found) or text == ""


@given(TEXTS, TEXTS, LIMITS)
def test_appending_leaves_every_piece_but_the_last_as_it_was(text, more, limit):
    before = split(text, limit)
    after = split(text + more, limit)
    assert after[: len(before) - 1] == before[:-1]


@given(TEXTS, LIMITS)
@example("> ```sql\n" + "x" * 74, 80)
@example("> ```" + "x" * 80, 80)
@example("```ps://example.com\n" + "x" * 80, 80)
@example("x\n> ~~~\n> " + "word " * 30, 80)
@example("`" * 200, 80)
def test_no_piece_but_the_last_leaves_a_fence_open(text, limit):
    assert all(open_fence(piece) is None for piece in split(text, limit)[:-1])


@given(TEXTS, LIMITS)
def test_a_fence_is_reopened_in_the_next_piece(text, limit):
    """Where no line has to be cut: both halves of a line are lines of their own, and either may look like a fence."""
    longest = max(len(line) for line in text.split("\n"))
    limit = max(limit, longest * 4 + 1)
    assert open_fence(split(text, limit)[-1]) == open_fence(text)


def test_a_line_cut_in_a_quoted_fence_stays_in_it():
    found = split("> ```sh\n> " + "word " * 40, 80)
    assert len(found) > 2
    assert all(piece.startswith("> ```sh\n> word") for piece in found)
    assert all(piece.endswith(" \n> ```") for piece in found[:-1])


@given(TEXTS, LIMITS)
def test_no_character_entity_or_table_row_is_cut(text, limit):
    at = 0
    for piece in pieces(text, limit)[:-1]:
        at += len(piece.body)
        assert may_cut(text, at)
        assert not text[:at].endswith(("&", "&l", "&lt", "&am", "&amp"))
        line = text[:at].rpartition("\n")[2]
        assert not (line.startswith("|") and open_fence(text[:at]) is None)


def test_a_short_text_is_one_piece():
    assert split("", 100) == [""]
    assert split("one line", 100) == ["one line"]


def test_a_limit_too_small_for_the_repairs_is_refused():
    with pytest.raises(ValueError, match="at least 80"):
        split("x", 10)


@pytest.mark.case("slack-38")
def test_every_piece_of_a_long_fence_is_a_whole_fence_with_its_language_and_indentation():
    lines = [f"    SELECT {number:03d}" for number in range(300)]
    text = "Slow queries:\n\n```sql\n" + "\n".join(lines) + "\n```\nThat is all."
    found = split(text, 1000)
    assert len(found) > 4
    assert all(open_fence(piece) is None for piece in found)
    assert all(piece.startswith("```sql\n") for piece in found[1:-1])
    shown = [line for piece in found for line in piece.split("\n") if "SELECT" in line]
    assert shown == lines


def test_a_paragraph_end_goes_before_a_line_end_before_a_space():
    paragraphs = "a" * 30 + "\n" + "b" * 30 + "\n\n" + "c" * 60
    assert split(paragraphs, 100)[0] == "a" * 30 + "\n" + "b" * 30 + "\n\n"
    lines = "a" * 60 + "\n" + "b " * 40
    assert split(lines, 100)[0] == "a" * 60 + "\n"
    words = "word " * 50
    assert all(piece.endswith(" ") for piece in split(words, 98))


def test_a_table_that_goes_on_repeats_its_header():
    header = "| task | state |\n|---|---|\n"
    text = header + "".join(f"| job-{number} | failed |\n" for number in range(40))
    found = split(text, 200)
    assert len(found) > 2
    assert all(piece.startswith(header) for piece in found)


def test_a_table_header_is_not_parted_from_its_rule():
    text = "x" * 60 + "\n\n| task | state | since |\n|---|---|---|\n| a | b | c |\n"
    assert split(text, 95)[1].startswith("| task | state | since |\n|---|")


def test_bold_text_code_and_links_are_not_parted_at_their_spaces():
    text = "a " * 30 + "**very bold words here** and more words that go on for a while"
    first = split(text, 80)[0]
    assert first.count("**") % 2 == 0


@given(st.text(max_size=200), st.integers(1, 80))
def test_clipping_says_so_and_fits(text, length):
    clipped = clip(text, length)
    assert len(clipped) <= length
    assert clipped == text or clipped.endswith("…")
