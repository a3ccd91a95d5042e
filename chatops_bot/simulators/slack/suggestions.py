"""Options of external selects: the bot is asked while a person types, and what it last offered can be chosen."""

from typing import Any

from chatops_bot.simulators.slack.validation import options_of

Json = dict[str, Any]
Surface = tuple[str, str]
EXTERNAL = ("external_select", "multi_external_select")
SURFACES_KEPT = 2_000
QUERY_DEFAULT = 3
"""`min_query_length` of an element that names none."""


class Suggestions:
    """What was offered, by surface (person, and message or view) and control (block_id, action_id)."""

    def __init__(self) -> None:
        self._offered: dict[Surface, dict[tuple[str, str], list[Json]]] = {}

    def keep(self, surface: Surface, block: Json, element: Json, answer: Json) -> None:
        """Remember an answer; earlier offers stay choosable, as what was chosen from them stays chosen."""
        offered = self._offered.setdefault(surface, {})
        key = (block["block_id"], element["action_id"])
        fresh = options_of(answer)
        values = {option["value"] for option in fresh}
        offered[key] = [*(one for one in offered.get(key, []) if one["value"] not in values), *fresh]
        if len(self._offered) > SURFACES_KEPT:
            del self._offered[next(iter(self._offered))]

    def fill(self, surface: Surface, blocks: list[Json]) -> list[Json]:
        """The blocks as the person has them before them: external selects hold their options."""
        offered = self._offered.get(surface, {})

        def filled(block: Json, element: Any) -> Any:
            if not isinstance(element, dict) or element.get("type") not in EXTERNAL:
                return element
            initial = [*element.get("initial_options", ()), element.get("initial_option")]
            known = offered.get((block["block_id"], element["action_id"]), [])
            return {**element, "options": [*known, *(one for one in initial if one is not None)]}

        return [
            {
                **block,
                **{name: filled(block, block[name]) for name in ("accessory", "element") if name in block},
                **(
                    {"elements": [filled(block, element) for element in block["elements"]]}
                    if isinstance(block.get("elements"), list)
                    else {}
                ),
            }
            for block in blocks
        ]
