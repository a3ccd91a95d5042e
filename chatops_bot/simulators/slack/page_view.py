"""A stored Slack message as the page shows it: the same JSON with safe `html` beside every text.

A pure function of its arguments; it imports nothing of the workspace.
"""

import html
from collections.abc import Mapping
from typing import Any


def page_message(message: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The message with `edited: bool`, `html` for its text, and `html` in each text object of its blocks.

    `names` maps user ids and channel ids to display names. The input is left unchanged.
    """
    shown = dict(message)
    shown["edited"] = bool(message.get("edited"))
    shown["html"] = _html(str(message.get("text") or ""), names)
    if message.get("blocks"):
        shown["blocks"] = _annotated(message["blocks"], names)
    return shown


def _annotated(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_annotated(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    annotated = {key: _annotated(item, names) for key, item in value.items()}
    if value.get("type") in ("mrkdwn", "plain_text", "markdown") and isinstance(value.get("text"), str):
        annotated["html"] = _html(value["text"], names)
    return annotated


def _html(text: str, names: Mapping[str, str]) -> str:
    for user_or_channel, name in names.items():
        text = text.replace(f"<@{user_or_channel}>", f"@{name}").replace(f"<#{user_or_channel}>", f"#{name}")
    return html.escape(text).replace("\n", "<br>")
