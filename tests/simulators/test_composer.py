"""What people type becomes Slack's message text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.simulators.slack.composer import compose

HANDLES = {"@opsbot": "<@U1>", "@ana": "<@U2>", "#ops": "<#C1>", "@here": "<!here>"}


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("@opsbot cpu > 80% && x", "<@U1> cpu &gt; 80% &amp;&amp; x"),
        ("问 @opsbot，#ops 呢", "问 <@U1>，<#C1> 呢"),
        ("@Opsbot", "<@U1>"),
        ("ask <@U1> and <@U9>", "ask <@U1> and &lt;@U9&gt;"),
        ("me@ana.example @nobody", "me@ana.example @nobody"),
        ("see https://x.y/a_b?q=1&r=2.", "see <https://x.y/a_b?q=1&amp;r=2>."),
        ("`@ana <b> https://x.y`", "`@ana &lt;b&gt; https://x.y`"),
        ("```\n@here\n``` @here", "```\n@here\n``` <!here>"),
        ("https://x.y/@ana", "<https://x.y/@ana>"),
        ("&lt;", "&amp;lt;"),
    ],
)
def test_typed_text_is_composed(typed: str, text: str) -> None:
    assert compose(typed, HANDLES) == text


@given(st.text(alphabet="abc<>& \n`.", max_size=40))
def test_text_without_handles_or_links_is_only_escaped(typed: str) -> None:
    assert compose(typed, HANDLES) == typed.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
