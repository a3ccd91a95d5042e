"""The transcript as a model sees it: entries in, messages out, valid for any provider wherever the transcript stops.

Every call of an assistant message is answered, in call order: by its stored result, or, where a turn was cut short, by a
statement that none was stored. Results are fenced here. The transcript itself is never changed.
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from chatops_bot.context.fence import Marks, fence
from chatops_bot.context.filled_form import filled_message
from chatops_bot.context.prompt_phrases import CallPhrases
from chatops_bot.context.skill_mask import SkillTrail, is_about
from chatops_bot.context.skill_text import framed
from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.model import AssistantMessage, Message, RecordMessage, ToolMessage, UserMessage
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.skill import LOAD_SKILL
from chatops_bot.domain.tool import ARGUMENT_CHARS, ToolCall
from chatops_bot.domain.transcript import (
    EarlierRead,
    Entry,
    FormClosed,
    FormFilled,
    ModelSaid,
    ProposalDecided,
    ToolReturned,
    TurnRested,
    UserSaid,
)

UNREADABLE_CHARS = 2_000
"""How much of arguments that could not be used is repeated to the model: enough to see what was wrong."""

NEVER_STORED = canonical_json({"result": "never stored"})
"""What is stored in place of the result of a call whose turn was cut short; the model is told so in its own language."""

_UNUSUAL_ENDS = {TurnOutcome.STOPPED, TurnOutcome.FAILED, TurnOutcome.INTERRUPTED, TurnOutcome.CAPPED}


def project(
    entries: Sequence[Entry],
    *,
    marks: Marks,
    words: CallPhrases,
    skills: Collection[str] = (),
    trail: SkillTrail | None = None,
) -> list[Message]:
    """All messages of the transcript, from the first person's message on; what of them is sent, `context.window` chooses.

    In front stands what was in the thread before the session began, since that is what the thread is about. `skills` are the
    names of those that the asker may see: of others nothing is told but what people read in the thread (`skill_mask`); `trail` is
    that of `entries`, for who has it already. `marks` are the nonces of this conversation.
    """
    trail = trail or SkillTrail(entries)
    earlier: list[Message] = []
    messages: list[Message] = []
    newest = next((each for each in reversed(entries) if isinstance(each, EarlierRead)), None)
    results = {(e.turn_id, e.call_id): e for e in entries if isinstance(e, ToolReturned)}
    for place, entry in enumerate(entries):
        match entry:
            case EarlierRead() if entry is newest and (entry.messages or entry.problem):
                earlier.append(
                    RecordMessage(fence(_earlier(entry), source="thread", nonce=marks(f"entry {place}")))
                )
            case UserSaid():
                messages.append(UserMessage(entry.text, entry.author_id))
            case FormFilled():
                messages.append(
                    UserMessage(
                        filled_message(entry, nonce=marks(f"entry {place}"), said=words.filled_form),
                        entry.author_id,
                    )
                )
            case ModelSaid() if entry.calls:
                messages.append(assistant_message(trail.masked(place, entry, skills)))
                for call in entry.calls:
                    result = results.get((entry.turn_id, call.id))
                    if result is not None and trail.hides(entry.turn_id, call, skills):
                        result = _out_of_sight(call, result, words, skills)
                    messages.append(answer_to(call, result, entry.turn_id, marks=marks, words=words))
            case ModelSaid() if (seen := trail.masked(place, entry, skills)).text.strip():
                messages.append(assistant_message(seen))
            case FormClosed() | ProposalDecided() | TurnRested() if told := _told(entry):
                text, source = told
                messages.append(RecordMessage(fence(text, source=source, nonce=marks(f"entry {place}"))))
            case _:
                pass  # tool results stand with their calls; an ordinary end says nothing new
    first = next((place for place, each in enumerate(messages) if isinstance(each, UserMessage)), 0)
    return [*earlier, *messages[first:]]


def assistant_message(entry: ModelSaid) -> AssistantMessage:
    """What the model said, as it is sent back: reasoning unchanged, arguments always a JSON object."""
    return AssistantMessage(entry.text, entry.reasoning, tuple(map(_replayable, entry.calls)), entry.model)


def unanswered(entries: Sequence[Entry], turn_id: str) -> list[ToolCall]:
    """The calls of a turn that have no stored result, in order: what a turn that is cut short leaves behind."""
    answered = {e.call_id for e in entries if isinstance(e, ToolReturned) and e.turn_id == turn_id}
    said = (e for e in entries if isinstance(e, ModelSaid) and e.turn_id == turn_id)
    return [call for message in said for call in message.calls if call.id not in answered]


def answer_to(
    call: ToolCall, result: ToolReturned | None, turn_id: str, *, marks: Marks, words: CallPhrases
) -> ToolMessage:
    """The message that answers `call`: its fenced result, or the statement that none was stored. Ids of calls differ in a turn."""
    nonce = marks(json.dumps(["result", turn_id, call.id]))
    stored = None if result is None or result.content == NEVER_STORED else result.content
    content = canonical_json({"error": words.no_result}) if stored is None else stored
    text = (
        framed(content, nonce, words.skill_frame)
        if result and result.status == "ok" and result.tool == LOAD_SKILL
        else None
    )
    return ToolMessage(
        call.id, _legal_name(call.name), text or fence(content, source=f"tool {call.name}", nonce=nonce)
    )


def _out_of_sight(
    call: ToolCall, result: ToolReturned, words: CallPhrases, skills: Collection[str]
) -> ToolReturned:
    """What stands for a result that the asker may not see. One that waits for people tells only what its card or form shows."""
    if result.status == "waits":
        return result
    said = words.no_such_skill if is_about(call, skills) else words.not_at_hand
    return replace(result, status="error", content=canonical_json({"error": said}))


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


def _replayable(call: ToolCall) -> ToolCall:
    """The call as any provider takes it back, whatever the model had sent: a legal name, and arguments that are a JSON object.

    This is the one place that sees to it. Arguments that were an object stay as they were, to the byte.
    """
    return ToolCall(call.id, _legal_name(call.name), _object_text(call.arguments), call.opaque)


def _legal_name(name: str) -> str:
    return name if _NAME.fullmatch(name) else "unreadable_name"


def _object_text(arguments: str) -> str:
    if arguments.strip() in ("", "null"):
        return "{}"
    try:
        valid = isinstance(_STRICT_JSON.decode(arguments), dict)
    except (ValueError, RecursionError):
        valid = False
    if valid and len(arguments) <= ARGUMENT_CHARS:
        return arguments
    return canonical_json({"too_long" if valid else "not_valid_json": arguments[:UNREADABLE_CHARS]})


def _no_json(constant: str) -> None:
    """Python reads NaN and Infinity; JSON has neither, and providers say so."""
    raise ValueError(constant)


_STRICT_JSON = json.JSONDecoder(parse_constant=_no_json)


def _earlier(entry: EarlierRead) -> str:
    if entry.problem:
        return canonical_json({"earlier_messages_not_read": entry.problem})
    told = [
        {"author": each.author, "time": each.at.isoformat(timespec="seconds"), "text": each.text}
        for each in entry.messages
    ]
    return canonical_json({"earlier_messages": told, "left_out": entry.left_out})


def _told(entry: FormClosed | ProposalDecided | TurnRested) -> tuple[str, str] | None:
    """What is told of something that happened between messages, and what that is; None of an ordinary end."""
    match entry:
        case ProposalDecided():
            return _decision(entry), "decision"
        case FormClosed():
            closed = {"form_of": entry.tool, "state": entry.state, "by": entry.person_name}
            return canonical_json(closed), "form"
        case TurnRested():
            ended = canonical_json({"turn_ended": entry.outcome.value})
            return (ended, "turn") if entry.outcome in _UNUSUAL_ENDS else None


def _decision(entry: ProposalDecided) -> str:
    extras = (("reason", entry.reason), ("looked_again", entry.seen), ("takes_back", entry.takes_back))
    why = {name: said for name, said in extras if said}
    return canonical_json(
        {
            **why,
            "proposal": entry.proposal_id,
            "code": entry.code,
            "tool": entry.tool,
            "target": entry.target,
            "state": entry.state,
            "by": entry.person_name,
            "outcome": entry.outcome,
            "at": entry.at.isoformat(timespec="seconds"),
        }
    )
