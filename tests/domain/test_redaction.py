"""One table of secrets, applied to text and to values; what is no secret stays as it is."""

import base64
import html
import json
import re
import shlex
import sys
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.secret_rules import RULES
from chatops_bot.domain.withheld import Withheld
from tests.domain.test_secret_rules import ROWS


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("token xoxb-123456789012-abcdEFGH", "token [redacted:slack-token]"),
        ("xapp-1-A123-456-abcdef", "[redacted:slack-token]"),
        ("post to https://hooks.slack.com/services/T000/B000/XXXXXXXX", "post to [redacted:slack-webhook]"),
        ("key sk-proj-abcdefghijklmnopqrst", "key [redacted:model-key]"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123", "[redacted:github-token]"),
        ("AKIAIOSFODNN7EXAMPLE", "[redacted:aws-key]"),
        ("Authorization: Bearer abcdef0123456789", "Authorization: Bearer [redacted:bearer]"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [redacted:basic]"),
        ("curl -H 'authorization:basic dXNlcjpwYXNz'", "curl -H 'authorization:basic [redacted:basic]'"),
        ('{"Authorization": "Basic dXNlcjpwYXNz"}', '{"Authorization": "Basic [redacted:basic]"}'),
        ("jwt eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "jwt [redacted:jwt]"),
        ("session-eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "session-[redacted:jwt]"),
        ("?t_eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl&a=1", "?t_[redacted:jwt]&a=1"),
        ("postgres://app:s3cr3tpw@db:5432/x", "postgres://[redacted:url-password]@db:5432/x"),
        ("PASSWORD=correcthorse next", "PASSWORD=[redacted] next"),
        ('{"api_key": "abcdef123456"}', '{"api_key": "[redacted]"}'),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "[redacted:private-key]"),
        ("-----BEGIN PRIVATE KEY-----\ncut off", "[redacted:private-key]"),
        (f"[END UNTRUSTED DATA nonce={'a' * 32}]", "[END UNTRUSTED DATA nonce=[redacted:fence]]"),
        ("令牌是sk-abcdefghijklmnopqrst。", "令牌是[redacted:model-key]。"),
        (
            "password: -----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----",
            "password: [redacted:private-key]",
        ),
        ("the configured one is tr0ub4dor!", "the configured one is [redacted:configured]"),
    ],
)
def test_secrets_lose_their_value_and_keep_a_label(text: str, shown: str):
    redactor = Redactor(["tr0ub4dor!", "", "short"])
    assert redactor.text(text) == shown
    assert redactor.text(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "run #12 of nightly-report failed",
        "password reset was asked for",
        "short",
        "http://127.0.0.1:8321/api/",
        "任务失败",
        "basic infrastructure needs authorization: basically none",
    ],
)
def test_ordinary_text_stays(text: str):
    assert Redactor(["short"]).text(text) == text


def test_values_are_redacted_at_any_depth_and_keep_their_shape():
    value = {"rows": [{"log": "xoxb-123456789012-abc"}, 3, None, True], "n": 1.5}
    assert Redactor().value(value) == {"rows": [{"log": "[redacted:slack-token]"}, 3, None, True], "n": 1.5}


SECRET = 'Tr0ub4dor&3/"é\\'
"""With a sign for every way of spelling it: `&` and quotes, a slash, a backslash, and a letter beyond ASCII."""


@pytest.mark.parametrize(
    "spelled",
    [
        SECRET,
        *(base64.b64encode(before + SECRET.encode() + b"after").decode() for before in (b"abc", b"abcd", b"abcde")),
        *(base64.urlsafe_b64encode(before + b"\xff" + SECRET.encode()).decode() for before in (b"ab", b"abc", b"abcd")),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        SECRET.encode().hex(":"),
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        quote(SECRET, safe="").replace("%C3%A9", "%c3%a9").lower().replace("tr0ub", "Tr0ub"),
        "".join(f"%{byte:02x}" for byte in SECRET.encode()),
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        json.dumps(json.dumps({"a": SECRET})),
        html.escape(SECRET),
        html.escape(SECRET, quote=False),
        shlex.quote(SECRET),
        shlex.quote("it's " + SECRET),
        repr(SECRET),
        f"{SECRET}{SECRET}",
    ],
)  # fmt: skip
def test_a_configured_secret_is_known_in_every_form_that_programs_print(spelled: str):
    shown = Redactor([SECRET]).text(f"log: {spelled} end")
    assert "[redacted:configured]" in shown
    assert len(shown.replace("[redacted:configured]", "")) < 26, "no more stays than what frames it"
    assert "ub4dor" not in shown


def test_a_secret_that_ordinary_text_holds_by_chance_is_too_short_to_hide():
    assert Redactor(["abcde"]).text("abcde") == "abcde"
    assert Redactor(["abcdef"]).text("abcdef") == "[redacted:configured]"


def test_secrets_that_overlap_are_hidden_whole():
    assert (
        Redactor(["hunter2 and more"]).text("password=hunter2 and more") == "password=[redacted:configured]"
    )
    assert Redactor(["one-two", "two-three"]).text("one-two-three") == "[redacted:configured]"


def test_a_letter_that_grows_in_lower_case_moves_nothing():
    assert all(len(chr(code).lower()) == 1 for code in range(sys.maxunicode) if code != 0x130)
    assert Redactor().text("İİİ xoxb-123456789012-abc") == "İİİ [redacted:slack-token]"


PIECES = st.one_of(
    st.text(max_size=8),
    st.text(alphabet="aA0b1-_.:=@/ \n\"'\\", max_size=12),
    st.sampled_from([hint for rule in RULES for hint in rule.hints]),
    st.sampled_from([text.replace("|", "") for _, text, _, _ in ROWS]),
    st.sampled_from(["0123456789abcdef" * 2, "ABCDEFGHIJKLMNOP", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6kL9n"]),
)


@given(st.lists(PIECES, max_size=6).map("".join))
def test_what_makes_a_clean_text_cheap_skips_nothing_that_a_rule_would_find(text: str):
    shown = Redactor().text(text)
    for rule in RULES:
        low, starts = text.replace("\u0130", "I").lower(), range(len(text))
        if rule.anywhere:
            found = any(hint in low for hint in rule.hints) and bool(rule.pattern.search(text))
        else:
            found = any(
                low.startswith(rule.hints, at) and bool(rule.pattern.match(text, at)) for at in starts
            )
        assert not found or shown != text, rule.label


STREAMED = [
    "tr0ub4dor!",
    "correct horse battery",
    "口令九个字真的很长",
    *(text.replace("|", "") for _, text, _, _ in ROWS),
]


def assert_never_shown(text: str) -> None:
    """Character by character, so at every split: of what is hidden in the end, no eight characters are ever shown."""
    redactor = Redactor(STREAMED[:3])
    told = redactor.text(text) + "".join(
        re.findall("-----BEGIN [A-Z ]*-*", text)
    )  # a marker alone is no secret
    hidden = {text[at : at + 8] for start, end, _ in redactor.spans(text) for at in range(start, end - 7)}
    for end in range(len(text) + 1):
        seen = redactor.text(text[: end - redactor.held_back(text[:end])])
        assert not [piece for piece in hidden if piece in seen and piece not in told]


@pytest.mark.parametrize("sample", STREAMED)
def test_no_kind_of_secret_shows_while_it_streams(sample: str):
    for after in ("", " ", "。", "\nand so on"):
        assert_never_shown(f"see {sample}{after}")


def test_a_secret_of_several_words_twice_in_a_row_shows_no_part_of_itself():
    assert_never_shown("correct horse batterycorrect horse battery")


@given(
    st.lists(st.one_of(st.text(max_size=12), st.sampled_from(STREAMED)), max_size=3),
    st.sampled_from(["", " ", "\n", "，"]),
)
def test_a_text_that_streams_never_shows_what_the_whole_text_hides(parts: list[str], between: str):
    assert_never_shown(between.join(parts))


def test_what_was_clean_is_secret_once_it_is_known_to_be():
    redactor = Withheld()
    assert redactor.text("correct-horse") == "correct-horse"
    redactor.hide("argument", "correct-horse")
    assert redactor.text("correct-horse") == "[redacted:configured]"
    redactor.show("argument")
    assert redactor.text("correct-horse") == "correct-horse"


def test_a_value_without_secrets_is_the_same_one_and_always_plain_json():
    redactor = Redactor()
    clean = {"rows": [{"name": "one"}, 1, None], "ok": True}
    assert redactor.value(clean) is clean
    odd = {"rows": (MappingProxyType({"name": "one"}),), 1: "a number"}
    assert json.dumps(redactor.value(odd)) == '{"rows": [{"name": "one"}], "1": "a number"}'
    assert redactor.value({"rows": [{"key": "xoxb-123456789012-abcdEFGH"}]}) != {
        "rows": [{"key": "xoxb-123456789012-abcdEFGH"}]
    }


@pytest.mark.parametrize("redactor", [Redactor(["hunter2hunter2"]), Withheld(["hunter2hunter2"])])
@pytest.mark.parametrize("held", [None, True, "x"])
def test_a_secret_key_is_hidden_beside_a_key_that_is_its_label(redactor: Redactor, held: Any):
    value = {"[redacted:configured]": held, "hunter2hunter2": held}
    assert "hunter2hunter2" not in json.dumps(redactor.value(value))


@given(
    st.recursive(
        st.none() | st.sampled_from(["hunter2hunter2", "[redacted:configured]", "x", ""]),
        lambda held: (
            st.lists(held, max_size=3)
            | st.dictionaries(st.sampled_from(["hunter2hunter2", "[redacted:configured]", "x"]), held)
        ),
    )
)
def test_no_value_keeps_a_secret_anywhere(value: Any):
    assert "hunter2hunter2" not in json.dumps(Redactor(["hunter2hunter2"]).value(value))
