"""The tool border: whatever goes wrong inside a tool becomes the result of the call, never the end of the turn.

This is one of the three places where every exception is caught. Redaction stands here too, since results and error texts
alike leave through it. Where the store is away, or another process has the turn, there is no result to be had: the turn ends.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from chatops_bot.domain.errors import (
    StoreUnavailable,
    ToolArgumentsInvalid,
    ToolError,
    ToolFailed,
    ToolRefused,
    ToolUnknown,
    TurnLost,
    Words,
)
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.tool import ToolResult
from chatops_bot.tools.invocation import Dispatched, Handler, Invocation

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_ENDS_THE_TURN = (StoreUnavailable, TurnLost)


async def guarded(name: str, work: Awaitable[_T], *, passing: tuple[type[Exception], ...] = ()) -> _T:
    """What `work` returns. A bug in a tool comes out as a ToolFailed whose outcome is unknown; ToolErrors pass as they are, and
    so does what is `passing`."""
    try:
        return await work
    except (ToolError, TimeoutError):
        raise
    except passing:
        raise
    except Exception as error:  # the tool border: a bug in one tool becomes the result of its call
        _log.exception("tool %s failed in a way it should not", name)
        raise ToolFailed(
            Phrase(
                f"{name} 内部出错，详情见机器人日志。",
                f"{name} failed inside the bot; its log has the details.",
            ),
            outcome_unknown=True,
        ) from error


def answered(effect_of: Callable[[str], Effect], words: Words, inner: Handler) -> Handler:
    """Turn errors into results that tell the model what went wrong and what to do. Raises StoreUnavailable and TurnLost."""

    async def answer(invocation: Invocation) -> Dispatched:
        try:
            return await guarded(invocation.call.name, inner(invocation), passing=_ENDS_THE_TURN)
        except ToolRefused as error:
            return Dispatched(_failed(error, words, invocation.language, refused=True), "refused")
        except (ToolUnknown, ToolArgumentsInvalid) as error:
            return Dispatched(_failed(error, words, invocation.language), "invalid")
        except ToolError as error:
            # A write that failed was only being planned: nothing ran, and the audit must not say that something did.
            ran = effect_of(invocation.call.name) is Effect.READ
            return Dispatched(_failed(error, words, invocation.language), "auto" if ran else "failed")

    return answer


def redacted(redactor: Redactor, inner: Handler) -> Handler:
    """Take secrets out of what comes back, before model, chat or audit see it."""

    async def redact(invocation: Invocation) -> Dispatched:
        done = await inner(invocation)
        result = _redacted(done.result, redactor)
        return done if result is done.result else replace(done, result=result)

    return redact


def _redacted(result: ToolResult, redactor: Redactor) -> ToolResult:
    """The result without secrets; one that holds none as it is."""
    content = redactor.value(result.content)
    summary = redactor.phrase(result.summary)
    suggestions = tuple(map(redactor.phrase, result.suggestions))
    answers = tuple(map(redactor.phrase, result.answers))
    said, was_said = (summary, suggestions, answers), (result.summary, result.suggestions, result.answers)
    if content is result.content and said == was_said:
        return result
    return replace(result, content=content, summary=summary, suggestions=suggestions, answers=answers)


def _failed(error: ToolError, words: Words, language: Language, *, refused: bool = False) -> ToolResult:
    """The error as the model gets it, in the asker's language, since it may well quote it."""
    said = error.phrase.said_in(language) if error.told is None else words(error.told, language)
    content = {"error": said} | ({"refused": True} if refused else {})
    return ToolResult(status="error", content=content, summary=error.phrase)
