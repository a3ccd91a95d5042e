"""The follow-up block leaves the visible text over any chunking, and nothing else does."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.context.followups import FollowupSplitter
from chatops_bot.domain.followup import FollowUp
from tests.timing import FACTOR, ratio


def split(chunks: list[str]) -> tuple[str, tuple[FollowUp, ...]]:
    splitter = FollowupSplitter()
    visible = "".join(splitter.feed(chunk) for chunk in chunks)
    rest, followups = splitter.close()
    return visible + rest, followups


def chunked(text: str, cuts: list[int]) -> list[str]:
    edges = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[a:b] for a, b in itertools.pairwise(edges)]


BLOCK = "```followups\n- analyze_failure: Why did run #12 fail?\n2. `pause_task`：暂停 nightly-report\nno tool named\n```"


@given(st.lists(st.integers(0, 500)))
def test_the_block_is_taken_out_wherever_the_text_is_cut(cuts: list[int]):
    visible, followups = split(chunked(f"Two failed.\n\n{BLOCK}\n", cuts))
    assert visible == "Two failed.\n\n"
    assert followups == (
        FollowUp("analyze_failure", "Why did run #12 fail?"),
        FollowUp("pause_task", "暂停 nightly-report"),
    )


SPELLINGS = [
    ("```Followups", "```"),
    ("```FOLLOWUPS", "```"),
    (" ```followups", "```"),
    ("   ```followups", "   ```"),
    ("````followups", "````"),
    ("``````followups", "``````"),
    ("``` followups", "```"),
    ("~~~followups", "~~~"),
    ("  ~~~~~ Followups \t", " ~~~~~ "),
    ("```followups\r", "```\r"),
]


@pytest.mark.parametrize("before", ["Two failed.\n", "Two failed.\n\n", ""])
@pytest.mark.parametrize(("opening", "closing"), SPELLINGS)
def test_the_block_is_known_in_every_spelling_that_models_write_and_half_of_it_is_never_shown(
    opening: str, closing: str, before: str
):
    said = f"{before}{opening}\nlook: Ask me\n{closing}\nc"
    for size in range(1, len(said) + 1):
        chunks = [said[at : at + size] for at in range(0, len(said), size)]
        assert split(chunks) == (f"{before}c", (FollowUp("look", "Ask me"),)), size
        splitter = FollowupSplitter()
        seen = ""
        for chunk in chunks:
            seen += splitter.feed(chunk)
            assert f"{before}c".startswith(seen), (size, seen)


@pytest.mark.parametrize(("opening", "_"), SPELLINGS)
def test_an_opening_that_is_cut_off_is_not_shown_in_any_spelling(opening: str, _: str):
    assert split(["Done.\n", *opening]) == ("Done.\n", ())


def block_line(line: str) -> bool:
    return line.strip().strip("`~").strip().lower() == "followups"


@given(st.text(alphabet=st.sampled_from("aF`~\n folwups中"), max_size=80), st.lists(st.integers(0, 500)))
def test_text_is_the_same_over_any_chunking_and_whole_where_no_line_names_the_block(
    text: str, cuts: list[int]
):
    assert split(chunked(text, cuts)) == split([text])
    if not any(map(block_line, text.split("\n"))):
        assert split([text]) == (text, ())


@given(st.text(alphabet=st.sampled_from("ab`\n fol中"), max_size=80), st.lists(st.integers(0, 500)))
def test_text_without_a_block_is_untouched(text: str, cuts: list[int]):
    assert "```followups" not in text
    assert split(chunked(text, cuts)) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        "```follow\nx\n```",
        "see ```followups\nx\n```",
        "```followupsx\ny\n```\n",
        "`",
        "```",
        "``followups\nx",
        "    ```followups\nx",
        "`~`followups\nx",
        "```follow ups\nx",
    ],
)
def test_what_only_looks_like_a_block_is_text(text: str):
    assert split([text]) == (text, ())


def test_a_block_that_is_cut_off_still_counts():
    assert split(["Done.\n```followups\nlook: Ask me"]) == ("Done.\n", (FollowUp("look", "Ask me"),))


def test_an_opening_that_is_cut_off_is_not_shown():
    assert split(["Done.\n", "```followups"]) == ("Done.\n", ())


def test_text_after_the_block_is_visible_again():
    assert split(["a\n```followups\nlook: b\n```\nc"]) == ("a\nc", (FollowUp("look", "b"),))


def test_visible_text_is_not_held_back_longer_than_needed():
    splitter = FollowupSplitter()
    assert splitter.feed("Hello") == "Hello"
    assert splitter.feed("\n``") == "\n"
    assert splitter.feed("`python\nx") == "```python\nx"


@pytest.mark.parametrize("start", ["```followups", "```followups\n", ""])
@pytest.mark.parametrize("piece", [" " * 4, "\n", "`\n"])
def test_a_run_of_blanks_costs_time_as_it_is_long(start: str, piece: str):
    assert ratio(lambda size: split([start, *[piece] * size]), 4_000) < 2.5 * FACTOR
    assert ratio(lambda size: split([start, piece * size]), 20_000) < 2.5 * FACTOR


@given(st.lists(st.integers(0, 500)))
def test_an_opening_with_a_long_run_of_blanks_is_text_wherever_it_is_cut(cuts: list[int]):
    said = f"a\n```followups{' ' * 100}\nb"
    assert split(chunked(said, cuts)) == (said, ())


@given(st.lists(st.integers(0, 3000)))
def test_a_line_of_the_block_that_never_ends_is_one_suggestion_of_bounded_length(cuts: list[int]):
    assert split(chunked(f"a\n```followups\nlook: {'b' * 2000}", cuts)) == (
        "a\n",
        (FollowUp("look", "b" * 200),),
    )
