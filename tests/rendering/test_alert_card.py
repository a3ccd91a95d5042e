"""A failed task's card says what failed and offers the next question."""

from datetime import UTC, datetime

import pytest

from chatops_bot.domain.alert import TaskFailed
from chatops_bot.domain.view import Buttons, Code
from chatops_bot.rendering.alert_card import alert_card

FAILURE = TaskFailed(
    task_id=7,
    task_name="nightly-etl",
    instance_id=42,
    schedule_instance_id="7-1764381600",
    retry_count=2,
    max_retry=2,
    error_code="EXIT_1",
    error_message="psql: <!channel> \u202efailed\nexit status 1",
    at=datetime(2026, 11, 29, 2, 3, 4, tzinfo=UTC),
)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_an_alert_looks_as_drawn(language, golden):
    golden(f"alert_{language}", alert_card(FAILURE, language, (("Why did run #42 fail?", "token-1"),)))


def test_the_message_is_quoted_whole_and_buttons_need_questions():
    view = alert_card(FAILURE, "en")
    assert [block.text for block in view.blocks if isinstance(block, Code)] == [
        "psql: <!channel> ⟨U+202E⟩failed\nexit status 1"
    ]
    assert not any(isinstance(block, Buttons) for block in view.blocks)
