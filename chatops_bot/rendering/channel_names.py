"""A view for where people read channels by name, such as a terminal."""

from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from chatops_bot.domain.channel_token import channels_in, with_channels
from chatops_bot.domain.view import Block, Lines, Markdown, Notice, View

NameOf = Callable[[str], Awaitable[str]]
"""The name of a channel without `#`, or its id where nobody knows the name."""


async def unnamed(channel: str) -> str:
    """The name of a channel where there is no chat to ask."""
    return channel


async def with_channel_names(view: View, name_of: NameOf) -> View:
    """`view` with the name of each channel that it names."""
    texts = [view.fallback, *(text for block in view.blocks for text in _texts(block))]
    names = {channel: f"#{await name_of(channel)}" for text in texts for channel in channels_in(text)}
    if not names:
        return view
    blocks = tuple(_named(block, names.__getitem__) for block in view.blocks)
    return View(blocks, with_channels(view.fallback, names.__getitem__))


def _texts(block: Block) -> tuple[str, ...]:
    match block:
        case Notice(text) | Markdown(text):
            return (text,)
        case Lines(lines):
            return lines
        case _:
            return ()


def _named(block: Block, shown: Callable[[str], str]) -> Block:
    match block:
        case Notice(text) | Markdown(text):
            return replace(block, text=with_channels(text, shown))
        case Lines(lines):
            return Lines(tuple(with_channels(line, shown) for line in lines))
        case _:
            return block
