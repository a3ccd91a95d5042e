"""From deltas to what people see: folding is paid for each delta, pages only for each edit, and edits are paced."""

from bench.answers import DELTAS, events
from bench.measuring import in_turns, table
from chatops_bot.domain.redaction import Redactor
from chatops_bot.rendering.turn_view import TurnView

TEXT_CHARS = 10_000
"""Slack's, so that the answer fills one message."""
DELTAS_PER_EDIT = 50
"""A model at 50 deltas a second and one edit a second."""
SECRETS = [f"a-configured-secret-{number:02}" for number in range(10)]


def joined() -> str:
    """The least there is to do: put the text together."""
    return "".join(event.text for event in events())


def folded(*, per_edit: int | None, redactor: Redactor | None) -> TurnView:
    """All deltas folded; pages are computed after each `per_edit` of them."""
    view = TurnView("en", TEXT_CHARS, redactor, stop_value="stop")
    for number, event in enumerate(events(), start=1):
        view.fold(event)
        if per_edit and number % per_edit == 0:
            view.pages()
    return view


def report(rounds: int) -> str:
    redactor = Redactor(SECRETS)
    contenders = {
        "bare join": joined,
        "fold": lambda: folded(per_edit=None, redactor=None),
        f"fold, pages at every {DELTAS_PER_EDIT}th": lambda: folded(per_edit=DELTAS_PER_EDIT, redactor=None),
        "the same with redaction": lambda: folded(per_edit=DELTAS_PER_EDIT, redactor=redactor),
        "fold, pages at every delta": lambda: folded(per_edit=1, redactor=redactor),
    }
    return table(f"deltas to pages, {DELTAS:,} deltas", in_turns(contenders, rounds))
