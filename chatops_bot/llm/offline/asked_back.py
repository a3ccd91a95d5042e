"""Answers to what the bot asked back: "Pause which task?", then only a name.

What was wanted is read anew from the conversation, so nothing is kept beside it: a question counts as asked when it stands
in what the bot said last, and it is answered by a message that names something and asks nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from chatops_bot.domain.model import AssistantMessage, Message, UserMessage
from chatops_bot.domain.regex import regex
from chatops_bot.llm.offline import report
from chatops_bot.llm.offline.arguments import NOTHING, Target, ids_in, mask, plain_name_in
from chatops_bot.llm.offline.cues import RETRACTION, Kind
from chatops_bot.llm.offline.understanding import LONE_NUMBER_IS_A_RUN, Intent, understand

_TURNS = 6
"""How far back a question may have begun: each wrong name is a turn of its own."""

_ONE_WORD = regex(r"\W*\w+\W*")


def understand_reply(
    text: str, history: Sequence[Message], now: datetime | None = None
) -> tuple[Intent, ...]:
    """What `text` asks for, as `understand` says, or what it answers. Never fails."""
    asked: tuple[Intent, ...] = ()
    for said, replied in [*_turns(history)][-_TURNS:]:
        wanted = _completed(understand(said), said, asked)
        asked = tuple(each for each in wanted if report.asks_which(replied, each.kind, each.target.names))
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


def _turns(history: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """What was said and what the bot replied, turn by turn."""
    said, replied = "", ""
    for message in history:
        if isinstance(message, UserMessage):
            if said:
                yield said, replied
            said, replied = message.text, ""
        elif isinstance(message, AssistantMessage):
            replied += f"{message.text}\n"
    if said:
        yield said, replied
