"""What a client would make of the bot's messages, judged without a line of the code that made them."""

import re
from collections.abc import Iterator
from typing import Any

from markdown_it import MarkdownIt

Json = dict[str, Any]
_READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_BARE = re.compile(
    r"[a-z][a-z0-9+.-]*://[^\s<>]*|(?<![^\W_])(?:mailto:[^\W_]\S*|www\.[^\W_][^\s<>]*)|(?<![\w.+-]@)(?<![\w.-])(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?[/?#][^\s<>]*",
    re.IGNORECASE,
)
TOKEN = re.compile(r"<(?:[@#]|!(?!--|\[|doctype\b))|<[a-z][a-z0-9+.-]*:[^\s<>|]*\|[^<>]*>", re.IGNORECASE)
"""A live token of Slack's: a mention, a broadcast, a channel, a labelled link."""


def addresses_in(text: str) -> list[str]:
    """Addresses that a client makes links of by itself in plain text."""
    return _BARE.findall(text)


def links_in_markdown(text: str) -> list[str]:
    """Every address that a reader of Markdown can click on, images' included."""
    return [address for token in _READER.parse(text) for address in _links(token.children or ())]


def _links(tokens: Any) -> Iterator[str]:
    text: list[str] = []
    for token in tokens:
        if token.type == "text":
            text.append(token.content)
            continue
        yield from addresses_in("".join(text))
        text = []
        if token.type in ("link_open", "image"):
            yield str(token.attrs.get("href") or token.attrs.get("src"))
    yield from addresses_in("".join(text))


def images_in_markdown(text: str) -> int:
    tokens = [child for token in _READER.parse(text) for child in token.children or ()]
    return sum(token.type in ("image", "html_inline") for token in tokens)


def links_in_mrkdwn(text: str) -> list[str]:
    """Addresses in Slack's own text format, which knows code but no escapes."""
    without_code = re.sub(r"```.*?```|`[^`\n]+`", " ", text, flags=re.DOTALL)
    return addresses_in(without_code.replace("&amp;", "&"))
