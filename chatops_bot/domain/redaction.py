"""Secrets never reach model, chat, log or audit: one table of patterns, run before all four.

A match keeps its label and loses its value: `[redacted:slack-token]`. Configured secrets are matched exactly, whatever
they look like.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from chatops_bot.domain.language import Phrase

_B64 = "[A-Za-z0-9_-]"
_PATTERNS: tuple[tuple[str, str, str], ...] = (
    # label, what every match holds (a pattern much quicker to look for), pattern
    ("private-key", "-----BEGIN", r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
    ("slack-token", "xox|xapp|xwfp", r"\bx(?:ox[abeoprs]|app|wfp)-[A-Za-z0-9-]{8,}"),
    ("slack-webhook", r"hooks\.slack", r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{10,}"),
    ("model-key", "sk-", r"\bsk-[A-Za-z0-9_-]{16,}"),
    ("github-token", "gh[pousr]_|github_pat", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    ("gitlab-token", "glpat-", r"\bglpat-[A-Za-z0-9_-]{16,}"),
    ("aws-key", "AKIA|ASIA", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("google-key", "AIza", r"\bAIza[A-Za-z0-9_-]{30,}"),
    ("grafana-token", "gl(?:sa|c)_", r"\bgl(?:sa|c)_[A-Za-z0-9_=-]{20,}"),
    ("npm-token", "npm_", r"\bnpm_[A-Za-z0-9]{30,}"),
    # The whole shape is looked for once per run of characters; only then where in its first part the token begins.
    ("jwt", "eyJ", rf"(?<!{_B64})(?={_B64}*+\.eyJ{_B64}{{8,}}+\.{_B64}{{8}})(?:{_B64}*?[_-])??eyJ{_B64}{{8,}}+\.{_B64}++\.{_B64}++"),
    ("bearer", "(?i:bearer )", r"(?i:(?<=bearer )[A-Za-z0-9._~+/=-]{12,})"),
    ("basic", "(?i:authorization)", r"(?i:(?<![A-Za-z0-9])authorization[\"']?\s*[:=]\s*[\"']?basic\s+[A-Za-z0-9+/=_-]{8,})"),
    ("fence", "nonce=", r"(?<=nonce=)[0-9a-f]{32}"),  # a nonce that a model repeats is no use to anybody who reads it
    ("url-password", "://", r"(?<=://)[^\s/:@]*:[^\s/@]+(?=@)"),
    ("assigned-secret", "(?i:passw|pwd|secret|api|token)", r"(?i:(?<![A-Za-z0-9])(?:password|passwd|pwd|secret|api[_-]?key|access[_-]?token|auth[_-]?token)"
     r"[\"']?\s*[:=]\s*[\"']?(?!\[redacted|-----BEGIN)[^\s\"',;&]{6,})"),
)  # fmt: skip

# Each pattern takes time linear in the text: where an unbounded repetition can still fail, it can't begin inside itself.
# ASCII word borders: a token right behind a Chinese character is a token all the same.
_COMBINED = re.compile(
    "|".join(f"(?P<{label.replace('-', '_')}>{pattern})" for label, _, pattern in _PATTERNS), re.ASCII
)
_HINT = re.compile("|".join(hint for _, hint, _ in _PATTERNS), re.ASCII)
_SHORTEST_SECRET = 6


class Redactor:
    """Replaces secrets in text. `secrets` are configured values to hide wherever they appear."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = sorted(
            {secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}, key=len, reverse=True
        )
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    def text(self, text: str) -> str:
        """`text` with every secret replaced by a label; text without one comes back as it is."""
        if self._known is not None:
            text = self._known.sub("[redacted:configured]", text)
        return _COMBINED.sub(_label, text) if _HINT.search(text) else text

    def begun(self, text: str) -> int:
        """How many characters at the end of a text that still grows may be the beginning of something that is no secret but withheld."""
        return 0

    def phrase(self, phrase: Phrase) -> Phrase:
        """A phrase with both languages redacted."""
        return Phrase(self.text(phrase.zh), self.text(phrase.en))

    def value(self, value: Any) -> Any:
        """A JSON value with every string in it redacted, keys included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value


def _label(match: re.Match[str]) -> str:
    kind = str(match.lastgroup).replace("_", "-")
    if kind == "assigned-secret":
        name = re.split(r"[:=]", match.group(), maxsplit=1)[0].strip(" \"'")
        return f"{name}=[redacted]"
    if kind == "basic":
        return re.sub(r"\S+\Z", "[redacted:basic]", match.group())
    return f"[redacted:{kind}]"
