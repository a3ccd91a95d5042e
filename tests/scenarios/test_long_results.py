"""A tool returns two megabytes: the model reads the end of it, now and a turn later, and answers with what stands there."""

import json

from chatops_bot.context.fence import unfence
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.model import ModelRequest, ToolMessage
from chatops_bot.domain.people import Effect
from chatops_bot.domain.tool import ToolResult
from chatops_bot.llm.scripted import ScriptedModel, calls, says
from chatops_bot.ports import ToolContext, ToolSpec
from tests.scenarios.conftest import World, visible
from tests.small_tools import LookArgs

LINES = 60_000


class BigLog:
    spec = ToolSpec("read_log", LookArgs, Effect.READ, Phrase("读日志", "reading a log"))

    async def run(self, arguments: LookArgs, context: ToolContext) -> ToolResult:
        lines = [f"{number:06} all is well, nothing to see" for number in range(LINES)]
        text = "\n".join([*lines, "FATAL: the disk of db-7 is full"])
        assert len(text) > 2_000_000
        return ToolResult("ok", {"log": text}, Phrase("读到了", "read"))


def newest_result(request: ModelRequest) -> dict[str, object]:
    message = [m for m in request.messages if isinstance(m, ToolMessage)][-1]
    return dict(json.loads(unfence(message.text)))


async def test_two_megabytes_are_read_at_their_end_now_and_in_the_next_turn(world: World):
    model = ScriptedModel(
        [
            calls(("read_log", {})),
            calls(("read_result", {"handle": "call_1_1", "tail": 1})),
            says("The disk of db-7 is full."),
            calls(("read_result", {"handle": "call_1_1", "search": "059999"})),
            says("Line 059999 was fine."),
        ]
    )
    async with world.bot(model, tools=[BigLog()]):
        ts = await world.says("oscar", f"{world.mention} what does the log say?")
        _, answer = await world.settled(ts, 1)
        assert "db-7" in visible(answer)
        await world.says("oscar", f"{world.mention} and line 059999?", thread=ts)
        await world.settled(ts, 3)
    _, second, third, _, fifth = model.requests
    assert newest_result(second)["read_result"] == {"handle": "call_1_1"}
    assert sum(len(m.text) for m in second.messages) < 60_000
    assert newest_result(third)["lines"] == [f"{LINES + 2}: FATAL: the disk of db-7 is full"]
    assert newest_result(fifth)["lines"] == [f"{LINES + 1}: 059999 all is well, nothing to see"]
