"""How many tokens a text is, estimated at the speed of C.

A tokenizer of each provider would be exact, heavy and never complete. What counts is that the estimate is cheap and errs in
one direction for one model, since `context.budget` corrects it by what the model reports.
"""

from functools import lru_cache

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.model import AssistantMessage, Message, ToolDefinition

OTHER_TOKENS = 0.3
"""Tokens a character that is not CJK; those are 0.8, since 3,000 Chinese characters are 2,000 to 2,500 tokens."""

MESSAGE_TOKENS = 4
"""What a provider's own marks around each message and each call cost."""


def estimate(text: str) -> int:
    """Tokens of `text`, rounded up. A CJK character has three bytes in UTF-8, so bytes beyond one a character are twice their
    number."""
    chars = len(text)
    if text.isascii():
        return -(-3 * chars // 10)
    cjk = min(chars, (len(text.encode("utf-8", "surrogatepass")) - chars) // 2)
    return -(-(8 * cjk + 3 * (chars - cjk)) // 10)


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
