"""A hidden skill is in nothing that a transcript tells whoever may not see it, by whatever road its words came there."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.app.clock import CountingIds
from chatops_bot.context.fence import fresh_marks, unfence
from chatops_bot.context.history import project
from chatops_bot.context.skill_mask import SkillTrail
from chatops_bot.domain.model import AssistantMessage, Reasoning, ToolMessage
from chatops_bot.domain.tool import ToolCall, ToolStatus
from chatops_bot.domain.transcript import Entry, ModelSaid, ToolReturned, UserSaid
from tests.small_tools import PHRASES

AT = datetime(2026, 3, 2, 14, 32, tzinfo=UTC)
HIDDEN = "payroll-secret"
WORDS = "the vault of floor three"
THOUGHT = Reasoning(f"{HIDDEN} says: {WORDS}", "reasoning_content", json.dumps({"sealed": WORDS}))


def asks(turn: str = "t1") -> UserSaid:
    return UserSaid(turn, AT, "U1", "Ana", "approver", "repair payroll")


def call(name: str, call_id: str = "c1", opaque: str = "", /, **arguments: object) -> ToolCall:
    return ToolCall(call_id, name, json.dumps(arguments), opaque)


def says(
    *calls: ToolCall,
    turn: str = "t1",
    text: str = "",
    reasoning: Reasoning = THOUGHT,
    told: Sequence[str] = (),
    read: Sequence[str] = (),
    shown: str | None = None,
) -> ModelSaid:
    return ModelSaid(
        turn, AT, text, reasoning, calls, "m", skills_told=tuple(told), skills_read=tuple(read), shown=shown
    )


def returns(
    made: ToolCall,
    *,
    turn: str = "t1",
    status: ToolStatus = "ok",
    read: Sequence[str] = (),
    **content: object,
) -> ToolReturned:
    return ToolReturned(turn, AT, made.id, made.name, status, json.dumps(content), tuple(read))


LOAD = call("load_skill", name=HIDDEN)
SCRIPT = call("run_skill_script", skill=HIDDEN, script="scripts/a.py")
LOADED: list[Entry] = [says(LOAD), returns(LOAD, skill=HIDDEN, text=WORDS)]
RAN: list[Entry] = [says(SCRIPT), returns(SCRIPT, skill=HIDDEN, stdout=WORDS)]
BACK = call("read_result", "c2", handle="c1")
READ_BACK: list[Entry] = [
    says(BACK, reasoning=Reasoning()),
    returns(BACK, tool="run_skill_script", lines=[HIDDEN, WORDS]),
]
AGAIN = call("read_result", "c3", handle="c2")
CONSULT = call("consult_agent", "c4", agent_id="other", question=f"is {WORDS} open?")
LOOK = call("query_tasks", "c5", name=WORDS)

ROADS: dict[str, list[Entry]] = {
    "the reasoning that led to the call": [says(LOAD), returns(LOAD, status="error", error="?")],
    "what the provider sealed beside the call": [says(call("load_skill", "c1", WORDS, name=HIDDEN))],
    "what the provider sealed beside another call of the message": [
        says(LOAD, call("query_tasks", "c9", WORDS), reasoning=Reasoning())
    ],
    "the text of the skill": LOADED,
    "what its script wrote": RAN,
    "the reasoning of the answer": [*LOADED, says(text="Done.")],
    "the rest of a long result, read back": [*RAN, *READ_BACK],
    "what was read back, read back": [*RAN, *READ_BACK, says(AGAIN), returns(AGAIN, lines=[WORDS])],
    "a result of it, read back in another turn": [
        *RAN, asks("t2"), says(AGAIN, turn="t2", reasoning=Reasoning()), returns(AGAIN, turn="t2", lines=["none"]),
        asks("t3"), says(BACK, turn="t3"), returns(BACK, turn="t3", lines=[WORDS]),
    ],
    "the answer of an agent that had read it": [
        says(CONSULT, reasoning=Reasoning()), returns(CONSULT, answer=f"as {HIDDEN} says: {WORDS}", read=[HIDDEN]),
    ],
    "the answer of an agent that knew of it": [
        says(CONSULT, told=[HIDDEN]), returns(CONSULT, answer=f"there is {HIDDEN}: {WORDS}"),
    ],
    "what was looked up after it": [*LOADED, says(LOOK), returns(LOOK, count=0, looked_for=WORDS)],
    "what was looked up after an agent's answer": [
        says(CONSULT, reasoning=Reasoning()), returns(CONSULT, answer=WORDS, read=[HIDDEN]),
        says(LOOK), returns(LOOK, looked_for=WORDS),
    ],
    "what a later turn looked up": [
        *LOADED, says(text="Done."), asks("t2"), says(LOOK, turn="t2", read=[HIDDEN], told=[HIDDEN]),
        returns(LOOK, turn="t2", looked_for=WORDS), says(turn="t2", text="x", read=[HIDDEN], told=[HIDDEN]),
    ],
    "a prompt that had it whole from the start": [
        says(LOOK, told=[HIDDEN], read=[HIDDEN]), returns(LOOK, looked_for=WORDS),
        says(text="Done.", told=[HIDDEN], read=[HIDDEN]),
    ],
    "the reasoning of a prompt that only listed it": [says(text="Done.", told=[HIDDEN])],
    "a call that names what a prompt only listed": [
        says(call("query_tasks", "c5", name=HIDDEN.upper()), told=[HIDDEN], reasoning=Reasoning()),
        returns(LOOK, looked_for=WORDS),
    ],
    "what was looked up after an error that named its scripts": [
        says(SCRIPT, told=[HIDDEN]), returns(SCRIPT, status="error", error=f"It has: {WORDS}."),
        says(LOOK, told=[HIDDEN]), returns(LOOK, looked_for=WORDS),
    ],
    "a next step that nobody was offered": [
        says(told=[HIDDEN], text=f"Done.\n```followups\n{HIDDEN}: {WORDS}?\n```", shown="Done.")
    ],
    "a call that names no skill that can be read": [
        says(ToolCall("c1", "load_skill", f'["{HIDDEN}"')), returns(LOAD, status="error", error=WORDS)
    ],
}  # fmt: skip


def told(entries: Sequence[Entry], *skills: str) -> str:
    return repr(project(entries, marks=fresh_marks(CountingIds().nonce), words=PHRASES.calls, skills=skills))


@pytest.mark.parametrize("road", ROADS)
def test_whoever_may_not_see_a_skill_reads_nothing_of_it(road: str):
    entries: list[Entry] = [
        asks(),
        *ROADS[road],
        UserSaid("t9", AT, "U2", "Vera", "viewer", "what did you do?"),
    ]
    seen = told(entries, "alpha").casefold()
    assert HIDDEN not in seen
    assert WORDS not in seen
    assert "what did you do?" in seen


@pytest.mark.parametrize("road", ROADS)
def test_whoever_may_see_it_reads_all_of_it(road: str):
    readable = road != "a call that names no skill that can be read"
    assert (WORDS in told([asks(), *ROADS[road]], HIDDEN)) is readable
    trail = SkillTrail(ROADS[road])
    said = [entry for entry in ROADS[road] if isinstance(entry, ModelSaid)]
    hidden = [trail.hides(entry.turn_id, each, [HIDDEN]) for entry in said for each in entry.calls]
    assert set(hidden) <= {not readable}


def test_what_people_read_in_the_thread_stays():
    entries: list[Entry] = [
        asks(),
        *LOADED,
        says(text="Open the vault.", told=[HIDDEN], shown="Open the vault."),
    ]
    assert "Open the vault." in told(entries)


def test_a_call_that_waits_for_people_tells_what_its_card_shows_and_not_its_arguments():
    switch = call("switch", "c7", task_id=3, why=WORDS)
    entries: list[Entry] = [
        asks(),
        *LOADED,
        says(switch),
        returns(switch, status="waits", proposal="K7QFAB", target="task #3"),
    ]
    assert "K7QFAB" in told(entries)
    assert WORDS not in told(entries)


def test_one_who_guessed_its_name_has_not_read_it():
    guess, later = call("load_skill", name=HIDDEN), call("query_tasks", "c2", name="x")
    entries: list[Entry] = [
        asks(), says(guess, reasoning=Reasoning()), returns(guess, status="error", error="no such skill"),
        says(later, reasoning=Reasoning()), returns(later, count=7),
    ]  # fmt: skip
    assert HIDDEN not in told(entries)
    assert '"count": 7' in told(entries)


def test_turns_that_knew_of_no_hidden_skill_are_told_unchanged():
    made = call("query_tasks", "c5", '{"seal": 1}', name="x")
    entries: list[Entry] = [
        asks(),
        says(made, told=["alpha"], read=["alpha"]),
        returns(made, count=7),
        says(text="7."),
    ]
    (_, asked, result, answer) = project(
        entries, marks=fresh_marks(CountingIds().nonce), words=PHRASES.calls, skills=["alpha"]
    )
    assert asked == AssistantMessage("", THOUGHT, (made,), "m")
    assert answer == AssistantMessage("7.", THOUGHT, (), "m")
    assert isinstance(result, ToolMessage)
    assert json.loads(unfence(result.text)) == {"count": 7}


@given(st.text(max_size=40))
def test_a_call_is_about_the_skill_of_exactly_its_name(name: str):
    made = call("load_skill", name=name)
    seen = project(
        [asks(), says(made)], marks=fresh_marks(CountingIds().nonce), words=PHRASES.calls, skills=["alpha"]
    )[1]
    assert isinstance(seen, AssistantMessage)
    assert seen.calls == ((made,) if name == "alpha" else (ToolCall("c1", "load_skill", '{"name":"?"}'),))


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["load", "script", "look", "back", "consult", "answer", "turn"]), st.integers(1, 12)
    ),
    max_size=12,
)


@given(STEPS, st.booleans())
def test_over_any_transcript_nothing_that_followed_from_it_is_told(
    steps: list[tuple[str, int]], preloaded: bool
):
    """Models that have read the skill put its words into everything that they write; Ana alone asks, who sees it."""
    entries: list[Entry] = [asks("t0")]
    turn, has_read, at_start = 0, preloaded, preloaded
    for number, (what, which) in enumerate(steps, 1):
        thought = THOUGHT if has_read else Reasoning(HIDDEN)
        marks = {"turn": f"t{turn}", "told": [HIDDEN], "read": [HIDDEN] if at_start else []}
        said = WORDS if has_read else "plain"
        made = {
            "load": call("load_skill", f"c{number}", name=HIDDEN),
            "script": call("run_skill_script", f"c{number}", skill=HIDDEN, stdin=said),
            "look": call("query_tasks", f"c{number}", name=said),
            "back": call("read_result", f"c{number}", handle=f"c{which}"),
            "consult": call("consult_agent", f"c{number}", question=said),
        }.get(what)
        if what == "turn":
            turn, at_start = turn + 1, has_read
            entries.append(asks(f"t{turn}"))
        elif made is None:
            entries.append(says(text=f"{said}!", shown="shown", reasoning=thought, **marks))  # type: ignore[arg-type]
        else:
            has_read = has_read or what in ("load", "script", "consult")
            found = WORDS if has_read else "plain"
            brings = [HIDDEN] if what == "consult" else []
            entries += [
                says(made, reasoning=thought, **marks),  # type: ignore[arg-type]
                returns(made, turn=f"t{turn}", read=brings, found=found),
            ]
    seen = told(entries)
    assert HIDDEN not in seen
    assert WORDS not in seen
