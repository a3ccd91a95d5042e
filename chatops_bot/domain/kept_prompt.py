"""The system text of a model call as it is kept, to be looked up by the hash that its log line names.

The stable part, the prefix, is the same for thousands of calls and is kept once. The volatile part, the suffix, holds
names and times; config may leave it out, and what looks like a secret is taken out of it. So three hashes: of the whole
as it was sent, of the prefix, and of the suffix as it is kept. Whoever reads checks them: a prompt that was changed in
the store is worse than none.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from chatops_bot.domain.errors import StoreError
from chatops_bot.domain.language import Language

SuffixKept = Literal["whole", "redacted", "off"]


@dataclass(frozen=True, slots=True)
class KeptPrompt:
    """`suffix_kept` says whether `suffix` is as it was sent (`whole`), went through the redactor and came out changed, or
    was left out by config."""

    agent_id: str
    version: str
    lang: Language
    prompt_hash: str
    prefix_hash: str
    suffix_hash: str
    tools: tuple[str, ...]
    prefix: str
    suffix: str
    suffix_kept: SuffixKept


@dataclass(frozen=True, slots=True)
class PromptRef:
    """Where a prompt is kept: a hash counts under its agent only."""

    agent_id: str
    prompt_hash: str


def digest(text: str) -> str:
    """64 hex digits of SHA-256 over the UTF-8 text."""
    return sha256(text.encode()).hexdigest()


def verified(kept: KeptPrompt) -> KeptPrompt:
    """`kept`, if its texts are what its hashes say. Raises StoreError, naming the part that was changed."""
    for part, text, expected in (
        ("stable part", kept.prefix, kept.prefix_hash),
        ("volatile part", kept.suffix, kept.suffix_hash),
    ):
        if digest(text) != expected:
            raise StoreError(
                f"The {part} of the stored prompt {kept.prompt_hash[:12]} is not what its hash says: somebody changed it; "
                "restore the store from a backup."
            )
    return kept
