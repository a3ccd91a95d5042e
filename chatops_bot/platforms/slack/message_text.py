"""Everything that one Slack message says, as plain text: its text, its blocks, its attachments, the names of its files.

Alert bots write in blocks or attachments and leave `text` empty, or repeat in it what the blocks say; people's clients
send each text twice, as `text` and as rich text. So everything is taken in reading order, and no line is taken twice.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from chatops_bot.platforms.slack.text import as_typed, mentioned_channels, mentioned_users

Json = dict[str, Any]
MAX_DEPTH = 8
"""Nested deeper than any block that Slack makes; what lies below is left out."""


def text_of(message: Json, names: Mapping[str, str]) -> str:
    """The message as a person would read it. `names` maps ids of users and channels to their names. Never fails."""
    pieces = [_typed(message.get("text"), names)]
    pieces += _blocks(message.get("blocks"), names)
    for attachment in _dicts(message.get("attachments")):
        pieces += _attachment(attachment, names)
    pieces += (
        f"[file: {each.get('name') or each.get('title') or '?'}]" for each in _dicts(message.get("files"))
    )
    lines: list[str] = []
    seen: set[str] = set()
    for line in "\n".join(pieces).splitlines():
        sign = "".join(character for character in line if character.isalnum()) or line.strip()
        if sign and sign not in seen:
            seen.add(sign)
            lines.append(line.rstrip())
    return "\n".join(lines)


def ids_in(message: Json) -> tuple[set[str], set[str]]:
    """Ids of the users and of the channels that a message mentions anywhere."""
    users: set[str] = set()
    channels: set[str] = set()
    for text in _strings(message, 0):
        users |= mentioned_users(text)
        channels |= mentioned_channels(text)
    for element in _elements(message.get("blocks"), 0):
        if element.get("type") == "user":
            users.add(str(element.get("user_id")))
        elif element.get("type") == "channel":
            channels.add(str(element.get("channel_id")))
    return users, channels


def _typed(text: Any, names: Mapping[str, str]) -> str:
    return as_typed(text, names) if isinstance(text, str) else ""


def _attachment(attachment: Json, names: Mapping[str, str]) -> Iterator[str]:
    """A legacy attachment: its parts in reading order; `fallback` only where it has no other text."""
    parts = [_typed(attachment.get(key), names) for key in ("pretext", "author_name", "title", "text")]
    parts += _blocks(attachment.get("blocks") or attachment.get("message_blocks"), names)
    for field in _dicts(attachment.get("fields")):
        title, value = _typed(field.get("title"), names), _typed(field.get("value"), names)
        parts.append(f"{title}: {value}" if title and value else title or value)
    if not any(part.strip() for part in parts):
        parts.append(_typed(attachment.get("fallback"), names))
    parts.append(_typed(attachment.get("footer"), names))
    yield from (part for part in parts if part.strip())


def _blocks(blocks: Any, names: Mapping[str, str]) -> Iterator[str]:
    for block in _dicts(blocks):
        match block.get("type"):
            case "rich_text":
                yield from (_rich(each, names, 0) for each in _dicts(block.get("elements")))
            case "section":
                yield _text_object(block.get("text"), names)
                yield from (_text_object(each, names) for each in _dicts(block.get("fields")))
            case "header" | "markdown":
                yield _text_object(block.get("text"), names)
            case "context":
                yield " ".join(_text_object(each, names) for each in _dicts(block.get("elements")))
            case "image" | "video":
                yield _text_object(block.get("title"), names) or str(block.get("alt_text") or "")
            case _:
                pass  # buttons and inputs say nothing by themselves


def _text_object(value: Any, names: Mapping[str, str]) -> str:
    """A text object, or a bare text. Only mrkdwn holds Slack's tokens; plain text is what it says."""
    if isinstance(value, str):
        return value
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        return ""
    return _typed(value["text"], names) if value.get("type") == "mrkdwn" else value["text"]


def _rich(element: Json, names: Mapping[str, str], depth: int) -> str:
    inner = _dicts(element.get("elements"))
    if inner and depth < MAX_DEPTH:
        apart = "\n" if element.get("type") == "rich_text_list" else ""
        return apart.join(_rich(each, names, depth + 1) for each in inner)
    match element.get("type"):
        case "text":
            return str(element.get("text") or "")
        case "link":
            url, label = str(element.get("url") or ""), str(element.get("text") or "")
            return f"{label} ({url})" if label and label != url else url
        case "user":
            return "@" + str(names.get(str(element.get("user_id"))) or element.get("user_id") or "")
        case "channel":
            return "#" + str(names.get(str(element.get("channel_id"))) or element.get("channel_id") or "")
        case "broadcast":
            return f"@{element.get('range') or ''}"
        case "emoji":
            return f":{element.get('name') or ''}:"
        case _:
            return ""


def _dicts(value: Any) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _elements(value: Any, depth: int) -> Iterator[Json]:
    for each in _dicts(value):
        yield each
        if depth < MAX_DEPTH:
            yield from _elements(each.get("elements"), depth + 1)


def _strings(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < MAX_DEPTH and isinstance(value, dict):
        for each in value.values():
            yield from _strings(each, depth + 1)
    elif depth < MAX_DEPTH and isinstance(value, list):
        for each in value:
            yield from _strings(each, depth + 1)
