"""One table of secrets, applied to text and to values; what is no secret stays as it is."""

import pytest

from chatops_bot.domain.redaction import Redactor


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
