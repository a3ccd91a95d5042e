"""A call that a model writes as text is kept from people's eyes, corrected once, and never run."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chatops_bot.agent.written_call import WrittenCallGuard
from chatops_bot.domain.model import SystemMessage
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.llm.scripted import calls, says
from tests.timing import FACTOR, ratio

TOOLS = frozenset({"look", "switch"})
WRITTEN = [
    '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>',
    "<function=look>{}</function>",
    '<function_calls>\n<invoke name="look">\n</invoke>\n</function_calls>',
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>look",
    "<|tool_calls_section_begin|>look",
    '[TOOL_CALLS][{"name": "look"}]',
    "Action: look\nAction Input: {}",
    "Action: look",
    " " * 60 + "<tool_call>",
    '{"name": "look", "arguments": {"name": "x"}}',
    '```json\n{\n  "name": "look",\n  "parameters": {}\n}\n```',
    "<|python_tag|>look.call()",
    'functions.look({"name": "x"})',
    "functions.switch (task_id=3)",
    '{"tool_calls": [{"id": "c1", "function": {"name": "look"}}]}',
    '{"function": {"name": "look", "arguments": "{}"}}',
    '[{"function": "switch", "arguments": {"task_id": 3, "action": "pause"}}]',
]
PLAIN = [
    "Nothing failed.",
    "```\n<tool_call>\n```\nis how a model writes it",
    "a <tool_call> in a line",
    "Action: restart the worker\nby hand",
    '{"name": "nightly-report", "status": "failed"}',
    '```json\n{"tasks": 3}\n```',
    "```followups",
    "<tool",
    "functions.other({})",
    "Here it is:\n\n   ```json " + "x" * 400 + "```\n\nThe cause is the disk.",
    "  ~~~ " + "x" * 400,
    "functions.look is a name",
    "functions.",
    "```x``` and `y`",
    '{"tool_calls": 3}',
    "{",
    "\n\n",
    " " * 200 + "<tool_call>",
    "```" + " " * 200 + '{"name": "look"}',
    "Action: lo",
]


def shown(*pieces: str) -> tuple[str, bool]:
    guard = WrittenCallGuard(TOOLS)
    text = "".join(guard.feed(piece) for piece in pieces) + guard.close()
    return text, guard.caught


def test_a_code_span_of_three_backticks_hides_no_call_behind_it():
    assert shown("```x``` is a span\n<tool_call>") == ("```x``` is a span\n", True)
    assert shown("`x` failed.\n<tool_call>") == ("`x` failed.\n", True)
    assert shown("```x\n<tool_call>\n```") == ("```x\n<tool_call>\n```", False)


@pytest.mark.case("peer-T33")
@pytest.mark.case("nightingale-T69")
@pytest.mark.parametrize("written", WRITTEN)
def test_a_written_call_is_not_shown(written: str):
    assert shown(written) == ("", True)
    assert shown(*written) == ("", True)
    if written[0] not in "{[`" or written.startswith("[TOOL"):
        assert shown("Let me see.\n\n", *written) == ("Let me see.\n\n", True)


@pytest.mark.parametrize("plain", PLAIN)
def test_other_text_is_shown_whole(plain: str):
    assert shown(plain) == (plain, False)
    assert shown(*plain) == (plain, False)


@example(parts=["```\n{}\n``", "`\n<tool_call>"], places=[8])
@given(
    st.lists(st.sampled_from([*WRITTEN, *PLAIN, "\n", " ", "```", "x", "Action:", "<"]), max_size=8),
    st.lists(st.integers(0, 500)),
)
def test_any_cut_shows_the_same(parts: list[str], places: list[int]):
    said = "".join(parts)
    marks = [0, *sorted(place % (len(said) + 1) for place in places), len(said)]
    cut = shown(*(said[start:end] for start, end in pairwise(marks)))
    assert cut == shown(said)
    assert said.startswith(cut[0])
    assert cut[1] or cut[0] == said


@pytest.mark.parametrize("piece", [" " * 4, "\t\t", "\n", "```\n", "```" + " " * 64])
def test_a_run_of_blanks_costs_time_as_it_is_long(piece: str):
    assert ratio(lambda size: shown(*[piece] * size), 2_000) < 2.5 * FACTOR
    assert ratio(lambda size: shown(piece * size), 20_000) < 2.5 * FACTOR


@pytest.mark.case("peer-T33")
async def test_a_call_in_the_very_last_line_is_kept_back_and_corrected(stage):
    await stage.play(says("I look.\n", "Action: look"), calls(("look", {})), says("One failed."))
    assert stage.text == "I look.\nOne failed."
    assert len(stage.look.runs) == 1


@pytest.mark.case("peer-T33")
async def test_it_is_corrected_once_and_then_made_properly(stage):
    model = await stage.play(says("I look.\n", WRITTEN[0]), calls(("look", {})), says("One failed."))
    assert stage.text == "I look.\nOne failed."
    assert len(stage.look.runs) == 1
    correction = model.requests[1].messages[-1]
    assert isinstance(correction, SystemMessage)
    assert "tool call as text" in correction.text
    assert stage.events[-1].outcome is TurnOutcome.ANSWERED


@pytest.mark.case("peer-T33")
async def test_a_model_that_goes_on_writing_calls_ends_with_a_statement(stage):
    await stage.play(*[says(WRITTEN[0])] * 3)
    assert stage.text == ""
    assert stage.look.runs == []
    assert [note.phrase.en for note in stage.notes] == [
        "The model wrote a tool call as text; it was not run.",
        "The model gave no answer. Ask again in other words.",
    ]
    assert stage.events[-1].outcome is TurnOutcome.FAILED
