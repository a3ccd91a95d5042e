"""Who may have what run: the policy is asked first, a consultation only looks, and a next step is offered to those who can have it."""

import pytest

from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.tool import ToolCall
from chatops_bot.ports import ToolContext
from chatops_bot.tools.invocation import Dispatched, TurnMemory
from chatops_bot.tools.toolbox import Toolbox
from tests.small_tools import OSCAR, SESSION

VERA = Person("U5", "Vera", Role.VIEWER)


async def consulted(bench, name: str, arguments: str) -> Dispatched:
    """What a call comes to by an agent that another one consults."""
    context = ToolContext(OSCAR, SESSION, "turn_1", agents=("one", "two"), reads_only=True)
    done: Dispatched = await bench.dispatcher.dispatch(
        ToolCall("c1", name, arguments), context, bench.memory, "en"
    )
    return done


@pytest.mark.parametrize(
    ("name", "arguments"), [("switch", '{"task_id": 3, "action": "pause"}'), ("search", "{}")]
)
async def test_in_a_consultation_nothing_is_proposed_and_nobody_is_asked(bench, name: str, arguments: str):
    done = await consulted(bench, name, arguments)
    assert (done.decision, done.proposal, done.form) == ("refused", None, None)
    assert done.result.content == {
        "error": "Not in a consultation: tell the asking agent what to propose.",
        "refused": True,
    }


async def test_in_a_consultation_one_may_look(bench):
    assert (await consulted(bench, "look", "{}")).result.status == "ok"


@pytest.mark.parametrize(
    ("name", "person", "allowed", "may"),
    [
        ("switch", OSCAR, None, True),
        ("switch", OSCAR, ["look", "switch"], True),
        ("switch", OSCAR, ["look"], False),
        ("switch", VERA, None, False),
        ("switch", VERA, ["switch"], False),
        ("look", VERA, None, True),
        ("swatch", OSCAR, None, False),
        ("swatch", OSCAR, ["swatch"], False),
    ],
)
def test_a_next_step_is_for_those_who_may_ask_for_it_of_an_agent_that_has_the_tool(
    bench, name: str, person: Person, allowed: list[str] | None, may: bool
):
    memory = TurnMemory() if allowed is None else TurnMemory(Toolbox(bench.registry, allowed=allowed))
    assert bench.dispatcher.may_call(name, ToolContext(person, SESSION, "turn_1"), memory) is may
