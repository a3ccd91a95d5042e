"""What a tool says of values that do not yet make a whole call, for the forms that ask for the rest."""

import asyncio
from collections.abc import Mapping
from typing import Any

from chatops_bot.domain.errors import ToolError
from chatops_bot.domain.language import Phrase
from chatops_bot.ports import Tool, ToolContext
from chatops_bot.tools.border import guarded

CHECK_SECONDS = 1.5
"""How long a tool may take to find fault with an answer: a dialog must be answered within three seconds. What it does not
find in time, the turn's own plan says."""


async def problems_found(tool: Tool, given: Mapping[str, Any], context: ToolContext) -> Mapping[str, Phrase]:
    """All that the tool's own check finds wrong with `given`, by argument; nothing where it cannot tell now."""
    check = tool.spec.check
    if check is None:
        return {}
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await guarded(tool.spec.name, check(tool, given, context))
    except (ToolError, TimeoutError):
        return {}
