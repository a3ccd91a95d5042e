"""A form that waits while its author writes on: the message may answer it in words.

What it says is put beside what the form holds, and the call is made again: complete it becomes a proposal, otherwise a newer
form takes the older one's place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chatops_bot.context.filled_form import filled_form_in
from chatops_bot.domain.model import AssistantMessage, Message, RecordMessage, ToolMessage, UserMessage
from chatops_bot.domain.regex import regex
from chatops_bot.domain.tool import ToolCall
from chatops_bot.llm.offline.arguments import mask
from chatops_bot.llm.offline.content import arguments_of, content_of
from chatops_bot.llm.offline.conversation import Conversation
from chatops_bot.llm.offline.creation import NewTask, new_task_in, on_clocks, said_with_form
from chatops_bot.llm.offline.cues import CHINESE_QUESTION, LOOK, SHOW, Kind
from chatops_bot.llm.offline.understanding import Intent

_READS_LIKE_FIELDS = frozenset({Kind.DETAIL, Kind.RUNS, Kind.LIST, Kind.EXPLAIN})
"""What a list of fields is taken for where no form is open: "runs `echo hi`", "payload", "task x"."""
_ASKING = regex(
    r"[?？]|\b(?:list|recent|last|latest|what|why|how|which|who|analy[sz]e|explain)\b|列出|最近|分析|为什么"
)


@dataclass(frozen=True, slots=True)
class OpenForm:
    """What a form that waits holds, and the names of the arguments that it asks for."""

    tool: str
    known: Mapping[str, Any]
    missing: tuple[str, ...]


def open_form_of(author: str, history: Sequence[Message]) -> OpenForm | None:
    """The newest form of `author` that nobody has filled in, cancelled or let expire."""
    calls: dict[str, ToolCall] = {}
    asker, form, of = "", None, ""
    for message in history:
        match message:
            case UserMessage():
                asker = message.author
                filled = filled_form_in(message.text)
                if filled is not None and form is not None and filled.tool == form.tool:
                    form = None
            case AssistantMessage():
                calls |= {call.id: call for call in message.calls}
            case ToolMessage():
                missing = content_of(message.text).get("missing")
                call = calls.get(message.call_id)
                if isinstance(missing, list) and call is not None:
                    form, of = OpenForm(message.name, arguments_of(call), tuple(map(str, missing))), asker
                elif form is not None and message.name == form.tool:
                    form = None
            case RecordMessage() if form is not None and content_of(message.text).get("form_of") == form.tool:
                form = None
    return form if form is not None and of == author else None


def answer_in_words(
    conversation: Conversation, form: OpenForm, intents: Sequence[Intent]
) -> tuple[str, Mapping[str, Any]] | None:
    """What to say, and the arguments of the form's call with what the newest message says; None when that is no answer to the form."""
    message, task = mask(conversation.text), NewTask()
    if any(asking.search(message.text) for asking in (_ASKING, CHINESE_QUESTION, LOOK, SHOW)):
        return None
    if form.tool == "create_task":
        task = new_task_in(message)
        if conversation.now is not None:
            task = on_clocks(task, conversation.clocks, conversation.now)
    said = task.arguments
    given = {*said, *(("cron_expr",) if task.said_cron else ())} & set(form.missing)
    if not given or not all(_reads_like_fields(intent, len(given)) for intent in intents):
        return None
    asked_again = said_with_form(task, conversation.clocks, conversation.now, conversation.language)
    return (asked_again if task.said_cron else ""), {**form.known, **said}


def _reads_like_fields(intent: Intent, fields: int) -> bool:
    """Whether it may be part of a list of fields. `执行` starts a task and names what a task runs, which several fields tell apart."""
    runs_text = fields > 1 or any(" " in name for name in intent.target.names)
    return intent.kind in _READS_LIKE_FIELDS or (intent.kind is Kind.TRIGGER and runs_text)
