"""What a prompt may measure: over the soft limit it warns, over the hard one it is trimmed in a fixed order, then refused.

Who the agent is and what it must and must not do are never trimmed.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from chatops_bot.context.prompt_types import Limits, SessionContext, ToolBrief

K_MIN = 3
"""As many tools as stay, whatever the budget."""


class Measured(Protocol):
    @property
    def chars(self) -> int: ...
    @property
    def tokens(self) -> int: ...


def too_long(parts: Sequence[Measured], limits: Limits) -> str:
    """What is over the hard limits, in words; empty when nothing is."""
    chars, tokens = sum(part.chars for part in parts), sum(part.tokens for part in parts)
    if chars > limits.hard_chars:
        return f"{chars} characters are more than the {limits.hard_chars} it may have"
    return (
        f"about {tokens} tokens are more than the {limits.hard_tokens} it may have"
        if tokens > limits.hard_tokens
        else ""
    )


def trimmed(
    session: SessionContext, tools: tuple[ToolBrief, ...], limits: Limits
) -> Iterator[tuple[SessionContext, tuple[ToolBrief, ...]]]:
    """The inputs as they are, then smaller and smaller: without environment, without the oldest events, with half of the summary
    and with none of it, without what tools return, and with fewer tools from the end of the list."""
    yield session, tools
    session = session.model_copy(update={"env": {}})
    yield session, tools
    while session.key_events:
        session = session.model_copy(update={"key_events": session.key_events[1:][-limits.events :]})
        yield session, tools
    if session.summary:
        session = session.model_copy(update={"summary": _begun(session.summary, limits.summary_chars // 2)})
        yield session, tools
        session = session.model_copy(update={"summary": None})
        yield session, tools
    tools = tuple(tool.model_copy(update={"return_schema": None}) for tool in tools)
    yield session, tools
    while len(tools) > K_MIN:
        tools = tools[:-1]
        yield session, tools


def _begun(text: str, limit: int) -> str:
    """Its first lines, as many as fit; none is parted."""
    kept: list[str] = []
    for line in text.splitlines():
        limit -= len(line) + 1
        if limit < 0:
            break
        kept.append(line)
    return "\n".join(kept)
