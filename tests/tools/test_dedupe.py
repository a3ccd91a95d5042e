"""What came to nothing may be tried again in the same turn; what worked is given back as it was."""

from typing import Literal

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.tool import ToolCall, ToolResult
from chatops_bot.ports import ToolContext
from chatops_bot.tools.dedupe import deduplicated
from chatops_bot.tools.invocation import Dispatched, Invocation, TurnMemory
from tests.small_tools import OSCAR, SESSION, WORDS, Look, Switch, SwitchArgs


async def test_an_error_is_not_remembered_and_a_success_is():
    statuses: tuple[Literal["error", "waits", "ok"], ...] = ("error", "waits", "ok")
    results = [ToolResult(status, {"n": n}, Phrase("", "")) for n, status in enumerate(statuses)]
    calls = iter(results)

    async def inner(invocation: Invocation) -> Dispatched:
        return Dispatched(next(calls), "proposed")

    handler, memory = deduplicated(WORDS, inner), TurnMemory()
    context = ToolContext(OSCAR, SESSION, "turn_1")
    invocation = Invocation(ToolCall("c1", "switch", "{}"), context, memory, "en")
    switch = invocation.of(Switch(), SwitchArgs(task_id=3, action="pause"))
    seen = [await handler(switch) for _ in range(3)]
    assert [done.result.content["n"] for done in seen] == [0, 1, 1]
    assert [done.decision for done in seen] == ["proposed"] * 3
    assert [done.result.status for done in seen] == ["error", "waits", "waits"]
    assert seen[2].result.content["note"].endswith("it was not repeated")
    read = await handler(invocation.of(Look(), SwitchArgs(task_id=3, action="pause")))
    assert read.result.content == {"n": 2}
    assert len(memory.writes) == 1
