"""An address lives only when its host is allowed and it is too short to carry anything away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.rendering.links import Links, defanged
from tests.hostile.judge import addresses_in

LINKS = Links.to(["wiki.example.com", ".corp.example"])


@pytest.mark.parametrize(
    "address",
    [
        "https://wiki.example.com",
        "http://wiki.example.com:8080/a/b.html?x=1#y",
        "HTTPS://WIKI.example.com/__tests__/user_id",
        "https://wiki.example.com./a",
        "https://a.b.corp.example/x",
        "https://wiki.example.com/db-runbook?day=2026-03-02",
    ],
)
def test_what_may_be_a_link(address: str):
    assert LINKS.allow(address)
    assert defanged(f"see {address}, please", LINKS) == f"see {address}, please"


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/",
        "https://corp.example/",
        "https://evilcorp.example/",
        "https://wiki.example.com.evil.example/",
        "https://wiki.example.com@evil.example/",
        "https://user:word@wiki.example.com/",
        "ftp://wiki.example.com/",
        "//wiki.example.com/",
        "https:/\\evil.example",
        f"https://wiki.example.com/?q={'x' * 64}",
        "https://wiki.example.com/?q=bGVha2VkIHNlY3JldCAx",
        "https://wiki.example.com/*https://evil.example/*",
        "https://wiki.example.com/_evil.example/x_",
        "",
    ],
)
def test_what_may_not(address: str):
    assert not LINKS.allow(address)
    assert not Links().allow(address)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://evil.example/a.b?c=d", "https[:]//evil[.]example/a[.]b?c=d"),
        ("www.evil.example", "www[.]evil[.]example"),
        ("evil.example/x", "evil[.]example/x"),
        ("mailto:a@evil.example", "mailto[:]a@evil[.]example"),
        ("report.sh failed at 10:30:45, a@b.example, 10.0.0.1, v1.2", "report.sh failed at 10:30:45, a@b.example, 10.0.0.1, v1.2"),
    ],
)  # fmt: skip
def test_a_broken_address_can_still_be_read(text: str, shown: str):
    assert defanged(text) == shown


_PIECES = st.sampled_from(
    ["https://", "evil.example", "/", "?", "a.", "www.", ".", ":", "@", "x", "-", "_", "(", ")", " ", "，", "磁", "ftp://", "mailto:", "//"]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=20).map("".join))
def test_nothing_in_a_defanged_text_is_taken_for_an_address(text: str):
    assert addresses_in(defanged(text)) == []
    assert defanged(defanged(text)) == defanged(text)
