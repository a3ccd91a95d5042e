"""Slack's limits on blocks, one rule a line, reported the way Slack reports them (`[ERROR] ... [json-pointer:...]`).

Figures are those of Slack's Block Kit reference. Unknown block and element types are refused: a bot must not lean on
something that this workspace cannot show.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from chatops_bot.simulators.slack.errors import SlackError

Json = dict[str, Any]
Problems = Iterator[str]

BLOCKS_PER_MESSAGE = 50
BLOCKS_PER_VIEW = 100
BLOCK_TEXT_TOTAL = 13_200
"""Characters over all blocks of a message; not documented, seen in the field."""
MARKDOWN_TOTAL = 12_000
MESSAGE_TEXT = 40_000
UPDATE_TEXT_BYTES = 4_000
MARKDOWN_TEXT = 12_000
VIEW_BYTES = 250_000


def check_message_blocks(blocks: Any) -> list[Json]:
    """The blocks of a message when they keep every limit; raises SlackError as the Web API words it."""
    if not isinstance(blocks, list):
        raise SlackError("invalid_blocks_format")
    problems = list(_blocks(blocks, BLOCKS_PER_MESSAGE, in_view=False))
    if problems:
        raise SlackError("invalid_blocks", problems)
    if sum(len(block["text"]) for block in blocks if block["type"] == "markdown") > MARKDOWN_TOTAL:
        raise SlackError("msg_blocks_too_long")
    if _text_length(blocks) > BLOCK_TEXT_TOTAL:
        raise SlackError("msg_blocks_too_long")
    return blocks


def check_view(view: Any) -> Json:
    """A modal view when it keeps every limit; raises `invalid_arguments` with the details."""
    if not isinstance(view, dict):
        raise SlackError("invalid_arguments", ["[ERROR] must be an object [json-pointer:/view]"])
    problems: list[str] = []
    if view.get("type") != "modal":
        problems.append("[ERROR] only `modal` views are supported [json-pointer:/view/type]")
    for field, needed in (("title", True), ("submit", False), ("close", False)):
        if needed or view.get(field) is not None:
            problems += _text(view.get(field), f"/view/{field}", 24, plain=True)
    problems += _string(view, "private_metadata", "/view", 3000)
    problems += _string(view, "callback_id", "/view", 255)
    problems += _string(view, "external_id", "/view", 255)
    blocks = view.get("blocks")
    problems += (
        _blocks(blocks, BLOCKS_PER_VIEW, in_view=True)
        if isinstance(blocks, list)
        else ["[ERROR] missing blocks"]
    )
    if (
        isinstance(blocks, list)
        and not view.get("submit")
        and any(isinstance(block, dict) and block.get("type") == "input" for block in blocks)
    ):
        problems.append(
            "[ERROR] `submit` is required when a view has input blocks [json-pointer:/view/submit]"
        )
    if problems:
        raise SlackError("invalid_arguments", problems)
    return view


def _text_length(node: Any) -> int:
    """Characters of every `text` in here, those of controls aside; the depth of a body is bounded where it is parsed."""
    if isinstance(node, list):
        return sum(_text_length(item) for item in node)
    if not isinstance(node, dict) or "action_id" in node:
        return 0
    return sum(
        len(value) if key == "text" and isinstance(value, str) else _text_length(value)
        for key, value in node.items()
    )


def _problem(sentence: str, pointer: str) -> str:
    return f"[ERROR] {sentence} [json-pointer:{pointer}]"


def _blocks(blocks: list[Any], most: int, *, in_view: bool) -> Problems:
    if len(blocks) > most:
        yield _problem(f"no more than {most} items allowed", "/blocks")
        return
    seen: set[str] = set()
    for index, block in enumerate(blocks):
        at = f"/blocks/{index}"
        if not isinstance(block, dict):
            yield _problem("must be an object", at)
            continue
        kind = block.get("type")
        check = _BLOCKS.get(kind) if isinstance(kind, str) else None
        if check is None or (in_view and kind == "markdown"):
            yield _problem(f"unsupported type: {kind}", f"{at}/type")
            continue
        yield from _string(block, "block_id", at, 255)
        block_id = block.get("block_id")
        if isinstance(block_id, str) and block_id in seen:
            yield _problem(f"`block_id` {block_id} already exists for another block", f"{at}/block_id")
        seen.add(str(block_id))
        yield from check(block, at)


def _string(
    holder: Json, field: str, at: str, most: int, *, needed: bool = False, least: int = 0
) -> Problems:
    value = holder.get(field)
    if value is None:
        if needed:
            yield _problem(f"missing required field: {field}", at)
    elif not isinstance(value, str):
        yield _problem("must be a string", f"{at}/{field}")
    elif len(value) > most:
        yield _problem(f"must be less than {most + 1} characters", f"{at}/{field}")
    elif len(value) < least:
        yield _problem(f"must be more than {least - 1} characters", f"{at}/{field}")


def _text(value: Any, at: str, most: int, *, plain: bool = False) -> Problems:
    if not isinstance(value, dict):
        yield _problem("missing or malformed text object", at)
        return
    kinds = ("plain_text",) if plain else ("plain_text", "mrkdwn")
    if value.get("type") not in kinds:
        yield _problem(f"must be one of {', '.join(kinds)}", f"{at}/type")
    yield from _string(value, "text", at, most, needed=True, least=1)


def _section(block: Json, at: str) -> Problems:
    fields, text = block.get("fields"), block.get("text")
    if text is None and not fields:
        yield _problem("either text or fields is required", at)
    if text is not None:
        yield from _text(text, f"{at}/text", 3000)
    if fields is not None:
        yield from _list(fields, f"{at}/fields", 10, lambda item, here: _text(item, here, 2000))
    if block.get("accessory") is not None:
        yield from _element(
            block["accessory"], f"{at}/accessory", {*_ELEMENTS, "image"} - {"plain_text_input"}
        )


def _header(block: Json, at: str) -> Problems:
    yield from _text(block.get("text"), f"{at}/text", 150, plain=True)


def _divider(block: Json, at: str) -> Problems:
    yield from ()


def _context(block: Json, at: str) -> Problems:
    def element(item: Any, here: str) -> Problems:
        if isinstance(item, dict) and item.get("type") == "image":
            return _image(item, here)
        return _text(item, here, 3000)

    yield from _list(block.get("elements"), f"{at}/elements", 10, element)


def _actions(block: Json, at: str) -> Problems:
    allowed = set(_ELEMENTS) - {"plain_text_input"}
    yield from _list(
        block.get("elements"), f"{at}/elements", 25, lambda item, here: _element(item, here, allowed)
    )
    elements = block.get("elements")
    if isinstance(elements, list):
        ids = [item.get("action_id") for item in elements if isinstance(item, dict) and item.get("action_id")]
        for action_id in {str(one) for one in ids if ids.count(one) > 1}:
            yield _problem(f"`action_id` {action_id} already exists for another element", f"{at}/elements")


def _input(block: Json, at: str) -> Problems:
    yield from _text(block.get("label"), f"{at}/label", 2000, plain=True)
    if block.get("hint") is not None:
        yield from _text(block["hint"], f"{at}/hint", 2000, plain=True)
    yield from _element(block.get("element"), f"{at}/element", set(_ELEMENTS) - {"button", "overflow"})
    for field in ("optional", "dispatch_action"):
        if not isinstance(block.get(field, False), bool):
            yield _problem("must be a boolean", f"{at}/{field}")


def _markdown(block: Json, at: str) -> Problems:
    yield from _string(block, "text", at, MARKDOWN_TEXT, needed=True, least=1)


def _image(block: Json, at: str) -> Problems:
    yield from _string(block, "image_url", at, 3000, needed=True, least=1)
    yield from _string(block, "alt_text", at, 2000, needed=True, least=1)
    if block.get("title") is not None:
        yield from _text(block["title"], f"{at}/title", 2000, plain=True)


def _rich_text(block: Json, at: str) -> Problems:
    if not isinstance(block.get("elements"), list):
        yield _problem("missing required field: elements", at)


def _list(value: Any, at: str, most: int, check: Callable[[Any, str], Problems], least: int = 1) -> Problems:
    if not isinstance(value, list) or len(value) < least:
        yield _problem(f"must be a list of at least {least} items", at)
    elif len(value) > most:
        yield _problem(f"no more than {most} items allowed", at)
    else:
        for index, item in enumerate(value):
            yield from check(item, f"{at}/{index}")


def _element(element: Any, at: str, allowed: set[str]) -> Problems:
    kind = element.get("type") if isinstance(element, dict) else None
    if not isinstance(kind, str) or kind not in allowed:
        yield _problem(f"unsupported type: {kind}", f"{at}/type")
        return
    if kind == "image":
        yield from _image(element, at)
        return
    yield from _string(element, "action_id", at, 255, least=1)
    if element.get("confirm") is not None:
        yield from _confirm(element["confirm"], f"{at}/confirm")
    if element.get("placeholder") is not None:
        yield from _text(element["placeholder"], f"{at}/placeholder", 150, plain=True)
    yield from _ELEMENTS[kind](element, at)


def _confirm(confirm: Any, at: str) -> Problems:
    if not isinstance(confirm, dict):
        yield _problem("must be an object", at)
        return
    for field, most, plain in (
        ("title", 100, True),
        ("text", 300, False),
        ("confirm", 30, True),
        ("deny", 30, True),
    ):
        yield from _text(confirm.get(field), f"{at}/{field}", most, plain=plain)
    yield from _style(confirm, at)


def _style(holder: Json, at: str) -> Problems:
    if holder.get("style") not in (None, "primary", "danger"):
        yield _problem("must be `primary` or `danger`", f"{at}/style")


def _button(element: Json, at: str) -> Problems:
    yield from _text(element.get("text"), f"{at}/text", 75, plain=True)
    yield from _string(element, "value", at, 2000)
    yield from _string(element, "url", at, 3000)
    yield from _string(element, "accessibility_label", at, 75)
    yield from _style(element, at)


@dataclass(frozen=True, slots=True)
class _Options:
    """An element with options: how many, whether they may be grouped, how long a value may be."""

    most: int
    value_most: int = 150
    groups: bool = False
    plain: bool = True
    fewest: int = 1

    def __call__(self, element: Json, at: str) -> Problems:
        groups = element.get("option_groups")
        if self.groups and groups is not None:
            if element.get("options") is not None:
                yield _problem("options and option_groups exclude each other", at)
            yield from _list(groups, f"{at}/option_groups", 100, self._group)
        else:
            yield from self._options(element.get("options"), f"{at}/options")
        if element.get("max_selected_items") is not None and not (
            isinstance(element["max_selected_items"], int) and element["max_selected_items"] >= 1
        ):
            yield _problem("must be 1 or more", f"{at}/max_selected_items")
        known = options_of(element)
        initial = element.get("initial_options") or [element.get("initial_option")]
        for option in initial if isinstance(initial, list) else [initial]:
            if option is not None and option not in known:
                yield _problem("initial option is not one of the options", at)

    def _group(self, group: Any, at: str) -> Problems:
        if not isinstance(group, dict):
            yield _problem("must be an object", at)
            return
        yield from _text(group.get("label"), f"{at}/label", 75, plain=True)
        yield from self._options(group.get("options"), f"{at}/options")

    def _options(self, options: Any, at: str) -> Problems:
        yield from _list(options, at, self.most, self.option, self.fewest)
        if isinstance(options, list):
            values = [option.get("value") for option in options if isinstance(option, dict)]
            if any(values.count(value) > 1 for value in values[:100]):
                yield _problem("option values must be unique", at)

    def option(self, option: Any, at: str) -> Problems:
        if not isinstance(option, dict):
            yield _problem("must be an object", at)
            return
        yield from _text(option.get("text"), f"{at}/text", 75, plain=self.plain)
        yield from _string(option, "value", at, self.value_most, needed=True, least=1)
        if option.get("description") is not None:
            yield from _text(option["description"], f"{at}/description", 75, plain=self.plain)


def _external(element: Json, at: str) -> Problems:
    """Its options come from the bot while a person types."""
    for field in ("options", "option_groups"):
        if element.get(field) is not None:
            yield _problem("is not allowed here", f"{at}/{field}")
    least = element.get("min_query_length")
    if least is not None and not (isinstance(least, int) and least >= 0):
        yield _problem("must be 0 or more", f"{at}/min_query_length")
    initial = element.get("initial_options")
    if initial is None:
        initial = [] if element.get("initial_option") is None else [element["initial_option"]]
    yield from _list(initial, f"{at}/initial_options", 100, _STATIC.option, least=0)


def check_suggestions(answer: Json) -> Json:
    """What the bot offers for an external select, when Slack would show it; raises invalid_arguments."""
    if problems := list(_Options(100, groups=True, fewest=0)(answer, "")):
        raise SlackError("invalid_arguments", problems)
    return answer


def options_of(element: Json) -> list[Json]:
    """Every option an element offers, groups opened."""
    groups = element.get("option_groups")
    holders = groups if isinstance(groups, list) else [element]
    lists = [holder.get("options") for holder in holders if isinstance(holder, dict)]
    return [
        option
        for options in lists
        if isinstance(options, list)
        for option in options
        if isinstance(option, dict)
    ]


def _plain_text_input(element: Json, at: str) -> Problems:
    yield from _string(element, "initial_value", at, 3000)
    for field in ("min_length", "max_length"):
        value = element.get(field)
        if value is not None and not (isinstance(value, int) and 0 <= value <= 3000):
            yield _problem("must be between 0 and 3000", f"{at}/{field}")
    least, most = element.get("min_length"), element.get("max_length")
    if isinstance(least, int) and isinstance(most, int) and least > most:
        yield _problem("must not be more than max_length", f"{at}/min_length")


_STATIC = _Options(100, groups=True)
_BLOCKS: dict[str, Callable[[Json, str], Problems]] = {
    "section": _section,
    "header": _header,
    "divider": _divider,
    "context": _context,
    "actions": _actions,
    "input": _input,
    "markdown": _markdown,
    "rich_text": _rich_text,
    "image": _image,
}
_ELEMENTS: dict[str, Callable[[Json, str], Problems]] = {
    "button": _button,
    "static_select": _STATIC,
    "multi_static_select": _STATIC,
    "external_select": _external,
    "multi_external_select": _external,
    "radio_buttons": _Options(10, plain=False),
    "checkboxes": _Options(10, plain=False),
    "overflow": _Options(5),
    "plain_text_input": _plain_text_input,
}
