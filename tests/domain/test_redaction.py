"""One table of secrets, applied to text and to values; what is no secret stays as it is."""

from functools import cache
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.redaction import _COMBINED, Redactor, _label


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
        ("session-eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "[redacted:jwt]"),
        ("?t_eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl&a=1", "?[redacted:jwt]&a=1"),
        ("postgres://app:s3cr3tpw@db:5432/x", "postgres://[redacted:url-password]@db:5432/x"),
        ("PASSWORD=correcthorse next", "PASSWORD=[redacted] next"),
        ('{"api_key": "abcdef123456"}', '{"api_key=[redacted]"}'),
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


HOSTILE_CHARS = 200_000
PLAIN = "run 12 of the nightly report went well and took three minutes\n"
MOST_TIMES_PLAIN = 30
"""Generous: a linear pattern takes about as long as plain text, a quadratic one hundreds of times as long."""


@cache
def seconds_for(piece: str) -> float:
    """How long `piece`, repeated to the full size, takes in CPU time, at best of two."""
    text = (piece * (HOSTILE_CHARS // len(piece) + 1))[:HOSTILE_CHARS]
    redactor, taken = Redactor(["tr0ub4dor!"]), []
    for _ in range(2):
        start = process_time()
        redactor.text(text)
        taken.append(process_time() - start)
    return min(taken)


@pytest.mark.parametrize(
    "piece",
    [
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY----",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN " + "PRIVATE KEY " * 16_000,
        "xoxb-",
        "xoxb-1234567 ",
        "xapp-",
        "https://hooks.slack.com/services/",
        "https://hooks.slack.com/services/a ",
        "sk-",
        "ghp_",
        "github_pat_",
        "glpat-",
        "AKIA",
        "AKIA0123456789ABCDEFA ",
        "AIza-",
        "glsa_=",
        "npm_",
        "npm_a-",
        "eyJ-",
        "eyJ",
        "eyJaaaaaaaa.",
        "eyJaaaaaaaa.eyJ-",
        "a-" * 50_000 + ".eyJaaaaaaaa.aaaaaaaa",
        "eyJ-" * 25_000 + ".eyJaaaaaaaa.aaaaaaa",
        "-eyJ" * 25_000 + ".eyJaaaaaaaa.aaaaaaaa",
        "eyJ" + "a-eyJ" * 16_000 + ".",
        ".eyJaaaaaaaa.eyJaaaaaaaa",
        "bearer ",
        "Bearer a-",
        "authorization",
        "authorization: basic ",
        "authorization:" + " " * 50_000,
        "authorization: basic" + " " * 50_000,
        "nonce=",
        "nonce=" + "a" * 31 + "-",
        "://",
        "://a:b",
        "://" + "a" * 50_000,
        "://a:" + "b" * 50_000,
        "://:::::",
        "password",
        "password=",
        "password" + " " * 50_000,
        "password=" + " " * 50_000,
        "api_key=short;",
        "tr0ub4dor",
    ],
)
def test_no_text_makes_redaction_slow(piece: str):
    assert seconds_for(piece) < MOST_TIMES_PLAIN * seconds_for(PLAIN)


@given(
    st.lists(
        st.one_of(
            st.text(max_size=8),
            st.sampled_from(
                [
                    "-----BEGIN RSA PRIVATE KEY-----", "xoxb-", "xapp-", "https://hooks.slack.com/services/", "sk-", "ghp_",
                    "github_pat_", "glpat-", "AKIA", "ASIA", "AIza", "glsa_", "glc_", "npm_", "eyJ", ".eyJ", "Bearer ", "bearer ",
                    "Authorization: Basic ", "nonce=", "postgres://", ":", "@", "PASSWORD=", "api-key: ", "auth_token=",
                    "secret=", "0123456789abcdef" * 2, "ABCDEFGHIJKLMNOP", ".", "-", "_",
                ]
            ),
        ),
        max_size=8,
    ).map("".join)
)  # fmt: skip
def test_a_text_without_any_hint_holds_no_secret(text: str):
    """Looking for hints is what makes a clean text cheap; it may skip nothing that a pattern would find."""
    assert Redactor().text(text) == _COMBINED.sub(_label, text)
