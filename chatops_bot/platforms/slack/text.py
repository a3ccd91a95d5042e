"""Slack's text format, both ways.

Going out, exactly `&`, `<` and `>` are escaped, once, so that no `<...>` in somebody's text becomes a token of Slack's.
Coming in, one pass over the text undoes those three entities and turns tokens into what a person would have typed. One
pass matters: what a token or an entity turns into is never read again.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping

from chatops_bot.domain.regex import regex

_ENTITIES = {"amp": "&", "lt": "<", "gt": ">"}
_TOKEN_OR_ENTITY = regex(r"<(?P<token>[^<>\n]+)>|&(?P<entity>amp|lt|gt);")
_USER_TOKEN = regex(r"<@([UW][A-Z0-9]+)(?:\|[^<>\n]*)?>")
_CHANNEL_TOKEN = regex(r"<#([CG][A-Z0-9]+)(?:\|[^<>\n]*)?>")
_CALLS = regex(r"@|!(?:subteam\^|here|channel|everyone)")
_LONE_SURROGATE = regex("[\ud800-\udfff]")
_BLANK = ("Cc", "Zs", "Zl", "Zp")
"""Unicode categories of controls and white space."""
_INVISIBLE = regex("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""What reorders or hides the text around it. The joiners stay: emoji and several scripts are written with them."""
NAME_CHARS = 80
"""As much of a name as is shown: as long as Slack lets a display name be."""
_ZERO_WIDTH_JOINER = "\u200d"
_ELLIPSIS = "…"


def escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def clean(text: str) -> str:
    """`text` without what no JSON or UTF-8 can carry to Slack: NUL and halves of surrogate pairs."""
    return _LONE_SURROGATE.sub("\ufffd", text.replace("\x00", ""))


def escape_within(text: str, most: int, size: Callable[[str], int] = len) -> str:
    """`text` escaped and, where its escaped form is larger than `most`, cut with an ellipsis.

    Never cuts inside an entity or inside a character that is made of several code points.
    """
    text = clean(text)
    escaped = escape(text)
    if size(escaped) <= most:
        return escaped
    room = most - size(_ELLIPSIS)
    end = 0
    for character in text:
        room -= size(escape(character))
        if room < 0:
            break
        end += 1
    while 0 < end < len(text) and _joined(text[end - 1], text[end]):
        end -= 1
    return escape(text[:end]) + _ELLIPSIS


def utf8_size(text: str) -> int:
    return len(text.encode())


def mentioned_users(text: str) -> set[str]:
    return set(_USER_TOKEN.findall(text))


def mentioned_channels(text: str) -> set[str]:
    return set(_CHANNEL_TOKEN.findall(text))


def names_typed(text: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """The names that `as_typed` puts in for the tokens of people, groups (with their @) and channels (with their #)."""
    tokens = (match["token"] for match in _TOKEN_OR_ENTITY.finditer(text) if match["token"])
    return tuple(_token_as_typed(token, names) for token in tokens if _CALLS.match(token) or token[0] == "#")


def calls_somebody(text: str) -> bool:
    """Whether `text` mentions a person or a group; `@here` is one."""
    return any(_CALLS.match(match["token"] or "") for match in _TOKEN_OR_ENTITY.finditer(text))


def without_mentions_of(text: str, user_id: str) -> str:
    """`text` without mentions of one user; a mention that opens the text takes its comma or colon along."""
    token = rf"<@{re.escape(user_id)}(?:\|[^<>\n]*)?>"
    text = re.sub(rf"\A\s*(?:{token}[ \t]*)+[,:，：]?", "", text)
    return re.sub(rf"{token}[ \t]*", "", text).strip()


def name_on_one_line(name: str) -> str:
    """`name`, which its bearer chose freely, as one line that can stand inside somebody else's text."""
    visible = _INVISIBLE.sub("", name)
    spaced = "".join(" " if unicodedata.category(each) in _BLANK else each for each in visible)
    line = " ".join(spaced.split())
    return line if len(line) <= NAME_CHARS else line[: NAME_CHARS - 1] + _ELLIPSIS


def as_typed(text: str, names: Mapping[str, str]) -> str:
    """Slack's `text` as a person would have typed it. `names` maps ids of users and channels to their names."""

    def replaced(match: re.Match[str]) -> str:
        entity = match["entity"]
        return _ENTITIES[entity] if entity else _token_as_typed(match["token"], names)

    return _TOKEN_OR_ENTITY.sub(replaced, text)


def _token_as_typed(token: str, names: Mapping[str, str]) -> str:
    target, _, label = (_unescape(part) for part in token.partition("|"))
    kind, name = target[:1], target[1:]
    if kind in "@#":
        return kind + (name_on_one_line(names.get(name, "")) or name_on_one_line(label) or name)
    if kind == "!":
        if name.startswith("subteam^"):
            return label or "@" + name.removeprefix("subteam^")
        return label or "@" + name
    if not label or target.removesuffix("/").endswith(label.removesuffix("/")):
        # Slack made the link itself, out of what was typed: "example.com", "me@example.com".
        return label or target
    return f"{label} ({target})"


def _unescape(text: str) -> str:
    return re.sub(r"&(amp|lt|gt);", lambda match: _ENTITIES[match[1]], text)


def _joined(before: str, after: str) -> bool:
    """Whether two neighbouring code points belong to one visible character."""
    return _ZERO_WIDTH_JOINER in (before, after) or unicodedata.category(after) in ("Mn", "Me", "Mc", "Sk")
