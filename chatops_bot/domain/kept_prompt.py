"""The system text of a model call as it is kept, to be looked up by the hash that its log line names.

The stable part, the prefix, is the same for thousands of calls and is kept once. The volatile part, the suffix, holds
names and times, and config may leave it out. So three hashes, of the whole, of the prefix and of the suffix. Whoever reads
checks them: a prompt that was changed in the store is worse than none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from chatops_bot.domain.errors import StoreError
from chatops_bot.domain.language import Language

FORMAT = "prompt-1"
"""Stands in every hash, so that another way of writing a prompt is another prompt."""


@dataclass(frozen=True, slots=True)
class KeptPrompt:
    """`tools` are the names of those that were offered, in their order. `suffix` is None where it was left out. `over_soft`: its stable
    part is longer than its agent's soft limit."""

    agent_id: str
    version: str
    lang: Language
    prompt_hash: str
    prefix_hash: str
    suffix_hash: str
    tools: tuple[str, ...]
    prefix: str
    suffix: str | None
    over_soft: bool = False


@dataclass(frozen=True, slots=True)
class PromptRef:
    """Where a prompt is kept: a hash counts under its agent only."""

    agent_id: str
    prompt_hash: str


def digest(text: str) -> str:
    """The hash under which a text of this format is kept: 64 hex digits of SHA-256."""
    return sha256(f"{FORMAT}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()


def whole(prefix: str, suffix: str) -> str:
    """The text of a prompt from its two parts."""
    return f"{prefix}\n\n{suffix}"


def prompt_of(
    agent_id: str,
    version: str,
    lang: Language,
    tools: Sequence[str],
    prefix: str,
    suffix: str,
    *,
    keep_suffix: bool = True,
    over_soft: bool = False,
) -> KeptPrompt:
    """What to keep of a prompt that is being sent."""
    return KeptPrompt(
        agent_id, version, lang, digest(whole(prefix, suffix)), digest(prefix), digest(suffix), tuple(tools), prefix,
        suffix if keep_suffix else None, over_soft,
    )  # fmt: skip


def verified(kept: KeptPrompt) -> KeptPrompt:
    """`kept`, if its texts are what its hashes say. Raises StoreError, naming the part that was changed."""
    wrong = ""
    if digest(kept.prefix) != kept.prefix_hash:
        wrong = "stable part"
    elif kept.suffix is not None and digest(kept.suffix) != kept.suffix_hash:
        wrong = "volatile part"
    elif kept.suffix is not None and digest(whole(kept.prefix, kept.suffix)) != kept.prompt_hash:
        wrong = "whole"
    if wrong:
        raise StoreError(
            f"The {wrong} of the stored prompt {kept.prompt_hash[:12]} is not what its hash says: somebody changed it; "
            "restore the store from a backup."
        )
    return kept
