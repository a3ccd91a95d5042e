"""A filled form is answered by the one call that it is for."""

from chatops_bot.context.filled_form import FilledForm
from chatops_bot.domain.language import Phrase
from chatops_bot.llm.offline.desk import Answer, Desk, Told

_ASKING = Phrase(
    "信息已齐全，正在按表单内容申请；有人批准之前什么都不会改变。",
    "Nothing is missing now; asking for it as filled in. Nothing changes before somebody approves.",
)


def call_of(filled: FilledForm, desk: Desk) -> Answer:
    """The call with exactly the form's arguments; once it was made, what came of it."""
    try:
        return desk.propose(_ASKING.said_in(desk.language), filled.tool, **filled.arguments)
    except Told as told:
        return Answer(told.text)
