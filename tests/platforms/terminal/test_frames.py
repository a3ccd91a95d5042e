"""Frames as JSON: each comes back as it was, and nonsense is told from them."""

import json
from typing import Any, get_args

import pytest
from hypothesis import given

from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.view import Block, View
from chatops_bot.platforms.terminal import frames
from chatops_bot.platforms.terminal.frames import (
    Ended,
    Frame,
    Opened,
    Shown,
    Whispered,
    frame_from_json,
    frame_to_json,
)
from tests.platforms.terminal.conftest import views


@given(views)
def test_views_come_back_as_they_were(view: View):
    for frame in (Shown("m1", view), Whispered(view)):
        assert frame_from_json(json.loads(json.dumps(frame_to_json(frame)))) == frame


@pytest.mark.parametrize("frame", [Opened("t_1", "offline"), Ended(None), *map(Ended, TurnOutcome)])
def test_beginnings_and_ends_come_back_as_they_were(frame: Frame):
    assert frame_from_json(json.loads(json.dumps(frame_to_json(frame)))) == frame


def test_every_kind_of_block_has_a_name():
    assert set(frames._BLOCKS.values()) == set(get_args(Block))


@pytest.mark.parametrize(
    "value",
    [{}, {"event": "other"}, {"event": "ended", "outcome": "x"}, {"event": "shown", "message": "m"},
     {"event": "shown", "message": "m", "text": "", "blocks": [{"block": "heading", "text": 1}]},
     {"event": "shown", "message": "m", "text": "", "blocks": [{"block": "song"}]}, {"event": "whispered", "text": "", "blocks": 1}],
)  # fmt: skip
def test_what_is_no_frame_is_refused(value: dict[str, Any]):
    with pytest.raises(PlatformError, match="cannot be read"):
        frame_from_json(value)
