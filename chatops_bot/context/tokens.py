"""How many tokens a text is, estimated at the speed of C.

A tokenizer of each provider would be exact, heavy and never complete. What counts is that the estimate is cheap and errs in
one direction for one model, since `context.budget` corrects it by what the model reports.
"""

from functools import lru_cache

from chatops_bot.domain.model import AssistantMessage, Message, ToolDefinition
from chatops_bot.domain.proposal import canonical_json

CJK_TOKENS, OTHER_TOKENS = 0.8, 0.3
"""Tokens a character, as the seed systems reckon them: 3,000 characters of mixed text are some 2,000 tokens."""

MESSAGE_TOKENS = 4
"""What a provider's own marks around each message and each call cost."""


def estimate(text: str) -> int:
    """Tokens of `text`. A CJK character has three bytes in UTF-8, so bytes beyond one a character are twice their number."""
    chars = len(text)
    if text.isascii():
        return int(OTHER_TOKENS * chars)
    cjk = (len(text.encode("utf-8", "replace")) - chars) / 2
    return int(CJK_TOKENS * cjk + OTHER_TOKENS * max(chars - cjk, 0))


def tokens_of(message: Message) -> int:
    """Tokens of a message with all that is carried along with it: reasoning, calls, signatures."""
    if not isinstance(message, AssistantMessage):
        return MESSAGE_TOKENS + estimate(message.text)
    carried = estimate(message.reasoning.text) + estimate(message.reasoning.opaque)
    calls = sum(
        MESSAGE_TOKENS + estimate(call.name) + estimate(call.arguments) + estimate(call.opaque)
        for call in message.calls
    )
    return MESSAGE_TOKENS + estimate(message.text) + carried + calls


@lru_cache(maxsize=64)
def tokens_of_tools(tools: tuple[ToolDefinition, ...]) -> int:
    """Tokens of what the tools say of themselves. The same tuple travels with every call, so it is counted once."""
    return sum(
        MESSAGE_TOKENS
        + estimate(tool.name)
        + estimate(tool.description)
        + estimate(canonical_json(dict(tool.parameters)))
        for tool in tools
    )
