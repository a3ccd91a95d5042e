"""What a person types becomes message text, as Slack's own client does it.

`&`, `<`, `>` are escaped; `@opsbot` and `#incidents` become `<@U...>` and `<#C...>`; bare URLs become `<https://...>`.
Nothing but the escaping happens inside code. A token of a known user or channel that is typed literally is kept.
"""

import re
from collections.abc import Mapping

_PIECE = re.compile(
    r"(?P<code>```.*?```|`[^`\n]+`)"
    r"|(?P<token><[@#][A-Z0-9]+>)"
    r"|(?P<url>https?://[^\s<>`]*[^\s<>`.,;:!?)\]}'\"，。；：！？）])"
    r"|(?<![\w/.+@#-])(?P<name>[@#][\w-]+)",
    re.DOTALL,
)


def compose(typed: str, handles: Mapping[str, str]) -> str:
    """`handles` maps `@name` and `#name` to the token each stands for, e.g. `@opsbot` to `<@U012>`."""
    known, pieces, end = set(handles.values()), [], 0
    for match in _PIECE.finditer(typed):
        pieces.append(_escape(typed[end : match.start()]))
        text = match.group()
        if match.lastgroup == "url":
            pieces.append(f"<{_escape(text)}>")
        elif match.lastgroup == "name":
            pieces.append(handles.get(text.lower(), _escape(text)))
        elif match.lastgroup == "token" and text in known:
            pieces.append(text)
        else:
            pieces.append(_escape(text))
        end = match.end()
    return "".join([*pieces, _escape(typed[end:])])


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
