"""The tool border: whatever goes wrong inside becomes the result of the call, never the end of the turn.

This is one of the three places where every exception is caught. Redaction stands here too, since results and error texts
alike leave through it.
"""

import logging
from dataclasses import replace

from chatops_bot.domain.errors import ToolArgumentsInvalid, ToolError, ToolRefused, ToolUnknown
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.tool import ToolResult
from chatops_bot.tools.invocation import Dispatched, Handler, Invocation

_log = logging.getLogger(__name__)


def answered(inner: Handler) -> Handler:
    """Turn errors into results that tell the model what went wrong and what to do."""

    async def answer(invocation: Invocation) -> Dispatched:
        try:
            return await inner(invocation)
        except ToolRefused as error:
            return Dispatched(_failed(error.phrase, refused=True), "refused")
        except (ToolUnknown, ToolArgumentsInvalid) as error:
            return Dispatched(_failed(error.phrase), "invalid")
        except ToolError as error:
            return Dispatched(_failed(error.phrase), "auto")
        except Exception:  # noqa: BLE001  # the tool border: a bug in one tool must not end the turn
            _log.exception("tool %s failed in a way it should not", invocation.call.name)
            phrase = Phrase(
                f"{invocation.call.name} 内部出错，详情见机器人日志。",
                f"{invocation.call.name} failed inside the bot; its log has the details.",
            )
            return Dispatched(_failed(phrase), "auto")

    return answer


def redacted(redactor: Redactor, inner: Handler) -> Handler:
    """Take secrets out of what comes back, before model, chat or audit see it."""

    async def redact(invocation: Invocation) -> Dispatched:
        done = await inner(invocation)
        result = done.result
        summary = Phrase(redactor.text(result.summary.zh), redactor.text(result.summary.en))
        return replace(done, result=replace(result, content=redactor.value(result.content), summary=summary))

    return redact


def _failed(phrase: Phrase, *, refused: bool = False) -> ToolResult:
    content = {"error": phrase.en} | ({"refused": True} if refused else {})
    return ToolResult(status="error", content=content, summary=phrase)
