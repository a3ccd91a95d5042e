"""Answers to what the bot asked back: "Pause which task?", then only a name.

What was wanted is read anew from the conversation, so nothing is kept beside it: a question counts as asked when it stands
in what the bot said last, or in a form that waits, and it is answered by a message that names something and asks nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from chatops_bot.context.filled_form import filled_form_in
from chatops_bot.domain.model import AssistantMessage, Message, RecordMessage, ToolMessage, UserMessage
from chatops_bot.domain.regex import regex
from chatops_bot.llm.offline import report
from chatops_bot.llm.offline.arguments import NOTHING, Target, ids_in, mask, plain_name_in
from chatops_bot.llm.offline.content import content_of
from chatops_bot.llm.offline.cues import RETRACTION, WRITES, Kind
from chatops_bot.llm.offline.decisions import WRITE_TOOLS
from chatops_bot.llm.offline.understanding import LONE_NUMBER_IS_A_RUN, Intent, understand

_TURNS = 6
"""How far back a question may have begun: each wrong name is a turn of its own."""

_ASKED_FOR_A_TARGET = WRITES - {Kind.CREATE}
_ONE_WORD = regex(r"\W*\w+\W*")


def understand_reply(
    text: str, history: Sequence[Message], now: datetime | None = None
) -> tuple[Intent, ...]:
    """What `text` asks for, as `understand` says, or what it answers. Never fails."""
    asked: tuple[Intent, ...] = ()
    for turn in [*_turns(history)][-_TURNS:]:
        wanted = _completed(understand(turn.said), turn.said, asked)
        asked = tuple(each for each in wanted if turn.asks_about(each))
    return _completed(understand(text, now), text, asked)


def _completed(intents: tuple[Intent, ...], text: str, asked: tuple[Intent, ...]) -> tuple[Intent, ...]:
    if len(asked) != 1 or any(not intent.is_bare for intent in intents):
        return intents
    target = intents[0].target if intents else _named_by(text, asked[0].kind)
    if asked[0].kind is Kind.RETRY and target.task_ids and "task" not in text and "任务" not in text:
        target = Target(run_ids=target.task_ids)
    return intents if target.is_empty else (replace(asked[0], target=target),)


def _named_by(text: str, kind: Kind) -> Target:
    """A lone number or a lone word, which only an answer can mean a task by."""
    words = mask(text).text
    if RETRACTION.fullmatch(words) or not _ONE_WORD.fullmatch(words):
        return NOTHING
    numbers = ids_in(words).bare
    if numbers:
        return Target(run_ids=numbers) if kind in LONE_NUMBER_IS_A_RUN else Target(task_ids=numbers)
    name = plain_name_in(words)
    return Target((name,)) if name else NOTHING


@dataclass(slots=True)
class _Turn:
    """What was said, what the bot replied, and whether a form of it waits."""

    said: str = ""
    replied: str = ""
    has_form: bool = False

    def asks_about(self, wanted: Intent) -> bool:
        target = wanted.target
        is_asked_for = (target.is_empty or target.is_reference) and wanted.kind in _ASKED_FOR_A_TARGET
        return (self.has_form and is_asked_for) or report.asks_which(self.replied, wanted.kind, target.names)


def _turns(history: Sequence[Message]) -> Iterator[_Turn]:
    turn = _Turn()
    for message in history:
        match message:
            case UserMessage():
                if turn.said:
                    yield turn
                turn = _Turn("" if filled_form_in(message.text) else message.text)
            case AssistantMessage():
                turn.replied += f"{message.text}\n"
            case ToolMessage() if message.name in WRITE_TOOLS:
                turn.has_form = "missing" in content_of(message.text)
            case RecordMessage() if "form_of" in content_of(message.text):
                turn.has_form = False
    if turn.said:
        yield turn
