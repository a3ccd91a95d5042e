"""What a terminal may be sent, and views to send."""

import re
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import strategies as st

from chatops_bot.domain.view import (
    Block,
    Button,
    Buttons,
    Code,
    Confirm,
    Fact,
    Facts,
    Heading,
    Lines,
    Markdown,
    Mention,
    Notice,
    Option,
    Select,
    TextInput,
    View,
)

OWN_STYLES = re.compile("\x1b\\[(?:0|1|2|31|32|33|36)m")
BIDIRECTIONAL = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
MARKS = set("\u200e\u200f\u061c\u2028\u2029")

hostile = st.text(
    st.one_of(
        st.sampled_from("\x1b\x9b\x07\x08\r\n\t\x00\x7f\u202e\u2066\u200f\u2028<>&`*|-#[]()\\ a中"), st.characters()
    ),
    max_size=60,
)  # fmt: skip
pieces = st.sampled_from(
    ["word ", "中文字", "**bold** ", "**", "`code` ", "`", "```sh\n", "```", "\n", "\n\n", "| a | b |\n|---|---|\n", "| 1 | 2 |\n",
     "- item ", "1. ", "# Heading\n", "<b> ", "\\*", "*", "[t](https://x.y) ", "> ", "_", "tail", "~~~", "&lt; ", "🙂", "!", "|"]
)  # fmt: skip
markdown = st.lists(pieces, max_size=25).map("".join)

blocks: st.SearchStrategy[Block] = st.one_of(
    st.builds(Markdown, hostile),
    st.builds(Heading, hostile),
    st.builds(Lines, st.lists(hostile, max_size=3).map(tuple)),
    st.builds(Notice, hostile, st.sampled_from(["info", "good", "warning", "danger"])),
    st.builds(Facts, st.lists(st.builds(Fact, hostile, hostile, st.booleans()), max_size=3).map(tuple)),
    st.builds(Code, hostile, hostile),
    st.builds(Mention, st.just(("U1",)), hostile),
    st.builds(
        Select, hostile, hostile, hostile,
        st.lists(st.builds(Option, hostile, hostile), max_size=3).map(tuple),
        st.lists(hostile, max_size=1).map(tuple), hint=hostile,
    ),
    st.builds(TextInput, hostile, hostile, hostile, hostile, hint=hostile),
    st.builds(
        Buttons,
        st.lists(
            st.builds(
                Button, st.sampled_from(["approve", "followup", "stop", "other"]), hostile, hostile,
                confirm=st.none() | st.builds(Confirm, hostile, hostile, hostile, hostile), command=hostile,
            ), max_size=3,
        ).map(tuple),
    ),
)  # fmt: skip
views = st.builds(View, st.lists(blocks, max_size=5).map(tuple), hostile)


def obeyed(text: str) -> list[str]:
    """The characters of `text` that a terminal would obey or that turn the reading around."""
    return [
        character for character in text
        if (unicodedata.category(character) == "Cc" and character != "\n")
        or unicodedata.bidirectional(character) in BIDIRECTIONAL or character in MARKS
    ]  # fmt: skip


@pytest.fixture
def view() -> Callable[..., View]:
    return lambda *parts: View(parts, "…")
