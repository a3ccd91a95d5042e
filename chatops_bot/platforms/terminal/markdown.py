"""Markdown for a terminal: nearly as it was written, since Markdown is made to be read; wrapped, and tables lined up.

Two functions carry the growth of an answer. `settled` cuts what of a text that still streams will certainly stay;
`markdown_text` renders so that the text of a longer settled source begins with the text of the shorter one. A screen can
then print what is new behind what stands there.
"""

import re
from collections.abc import Iterator, Sequence

from chatops_bot.platforms.terminal.letters import BOLD, CYAN, Look, columns, harmless, is_wide, wrapped
from chatops_bot.rendering.escapes import WORD_JOINER
from chatops_bot.rendering.markdown import CODE_SPAN, after_line, open_fence

_ENTITIES = {"&lt;": "<", "&gt;": ">"}
_WRAPPED_SPAN = CODE_SPAN.replace(r"[^`\n]", "[^`]")
"""A code span of one line of the source, which wrapping may have parted."""
_INLINE = re.compile(
    rf"(?P<code>{_WRAPPED_SPAN})|(?P<escaped>\\[!-/:-@\[-`{{-~])|(?P<entity>&lt;|&gt;)|\*\*(?P<bold>[^\s*](?:[^*]*[^\s*])?)\*\*",
)
_MARKS = re.compile(rf"{_INLINE.pattern}|(?P<open>`|\*\*)")
_LIST_ITEM = re.compile(r" *(?:[-*+]|\d{1,9}[.)]|>) +")
_HEADING = re.compile(r" {0,3}#{1,6} +\S")
_WHOLE_ONLY = re.compile(r"\s*[|#]|[-*+>\d.) \t]*\Z|.*(?:`{3}|~{3})")
"""Lines that are printed when the next one has begun: of tables and headings, and those that are or may become a fence."""
_DELIMITERS = re.compile(r"\s*+\|?\s*+:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*+\|?\s*+")
_CELL_END = re.compile(r"(?<!\\)\|")


def markdown_text(source: str, look: Look) -> str:
    """The source, harmless, as lines for a terminal of this look."""
    return "\n".join(_rendered(harmless(source).split("\n"), look))


def settled(source: str) -> str:
    """The beginning of a text that still streams (and may be closed for the moment) which further text does not change."""
    head, _, last = source.rpartition("\n")
    if open_fence(source) is None and _is_fence(last) and open_fence(head) is not None:
        source = head  # closed for the moment, most likely
    source = _without_last_word(source)
    if open_fence(source) is not None:
        return source.rpartition("\n")[0]  # code grows by whole lines
    lines = source.rstrip().split("\n")
    while lines:
        closed = _before_open_mark(lines[-1])
        if _WHOLE_ONLY.match(lines[-1]) or _WHOLE_ONLY.match(closed):
            lines.pop()
        elif closed != lines[-1]:
            lines[-1] = closed
        else:
            break
    return "\n".join(lines).rstrip()


def _without_last_word(text: str) -> str:
    end = len(text)
    while end and not text[end - 1].isspace() and not is_wide(text[end - 1]):
        end -= 1
    return text[:end]


def _is_fence(line: str) -> bool:
    run = line.strip(" >")
    return len(run) >= 3 and set(run) in ({"`"}, {"~"})


def _before_open_mark(line: str) -> str:
    """`line` up to the first mark that opens something which is not closed yet."""
    opened = next((match for match in _MARKS.finditer(line) if match["open"]), None)
    return line if opened is None else _without_last_word(line[: opened.start()])


def _rendered(lines: Sequence[str], look: Look) -> Iterator[str]:
    fence, at = None, 0
    while at < len(lines):
        line = lines[at]
        closes = fence is not None and fence.holds(line)
        fence = after_line(fence, line)
        if closes or fence is not None:
            yield look.paint(line.replace(f"<{WORD_JOINER}", "<"), CYAN)
            at += 1
            continue
        table = _table_at(lines, at)
        if table:
            yield from _table(table, look)
            at += len(table)
            continue
        yield from _prose(line, look)
        at += 1


def _prose(line: str, look: Look) -> Iterator[str]:
    item = _LIST_ITEM.match(line)
    text = "\n".join(wrapped(line, look.width, hang=len(item.group()) if item else 0))
    if _HEADING.match(line):
        text = "\n".join(look.paint(part, BOLD) for part in _inline(text, Look()).split("\n"))
    else:
        text = _inline(text, look)
    yield from text.split("\n")


def _inline(text: str, look: Look) -> str:
    def shown_as(match: re.Match[str]) -> str:
        if match["code"]:
            return look.paint(match["code"].replace(f"<{WORD_JOINER}", "<"), CYAN)
        if match["escaped"]:
            return match["escaped"][1]
        if match["entity"]:
            return _ENTITIES[match["entity"]]
        inner = _inline(match["bold"], Look())
        return look.paint(inner, BOLD) if look.has_colour else f"**{inner}**"

    return _INLINE.sub(shown_as, text)


def _table_at(lines: Sequence[str], at: int) -> Sequence[str]:
    """The lines of the table that begins here; none when there is no table."""
    if at + 1 >= len(lines) or "|" not in lines[at] or not lines[at].lstrip().startswith("|"):
        return ()
    if not ("-" in lines[at + 1] and _DELIMITERS.fullmatch(lines[at + 1])):
        return ()
    end = at + 2
    while end < len(lines) and lines[end].lstrip().startswith("|"):
        end += 1
    return lines[at:end]


def _table(lines: Sequence[str], look: Look) -> Iterator[str]:
    """Columns lined up where they fit; else each row as a small list of `heading: value`."""
    head, *rows = ([_inline(cell, Look()) for cell in _cells(line)] for line in (lines[0], *lines[2:]))
    rows = [[*row[: len(head)], *[""] * (len(head) - len(row))] for row in rows]
    widths = [max(columns(row[number]) for row in (head, *rows)) for number in range(len(head))]
    if look.width is None or sum(widths) + 2 * (len(widths) - 1) <= look.width:
        yield look.paint(_row(head, widths), BOLD)
        yield "  ".join("─" * width for width in widths)
        yield from (_row(row, widths) for row in rows)
        return
    for row in rows:
        for number, (name, value) in enumerate(zip(head, row, strict=True)):
            lead = "- " if number == 0 else "  "
            yield from wrapped(f"{lead}{name}: {value}", look.width, hang=4)


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip() for cell in _CELL_END.split(inner)]


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell + " " * (width - columns(cell)) for cell, width in zip(cells, widths, strict=True))
    return "  ".join(padded).rstrip()
