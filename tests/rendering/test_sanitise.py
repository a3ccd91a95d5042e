"""Nothing that a model, a tool or an alert writes can call people, hide text or fetch an image."""

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chatops_bot.rendering.escapes import exact, exact_block, shown
from chatops_bot.rendering.links import NO_LINKS, Links
from chatops_bot.rendering.markdown import regions
from chatops_bot.rendering.sanitise import sanitise
from tests.hostile.judge import links_in_markdown

OURS = Links.to(["x.com", "hackmd.io"])
LIVE = re.compile(r"<(?:[@#]|!(?!--|\[|doctype\b))|<[a-z][a-z0-9+.-]*:[^\s<>|]*\|[^<>]*>", re.IGNORECASE)

PROSE = [
    "<!channel>", "<!here|x>", "<!subteam^S1>", "<@U2>", "<#C1|x>", "<https://x.com|label>", "<https://x.com>", "<", ">", "!", "@",
    "#", "\\", "\n", "\n\n", "> ", "![", "[", "]", "](", ")", "](https://x.com)", "](javascript:x)", "[r]: data:x\n", "[r]:", "&lt;", "&",
    "|", "\u202e", "\u200b", "\u2060", "a", " ", "磁盘", "<b>", "- ", "*", "_", "https://x.com/__a__?b=1&c=2", "mailto:", "1. ", "\t",
]  # fmt: skip
FRAGMENTS = st.sampled_from([*PROSE, "`", "``", "```", "```\n", "~~~\n"])
WHOLE_CODE = [
    " `a <b> [c](d)` ",
    " `` ` <@U2>`` ",
    "\n\n```\n<b> ![c](d)\n```\n\n",
    "\n\n~~~ x\n[r]: data:x\n~~~\n",
]
CLEAR_TEXTS = st.lists(st.sampled_from([*PROSE, *WHOLE_CODE]), max_size=25).map("".join) | st.text(
    st.characters(exclude_characters="`~"), max_size=60
)
TEXTS = st.lists(FRAGMENTS, max_size=25).map("".join) | st.text(max_size=60)


@pytest.mark.case("slack-45")
@given(TEXTS)
@example("`a <!channel>")
@example("\\<!channel>")
@example("![`](<!here>`)")
@example("[r]: x (<!here>")
def test_no_token_lives(text):
    assert not LIVE.search(sanitise(text))


@given(TEXTS)
@example("!<https://x|a>")
@example("!![a](u)")
@example("<\u2060!channel>")
@example("`\n<`>`")
@example("[r]:>")
@example("\\<\u2060@")
def test_sanitising_twice_changes_nothing_more(text):
    for links in (OURS, NO_LINKS):
        assert sanitise(sanitise(text, links), links) == sanitise(text, links)


@pytest.mark.case("slack-45")
@pytest.mark.parametrize("token", ["<!channel>", "<!here|x>", "<!subteam^S1>", "<@U2>", "<#C9>"])
def test_a_token_split_over_deltas_never_lives(token):
    for cut in range(1, len(token)):
        for before in ("ping ", "`ping ", "```\nping ", "> "):
            for so_far in (before + token[:cut], before + token, before + token + " `"):
                assert not LIVE.search(sanitise(so_far))


def _readable(text: str) -> str:
    """What a reader sees of prose: entities and escapes decoded, syntax and the bot's own marks dropped."""
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("\u2060", "")
    return re.sub(r"⟨U\+[0-9A-F]+⟩|[\s\\!\[\]()<>|]", "", text)


@given(
    st.lists(
        st.sampled_from(["a", "<", ">", "b>", "<b", " ", "磁盘", "](javascript:x)", "[", "\n", "`", "&lt;"]),
        max_size=30,
    )
)
def test_no_visible_character_is_lost(fragments):
    text = "".join(fragments)
    assert _readable(sanitise(text)) == _readable(text)


@given(CLEAR_TEXTS)
@example("> [r]: data:x\n\n[r]")
@example("`[r]: data:x\n><b>`")
@example("`a\n<div>`")
def test_a_markdown_reader_finds_no_image_no_html_and_no_odd_link(text):
    """Where it is beyond doubt what is code: an odd marker may make code of it here and prose elsewhere, or the reverse.

    No token lives in either (see above), and that is what calls people; images, HTML and odd links Slack doesn't show.
    """
    tokens = MarkdownIt("commonmark").parse(sanitise(text))
    inline = [child for token in tokens for child in token.children or ()]
    kinds = {token.type for token in (*tokens, *inline)}
    assert not kinds & {"image", "html_inline", "html_block"}
    targets = [str(token.attrs["href"]) for token in inline if token.type == "link_open"]
    assert all(re.match(r"https?://", target, re.IGNORECASE) for target in targets)


ADDRESSES = st.sampled_from(
    ["https://evil.example/?d=1", "HTTP://evil.example", "evil.example/a", "www.evil.example", "https://x.com.evil.example/",
     "https://x.com@evil.example", "https://x.com/", "ftp://evil.example", "//evil.example/x", "mailto:a@evil.example"]
)  # fmt: skip
LINKING = st.sampled_from(
    ["[a](", "[a](<", "<", ">", "|label>", ")", "![", "![a](", "](", "[r]: ", "[r]", "[r][]", "\n", "\n\n", "`", "``", "```", "~~~\n",
     "```\n", "- ", "> ", "| ", " | ", "|---|---|\n", "\\", "*", "_", "**", "a", " ", "，", "&amp;", "&lt;", "    ", "\t", ".", ",", "/"]
)  # fmt: skip


@given(st.lists(ADDRESSES | LINKING, max_size=25).map("".join))
@example("a ` b https://evil.example c")
@example("``\nhttps://evil.example`a`")
@example("    ```\nhttps://evil.example/?d=1")
@example("\\.https://evil.example/ \\-evil.example/a \\_evil.example/a")
def test_no_link_lives_beside_those_to_allowed_hosts(text):
    shown_text = sanitise(text, OURS)
    found = [link for link in links_in_markdown(shown_text) if not link.lower().startswith("https://x.com/")]
    assert found == []


@pytest.mark.case("slack-31")
def test_a_labelled_link_stays_a_link_and_code_stays_as_it_is():
    fence = "```\n**a** <b> & <!-- x --> [c](d) ![e](f)\n```"
    assert sanitise(f"see <https://x.com|x>\n\n{fence}\nand `**a** <b>`", OURS) == (
        f"see [x](https://x.com)\n\n{fence}\nand `**a** <b>`"
    )


@given(st.text(alphabet="ab<>&*_[]()! \n", max_size=60).filter(lambda code: not LIVE.search(code)))
def test_fenced_code_without_tokens_is_byte_identical(code):
    fenced = f"```\n{code}\n```"
    assert sanitise(fenced) == fenced


@pytest.mark.case("slack-44")
@pytest.mark.parametrize(
    "text",
    [
        "10:30:45 err:42: `10:30:45 err:42:`",
        "Plain @here and me@example.com",
        "`@vercel/postgres`, https://hackmd.io/@jk",
        "磁盘**使用率**过高。",
        "- a\n  - b\n\n> quote\n> more\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n1. > in a list",
        "[l](https://x.com/__tests__/user_id?a=1&b=2)",
        "a & b &amp; c &lt;d&gt;",
        "if cpu && mem",
        "👨‍👩‍👧 ❤️ 👍🏽 naïve\u3000全角",
        "line\r\nline",
    ],
)
def test_what_is_harmless_stays_as_it_is(text):
    assert sanitise(text, OURS) == text


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a < b > c", "a &lt; b &gt; c"),
        (r"\<b\>", "&lt;b&gt;"),
        ("cpu > 80%", "cpu &gt; 80%"),
        ("> 80%\nx > y", "> 80%\nx &gt; y"),
        ("<https://x.com/a>", "https://x.com/a"),
        ("<https://x.com/a>b", "[https://x.com/a](https://x.com/a)b"),
        ("<mailto:a@b.c|x>", "&lt;`mailto:a@b.c`|x&gt;"),
        ("see https://evil.example/?q=1.", "see `https://evil.example/?q=1`."),
        ("https://x.com/?q=" + "a" * 64, f"`https://x.com/?q={'a' * 64}`"),
        ("https://x.com/?q=a1b2c3d4e5a1b2c3d4e5", "`https://x.com/?q=a1b2c3d4e5a1b2c3d4e5`"),
        ("[a](https://evil.example/b)", r"[a]\(`https://evil.example/b`)"),
        ("![a](https://evil.example/b)", r"[a]\(`https://evil.example/b`)"),
        ("<https://evil.example|the *runbook*>", r"the \*runbook\* `https://evil.example`"),
        ("<https://x.com|or evil.example/b>", "[or `evil.example/b`](https://x.com)"),
        ("[r][1]\n\n[1]: https://evil.example/b", "[r][1]\n\n[1]\\: `https://evil.example/b`"),
        ("https://x.com@evil.example/", "`https://x.com@evil.example/`"),
        ("https://x.com.evil.example/", "`https://x.com.evil.example/`"),
        ("请看evil.example/b?c，然后", "`请看evil.example/b?c`，然后"),
        ("www.evil.example", "`www.evil.example`"),
        ("``a``https://evil.example", "``a`` `https://evil.example`"),
        ("`\n`https://evil.example`", "\\`\n`https://evil.example`"),
        ("- ```\nhttps://evil.example/a", "- ```\nhttps[:]//evil[.]example/a"),
        ("| `a | https://evil.example | b` |", "| `a | https[:]//evil[.]example | b` |"),
        ("![graph](https://x.com/a.png)", "[graph](https://x.com/a.png)"),
        ("![](https://x.com/a.png)", r"\![](https://x.com/a.png)"),
        ("[a](javascript:alert)", r"[a]\(javascript:alert)"),
        ("[a](<https://x.com/a>)", "[a](https://x.com/a)"),
        ("![a](data:image/png;base64,x)", r"[a]\(data:image/png;base64,x)"),
        ("[r]: javascript:x", r"[r]\: javascript:x"),
        ("1. [r]: javascript:x", r"1. [r]\: javascript:x"),
        ("run [12]: failed", "run [12]: failed"),
        ("> [r]: https://x.com", r"> [r]\: https://x.com"),
        ("[r]: x (<!channel>", r"[r]\: x (&lt;!channel&gt;"),
        ("a\u202eb\u200bc\x1b[31m", "a⟨U+202E⟩b⟨U+200B⟩c⟨U+001B⟩[31m"),
        ("`<!channel>`", "`<\u2060!channel>`"),
        ("```\n<@U1> <https://a|b> <!DOCTYPE html>\n```", "```\n<\u2060@U1> <\u2060https://a|b> <!DOCTYPE html>\n```"),
    ],
)  # fmt: skip
def test_what_is_not_is_shown_in_a_harmless_way(text, safe):
    assert sanitise(text, OURS) == safe


def test_long_hostile_input_takes_no_long_time():
    for piece in ("[", "`", "![", "](", "<https://x|", "> ", "[a](javascript:", "``` ", "\\", "[r]: "):
        sanitise(piece * 4000)


@given(TEXTS)
def test_the_regions_of_a_text_are_the_text(text):
    assert "".join(region for _, region in regions(text)) == text


@pytest.mark.case("hitl-C50")
def test_every_hidden_or_odd_character_is_shown_on_a_card():
    for code in range(0x110000):
        character = chr(code)
        is_odd = unicodedata.category(character) in {"Cc", "Cf", "Zl", "Zp", "Cs", "Co"} or (
            unicodedata.category(character) == "Zs" and character != " "
        )
        if is_odd:
            assert exact(character) == f"⟨U+{code:04X}⟩"
            assert exact_block(character) in {character, f"⟨U+{code:04X}⟩"}
            assert exact_block(character) != character or character in "\n\t"


@given(st.text(max_size=20), st.text(max_size=20))
@example("\u202e", "⟨U+202E⟩")
@example("", "⟨⟩")
def test_different_texts_look_different_on_a_card(one, other):
    assert (exact(one) == exact(other)) == (one == other)
    assert (exact_block(one) == exact_block(other)) == (one == other)


@given(st.text())
def test_showing_hidden_characters_twice_changes_nothing_more(text):
    assert shown(shown(text)) == shown(text)
