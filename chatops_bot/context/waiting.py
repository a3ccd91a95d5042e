"""What waits for somebody and stands out of the model's sight: proposals and forms that nobody has answered."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chatops_bot.context.past import Past, Teller
from chatops_bot.context.prompt_phrases import filled
from chatops_bot.domain.canonical import object_of
from chatops_bot.domain.transcript import FormClosed, FormFilled, ProposalDecided, ToolReturned, UserSaid

TARGET_CHARS = 60


@dataclass(slots=True)
class _Waiting:
    """`code` is empty for a form; `is_gone` says whether its newest result is out of sight."""

    entry: ToolReturned
    content: Mapping[str, Any]
    code: str
    who: str
    is_gone: bool


def waiting(history: Past, teller: Teller, now: datetime) -> list[str]:
    """A line each, newest first. What waited until `now` or before is over."""
    asked: dict[str, str] = {}
    open_now: list[_Waiting] = []
    for place, entry in enumerate(history.entries):
        match entry:
            case UserSaid():
                asked[entry.turn_id] = entry.author_id
            case FormFilled():
                asked[entry.turn_id] = who = entry.author_id
                form = next(
                    (o for o in open_now if (o.entry.tool, o.who, o.code) == (entry.tool, who, "")), None
                )
                open_now = [one for one in open_now if one is not form]
            case FormClosed():
                key = (entry.tool, entry.turn_id, "")
                form = next((o for o in open_now if (o.entry.tool, o.entry.turn_id, o.code) == key), None)
                open_now = [one for one in open_now if one is not form]
            case ToolReturned() if entry.status == "waits":
                is_gone = place < history.upto or entry.call_id in history.calls
                open_now = _asked_again(open_now, entry, asked.get(entry.turn_id, ""), is_gone)
            case ProposalDecided():
                open_now = [one for one in open_now if one.code != entry.code]
    lines = dict.fromkeys(_line(one, teller, now) for one in reversed(open_now) if one.is_gone)
    return [line for line in lines if line]


def _asked_again(open_now: list[_Waiting], entry: ToolReturned, who: str, is_gone: bool) -> list[_Waiting]:
    """With one that waits from now on. A proposal that waited already stays that of who asked first; only a decision ends it, since
    two for one target may wait side by side. A newer form takes the place of those that asked the same person the same in an
    earlier turn."""
    content = object_of(entry.content)
    code = str(content.get("proposal") or "")
    if code:
        who = next((one.who for one in open_now if one.code == code), who)
        others = [one for one in open_now if one.code != code]
    else:
        others = [
            one
            for one in open_now
            if (one.code, one.entry.tool, one.who) != ("", entry.tool, who)
            or one.entry.turn_id == entry.turn_id
        ]
    return [*others, _Waiting(entry, content, code, who, is_gone)]


def _line(one: _Waiting, teller: Teller, now: datetime) -> str:
    """Empty for what ran out."""
    try:
        until = datetime.fromisoformat(str(one.content.get("expires_at")))
    except ValueError:
        return ""
    if until.tzinfo is None or until <= now:
        return ""
    words, tool = teller.words, teller.said(one.entry.tool, 64)
    who = f"@{one.who}" if one.who else "-"
    if code := teller.said(one.code, 12):
        what = f"{code} {tool} {teller.quoted(str(one.content.get('target') or ''), TARGET_CHARS)}"
        return filled(words.waits, what=what, until=teller.at(until), who=who)
    return filled(words.form_waits, tool=tool, until=teller.at(until), who=who)
