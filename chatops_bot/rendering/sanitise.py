"""Model Markdown made safe to post.

Slack reads `<…>` tokens (mentions, broadcasts, links with a label) inside Markdown too, code included, so the rule is
that no token survives anywhere. In prose `<` and `>` become entities, which are shown as themselves and never read as
tokens. In code an entity would be shown as such, so there an invisible word joiner parts `<` from what follows, only
where a token could begin, and all other code stays byte for byte. It doesn't matter who is right about what is code.

A link lives when `links` allows its address; any other keeps its text, and its address is shown as code, which no client
makes a link of. An image becomes a link, for a client fetches an image without asking. Definitions of links are shown as
they were written. Where a reader may disagree about what is code, an address in it is broken: `https[:]//evil[.]example`.

Always apply this to the whole text so far: a token may be split over deltas, never over a text.
"""

import re
from functools import partial

from chatops_bot.domain.regex import regex
from chatops_bot.rendering.escapes import WORD_JOINER, shown
from chatops_bot.rendering.links import ADDRESS, NO_LINKS, Links, defanged, has_address
from chatops_bot.rendering.markdown import CODE_SPAN, regions

_URL = r"https?://[^\s<>|`\\\[\]]+"

_PROSE = regex(
    rf"(?P<joiner>\\?<{WORD_JOINER})"
    r"|(?P<angle_escaped>\\[<>])"
    r"|\\[!-/:-@\[-`{-~]"
    rf"|{CODE_SPAN}"
    r"|(?P<lone_ticks>`+)"
    r"|(?P<definition>\]:)"  # a definition of a link is swallowed by the reader
    r"|^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*>[ \t>]*"  # a quote mark stays what it is
    rf"|(?P<link>\]\()(?=https?://)(?=(?P<inline>{ADDRESS}))|\]\(<(?P<target>{_URL})>(?=\s*\))"
    r"|(?P<dead_link>\]\()"
    rf"|(?P<bang>!?)<(?P<url>{_URL})(?:\|(?P<label>[^<>\n`\\\[\]]*))?>"
    r"|(?P<image>!(?=\[(?:[^\[\]\\\n`!]|\\[^\n])+\]\())"
    r"|(?P<exclaimed>!(?=\[))"
    r"|(?P<angle>[<>])"
    rf"|(?P<address>{ADDRESS})",
    re.MULTILINE | re.IGNORECASE,
)

_TOKEN_IN_CODE = regex(r"<(?=[@#]|!(?!--|\[|doctype\b)|[a-z][a-z0-9+.-]*:[^\s<>|]*\|)", re.IGNORECASE)
_ENTITIES = {"<": "&lt;", ">": "&gt;"}
_LABEL_AT_LINE_START = regex(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*\[(?:[^\[\]\\]|\\.)*")
_LABEL_SPECIALS = regex(r"[*_~#!]")
_CERTAIN_FENCE = regex(r"(?: {0,3}> ?)* {0,3}`")


def sanitise(text: str, links: Links = NO_LINKS) -> str:
    """Markdown that looks as `text` does and holds no live token, and no image or link beside those that `links` allows.

    Idempotent; loses nothing visible.
    """
    return "".join(
        _code(region, links) if is_code else _prose(region, links) for is_code, region in regions(shown(text))
    )


def _prose(text: str, links: Links) -> str:
    return _PROSE.sub(partial(_safe, links=links, has_address=has_address(text)), text)


def _code(text: str, links: Links) -> str:
    """Fenced code. Not every reader knows tildes, or goes on with a list item's code in lines that are not indented; and
    what is indented by four is no fence."""
    is_certain = _CERTAIN_FENCE.match(text) is not None
    return _TOKEN_IN_CODE.sub(f"<{WORD_JOINER}", text if is_certain else defanged(text, links))


def _safe(match: re.Match[str], *, links: Links, has_address: bool) -> str:
    whole = match.group()
    if match["ticks"]:
        # A table ends its cells at a bar, in a code span too.
        span = defanged(whole, links) if "|" in whole else whole
        return _TOKEN_IN_CODE.sub(f"<{WORD_JOINER}", span)
    if match["lone_ticks"]:
        # In another line it may find a partner, and what stands between them and what does not would change places.
        return "".join(rf"\{tick}" for tick in whole) if has_address else whole
    if match["angle_escaped"]:
        return _ENTITIES[whole[1]]
    if match["definition"]:
        return r"]\:" if _may_define(match) else whole
    if match["link"]:
        return whole if links.allow(match["inline"]) else r"]\("
    if match["target"]:
        address = match["target"]
        return f"]({_in_parentheses(address)}" if links.allow(address) else rf"]\({_as_code(address, match)}"
    if match["dead_link"]:
        return r"]\("
    if match["url"]:
        return _link(match, links)
    if match["image"]:
        return r"\!" if _before(match) == "!" else ""
    if match["exclaimed"]:
        return r"\!"
    if match["joiner"]:
        return f"&lt;⟨U+{ord(WORD_JOINER):04X}⟩"
    if match["angle"]:
        return _ENTITIES[whole]
    if match["address"]:
        return whole if links.allow(whole) else _as_code(whole, match)
    return whole


def _may_define(match: re.Match[str]) -> bool:
    """Whether a reader may take what stands before `]:` for the label of a link's definition: it begins its line, or an earlier one."""
    before = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
    return "[" not in before or _LABEL_AT_LINE_START.fullmatch(before) is not None


def _as_code(address: str, match: re.Match[str]) -> str:
    """`address` as a code span that nothing beside it runs together with or takes the mark from."""
    apart = " " if _before(match) in ("`", "\\") else ""
    return f"{apart}`{address}`{' ' if match.string[match.end() : match.end() + 1] == '`' else ''}"


def _before(match: re.Match[str]) -> str:
    return match.string[match.start() - 1 : match.start()]


def _link(match: re.Match[str], links: Links) -> str:
    """A Markdown link, or the bare address where nothing follows that would run into it."""
    url, label = match["url"], _prose(_LABEL_SPECIALS.sub(r"\\\g<0>", (match["label"] or "").strip()), links)
    bang = r"\!" if match["bang"] else ""
    if not links.allow(url):
        # With what stands before it, a label could be an address.
        apart = " " if label and not bang and _before(match).strip() else ""
        return f"{bang}{apart}{label}{' ' if label else ''}{_as_code(url, match)}"
    is_apart = not (_before(match).strip() or match.string[match.end() : match.end() + 1].strip())
    if match["label"] is None and is_apart and not bang:
        return url
    text = label or _LABEL_SPECIALS.sub(r"\\\g<0>", url)
    return f"{bang}[{text}]({_in_parentheses(url)})"


def _in_parentheses(url: str) -> str:
    return url.replace("(", "%28").replace(")", "%29")
