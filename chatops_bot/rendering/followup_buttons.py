"""Suggested next questions as a row of buttons."""

from collections.abc import Callable, Sequence

from chatops_bot.domain.view import Button, Buttons
from chatops_bot.rendering.escapes import one_line
from chatops_bot.rendering.graphemes import clip

MAX_FOLLOWUPS = 2
LABEL_CHARS = 75
"""Slack's limit for a button's label, the tightest of the platforms; the whole question is behind the value."""


def followup_buttons(
    offered: Sequence[tuple[str, str]], redact: Callable[[str], str] = str
) -> tuple[Buttons, ...]:
    """One row for (question, opaque value) pairs, best first; no row when nothing is offered."""
    row = tuple(
        Button("followup", clip(one_line(redact(question)), LABEL_CHARS), value)
        for question, value in offered[:MAX_FOLLOWUPS]
    )
    return (Buttons(row),) if row else ()
