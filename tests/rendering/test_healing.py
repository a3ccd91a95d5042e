"""A half-streamed text is closed for display."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.rendering.healing import heal
from chatops_bot.rendering.markdown import open_fence


@pytest.mark.parametrize(
    ("streamed", "healed"),
    [
        ("", ""),
        ("plain", "plain"),
        ("done **bold** and `code`.", "done **bold** and `code`."),
        ("a `half", "a `half`"),
        ("a `", "a "),
        ("a **half", "a **half**"),
        ("a **half*", "a **half**"),
        ("a **", "a "),
        ("a **b `c", "a **b `c`**"),
        ("2 ** 3", "2 ** 3"),
        ("a **b**\n\nc **d", "a **b**\n\nc **d**"),
        ("a **b\n\nnew paragraph", "a **b\n\nnew paragraph"),
        ("```sql\nSELECT 1", "```sql\nSELECT 1\n```"),
        ("```sql\nSELECT 1\n", "```sql\nSELECT 1\n```"),
        ("```sql\nSELECT 1\n``", "```sql\nSELECT 1\n```"),
        ("text\n```sq", "text\n"),
        ("text\n``", "text\n"),
        ("It is disabled.\n-", "It is disabled."),
        ("- one\n- ", "- one"),
        ("text\n\n2.", "text\n"),
        ("```\nx\n-", "```\nx\n-\n```"),
        ("`\n```", "`\n"),
        ("**a\n**", "**a\n"),
        ("> ```\n```", "> ```\n"),
        ("> ```\nb **c", "> ```\nb **c**"),
        ("a```\n``` `", "a```\n``` ` ```"),
        ("> ```sh\n> ls", "> ```sh\n> ls\n> ```"),
        ("```\n**a\n```\nb", "```\n**a\n```\nb"),
        ("`\n>", "`\n>"),
        ("**a\nb", "**a\nb"),
        ("a `b\nc `d", "a `b\nc `d`"),
        (r"a \** b", r"a \** b"),
    ],
)
def test_what_is_open_is_closed(streamed, healed):
    assert heal(streamed) == healed


MARKS = st.sampled_from(
    ["a", "b ", " ", "*", "**", "`", "``", "```", "~~~", "\n", ">", "> ", "|", "\\", "- ", "1. ", "\r\n"]
)


@given(st.lists(MARKS, max_size=40).map("".join) | st.text(alphabet="ab *`~\n>|-", max_size=60))
def test_healing_leaves_no_fence_open_and_is_stable(text):
    healed = heal(text)
    assert open_fence(healed) is None
    assert heal(healed) == healed
