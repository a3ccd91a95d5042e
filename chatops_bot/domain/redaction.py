"""Secrets never reach model, chat, log or audit: one table of patterns, run before all four.

A match keeps its label and loses its value: `[redacted:slack-token]`. Configured secrets are matched exactly, whatever
they look like.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from chatops_bot.domain.language import Phrase

_B64 = "[A-Za-z0-9_-]"
_PATTERNS: tuple[tuple[str, str], ...] = (
    ("private-key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
    ("slack-token", r"\bx(?:ox[abeoprs]|app|wfp)-[A-Za-z0-9-]{8,}"),
    ("slack-webhook", r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{10,}"),
    ("model-key", r"\bsk-[A-Za-z0-9_-]{16,}"),
    ("github-token", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    ("gitlab-token", r"\bglpat-[A-Za-z0-9_-]{16,}"),
    ("aws-key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("google-key", r"\bAIza[A-Za-z0-9_-]{30,}"),
    ("grafana-token", r"\bgl(?:sa|c)_[A-Za-z0-9_=-]{20,}"),
    ("npm-token", r"\bnpm_[A-Za-z0-9]{30,}"),
    # The whole shape is looked for once per run of characters; only then where in its first part the token begins.
    ("jwt", rf"(?<!{_B64})(?={_B64}*+\.eyJ{_B64}{{8,}}+\.{_B64}{{8}})(?:{_B64}*?[_-])??eyJ{_B64}{{8,}}+\.{_B64}++\.{_B64}++"),
    ("bearer", r"(?i:(?<=bearer )[A-Za-z0-9._~+/=-]{12,})"),
    ("basic", r"(?i:(?<![A-Za-z0-9])authorization[\"']?\s*[:=]\s*[\"']?basic\s+[A-Za-z0-9+/=_-]{8,})"),
    ("fence", r"(?<=nonce=)[0-9a-f]{32}"),  # a nonce that a model repeats is no use to anybody who reads it
    ("url-password", r"(?<=://)[^\s/:@]*:[^\s/@]+(?=@)"),
    ("assigned-secret", r"(?i:(?<![A-Za-z0-9])(?:password|passwd|pwd|secret|api[_-]?key|access[_-]?token|auth[_-]?token)"
     r"[\"']?\s*[:=]\s*[\"']?(?!\[redacted|-----BEGIN)[^\s\"',;&]{6,})"),
)  # fmt: skip

# Each pattern takes time linear in the text: where an unbounded repetition can still fail, it can't begin inside itself.
# ASCII word borders: a token right behind a Chinese character is a token all the same.
_COMBINED = re.compile(
    "|".join(f"(?P<{label.replace('-', '_')}>{pattern})" for label, pattern in _PATTERNS), re.ASCII
)
_SHORTEST_SECRET = 6
_SHORTEST_WORD = 20
"""No pattern matches a shorter text, or a shorter word of letters, digits and underscores; names of fields are such words."""


class Redactor:
    """Replaces secrets in text. `secrets` are configured values to hide wherever they appear."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = sorted(
            {secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}, key=len, reverse=True
        )
        self._known = re.compile("|".join(map(re.escape, known))) if known else None

    def text(self, text: str) -> str:
        """`text` with every secret replaced by a label; text without one comes back as it is."""
        if len(text) < _SHORTEST_SECRET or (len(text) < _SHORTEST_WORD and text.isidentifier()):
            return text if self._known is None else self._known.sub("[redacted:configured]", text)
        if self._known is not None:
            text = self._known.sub("[redacted:configured]", text)
        return _COMBINED.sub(_label, text)

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
