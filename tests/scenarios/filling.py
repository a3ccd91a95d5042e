"""Filling in forms as people do: by the labels that they read, not by ids."""

from collections.abc import Mapping
from typing import Any

from tests.scenarios.conftest import Json, World, until

Filling = Mapping[str, str | list[str]]
"""Label of an input → what is typed, or the labels of what is chosen."""


def inputs_of(blocks: list[Json]) -> dict[str, Json]:
    """Label → element, in the order of the form."""
    return {block["label"]["text"]: block["element"] for block in blocks if block["type"] == "input"}


def labels_of(blocks: list[Json]) -> list[str]:
    return list(inputs_of(blocks))


def filling(blocks: list[Json], fill: Filling) -> dict[str, dict[str, Any]]:
    """`values` for /sim/submit. Raises StopIteration or KeyError for what is not in the form."""
    values: dict[str, dict[str, Any]] = {}
    by_label = {block["label"]["text"]: block for block in blocks if block["type"] == "input"}
    for label, wanted in fill.items():
        block = by_label[label]
        element = block["element"]
        values[block["block_id"]] = {element["action_id"]: _held(element, wanted)}
    return values


def _held(element: Json, wanted: str | list[str]) -> str | list[str]:
    if element["type"] == "plain_text_input":
        assert isinstance(wanted, str)
        return wanted
    values = {option["text"]["text"]: option["value"] for option in element["options"]}
    return [values[each] for each in wanted] if isinstance(wanted, list) else str(values[wanted])


async def dialog_of(world: World, person: str) -> Json:
    """The dialog that a person has open."""

    async def there() -> Json | None:
        view: Json | None = (await world.look("state", person=person))["view"]
        return view

    found: Json = await until(there, f"a dialog of {person}")
    return found
