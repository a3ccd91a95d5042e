"""Whole turns of a scripted model through the loop, the door and a real store."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from chatops_bot.agent.consulting import Aside
from chatops_bot.agent.loop import CALL_CUT, CUT_CALLS, MAX_CALLS, MAX_STEP_CHARS, Loop
from chatops_bot.context.fence import fresh_marks, unfence
from chatops_bot.context.history import project
from chatops_bot.domain.errors import ModelBlocked, ModelBroke, ModelUnavailable, StoreUnavailable, TurnLost
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.model import (
    AssistantMessage,
    Finished,
    FinishReason,
    ModelNotice,
    Reasoning,
    ReasoningDelta,
    TextDelta,
    TextEnded,
    ThoughtEnded,
    ToolCallDelta,
    ToolMessage,
    Usage,
    UserMessage,
)
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.proposal import ProposalState
from chatops_bot.domain.session import SessionKey, TurnOutcome
from chatops_bot.domain.skill import Skill
from chatops_bot.domain.transcript import Entry, ModelSaid, ToolReturned
from chatops_bot.domain.turn_event import (
    CallEnded,
    CallStarted,
    Noted,
    Proposed,
    ReasoningStreamed,
    Rested,
    RoundEnded,
    StepEnded,
    TextStreamed,
    TextWithdrawn,
    TurnEvent,
)
from chatops_bot.llm.scripted import ScriptedModel, Step, calls, fails, says
from chatops_bot.rendering.turn_view import TurnView
from tests.small_tools import PHRASES

DOWN = ModelUnavailable(Phrase("模型不可用", "The model is down."))


@pytest.mark.case("nightingale-T1")
async def test_no_tool_call_is_the_answer(stage):
    await stage.play(says("Nothing ", "failed."))
    assert stage.text == "Nothing failed."
    assert stage.events[-1] == Rested(TurnOutcome.ANSWERED, "Nothing failed.")
    (said,) = await stage.entries()
    assert isinstance(said, ModelSaid)
    assert said.text == "Nothing failed."


@pytest.mark.case("nightingale-T2")
async def test_text_beside_calls_streams_and_results_are_fed_back(stage):
    model = await stage.play(
        calls(("look", {"name": "night"}), text="Let me look.", reasoning="I need data"), says("One failed.")
    )
    assert stage.text == "Let me look.One failed."
    kinds = [type(event) for event in stage.events]
    assert kinds == [
        ReasoningStreamed,
        TextStreamed,
        StepEnded,
        RoundEnded,
        CallStarted,
        CallEnded,
        TextStreamed,
        StepEnded,
        Rested,
    ]
    assert stage.events[-1].body == "One failed."
    assistant, result = model.requests[1].messages[-2:]
    assert isinstance(assistant, AssistantMessage)
    assert (assistant.text, assistant.reasoning.text) == ("Let me look.", "I need data")
    assert assistant.model == "scripted"
    assert isinstance(result, ToolMessage)
    assert json.loads(unfence(result.text)) == {"count": 1}


async def test_reasoning_and_text_never_share_a_channel(stage):
    await stage.play([ReasoningDelta("secret thought"), TextDelta("answer"), Finished(FinishReason.STOP)])
    assert stage.text == "answer"
    assert [e.text for e in stage.of(ReasoningStreamed)] == ["secret thought"]


async def test_errors_are_results_that_the_model_sees(stage):
    model = await stage.play(calls(("lok", "{}"), ("look", '{"name": }')), says("Sorry."))
    errors = [json.loads(unfence(m.text))["error"] for m in model.requests[1].messages[-2:]]
    assert "Valid names: look" in errors[0]
    assert "not valid JSON" in errors[1]
    assert stage.look.runs == []


@pytest.mark.case("hitl-C10")
async def test_a_write_makes_a_proposal_and_the_turn_rests(stage):
    await stage.play(calls(("switch", {"task_id": 3, "action": "pause"}), text="Pausing needs approval."))
    (proposed,) = stage.of(Proposed)
    assert stage.events[-1] == Rested(TurnOutcome.WAITING, "Pausing needs approval.")
    assert stage.switch.applied == []
    result = (await stage.entries())[-1]
    assert isinstance(result, ToolReturned)
    assert (result.status, json.loads(result.content)["proposal"]) == ("waits", proposed.proposal.code)


@pytest.mark.case("nightingale-T6")
async def test_calls_before_a_proposal_keep_results_later_writes_are_proposed_later_reads_are_not_run(stage):
    await stage.play(
        calls(
            ("look", {"name": "before"}),
            ("switch", {"task_id": 3, "action": "pause"}),
            ("look", {"name": "after"}),
            ("switch", {"task_id": 3, "action": "resume"}),
            ("switch", {"action": "pause", "task_id": 3}),
        )
    )
    returned = [e for e in await stage.entries() if isinstance(e, ToolReturned)]
    assert [e.status for e in returned] == ["ok", "waits", "not_run", "waits", "waits"]
    assert [run.name for run in stage.look.runs] == ["before"]
    assert len(stage.of(Proposed)) == 2
    assert len(await stage.store.proposals.in_states(frozenset({ProposalState.PENDING}))) == 2


@pytest.mark.case("hitl-C10")
@pytest.mark.parametrize("count", range(1, 21))
async def test_each_of_many_writes_of_one_message_is_a_proposal_and_no_call_is_without_a_result(
    stage, count: int
):
    wanted = [("flip", {"task_id": task, "action": "pause"}) for task in range(1, count + 1)]
    await stage.play(calls(*wanted, ("flip", {"action": "pause", "task_id": count})))
    proposed = [event.proposal for event in stage.of(Proposed)]
    assert [one.arguments["task_id"] for one in proposed] == list(range(1, count + 1))
    assert await stage.store.proposals.in_states(frozenset({ProposalState.PENDING})) == proposed
    said, *returned = await stage.entries()
    assert [entry.call_id for entry in returned] == [call.id for call in said.calls]
    assert {entry.status for entry in returned} == {"waits"}


@pytest.mark.case("hitl-C14")
async def test_a_failing_neighbour_does_not_lose_the_proposal(stage):
    stage.look.fault = KeyError("a bug")
    await stage.play(calls(("look", {}), ("switch", {"task_id": 3, "action": "pause"}), ("nonsense", {})))
    assert len(stage.of(Proposed)) == 1
    assert stage.events[-1].outcome is TurnOutcome.WAITING


async def test_a_refused_write_does_not_end_the_turn(stage):
    vera = Person("U9", "Vera", Role.VIEWER)
    await stage.play(
        calls(("switch", {"task_id": 3, "action": "pause"})), says("You may not."), turn=stage.turn(vera)
    )
    assert stage.of(Proposed) == []
    assert stage.events[-1] == Rested(TurnOutcome.ANSWERED, "You may not.", ())


async def test_neighbouring_reads_run_at_once_and_results_keep_call_order(stage):
    stage.look.gate = asyncio.Event()
    playing = asyncio.create_task(
        stage.play(calls(("look", {"name": "a"}), ("look", {"name": "b"})), says("ok"))
    )
    async with asyncio.timeout(5):
        await stage.look.entered.get()
        await stage.look.entered.get()
    stage.look.gate.set()
    await playing
    assert [e.call_id for e in stage.of(CallEnded)] == ["call_1_1", "call_1_2"]


@pytest.mark.case("nightingale-T4")
async def test_at_the_cap_a_call_without_tools_sums_up(stage):
    model = await stage.play(calls(("look", {})), calls(("look", {})), says("So far: one."), max_rounds=2)
    assert not model.requests[-1].may_call
    assert model.requests[-1].tools == model.requests[0].tools
    assert stage.events[-1] == Rested(TurnOutcome.CAPPED, "So far: one.")
    assert "limit of 2 rounds" in stage.of(Noted)[0].phrase.en


async def test_when_the_summing_up_fails_the_last_text_stands_as_incomplete(stage):
    await stage.play(calls(("look", {}), text="Looking at #12."), fails(DOWN), max_rounds=1)
    assert [n.phrase.en for n in stage.of(Noted)][-2:] == [DOWN.phrase.en, "Analysis incomplete."]
    assert stage.events[-1] == Rested(TurnOutcome.CAPPED, "Looking at #12.")


async def test_ten_rounds_by_default(stage):
    await stage.play(*[calls(("look", {}))] * 10, says("done"))
    assert len(stage.look.runs) == 10
    assert stage.events[-1].outcome is TurnOutcome.CAPPED


@pytest.mark.case("nightingale-T3")
async def test_truncated_output_gets_a_note(stage):
    await stage.play(says("It began at", reason=FinishReason.TRUNCATED))
    assert [n.phrase.en for n in stage.of(Noted)] == ["The answer was cut off at the model's output limit."]
    assert stage.events[-1].body == "It began at"


@pytest.mark.case("nightingale-T3")
async def test_blocked_output_is_an_error_that_keeps_the_text(stage):
    with pytest.raises(ModelBlocked):
        await stage.play(says("I would", reason=FinishReason.BLOCKED))
    (said,) = await stage.entries()
    assert said.text == "I would"


async def test_calls_of_a_blocked_message_never_run(stage):
    with pytest.raises(ModelBlocked):
        await stage.play(calls(("switch", {"task_id": 3, "action": "pause"}), reason=FinishReason.BLOCKED))
    assert stage.of(Proposed) == []


@pytest.mark.case("peer-T27")
async def test_calls_of_a_cut_message_never_run_and_after_three_the_turn_gives_up(stage):
    cut = calls(("switch", {"task_id": 3, "action": "pause"}), reason=FinishReason.TRUNCATED)
    await stage.play(cut, cut, cut)
    assert stage.of(Proposed) == []
    assert [e.status for e in await stage.entries() if isinstance(e, ToolReturned)] == ["not_run"] * 3
    assert stage.events[-1].outcome is TurnOutcome.FAILED


async def test_a_model_that_fails_midway_keeps_what_was_said_and_done(stage):
    with pytest.raises(ModelUnavailable):
        await stage.play(calls(("look", {})), fails(DOWN, after=[TextDelta("The run #12 ")]))
    entries = await stage.entries()
    assert [type(e) for e in entries] == [ModelSaid, ToolReturned, ModelSaid]
    assert entries[-1].text == "The run #12 "


@pytest.mark.parametrize("fault", [StoreUnavailable("The store is away."), TurnLost("turn_1")])
async def test_what_a_call_finds_of_the_store_is_no_result_of_it_and_comes_out_as_it_is(stage, fault):
    stage.look.fault = fault
    with pytest.raises(type(fault)) as raised:
        await stage.play(calls(("look", {}), ("look", {"name": "x"}), ("look", {"name": "y"})))
    assert raised.value is fault
    assert [type(entry) for entry in await stage.entries()] == [ModelSaid]


async def test_a_stream_without_an_end_is_an_error(stage):
    class Endless:
        name = "endless"

        async def stream(self, request):
            yield TextDelta("half")

    async def ignore(_):
        return None

    loop = Loop(Endless(), stage.dispatcher, stage.store.transcripts, stage.clock, stage.ids)
    with pytest.raises(ModelBroke):
        await loop.run_turn(stage.turn(), ignore)


@pytest.mark.parametrize("stop_at", range(12))
async def test_cancelling_anywhere_leaves_a_transcript_that_providers_accept(stage, stop_at: int):
    """At every delta and every tool run of a three-step turn."""
    reached = asyncio.Event()
    count = 0

    async def hold(_):
        nonlocal count
        if count == stop_at:
            reached.set()
            await asyncio.Event().wait()
        count += 1

    steps = [
        calls(("look", {}), ("look", {}), text="a"),
        calls(("switch", {"task_id": 9, "action": "pause"}), text="b"),
        says("c", "d"),
    ]
    playing = asyncio.create_task(stage.play(*steps, before_delta=hold))
    waiting = asyncio.create_task(reached.wait())
    async with asyncio.timeout(5):
        await asyncio.wait({playing, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    playing.cancel()
    await asyncio.gather(playing, return_exceptions=True)
    open_calls: list[str] = []
    for message in project(await stage.entries(), marks=fresh_marks(stage.ids.nonce), words=PHRASES.calls):
        if isinstance(message, AssistantMessage):
            assert message.text or message.calls
            open_calls += [call.id for call in message.calls]
        elif isinstance(message, ToolMessage):
            open_calls.remove(message.call_id)
    assert open_calls == []


async def test_cancelling_inside_a_tool_leaves_the_call_answered(stage):
    stage.look.gate = asyncio.Event()
    playing = asyncio.create_task(stage.play(calls(("look", {})), says("never")))
    async with asyncio.timeout(5):
        await stage.look.entered.get()
    playing.cancel()
    await asyncio.gather(playing, return_exceptions=True)
    *_, answer = project(await stage.entries(), marks=fresh_marks(stage.ids.nonce), words=PHRASES.calls)
    assert isinstance(answer, ToolMessage)
    assert "interrupted" in answer.text


class Lost(Aside):
    """A store whose turn went to another process while a tool ran."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def append(self, session: SessionKey, entries: Sequence[Entry]) -> None:
        if any(isinstance(entry, ToolReturned) for entry in entries):
            raise self.error


@pytest.mark.parametrize("error", [TurnLost("turn_1"), StoreUnavailable("The store is away.")])
async def test_what_ends_a_turn_while_tools_run_is_told_by_its_own_name(stage, error: Exception):
    model = ScriptedModel([calls(("look", {}), ("look", {"name": "night"}))])
    loop = Loop(model, stage.dispatcher, Lost(error), stage.clock, stage.ids)

    async def emit(event: TurnEvent) -> None: ...

    with pytest.raises(type(error)):
        await loop.run_turn(stage.turn(), emit)


async def test_followups_of_the_model_become_buttons_and_leave_the_text(stage):
    await stage.play(says("Done.\n```follow", "ups\nlook: Why did it fail?\n```\n"))
    assert stage.text == "Done.\n"
    assert stage.events[-1] == Rested(TurnOutcome.ANSWERED, "Done.", ("Why did it fail?",))


async def test_without_followups_of_the_model_the_tools_suggest(stage):
    await stage.play(calls(("look", {})), says("One."))
    assert stage.events[-1].followups == ("Why?",)


async def test_a_notice_of_the_model_is_a_note_and_not_text(stage):
    await stage.play([ModelNotice(Phrase("离线", "offline")), TextDelta("x"), Finished(FinishReason.STOP)])
    assert stage.text == "x"
    assert stage.of(Noted) == [Noted(Phrase("离线", "offline"))]


@pytest.mark.case("peer-T06")
async def test_missing_and_repeated_ids_are_made_unique(stage):
    def twice(call_id: str) -> Step:
        return [
            ToolCallDelta(0, call_id, "look", "{}"),
            ToolCallDelta(1, call_id, "look", "{}"),
            Finished(FinishReason.TOOL_CALLS),
        ]

    await stage.play(twice(""), twice("same"), twice("same"), says("ok"))
    ids = [call.id for e in await stage.entries() if isinstance(e, ModelSaid) for call in e.calls]
    assert len(set(ids)) == 6
    assert len(stage.look.runs) == 6


# --- what a model call costs, and how much of one is taken


async def test_usage_is_told_a_step_kept_in_the_transcript_and_added_up(stage):
    turn = stage.turn()
    first = [
        ToolCallDelta(0, "c", "look", "{}"),
        Finished(FinishReason.TOOL_CALLS, Usage(100, 20, 64, 5), model="gpt at host"),
    ]
    await stage.play(first, says("ok", usage=Usage(130, 7)), turn=turn)
    assert stage.of(StepEnded) == [
        StepEnded("gpt at host", Usage(100, 20, 64, 5)),
        StepEnded("scripted", Usage(130, 7)),
    ]
    assert turn.usage == Usage(230, 27, 64, 5)
    said = [entry for entry in await stage.entries() if isinstance(entry, ModelSaid)]
    assert [(entry.model, entry.usage.prompt_tokens) for entry in said] == [
        ("gpt at host", 100),
        ("scripted", 130),
    ]


async def test_the_visible_rest_does_not_wait_for_the_end_of_the_stream(stage):
    """ "``" at a line start could still begin the follow-up block, so it is held back until the text is over."""
    seen: list[str] = []

    async def note(delta):
        if isinstance(delta, Finished):
            seen.append(stage.text)

    await stage.play(
        [TextDelta("Use\n``"), TextEnded(), Finished(FinishReason.STOP, Usage(1, 1))], before_delta=note
    )
    assert seen == ["Use\n``"]
    assert stage.events[-1].body == "Use\n``"


async def test_calls_beyond_the_most_of_one_message_are_not_run_and_say_so(stage):
    await stage.play(calls(*[("look", {"name": str(number)}) for number in range(MAX_CALLS + 3)]), says("ok"))
    assert len(stage.look.runs) == MAX_CALLS
    returned = [entry for entry in await stage.entries() if isinstance(entry, ToolReturned)]
    assert [entry.status for entry in returned] == ["ok"] * MAX_CALLS + ["not_run"] * 3
    assert "at most 32 calls" in returned[-1].content
    assert [note.phrase.en for note in stage.notes] == [
        "The model asked for more than 32 calls at once; 3 of them were not run."
    ]


@pytest.mark.case("peer-T13")
async def test_text_that_turns_out_to_be_a_thought_is_withdrawn_and_goes_back_as_reasoning(stage):
    thought = Reasoning("hm\n</think>\n", "content")
    await stage.play(
        [
            TextDelta("hm"),
            TextDelta("\n"),
            ThoughtEnded(),
            TextDelta("45."),
            Finished(FinishReason.STOP, reasoning=thought),
        ]
    )
    assert stage.events[-1] == Rested(TurnOutcome.ANSWERED, "45.")
    assert TextWithdrawn() in stage.events
    view = TurnView("en", 4_000, stop_value="x")
    for event in stage.events[:-1]:
        view.fold(event)
    assert view.visible_text == "45."
    (said,) = (entry for entry in await stage.entries() if isinstance(entry, ModelSaid))
    assert (said.text, said.reasoning) == ("45.", thought)


async def test_a_model_that_does_not_stop_is_cut(stage):
    endless = [TextDelta("x" * 100_000)] * 1000
    await stage.play([*endless, Finished(FinishReason.STOP)])
    assert MAX_STEP_CHARS < len(stage.text) <= MAX_STEP_CHARS + 100_000
    assert [note.phrase.en for note in stage.notes] == ["The answer was cut off at the model's output limit."]


async def test_calls_of_a_model_that_does_not_stop_are_not_run(stage):
    endless = [ToolCallDelta(0, "c", "look", '{"name": "')] + [ToolCallDelta(0, arguments="x" * 100_000)] * 20
    model = await stage.play([*endless, Finished(FinishReason.TOOL_CALLS)], says("ok"))
    assert stage.look.runs == []
    (replayed,) = model.requests[1].messages[-2].calls
    assert len(replayed.arguments) < 3000


@pytest.mark.case("peer-T28")
@pytest.mark.parametrize("reason", [FinishReason.TOOL_CALLS, FinishReason.STOP])
@pytest.mark.parametrize("cut", ['{"name": "up', '{"name": "up"', '{"name":', "{", '{"a": [{"b": "}]}'])
async def test_a_message_whose_last_call_is_cut_runs_none_however_it_says_it_finished(stage, reason, cut):
    model = await stage.play(calls(("look", "{}"), ("look", cut), reason=reason), says("Sorry."))
    assert stage.look.runs == []
    errors = [json.loads(unfence(message.text))["error"] for message in model.requests[1].messages[-2:]]
    assert all("cut off" in error and "send the whole call again" in error for error in errors)
    assert "(" in errors[1], "names the JSON error"
    assert stage.notes == [Noted(CALL_CUT)], "it is no answer that was cut, and the model may go on"


@pytest.mark.case("peer-T28")
async def test_three_cut_messages_in_a_row_end_the_turn(stage):
    cut = calls(("look", '{"name": "up'))
    await stage.play(cut, cut, cut)
    assert stage.events[-1].outcome is TurnOutcome.FAILED
    assert stage.notes == [Noted(CALL_CUT), Noted(CUT_CALLS)]


# --- empty answers


@pytest.mark.case("peer-T50")
@pytest.mark.case("peer-T48")
async def test_an_empty_answer_is_asked_for_once_more_without_tools(stage):
    model = await stage.play(calls(("look", {}), text="I look."), says(" \n"), says("One failed."))
    assert not model.requests[2].may_call
    assert [type(message) for message in model.requests[2].messages].count(UserMessage) == 1
    assert stage.events[-1] == Rested(TurnOutcome.ANSWERED, "One failed.", ("Why?",))


@pytest.mark.case("peer-T50")
async def test_a_model_that_says_nothing_twice_ends_with_a_statement_and_its_earlier_text(stage):
    await stage.play(calls(("look", {}), text="Found #12."), says(""), says(""))
    assert [note.phrase.en for note in stage.notes] == ["The model gave no answer. Ask again in other words."]
    assert stage.events[-1] == Rested(TurnOutcome.FAILED, "Found #12.")


@pytest.mark.case("peer-T17")
async def test_an_answer_of_reasoning_alone_is_not_stored_and_its_end_is_stated(stage):
    await stage.play(says("", reasoning="hm", reason=FinishReason.TRUNCATED))
    assert await stage.entries() == []
    assert len(stage.notes) == 2
    assert stage.events[-1].outcome is TurnOutcome.FAILED


@pytest.mark.parametrize("needs", ["switch", "unheard_of"])
async def test_no_next_step_is_offered_that_the_asker_cannot_have(stage, needs):
    viewer = Person("U_VERA", "Vera", Role.VIEWER)
    block = f"\n```followups\n{needs}: Pause the task nightly\nlook: Look at the others\n```"
    await stage.play(says("Done.", block), turn=stage.turn(viewer))
    assert stage.events[-1].followups == ("Look at the others",)


async def test_a_next_step_that_was_just_asked_or_is_not_wanted_gives_no_button(stage):
    turn = stage.turn()
    turn.asked = "look at the others, briefly"
    await stage.play(says("Done.\n```followups\nlook: Why did it fail?\n```"), turn=turn)
    assert stage.events[-1].followups == ()


async def test_a_next_step_may_name_a_skill_that_the_asker_can_see(stage):
    turn = stage.turn()
    turn.briefing.skills = (Skill("task-failure-triage", "Find out why.", "", Path(), "test"),)
    await stage.play(says("Done.\n```followups\ntask-failure-triage: Go through it\n```"), turn=turn)
    assert stage.events[-1].followups == ("Go through it",)
