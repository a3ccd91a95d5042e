"""A view as text for a terminal: every block in its order; a message with a heading is a card, with a bar at its side.

Buttons cannot be pressed here. What a person types instead stands in their place: the command that decides about a
proposal, or the number of a suggested question. Inputs cannot be filled in either: they say what the next message is to
answer.
"""

from collections.abc import Iterator, Sequence
from typing import assert_never

from chatops_bot.domain.language import Phrase, language_of
from chatops_bot.domain.view import (
    Block,
    Button,
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
    Tone,
    View,
)
from chatops_bot.platforms.terminal.letters import (
    BOLD,
    DIM,
    GREEN,
    RED,
    YELLOW,
    Look,
    columns,
    harmless,
    wrapped,
)
from chatops_bot.platforms.terminal.markdown import markdown_text

PROGRAM = "chatops-bot"
_BAR = "│ "
_TONES: dict[Tone, tuple[str, tuple[str, ...]]] = {
    "info": ("", (DIM,)),
    "good": ("✓ ", (GREEN,)),
    "warning": ("! ", (YELLOW,)),
    "danger": ("✗ ", (RED,)),
}
_OPTIONS_SHOWN = 12
_FILLS_IN = ("form_open", "form_submit")
_NO_FIELDS = Phrase(
    "终端里不能填写表单：请用一条消息写明上面缺少的各项，或在聊天中提出请求并填写。密码等机密绝不要写进消息，只能在聊天的表单里填写。输入“取消”可撤回。",
    "A terminal cannot fill in a form: give what is missing above in one message to this thread, or ask in the chat, where "
    "the form can be filled in. Never write a password or another secret in a message: those go into the form in the chat only. "
    "`cancel` takes it back.",
)
_PRINTS_ALL = Phrase(
    "终端里没有“显示全部”：第一次输入 approve 会显示完整内容，第二次才批准。",
    "A terminal has no Show all: the first approve prints all of it, the second one approves.",
)
_STANDS_ALONE = (Heading, Notice)


def view_text(view: View, look: Look) -> str:
    """The whole view. Without colour it holds no control character but line ends."""
    is_card = any(isinstance(block, Heading) for block in view.blocks)
    inner = look.narrower(len(_BAR)) if is_card else look
    commands = _commands(view)
    lines: list[str] = []
    before: Block | None = None
    for block in view.blocks:
        if (
            isinstance(block, Lines)
            and commands
            and all(c.split()[-1] in " ".join(block.lines) for c in commands)
        ):
            continue  # it tells what to type in a chat
        drawn = block_lines(block, inner)
        if drawn and lines and not (isinstance(before, _STANDS_ALONE) and isinstance(block, Facts | Notice)):
            lines.append("")
        lines += drawn
        before = block if drawn else before
    if is_card:
        bar = look.paint(_BAR.rstrip(), DIM)
        lines = [f"{bar} {line}" if line else bar for line in lines]
    return "\n".join(lines)


def block_lines(block: Block, look: Look) -> list[str]:
    """One block as lines; none when it says nothing on a terminal."""
    match block:
        case Markdown(text):
            return markdown_text(text, look).split("\n") if text.strip() else []
        case Heading(text):
            return [look.paint(line, BOLD) for line in _wrapped(text, look)]
        case Lines(lines):
            return [look.paint(part, DIM) for line in lines for part in _wrapped(line, look)]
        case Notice(text, tone):
            mark, styles = _TONES[tone]
            return [look.paint(line, *styles) for line in _wrapped(mark + text, look, hang=len(mark))]
        case Facts():
            return list(_facts(block, look))
        case Code(text, label):
            box = (f"    {line}" for line in harmless(text).split("\n"))
            return [*(_wrapped(f"{label}:", look) if label else ()), *(look.paint(line, DIM) for line in box)]
        case Buttons(buttons):
            return list(_buttons(buttons, look))
        case Mention(text=text):
            return _wrapped(text, look)
        case Select():
            chosen = [option for option in block.options if option.value in block.chosen]
            offered = ", ".join(option.label for option in chosen or block.options[:_OPTIONS_SHOWN])
            more = ", …" if not chosen and len(block.options) > _OPTIONS_SHOWN else ""
            return _wrapped(f"{block.label}: {offered}{more}", look, hang=2)
        case TextInput():
            return _wrapped(f"{block.label}: {block.text or block.hint}", look, hang=2)
        case _:
            assert_never(block)


def followups(view: View) -> list[str]:
    """The suggested questions of a view, best first."""
    return [
        harmless(button.label)
        for block in view.blocks
        if isinstance(block, Buttons)
        for button in block.buttons
        if button.control == "followup"
    ]


def _facts(block: Facts, look: Look) -> Iterator[str]:
    labels = [harmless(fact.label) for fact in block.facts]
    edge = max(map(columns, labels), default=0) + 2
    for label, fact in zip(labels, block.facts, strict=True):
        lead = label + " " * (edge - columns(label))
        first, *more = _wrapped(lead + harmless(fact.value), look, hang=edge)
        yield look.paint(lead, DIM) + first[len(lead) :] if first.startswith(lead) else first
        yield from more


def _buttons(buttons: Sequence[Button], look: Look) -> Iterator[str]:
    number = 0
    for button in buttons:
        if button.command:
            yield harmless(" ".join(filter(None, (f"{button.label}:", PROGRAM, button.command, look.where))))
        elif button.control == "show":
            yield from _wrapped(_PRINTS_ALL.said_in(language_of(button.label)), look)
        elif button.control in _FILLS_IN:
            yield from _wrapped(_NO_FIELDS.said_in(language_of(button.label)), look)
        elif button.control == "followup":
            number += 1
            yield from _wrapped(f"{number}. {button.label}", look, hang=3)


def _commands(view: View) -> list[str]:
    return [
        b.command for block in view.blocks if isinstance(block, Buttons) for b in block.buttons if b.command
    ]


def _wrapped(text: str, look: Look, hang: int = 0) -> list[str]:
    return [part for line in harmless(text).split("\n") for part in wrapped(line, look.width, hang)]
