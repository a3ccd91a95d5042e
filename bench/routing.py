"""What it costs to choose among a hundred tools by a request, beside looking for its words in their descriptions one by one."""

from collections.abc import Callable

from bench.measuring import in_turns, table
from chatops_bot.app.bundled import load_routing
from chatops_bot.context.prompt_types import ToolBrief, UserIntent
from chatops_bot.context.tool_routing import RoutableTools, Routed, route_tools
from chatops_bot.llm.offline import changes_asked

TOOLS = 100
REQUEST = "why did nightly-report fail on the busiest worker, and what is its load trend? 顺便看看失败的原因"
ROUTING = load_routing()
BRIEFS = (
    *(ToolBrief(name=name, description=name.replace("_", " ")) for name in ROUTING.tools),
    *(
        ToolBrief(
            name=f"query_part_{number}",
            description=f"Lists the parts of kind {number}, by name or by state. 按名称或状态列出第 {number} 类部件。",
        )
        for number in range(TOOLS - len(ROUTING.tools))
    ),
)
PREPARED = RoutableTools(BRIEFS, ROUTING)


def routed() -> Routed:
    return route_tools(UserIntent(text=REQUEST), PREPARED, allowed=PREPARED.briefs, agent_id="bench")


def understood_and_routed() -> Routed:
    """With what a turn does before: find out which changes the message asks for."""
    wished = changes_asked(REQUEST)
    return route_tools(
        UserIntent(text=REQUEST), PREPARED, allowed=PREPARED.briefs, agent_id="bench", wished=wished
    )


def searched() -> list[int]:
    """The least that a search through all descriptions would cost."""
    words = REQUEST.split()
    return [sum(word in brief.description for word in words) for brief in BRIEFS]


def contenders() -> dict[str, Callable[[], object]]:
    return {"searching": searched, "routing": routed, "understanding and routing": understood_and_routed}


def report(rounds: int) -> str:
    return table(f"choosing among {TOOLS} tools", in_turns(contenders(), rounds))
