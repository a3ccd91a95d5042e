"""What a transcript tells of skills to somebody who may not see them: nothing.

One thread has several people, and a skill that one of them had loaded stands in its transcript for good. So each turn
sees the calls about skills that its own asker may see; the others read as if the model had asked for a skill that is not
there. The transcript itself is never changed.
"""

import json
from collections.abc import Collection
from dataclasses import replace

from chatops_bot.domain.proposal import canonical_json
from chatops_bot.domain.skill import LOAD_SKILL, NO_SUCH_SKILL, RUN_SKILL_SCRIPT
from chatops_bot.domain.tool import ToolCall
from chatops_bot.domain.transcript import ToolReturned

_NAMED_BY = {LOAD_SKILL: "name", RUN_SKILL_SCRIPT: "skill"}
"""The argument that names the skill, by tool."""


def masked_call(call: ToolCall, skills: Collection[str]) -> ToolCall:
    """`call`, without its arguments if it is about a skill that is not among `skills`."""
    return (
        replace(call, arguments=canonical_json({_NAMED_BY[call.name]: "?"}))
        if _is_hidden(call, skills)
        else call
    )


def masked_result(
    call: ToolCall, result: ToolReturned | None, skills: Collection[str]
) -> ToolReturned | None:
    """The result of `call`; for one about a skill that is not among `skills`, the words for a skill that does not exist."""
    if result is None or not _is_hidden(call, skills):
        return result
    return replace(result, status="error", content=canonical_json({"error": NO_SUCH_SKILL.en}))


def _is_hidden(call: ToolCall, skills: Collection[str]) -> bool:
    argument = _NAMED_BY.get(call.name)
    if argument is None:
        return False
    try:
        name = json.loads(call.arguments)[argument]
    except (ValueError, KeyError, TypeError, RecursionError):
        return True
    return not isinstance(name, str) or name not in skills
