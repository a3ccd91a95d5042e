"""A model's reasoning on its way in: told apart from the text, and put together so that it can go back unchanged.

Providers send it in three ways, often two at once: as a text field of its own, as a list of blocks of which some are signed
or encrypted, or inside the text between tags. Pure: pieces in, pieces and one `Reasoning` out.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from chatops_bot.domain.model import Reasoning

TAGS = ("think", "thinking", "thought")
"""Tags around reasoning inside the text, as open-weight models (`think`) and Gemini's compatible endpoint (`thought`) write them."""

_OPENINGS = tuple(f"<{tag}>" for tag in TAGS)

_CLOSINGS = tuple(f"</{tag}>" for tag in TAGS)
_CLOSING = re.compile("|".join(_CLOSINGS))
_LONGEST_TAG = max(map(len, _CLOSINGS))

_EMPTY_LINE = "\n\n"

_JUDGED = 8
"""So many closing tags of an answer are looked at: who writes more of them writes about tags."""

_BLANKS = 64
"""More blanks than this at the start of an answer, and it is text: what is held back, and looked at again, stays small."""

BLOCK_FIELDS = ("reasoning_details", "thinking_blocks")
"""Lists of blocks: OpenRouter's, and LiteLLM's for Anthropic models."""

_GROWING = frozenset({"text", "summary", "thinking"})
"""Keys of a block whose values come in pieces. Everything else in a block comes whole."""


class ThinkSplitter:
    """Splits reasoning in tags off the very start of an answer; tags anywhere later are text.

    `raw` is what was split off, tags and the line breaks behind them included, so that `raw` and the text together are
    what the model wrote. `settled` means that all that follows is text.
    """

    def __init__(self, closing: str = "") -> None:
        """`closing` is the tag that ends the thought of an answer which begins inside one. Without that tag it had none."""
        self.settled = False
        self._raw: list[str] = []
        self._closing = closing
        self._begins_inside = bool(closing)
        self._closed = False
        self._held = ""

    @property
    def raw(self) -> str:
        return "".join(self._raw)

    def feed(self, text: str) -> tuple[str, str]:
        """The next piece of content, as (reasoning, text); what could still become a tag is held back."""
        if self.settled:
            return "", text
        held, self._held = self._held + text, ""
        if not self._closing:
            return self._begin(held)
        return self._after(held) if self._closed else self._inside(held)

    def close(self) -> tuple[str, str]:
        """What was held back when the answer ended. A tag that was never closed leaves all behind it as reasoning."""
        held, self._held, self.settled = self._held, "", True
        if not self._closing:
            return "", held
        if self._begins_inside and not self._closed:
            text = self.raw + held
            self._raw.clear()
            return "", text
        self._raw.append(held)
        return held, ""

    def _begin(self, held: str) -> tuple[str, str]:
        begun = held.lstrip()
        blanks = len(held) - len(begun)
        openings = _OPENINGS if blanks <= _BLANKS else ()
        for opening in openings:
            if begun.startswith(opening):
                self._closing = f"</{opening[1:]}"
                at = blanks + len(opening)
                self._raw.append(held[:at])
                return self._inside(held[at:])
        if any(opening.startswith(begun) for opening in openings):
            self._held = held
            return "", ""
        self.settled = True
        return "", held

    def _inside(self, held: str) -> tuple[str, str]:
        thought, closing, rest = held.partition(self._closing)
        if not closing:
            keep = next(
                size for size in range(len(self._closing) - 1, -1, -1) if held.endswith(self._closing[:size])
            )
            thought, self._held = held[: len(held) - keep], held[len(held) - keep :]
            self._raw.append(thought)
            return thought, ""
        self._raw.append(thought + closing)
        self._closed = True
        return thought, self._after(rest)[1]

    def _after(self, rest: str) -> tuple[str, str]:
        text = rest.lstrip("\r\n")
        self._raw.append(rest[: len(rest) - len(text)])
        self.settled = bool(text)
        return "", text


class StrayEnd:
    """Finds the end of a thought that had no beginning: templates of Qwen, DeepSeek and others open the tag themselves, so that a
    server which does not know the model sends the thought as text and the closing tag behind it.

    The tag counts alone on its line with an empty line behind it, as those models write it, outside of code, and with no opening
    before it. `raw` is then the thought with its tag and the line breaks behind it, `closing` the tag.
    """

    def __init__(self) -> None:
        self.raw = ""
        self.closing = ""
        self._before: list[str] = []
        self._held = ""
        self._at_line_start = True
        self._judged = 0
        self._skips = False

    def feed(self, text: str) -> tuple[bool, str]:
        """The next piece of text: whether the thought ended in it, and what of it is not known to be one."""
        if self.raw:
            return False, self._after(text)
        if self._judged == _JUDGED:
            return False, text
        if not self._held and "<" not in text:
            self._let_go(text)
            return False, text
        held, self._held = self._held + text, ""
        begin = 0
        while found := _CLOSING.search(held, begin):
            if self._begins_line(held[: found.start()]):
                behind = held[found.end() :]
                if _EMPTY_LINE.startswith(behind.replace("\r", "")) and len(behind) < 4:
                    break  # what follows decides
                self._judged += 1
                if behind.replace("\r", "").startswith(_EMPTY_LINE) and self._is_plain(held[: found.start()]):
                    return True, self._end(held, found)
            begin = found.end()
            if self._judged == _JUDGED:
                return False, held
        keep = found.start() if found else _half_tag(held)
        self._held = held[keep:]
        self._let_go(held[:keep])
        return False, held[:keep]

    def close(self) -> str:
        """What was held back when the text ended."""
        held, self._held = self._held, ""
        return held

    def _end(self, held: str, found: re.Match[str]) -> str:
        self.closing = found[0]
        self.raw = "".join(self._before) + held[: found.end()]
        self._before.clear()
        self._skips = True
        return self._after(held[found.end() :])

    def _after(self, text: str) -> str:
        if not self._skips:
            return text
        rest = text.lstrip("\r\n")
        self.raw += text[: len(text) - len(rest)]
        self._skips = not rest
        return rest

    def _is_plain(self, held: str) -> bool:
        """Whether a tag behind all this stands outside of code, with no opening before it."""
        before = "".join(self._before) + held
        return before.count("```") % 2 == 0 and not any(opening in before for opening in _OPENINGS)

    def _begins_line(self, text: str) -> bool:
        """Whether nothing but blanks stands in the line that `text` goes on with."""
        _, ended, line = text.rpartition("\n")
        return not line.strip() and (bool(ended) or self._at_line_start)

    def _let_go(self, text: str) -> None:
        self._at_line_start = self._begins_line(text)
        self._before.append(text)


def _half_tag(text: str) -> int:
    """Where in `text` its tail begins that may become a closing tag; its length where there is none."""
    at = text.rfind("<", max(0, len(text) - _LONGEST_TAG))
    return at if at >= 0 and any(tag.startswith(text[at:]) for tag in _CLOSINGS) else len(text)


class ReasoningMerger:
    """Puts the pieces of one answer's reasoning together. The field that comes first is the one that it goes back in."""

    def __init__(self) -> None:
        self._field = ""
        self._texts: list[str] = []
        self._blocks: dict[str, list[dict[str, Any]]] = {}
        self._whole: dict[str, Any] = {}

    def add_text(self, field: str, text: str) -> None:
        if not self._field or (text and not any(self._texts)):
            self._field = field
        if field == self._field:
            self._texts.append(text)

    def add_blocks(self, field: str, blocks: object) -> None:
        """Pieces of a list of blocks. A piece belongs to the block of its index and type; without an index it goes on with
        the last block of its type, unless that one is signed already."""
        merged = self._blocks.setdefault(field, [])
        for piece in blocks if isinstance(blocks, list) else [blocks]:
            if not isinstance(piece, dict):
                continue
            block = _block_of(piece, merged)
            if block is None:
                merged.append(dict(piece))
            else:
                _grow(block, piece)

    def add_whole(self, field: str, value: object) -> None:
        """A field that comes in one piece; objects under one name are joined."""
        known = self._whole.get(field)
        both = isinstance(known, dict) and isinstance(value, dict)
        self._whole[field] = {**known, **value} if both else value  # type: ignore[dict-item]  # both are dicts

    def merged(self, tagged: str) -> Reasoning:
        """All of it. `tagged` is what was split off the text; it counts where no field held reasoning."""
        text = "".join(self._texts)
        if tagged and not text:
            return Reasoning(tagged, "content", self._opaque())
        return Reasoning(text, self._field, self._opaque())

    def _opaque(self) -> str:
        fields: Mapping[str, Any] = {
            **{field: _in_order(blocks) for field, blocks in self._blocks.items()},
            **self._whole,
        }
        return json.dumps(fields, ensure_ascii=False) if fields else ""


def _block_of(piece: dict[str, Any], merged: list[dict[str, Any]]) -> dict[str, Any] | None:
    kind, index = piece.get("type"), piece.get("index")
    if index is not None:
        same = (block for block in merged if block.get("index") == index)
        return next((block for block in same if kind is None or block.get("type") == kind), None)
    last = merged[-1] if merged else {}
    goes_on = (
        last.get("type") == kind
        and "index" not in last
        and bool(_GROWING & piece.keys() or "signature" in piece)
    )
    return last if goes_on and _GROWING & last.keys() and not last.get("signature") else None


def _grow(block: dict[str, Any], piece: dict[str, Any]) -> None:
    for key, value in piece.items():
        if key in _GROWING and isinstance(value, str) and isinstance(block.get(key), str):
            block[key] += value
        elif value is not None or key not in block:
            block[key] = value


def _in_order(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By index where every block has one, else as they came."""
    if all(isinstance(block.get("index"), int) for block in blocks):
        return sorted(blocks, key=lambda block: int(block["index"]))
    return blocks
