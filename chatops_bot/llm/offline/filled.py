"""A filled form is answered by the one call that it is for."""

from chatops_bot.context.filled_form import FilledForm
from chatops_bot.llm.offline.desk import Answer, Desk, Told


def call_of(filled: FilledForm, desk: Desk) -> Answer:
    """The call with exactly the form's arguments; once it was made, what came of it."""
    try:
        return desk.propose("", filled.tool, **filled.arguments)
    except Told as told:
        return Answer(told.text)
