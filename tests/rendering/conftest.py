"""Views as text, and the golden texts that they are compared with."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from chatops_bot.domain.view import (
    Block,
    Buttons,
    Code,
    Facts,
    Heading,
    Lines,
    Markdown,
    Mention,
    Notice,
    Select,
    TextInput,
    View,
)

_GOLDEN = Path(__file__).parent / "golden"


def _beside(block: Select | TextInput) -> str:
    return f"{' (optional)' if block.is_optional else ''}{f' | {block.hint}' if block.hint else ''}"


def _drawn(block: Block) -> str:
    match block:
        case Markdown(text):
            return f"[markdown]\n{text}"
        case Heading(text):
            return f"[heading] {text}"
        case Lines(lines):
            return "\n".join(("[lines]", *(f"  {line}" for line in lines)))
        case Notice(text, tone):
            return f"[notice {tone}] {text}"
        case Facts(facts):
            return "\n".join(("[facts]", *(f"  {fact.label}: {fact.value}" for fact in facts)))
        case Code(text, label):
            return f"[code] {label}\n{text}"
        case Mention(person_ids, text):
            return f"[mention {' '.join(person_ids)}] {text}"
        case Select():
            kind = "choose some" if block.is_multi else "choose one"
            options = (
                f"  {'*' if option.value in block.chosen else '-'} {option.label} {option.detail}".rstrip()
                for option in block.options
            )
            return "\n".join((f"[{kind}] {block.label}{_beside(block)}", *options))
        case TextInput():
            size = "long text" if block.is_multiline else "text"
            return f"[{size}] {block.label}{_beside(block)}\n  {block.text!r}"
        case Buttons(buttons):
            drawn = [
                f"  {button.label} ({button.style}) {button.control}={button.value}"
                + (f"\n    confirm: {button.confirm}" if button.confirm else "")
                for button in buttons
            ]
            return "\n".join(("[buttons]", *drawn))


@pytest.fixture
def draw() -> Callable[[View], str]:
    """A view as readable text that holds everything in it."""
    return lambda view: "\n".join((*map(_drawn, view.blocks), f"[fallback] {view.fallback}")) + "\n"


@pytest.fixture
def golden(draw: Callable[[View], str]) -> Callable[..., None]:
    """Compares views with the stored text of that name; `GOLDEN=write` stores what is drawn, to be read in the diff."""

    def check(name: str, *views: View) -> None:
        path = _GOLDEN / f"{name}.txt"
        drawn = "=====\n".join(map(draw, views))
        if os.environ.get("GOLDEN") == "write":
            path.write_text(drawn, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == drawn

    return check
