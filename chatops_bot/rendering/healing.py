"""A half-streamed Markdown text, closed for the moment.

While an answer streams, a fence, a code span or bold text may be open at its end, and the reader would see the rest of
the message in the wrong dress. `heal` closes them for an interim edit; the final text never passes through here.
A marker that has nothing behind it yet is held back. Inline marks are looked for in the last line only: where the line
before it has left one open, only the rest of its paragraph could tell what that means.
"""

import re

from chatops_bot.rendering.markdown import CODE_SPAN, after_line, open_fence

_INLINE = re.compile(rf"\\.|{CODE_SPAN}|(?P<open_ticks>`+)|(?P<stars>\*{{2,}})")
_LONE_MARKER = re.compile(r"[ \t]*+(?:[-=+]++|\d++[.)])[ \t]*+")
"""The beginning of a list item, or what would for a moment make a heading of the line above."""


def heal(text: str) -> str:
    """`text` with what is open at its end closed. A text in which nothing is open comes back as it is."""
    while (closed := _close(text)) != text:
        text = closed
    return text


def _close(text: str) -> str:
    """One look at the end of `text`. What is taken off may leave something else open in front of it."""
    if open_fence(text) is None and (end := _before_lone_markers(text)) < len(text):
        return text[:end]
    before, line_end, last_line = text.rpartition("\n")
    fence_before = open_fence(before)
    fence = after_line(fence_before, last_line)
    if fence is None:
        is_end = fence_before is not None and fence_before.holds(last_line)
        return text if is_end else before + line_end + _heal_line(last_line)
    if fence is not fence_before:
        return before + line_end  # the opening line itself is still growing
    run = last_line.strip(" \t>")
    if run and run == fence.marker[0] * len(run):
        text = before  # the closing line is still growing
    return text + ("" if text.endswith("\n") else "\n") + fence.closing


def _before_lone_markers(text: str) -> int:
    """Where the lines begin that end `text` and are a lone marker each; its length where there are none."""
    end = len(text)
    while (line_end := text.rfind("\n", 0, end)) >= 0 and _LONE_MARKER.fullmatch(text, line_end + 1, end):
        end = line_end
    return end


def _heal_line(line: str) -> str:
    bold_at, bold = -1, ""
    for match in _INLINE.finditer(line):
        if ticks := match["open_ticks"]:
            if not line[match.end() :].strip():
                line = line[: match.start()]
            else:
                line = line.rstrip() + (" " if line.rstrip().endswith("`") else "") + ticks
            break
        if stars := match["stars"]:
            at, end = match.span()
            follows, leads = line[end : end + 1], line[max(0, at - 1) : at]
            if bold and leads.strip():
                bold_at, bold = -1, ""
            elif not bold and not follows.isspace():
                bold_at, bold = match.start(), stars
    if not bold:
        return line
    if not line[bold_at + len(bold) :].strip(" *"):
        return line[:bold_at]
    return line.rstrip(" *\t") + bold
