"""The page's HTML fields: what the markup means, and that no input can bring a tag of its own."""

from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatops_bot.simulators.slack.page_text import markdown_html, mrkdwn_html
from chatops_bot.simulators.slack.page_view import Names, page_message

NAMES: Names = {"U1": "Ann <b>", "C1": "ops"}
ALLOWED = {
    "a": {"href", "target", "rel", "class"},
    "span": {"class", "data-user"},
    "time": {"datetime", "data-format"},
    "pre": {"data-language"},
    "th": {"data-align"},
    "td": {"data-align"},
    "ul": {"data-indent"},
    "ol": {"data-indent", "start"},
}
PLAIN = ["strong", "em", "del", "s", "code", "blockquote", "br", "hr", "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "table", "thead", "tbody", "tr"]  # fmt: skip
ALLOWED |= {tag: set() for tag in PLAIN if tag not in ALLOWED}
VOID = {"br", "hr"}


class Auditor(HTMLParser):
    """Walks HTML and fails on any tag, attribute, address or nesting that is not ours."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, f"foreign tag {tag}"
        for name, value in attrs:
            assert name in ALLOWED[tag], f"foreign attribute {name} on {tag}"
            if name == "href":
                assert (value or "").lower().startswith(("http:", "https:", "mailto:", "#/"))
        assert not (tag == "a" and "a" in self.open), "a link inside a link"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> without a start"
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        pytest.fail(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        pytest.fail(f"a declaration: {decl}")


def assert_ours(html: str) -> None:
    auditor = Auditor()
    auditor.feed(html)
    auditor.close()
    assert auditor.open == []


PIECES = st.sampled_from(
    [
        *"*_~`<>&|\n #-[]()!:\\\"'=",
        *("```", "&lt;", "&gt;", "&amp;", "<@U1>", "<#C1>", "<!here>", "<!date^1^{time}^javascript:x|f>"),
        *(
            "<script>",
            "<img src=x onerror=y>",
            "</a>",
            "javascript:alert(1)",
            "https://x.y/?a=1&b",
            "<https://x.y|*l*>",
        ),
        *(
            "| a | b |\n|---|--:|\n| 1 | 2 |\n",
            "![",
            "](",
            "data:text/html,x",
            "> ",
            "中文",
            "a b",
            "\x00",
            "\u2028",
            ":fire:",
        ),
    ]
)
ANY_TEXT = st.one_of(st.text(), st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=30).map("".join))


@given(ANY_TEXT)
def test_no_mrkdwn_brings_a_tag_that_is_not_ours(text: str) -> None:
    assert_ours(mrkdwn_html(text, NAMES))


@given(ANY_TEXT)
@example("[]()")
@example("[https://x.y <https://x.y|l>]() <https://x.y|l>")
def test_no_markdown_brings_a_tag_that_is_not_ours(text: str) -> None:
    assert_ours(markdown_html(text, NAMES))


JSON = st.recursive(
    st.one_of(st.none(), st.integers(), ANY_TEXT),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(
                ["type", "text", "elements", "html", "style", "url", "user_id", "rows", "indent"]
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=12,
)
KINDS = st.sampled_from(
    ["section", "markdown", "mrkdwn", "plain_text", "rich_text", "rich_text_list", "table"]
)


@given(
    st.lists(
        st.tuples(KINDS, st.dictionaries(st.sampled_from(["text", "elements", "rows", "html"]), JSON)),
        max_size=3,
    )
)
@example([("rich_text", {"text": {"html": "<B>"}})])
def test_any_blocks_yield_only_our_html(blocks: list[tuple[str, dict[str, object]]]) -> None:
    def html_of(node: object) -> list[str]:
        if isinstance(node, dict):
            own = [node["html"]] if isinstance(node.get("html"), str) else []
            return own + [html for value in node.values() for html in html_of(value)]
        return [html for value in node for html in html_of(value)] if isinstance(node, list) else []

    shown = page_message({"ts": "1.0", "blocks": [{**rest, "type": kind} for kind, rest in blocks]}, NAMES)
    for html in html_of(shown):
        assert_ours(html)


def test_an_html_field_written_by_a_sender_is_dropped() -> None:
    forged = {
        "html": "<script>",
        "blocks": [
            {"type": "section", "html": "<script>"},
            {"type": "rich_text", "html": "<i>", "elements": [{"type": "rich_text_section", "html": "<b>"}]},
        ],
    }
    rich_text = {"type": "rich_text", "html": "<p></p>", "elements": [{"type": "rich_text_section"}]}
    assert page_message(forged, NAMES) == {"blocks": [{"type": "section"}, rich_text]}


def test_a_very_long_line_of_open_marks_is_read_in_one_pass() -> None:
    assert mrkdwn_html("*a " * 20_000, NAMES).startswith("*a *a")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("*b* _i_ ~s~ `c`", "<strong>b</strong> <em>i</em> <del>s</del> <code>c</code>"),
        ("*_both_*", "<strong><em>both</em></strong>"),
        ("*a _b* c_", "<strong>a _b</strong> c_"),
        ("snake_case_name 2*3*4", "snake_case_name 2*3*4"),
        ("重启*服务*吧", "重启*服务*吧"),
        ("重启 *服务* 吧", "重启 <strong>服务</strong> 吧"),
        ("`*not bold* <@U1>`", "<code>*not bold* &lt;@U1&gt;</code>"),
        ("&lt;b&gt; &amp;amp;", "&lt;b&gt; &amp;amp;"),
        ("a\nb", "a<br>b"),
        ("&gt; one\n> two\nthree", "<blockquote>one<br>two</blockquote>three"),
        (">>> all\nof it", "<blockquote>all<br>of it</blockquote>"),
        ("before\n```\nx &lt; 1\n```\nafter", "before<pre><code>x &lt; 1</code></pre>after"),
        ("<@U1>", '<span class="mention" data-user="U1">@Ann &lt;b&gt;</span>'),
        ("<@U999|who>", '<span class="mention" data-user="U999">@who</span>'),
        ("<#C1>", '<a class="channel-mention" href="#/C1">#ops</a>'),
        ("<!here>", '<span class="mention broadcast">@here</span>'),
        ("<javascript:alert(1)|click>", "&lt;javascript:alert(1)|click&gt;"),
        (":fire: :unknown_name:", "🔥 :unknown_name:"),
    ],
)
def test_mrkdwn_reads_as_in_slack(text: str, html: str) -> None:
    assert mrkdwn_html(text, NAMES) == html


def test_links_show_their_label_and_keep_their_query() -> None:
    html = mrkdwn_html("<https://x.y/?a=1&amp;b=2|the *graph*>", NAMES)
    assert (
        html == '<a href="https://x.y/?a=1&amp;b=2" target="_blank" rel="noopener noreferrer">the *graph*</a>'
    )


@pytest.mark.parametrize("render", [mrkdwn_html, markdown_html])
def test_a_bare_address_becomes_a_link_without_the_full_stop(render) -> None:
    assert ">https://x.y/a_b_c</a>." in render("see https://x.y/a_b_c.", NAMES)


def test_a_date_carries_the_moment_and_the_pattern() -> None:
    html = mrkdwn_html("<!date^1700000000^{date_short} at {time}|14 Nov>", NAMES)
    assert (
        html
        == '<time datetime="2023-11-14T22:13:20+00:00" data-format="{date_short} at {time}">14 Nov</time>'
    )


def test_markdown_tables_keep_their_alignment_without_style_attributes() -> None:
    html = markdown_html("| a | b |\n|---|--:|\n| **1** | <@U1> |", NAMES)
    assert '<td data-align="right"><span class="mention"' in html
    assert "style=" not in html


def test_markdown_keeps_raw_html_as_text_and_drops_foreign_schemes() -> None:
    html = markdown_html("<b>x</b> [y](javascript:z) ~~gone~~", NAMES)
    assert html == "<p>&lt;b&gt;x&lt;/b&gt; [y](javascript:z) <s>gone</s></p>"


def test_blocks_get_html_beside_their_text_and_stay_as_they_were() -> None:
    message: dict[str, Any] = {
        "ts": "1.0",
        "text": "fallback",
        "blocks": [
            {"type": "section", "text": {"type": "mrkdwn", "text": "*hi*"}},
            {"type": "markdown", "text": "# T"},
            {
                "type": "actions",
                "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Go :rocket:"}}],
            },
        ],
        "reactions": [{"name": "eyes", "count": 1, "users": ["U1"]}],
    }
    shown = page_message(message, NAMES)
    assert shown["blocks"][0]["text"] == {"type": "mrkdwn", "text": "*hi*", "html": "<strong>hi</strong>"}
    assert shown["blocks"][1]["html"] == "<h1>T</h1>"
    assert shown["blocks"][2]["elements"][0]["text"]["html"] == "Go 🚀"
    assert shown["reactions"][0]["emoji"] == "👀"
    assert "html" not in message["blocks"][1]


def test_plain_text_keeps_its_lines() -> None:
    block = {"type": "context", "elements": [{"type": "plain_text", "text": "one <b>\ntwo"}]}
    shown = page_message({"ts": "1.0", "text": "", "blocks": [block]}, NAMES)
    assert shown["blocks"][0]["elements"][0]["html"] == "one &lt;b&gt;<br>two"


def test_rich_text_is_shown_with_its_styles_lists_and_mentions() -> None:
    def section(*elements: dict[str, object]) -> dict[str, object]:
        return {"type": "rich_text_section", "elements": list(elements)}

    block = {
        "type": "rich_text",
        "elements": [
            section(
                {"type": "text", "text": "a", "style": {"bold": True}}, {"type": "user", "user_id": "U1"}
            ),
            {
                "type": "rich_text_list",
                "style": "ordered",
                "elements": [section({"type": "text", "text": "<one>"})],
            },
        ],
    }
    html = page_message({"blocks": [block]}, NAMES)["blocks"][0]["html"]
    assert html == (
        '<p><strong>a</strong><span class="mention" data-user="U1">@Ann &lt;b&gt;</span></p><ol><li>&lt;one&gt;</li></ol>'
    )
