"""A half-streamed Markdown text, closed for the moment.

While an answer streams, a fence, a code span or bold text may be open at its end, and the reader would see the rest of
the message in the wrong dress. `heal` closes them for an interim edit; the final text never passes through here.
A marker that has nothing behind it yet is held back.
"""

import re

from chatops_bot.rendering.markdown import CODE_SPAN, PARAGRAPH_END, open_fence, regions

_INLINE = re.compile(rf"\\.|{CODE_SPAN}|(?P<open_ticks>`+)|(?P<stars>\*{{2,}})", re.DOTALL)
_LONE_MARKER = re.compile(r"\n[ \t]*(?:[-=+]+|\d+[.)])[ \t]*\Z")
"""The beginning of a list item, or what would for a moment make a heading of the line above."""


def heal(text: str) -> str:
    """`text` with what is open at its end closed. A text in which nothing is open comes back as it is."""
    fence = open_fence(text)
    if fence is None:
        return _heal_inline(text)
    before, line_end, last_line = text.rpartition("\n")
    if open_fence(before) is None:
        return _heal_inline(before + line_end)  # the opening line itself is still growing
    run = last_line.strip(" \t>")
    if run and run == fence.marker[0] * len(run):
        text = before  # the closing line is still growing
    return text + ("" if text.endswith("\n") else "\n") + fence.closing


def _heal_inline(text: str) -> str:
    if lone := _LONE_MARKER.search(text):
        text = text[: lone.start()]
    start = _last_paragraph(text)
    bold_at, bold = -1, ""
    for match in _INLINE.finditer(text, start):
        if ticks := match["open_ticks"]:
            if not text[match.end() :].strip():
                text = text[: match.start()]
            else:
                text = text.rstrip() + (" " if text.rstrip().endswith("`") else "") + ticks
            break
        if stars := match["stars"]:
            follows, leads = text[match.end() :][:1], text[: match.start()][-1:]
            if bold and leads.strip():
                bold_at, bold = -1, ""
            elif not bold and not follows.isspace():
                bold_at, bold = match.start(), stars
    if not bold:
        return text
    if not text[bold_at + len(bold) :].strip(" *"):
        return text[:bold_at]
    return text.rstrip(" *\n\t") + bold


def _last_paragraph(text: str) -> int:
    """Where the last paragraph outside fences begins."""
    *_, (is_code, last) = list(regions(text)) or [(False, "")]
    if is_code:
        return len(text)
    breaks = [match.end() for match in PARAGRAPH_END.finditer(last)]
    return len(text) - len(last) + (breaks[-1] if breaks else 0)
