"""A view as Slack's blocks: pure, and within every limit.

Plain text goes into `plain_text` objects, escaped, so that neither tokens nor formatting characters in it come alive.
Code and facts go into rich text, which Slack shows letter by letter and never parses: no payload can break out of it.
Only `Mention` makes tokens that call people, from ids that look like ids; a channel that a text of ours names is shown by its name.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, assert_never

from chatops_bot.domain.channel_token import channels_in, parted, with_channels
from chatops_bot.domain.view import (
    Block,
    Button,
    Buttons,
    Code,
    Confirm,
    Fact,
    Facts,
    Heading,
    Lines,
    Markdown,
    Mention,
    Modal,
    Notice,
    Option,
    Select,
    TextInput,
    Tone,
    View,
)
from chatops_bot.platforms.slack import limits
from chatops_bot.platforms.slack.payloads import INPUT
from chatops_bot.platforms.slack.text import clean, escape_within, utf8_size
from chatops_bot.rendering.links import defanged

Json = dict[str, Any]

_MARKS: dict[Tone, str] = {"good": "✓", "warning": "△", "danger": "✕"}
_USER_ID = re.compile(r"[UW][A-Z0-9]+")
_GROUP_ID = re.compile(r"S[A-Z0-9]+")
_NOTHING = "–"
_EN_SPACE = "\u2002"
_CUT = "\n…"


def payload(view: View) -> Json:
    """`{"text", "blocks"}` for chat.postMessage, chat.update and chat.postEphemeral.

    `blocks` is always there, if empty: an edit without it would leave old buttons standing. A view that is too large is
    cut visibly, Markdown first and Code last; callers that split by `SlackPlatform.limits` never see that. Raises
    ValueError for a button whose value is longer than Slack keeps, since half an id is no id.
    """
    blocks = _in_order(view.blocks)
    return {"text": _fallback(view), "blocks": _within_limits(blocks)}


def _in_order(blocks: Sequence[Block]) -> list[Json]:
    """The blocks as Slack's; controls that stand there more than once are numbered, since action ids must differ."""
    repeated = Counter(
        button.control for block in blocks if isinstance(block, Buttons) for button in block.buttons
    )
    numbers: Counter[str] = Counter()

    def action_id(control: str) -> str:
        if repeated[control] == 1:
            return control
        numbers[control] += 1
        return f"{control}:{numbers[control] - 1}"

    made: list[Json] = []
    for block in blocks:
        if isinstance(block, Buttons):
            buttons = [_button(button, action_id(button.control)) for button in block.buttons]
            made += [{"type": "actions", "elements": part} for part in _chunks(buttons, limits.ACTIONS)]
        else:
            made += _blocks(block)
    return made


def _mention(called: str) -> str:
    """The live token that calls a user or a user group; nothing for what is not an id of one."""
    if _USER_ID.fullmatch(called):
        return f"<@{called}>"
    return f"<!subteam^{called}>" if _GROUP_ID.fullmatch(called) else ""


def _blocks(block: Block) -> Iterator[Json]:
    match block:
        case Markdown(text):
            if text.strip():
                yield {"type": "markdown", "text": with_channels(clean(text), "<#{}>".format)}
        case Heading(text):
            yield {"type": "header", "text": _plain(text, limits.HEADER)}
        case Lines(lines):
            if channels_in(said := "\n".join(lines)):
                yield _with_channels(said)
            elif said.strip():
                yield {"type": "context", "elements": [_plain(said, limits.TEXT)]}
        case Notice(text, tone) if channels_in(text):
            yield _with_channels(text if tone == "info" else f"{_MARKS[tone]} {text}")
        case Notice(text, "info"):
            yield {"type": "context", "elements": [_plain(text, limits.TEXT)]}
        case Notice(text, tone):
            yield {"type": "section", "text": _plain(f"{_MARKS[tone]} {text}", limits.TEXT)}
        case Facts(facts):
            yield from (_rich("rich_text_section", part) for part in _fact_parts(facts))
        case Code(text, label):
            if label.strip():
                yield {"type": "context", "elements": [_plain(label, limits.TEXT)]}
            yield from (_preformatted(part) for part in _code_parts(clean(text)))
        case Mention(called, text):
            tokens = " ".join(filter(None, map(_mention, called)))
            rest = escape_within(text, limits.TEXT - len(tokens) - 1)
            if said := f"{tokens} {rest}".strip():
                yield {"type": "section", "text": {"type": "mrkdwn", "text": said, "verbatim": True}}
        case Select() | TextInput():
            yield _input(block)
        case Buttons():
            raise AssertionError("buttons are numbered over the whole view")
        case _:
            assert_never(block)


def _plain(text: str, most: int) -> Json:
    return {"type": "plain_text", "text": _filled(text, most), "emoji": False}


def _filled(text: str, most: int) -> str:
    """Slack refuses empty text."""
    return escape_within(clean(text).strip() or _NOTHING, most)


def _button(button: Button, action_id: str) -> Json:
    if len(button.value) > limits.BUTTON_VALUE:
        raise ValueError(
            f"the value of button {button.control!r} is longer than {limits.BUTTON_VALUE} characters"
        )
    element: Json = {
        "type": "button",
        "action_id": action_id[: limits.ACTION_ID],
        "text": _plain(button.label, limits.BUTTON_LABEL),
        "value": button.value,
    }
    if button.style != "default":
        element["style"] = button.style
    if button.confirm is not None:
        element["confirm"] = _confirm(button.confirm, button.style == "danger")
    return element


def modal_payload(modal: Modal) -> Json:
    """A view for views.open and views.update; its `private_metadata` is the modal's value."""
    made: Json = {
        "type": "modal",
        "callback_id": "form",
        "private_metadata": modal.value,
        "title": _plain(modal.title, limits.MODAL_TITLE),
        "close": _plain(modal.cancel, limits.MODAL_TITLE),
        "blocks": _in_order(modal.blocks)[: limits.MODAL_BLOCKS],
    }
    if modal.submit is not None:
        made["submit"] = _plain(modal.submit, limits.MODAL_TITLE)
    return made


def _input(block: Select | TextInput) -> Json:
    made: Json = {
        "type": "input",
        "block_id": block.key[: limits.BLOCK_ID],
        "label": _plain(block.label, limits.INPUT_LABEL),
        "optional": block.is_optional,
        "element": _select(block) if isinstance(block, Select) else _text_input(block),
    }
    if block.hint.strip():
        made["hint"] = _plain(block.hint, limits.INPUT_LABEL)
    return made


def _select(block: Select) -> Json:
    labels: Counter[str] = Counter()
    options = []
    for option in block.options[: limits.OPTIONS]:
        labels[option.label] += 1
        options.append(_option(option, labels[option.label]))
    chosen = [option for option in options if option["value"] in block.chosen]
    element: Json = {
        "type": "multi_static_select" if block.is_multi else "static_select",
        "action_id": f"{INPUT}{block.name}"[: limits.ACTION_ID],
        "options": options,
    }
    if block.placeholder.strip():
        element["placeholder"] = _plain(block.placeholder, limits.PLACEHOLDER)
    if chosen:
        element |= {"initial_options": chosen} if block.is_multi else {"initial_option": chosen[0]}
    return element


def _option(option: Option, times: int) -> Json:
    """`times`: how often its label stood in the list so far; two that look alike could not be told apart."""
    label = option.label if times == 1 else f"{option.label[: limits.OPTION_LABEL - 8]} ({times})"
    made: Json = {"text": _plain(label, limits.OPTION_LABEL), "value": option.value[: limits.OPTION_VALUE]}
    if option.detail.strip():
        made["description"] = _plain(option.detail, limits.OPTION_LABEL)
    return made


def _text_input(block: TextInput) -> Json:
    element: Json = {
        "type": "plain_text_input",
        "action_id": f"{INPUT}{block.name}"[: limits.ACTION_ID],
        "multiline": block.is_multiline,
        "max_length": min(block.max_chars, limits.INPUT_TEXT),
    }
    if block.text:
        element["initial_value"] = clean(block.text)[: element["max_length"]]
    if block.placeholder.strip():
        element["placeholder"] = _plain(block.placeholder, limits.PLACEHOLDER)
    return element


def _confirm(confirm: Confirm, dangerous: bool) -> Json:
    return {
        "title": _plain(confirm.title, limits.CONFIRM_TITLE),
        "text": _plain(confirm.text, limits.CONFIRM_TEXT),
        "confirm": _plain(confirm.accept, limits.CONFIRM_BUTTON),
        "deny": _plain(confirm.cancel, limits.CONFIRM_BUTTON),
        **({"style": "danger"} if dangerous else {}),
    }


def _preformatted(text: str) -> Json:
    return _rich("rich_text_preformatted", [{"type": "text", "text": text}])


def _rich(kind: str, leaves: list[Json]) -> Json:
    return {"type": "rich_text", "elements": [{"type": kind, "elements": leaves}]}


def _with_channels(text: str) -> Json:
    """Text with its channels by their names: leaves that Slack never parses."""
    leaves: list[Json] = []
    for number, part in enumerate(parted(clean(text)[: limits.TEXT])):
        if number % 2:
            leaves.append({"type": "channel", "channel_id": part})
        elif part:
            leaves.append({"type": "text", "text": part})
    return _rich("rich_text_section", leaves)


def _fact_parts(facts: Iterable[Fact]) -> Iterator[list[Json]]:
    """A line a fact, its label bold; the next part begins where one is full. A value is never cut here."""
    part: list[Json] = []
    for fact in facts:
        label = clean(fact.label).strip() or _NOTHING
        value = clean(fact.value).strip() or _NOTHING
        if part and sum(map(_leaf_size, part)) + len(label) + len(value) > limits.CODE_CHUNK:
            yield part
            part = []
        if part:
            part.append({"type": "text", "text": "\n"})
        part.append({"type": "text", "text": label, "style": {"bold": True}})
        part.append({"type": "text", "text": _EN_SPACE})
        part.append({"type": "text", "text": value, **({"style": {"code": True}} if fact.is_code else {})})
    if part:
        yield part


def _code_parts(text: str) -> Iterator[str]:
    """`text` in pieces that fit one box and join to exactly `text`, cut after a line where there is one."""
    while len(text) > limits.CODE_CHUNK:
        end = text.rfind("\n", 0, limits.CODE_CHUNK) + 1 or limits.CODE_CHUNK
        yield text[:end]
        text = text[end:]
    if text:
        yield text


def _chunks(items: list[Json], most: int) -> Iterable[list[Json]]:
    return (items[start : start + most] for start in range(0, len(items), most))


def _fallback(view: View) -> str:
    """The message for notifications, and for people when Slack refuses its blocks: no address in it is a link."""
    said = view.fallback.strip() or _visible(view) or "…"
    escaped = escape_within(defanged(said), limits.FALLBACK_BYTES, utf8_size)
    return with_channels(escaped, "<#{}>".format)


def _visible(view: View) -> str:
    texts: list[str] = []
    for block in view.blocks:
        match block:
            case Markdown(text) | Heading(text) | Notice(text) | Code(text) | Mention(text=text):
                texts.append(text)
            case Lines(lines):
                texts += lines
            case Facts(facts):
                texts += [f"{fact.label}: {fact.value}" for fact in facts]
            case Select(label=label) | TextInput(label=label):
                texts.append(label)
            case Buttons():
                pass
            case _:
                assert_never(block)
    return "\n".join(text for text in texts if text.strip()).strip()


def _within_limits(blocks: list[Json]) -> list[Json]:
    """The guard over the whole message: number of blocks, Markdown in all, text in all. Buttons always stay."""
    actions = [block for block in blocks if block["type"] == "actions"]
    if len(blocks) > limits.BLOCKS:
        room = limits.BLOCKS - 1 - len(actions[: limits.BLOCKS - 1])
        kept = [block for block in blocks if block["type"] != "actions"][:room]
        note = {"type": "context", "elements": [_plain("…", limits.TEXT)]}
        blocks = [*kept, note, *actions[: limits.BLOCKS - 1]]
    blocks = _trimmed(blocks, "markdown", limits.MARKDOWN_TOTAL)
    excess = sum(map(_size, blocks)) - limits.BLOCK_TEXT_TOTAL
    for kind in ("markdown", "context", "section", "rich_text"):
        if excess > 0:
            had = sum(_size(block) for block in blocks if block["type"] == kind)
            blocks = _trimmed(blocks, kind, max(0, had - excess))
            excess = sum(map(_size, blocks)) - limits.BLOCK_TEXT_TOTAL
    return blocks


def _trimmed(blocks: list[Json], kind: str, most: int) -> list[Json]:
    """`blocks` with at most `most` characters in blocks of `kind`: the one that overflows is cut, later ones go."""
    kept: list[Json] = []
    for block in blocks:
        size = _size(block) if block["type"] == kind else 0
        if size <= most:
            kept.append(block)
            most -= size
            continue
        if kind == "markdown" and most > len(_CUT):
            kept.append({"type": kind, "text": block["text"][: most - len(_CUT)] + _CUT})
        elif kind == "rich_text" and most > len(_CUT):
            kept.append(_cut_rich(block, most - len(_CUT)))
        most = 0
    return kept


def _cut_rich(block: Json, most: int) -> Json:
    """The first `most` characters of a rich text, and a mark that something is missing."""
    (box,) = block["elements"]
    leaves: list[Json] = []
    for leaf in box["elements"]:
        if "text" not in leaf:
            leaves.append(leaf)
        elif kept := leaf["text"][:most]:
            leaves.append({**leaf, "text": kept})
            most -= len(kept)
    return _rich(box["type"], [*leaves, {"type": "text", "text": _CUT}])


def _leaf_size(leaf: Json) -> int:
    return len(leaf.get("text", ""))


def _size(block: Json) -> int:
    """Characters of text in a block, labels of buttons aside."""
    match block["type"]:
        case "markdown":
            return len(block["text"])
        case "rich_text":
            return sum(map(_leaf_size, block["elements"][0]["elements"]))
        case "context":
            return sum(len(element["text"]) for element in block["elements"])
        case "section" | "header":
            return len(block["text"]["text"])
        case _:
            return 0
