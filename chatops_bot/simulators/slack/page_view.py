"""A message as the page needs it (or the blocks of a modal, passed as those of a message): Slack's JSON, plus an `html` field beside each text that people read.

The page never interprets text: what it shows with markup comes from these fields, which `page_text` made safe.
Everything else of the JSON is passed on unchanged, since the page reads block kinds, ids and values from it.
"""

from collections.abc import Mapping
from typing import Any, Final

from chatops_bot.simulators.slack.page_text import (
    Names,
    broadcast_html,
    channel_html,
    code_block_html,
    date_html,
    emoji,
    link_html,
    markdown_html,
    mrkdwn_html,
    plain_html,
    user_html,
)

__all__ = ["Names", "page_message"]

_MAX_DEPTH: Final = 24
_LIST_STYLES: Final = {"bullet": "ul", "ordered": "ol"}


def page_message(message: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """Slack's message JSON with `html` beside `text`, and beside each text object, `markdown` block, rich text
    and table cell inside `blocks` and `attachments`. The input isn't changed; an `html` field that a sender wrote
    is dropped; reactions get their `emoji`."""
    page = {key: value for key, value in message.items() if key != "html"}
    if isinstance(message.get("text"), str):
        page["html"] = mrkdwn_html(message["text"], names)
    if isinstance(message.get("markdown_text"), str):
        page["html"] = markdown_html(message["markdown_text"], names)
    for part in ("blocks", "attachments"):
        if part in message:
            page[part] = _with_html(message[part], names, 0)
    if isinstance(message.get("reactions"), list):
        page["reactions"] = [
            {**reaction, "emoji": emoji(str(reaction.get("name", "")))}
            for reaction in message["reactions"]
            if isinstance(reaction, Mapping)
        ]
    return page


def _with_html(node: Any, names: Names, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        return None
    if isinstance(node, list | tuple):
        return [_with_html(item, names, depth + 1) for item in node]
    if not isinstance(node, Mapping):
        return node
    kind = str(node.get("type"))
    if kind == "rich_text":
        return {**_without_html(node, depth), "html": _rich_text_html(node, names)}
    copy = {key: _with_html(value, names, depth + 1) for key, value in node.items() if key != "html"}
    text = node.get("text")
    if isinstance(text, str):
        if kind == "mrkdwn":
            copy["html"] = mrkdwn_html(text, names)
        elif kind == "markdown":
            copy["html"] = markdown_html(text, names)
        elif kind in {"plain_text", "raw_text"}:
            copy["html"] = plain_html(text).replace("\n", "<br>")
        else:  # a classic attachment, whose text is mrkdwn without saying so
            copy["html"] = mrkdwn_html(text, names)
    return copy


def _without_html(node: Any, depth: int) -> Any:
    """Rich text has one `html` for the whole block, so any inside it is the sender's."""
    if depth > _MAX_DEPTH:
        return None
    if isinstance(node, list | tuple):
        return [_without_html(item, depth + 1) for item in node]
    if not isinstance(node, Mapping):
        return node
    return {key: _without_html(value, depth + 1) for key, value in node.items() if key != "html"}


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _rich_text_html(block: Mapping[str, Any], names: Names) -> str:
    return "".join(_rich_element_html(element, names) for element in _mappings(block.get("elements")))


def _rich_element_html(element: Mapping[str, Any], names: Names) -> str:
    children = _mappings(element.get("elements"))
    match element.get("type"):
        case "rich_text_preformatted":
            return code_block_html(
                "".join(str(child.get("text") or child.get("url") or "") for child in children)
            )
        case "rich_text_quote":
            return f"<blockquote>{_rich_run_html(children, names)}</blockquote>"
        case "rich_text_list":
            tag = _LIST_STYLES.get(str(element.get("style")), "ul")
            indent = element.get("indent")
            level = f' data-indent="{min(indent, 8)}"' if isinstance(indent, int) and indent > 0 else ""
            items = "".join(
                f"<li>{_rich_run_html(_mappings(child.get('elements')), names)}</li>" for child in children
            )
            return f"<{tag}{level}>{items}</{tag}>"
        case _:
            return f"<p>{_rich_run_html(children, names)}</p>"


def _rich_run_html(children: list[Mapping[str, Any]], names: Names) -> str:
    return "".join(_styled(_rich_leaf_html(child, names), child.get("style")) for child in children)


def _rich_leaf_html(leaf: Mapping[str, Any], names: Names) -> str:
    def value(key: str) -> str:
        return str(leaf.get(key) or "")

    match leaf.get("type"):
        case "link":
            return link_html(value("url"), plain_html(value("text") or value("url")))
        case "user":
            return user_html(value("user_id"), names)
        case "channel":
            return channel_html(value("channel_id"), names)
        case "broadcast":
            return broadcast_html(value("range"))
        case "emoji":
            return plain_html(emoji(value("name")))
        case "date":
            return date_html(value("timestamp"), value("format"), value("fallback"))
        case _:
            return plain_html(value("text")).replace("\n", "<br>")


def _styled(html: str, style: Any) -> str:
    if not isinstance(style, Mapping):
        return html
    for name, tag in (("code", "code"), ("strike", "del"), ("italic", "em"), ("bold", "strong")):
        if style.get(name):
            html = f"<{tag}>{html}</{tag}>"
    return html
