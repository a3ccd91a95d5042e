"""Elements that hold a value: finding them in blocks, and turning plain choices into Slack's state and actions."""

from collections.abc import Iterator, Mapping
from typing import Any

from chatops_bot.simulators.slack.errors import DrivingError
from chatops_bot.simulators.slack.validation import options_of

Json = dict[str, Any]
Values = Mapping[str, Mapping[str, Any]]

MANY_OF = ("multi_static_select", "multi_external_select", "checkboxes")
STATEFUL = ("static_select", "external_select", "radio_buttons", *MANY_OF, "plain_text_input")


def elements(blocks: list[Json]) -> Iterator[tuple[Json, Json]]:
    """Every interactive element as (block, element)."""
    for block in blocks:
        for element in (*block.get("elements", ()), block.get("accessory"), block.get("element")):
            if isinstance(element, dict) and element.get("action_id"):
                yield block, element


def state_values(blocks: list[Json], chosen: Values) -> Json:
    """`state.values` of a surface: initial values, overlaid with what was chosen.

    `chosen` maps block_id to action_id to an option value, a list of them, a text, or None to empty the element.
    Raises DrivingError for an element or option that does not exist.
    """
    values: Json = {}
    left = {(block_id, action_id) for block_id, actions in chosen.items() for action_id in actions}
    for block, element in elements(blocks):
        if element["type"] not in STATEFUL:
            continue
        key = (block["block_id"], element["action_id"])
        state = _initial(element)
        if key in left:
            left.discard(key)
            state = element_state(element, chosen[key[0]][key[1]])
        values.setdefault(key[0], {})[key[1]] = state
    if left:
        block_id, action_id = sorted(left)[0]
        raise DrivingError("no_such_element", f"There is no input {action_id!r} in a block {block_id!r}.")
    return values


def element_state(element: Json, choice: Any) -> Json:
    """One element's state for a plain choice."""
    kind = element["type"]
    if kind == "plain_text_input":
        return {"type": kind, "value": _typed(element, choice)}
    if kind in MANY_OF:
        wanted = [] if choice is None else choice if isinstance(choice, list) else [choice]
        most = element.get("max_selected_items")
        if most is not None and len(wanted) > most:
            raise DrivingError("too_many_options", f"At most {most} options can be chosen.")
        return {"type": kind, "selected_options": [_option(element, one) for one in wanted]}
    if isinstance(choice, list):
        if len(choice) != 1:
            raise DrivingError("one_option_needed", f"{element['action_id']!r} takes exactly one option.")
        choice = choice[0]
    return {"type": kind, "selected_option": None if choice is None else _option(element, choice)}


def dispatches(block: Json) -> bool:
    """Whether using a control of this block is told to the bot; an input block's only when it says so."""
    return block["type"] != "input" or bool(block.get("dispatch_action"))


def action_of(block: Json, element: Json, choice: Any, action_ts: str) -> Json:
    """The entry of `actions` that a click on the element produces; `choice` is None for a button."""
    action = {"action_id": element["action_id"], "block_id": block["block_id"], "action_ts": action_ts}
    if element["type"] == "button":
        action |= {"type": "button", "text": escaped_text(element["text"])}
        action |= {key: element[key] for key in ("value", "style", "url") if key in element}
        return action
    if element["type"] == "plain_text_input":
        if not dispatches(block):
            raise DrivingError(
                "not_clickable", f"{element['action_id']!r} is a text input: it is filled, not clicked."
            )
        return action | element_state(element, choice)
    if choice is None:
        raise DrivingError(
            "option_needed", f"{element['action_id']!r} needs `selected`, the value of an option."
        )
    action |= element_state(element, choice)
    if "placeholder" in element:
        action["placeholder"] = element["placeholder"]
    return action


def missing_inputs(blocks: list[Json], values: Values) -> dict[str, str]:
    """The required inputs left empty, as block_id to the sentence that Slack's client shows."""
    missing = {}
    for block, element in elements(blocks):
        if block["type"] != "input" or block.get("optional"):
            continue
        state = values.get(block["block_id"], {}).get(element["action_id"], {})
        if not (state.get("value") or state.get("selected_option") or state.get("selected_options")):
            missing[block["block_id"]] = "Please complete this required field."
    return missing


def escaped_text(text: Json) -> Json:
    """Slack HTML-escapes the texts that come back in interaction payloads."""
    return {**text, "text": text["text"].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")}


def _initial(element: Json) -> Json:
    kind = element["type"]
    if kind == "plain_text_input":
        return {"type": kind, "value": element.get("initial_value")}
    if kind in MANY_OF:
        return {
            "type": kind,
            "selected_options": [_shown(one) for one in element.get("initial_options") or []],
        }
    initial = element.get("initial_option")
    return {"type": kind, "selected_option": None if initial is None else _shown(initial)}


def _typed(element: Json, choice: Any) -> str | None:
    if choice is None or choice == "":
        return None
    if not isinstance(choice, str):
        raise DrivingError("text_needed", f"{element['action_id']!r} takes a text.")
    least, most = element.get("min_length") or 0, element.get("max_length") or 3000
    if not least <= len(choice) <= most:
        raise DrivingError("text_length", f"{element['action_id']!r} takes {least} to {most} characters.")
    return choice


def _option(element: Json, value: Any) -> Json:
    for option in options_of(element):
        if option["value"] == value:
            return _shown(option)
    raise DrivingError("no_such_option", f"{element['action_id']!r} has no option with the value {value!r}.")


def _shown(option: Json) -> Json:
    return {**option, "text": escaped_text(option["text"])}
