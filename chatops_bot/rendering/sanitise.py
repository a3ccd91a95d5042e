"""Model Markdown made safe to post.

Slack reads `<…>` tokens (mentions, broadcasts, links with a label) inside Markdown too, code included, so the rule is
that no token survives anywhere. In prose `<` and `>` become entities, which are shown as themselves and never read as
tokens. In code an entity would be shown as such, so there an invisible word joiner parts `<` from what follows, only
where a token could begin, and all other code stays byte for byte. It doesn't matter who is right about what is code.

In what the line scanner of `markdown` takes for prose, a link keeps its text, and lives when it goes to http or https;
any other is shown as it was written, and so is a link's definition. An image becomes a link, for a client fetches an
image without asking.

Always apply this to the whole text so far: a token may be split over deltas, never over a text.
"""

import re

from chatops_bot.rendering.escapes import WORD_JOINER, shown
from chatops_bot.rendering.markdown import CODE_SPAN, regions

_URL = r"https?://[^\s<>|`\\\[\]]+"

_PROSE = re.compile(
    rf"(?P<joiner>\\?<{WORD_JOINER})"
    r"|(?P<angle_escaped>\\[<>])"
    r"|\\[^\n]"
    rf"|{CODE_SPAN}"
    r"|`+"
    r"|(?P<definition>\]:)"  # a definition of a link is swallowed by the reader
    r"|^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*>[ \t>]*"  # a quote mark stays what it is
    rf"|\]\((?=https?://)|\]\(<(?P<target>{_URL})>"
    r"|(?P<dead_link>\]\()"
    rf"|(?P<bang>!?)<(?P<url>{_URL})(?:\|(?P<label>[^<>\n`\\\[\]]*))?>"
    r"|(?P<image>!(?=\[(?:[^\[\]\\\n`!]|\\[^\n])+\]\())"
    r"|(?P<exclaimed>!(?=\[))"
    r"|(?P<angle>[<>])",
    re.MULTILINE | re.IGNORECASE,
)

_TOKEN_IN_CODE = re.compile(r"<(?=[@#]|!(?!--|\[|doctype\b)|[a-z][a-z0-9+.-]*:[^\s<>|]*\|)", re.IGNORECASE)
_ENTITIES = {"<": "&lt;", ">": "&gt;"}
_LABEL_AT_LINE_START = re.compile(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*\[(?:[^\[\]\\]|\\.)*")
_LABEL_SPECIALS = re.compile(r"[*_~#!]")


def sanitise(text: str) -> str:
    """Markdown that looks as `text` does and holds no live token, and in prose no image or odd link.

    Idempotent; loses nothing visible.
    """
    return "".join(
        _TOKEN_IN_CODE.sub(f"<{WORD_JOINER}", region) if is_code else _PROSE.sub(_safe, region)
        for is_code, region in regions(shown(text))
    )


def _safe(match: re.Match[str]) -> str:
    whole = match.group()
    if match["ticks"]:
        return _TOKEN_IN_CODE.sub(f"<{WORD_JOINER}", whole)
    if match["angle_escaped"]:
        return _ENTITIES[whole[1]]
    if match["definition"]:
        return r"]\:" if _may_define(match) else whole
    if match["target"]:
        return f"]({_in_parentheses(match['target'])}"
    if match["dead_link"]:
        return r"]\("
    if match["url"]:
        return _link(match)
    if match["image"]:
        follows_mark = match.string[match.start() - 1 : match.start()] == "!"
        return r"\!" if follows_mark else ""
    if match["exclaimed"]:
        return r"\!"
    if match["joiner"]:
        return f"&lt;⟨U+{ord(WORD_JOINER):04X}⟩"
    if match["angle"]:
        return _ENTITIES[whole]
    return whole


def _may_define(match: re.Match[str]) -> bool:
    """Whether a reader may take what stands before `]:` for the label of a link's definition: it begins its line, or an earlier one."""
    before = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
    return "[" not in before or _LABEL_AT_LINE_START.fullmatch(before) is not None


def _link(match: re.Match[str]) -> str:
    """A Markdown link, or the bare address where nothing follows that would run into it."""
    url, label = match["url"], match["label"]
    bang = r"\!" if match["bang"] else ""
    at_end = match.end() == len(match.string) or match.string[match.end()].isspace()
    if label is None and at_end and not bang:
        return url
    text = _LABEL_SPECIALS.sub(r"\\\g<0>", label.strip() if label and label.strip() else url)
    return f"{bang}[{text}]({_in_parentheses(url)})"


def _in_parentheses(url: str) -> str:
    return url.replace("(", "%28").replace(")", "%29")
