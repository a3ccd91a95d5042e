"""ARCHITECTURE.md says what is true: its road exists, its state diagram is the table's."""

import re
from pathlib import Path

from chatops_bot.domain.proposal import EDGES

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_every_module_on_the_road_exists():
    named = re.findall(r"`(chatops_bot/[\w/]+\.py)`", PAGE)
    assert len(named) >= 10
    assert [path for path in named if not (ROOT / path).is_file()] == []


def test_every_room_on_the_map_exists_and_every_room_is_on_the_map():
    rooms = {path.name for path in (ROOT / "chatops_bot").iterdir() if (path / "__init__.py").is_file()} | {
        "ports"
    }
    map_text = PAGE.split("## Map")[1].split("## The road")[0]
    assert {room for room in rooms if not re.search(rf"\b{room}\b", map_text)} == set()


def test_the_diagram_of_states_is_drawn_from_the_table():
    drawn = "\n".join(
        f"{state.value:<9} → {', '.join(sorted(target.value for target in targets))}"
        for state, targets in EDGES.items()
        if targets
    )
    assert drawn in PAGE
