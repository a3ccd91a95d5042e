"""The loop, to be read aloud.

A turn asks the model; what it says streams out at once. No tool call: that was the answer. Tool calls: each goes through
the one door, its result is stored and fed back, and the model is asked again. When a call became a proposal or a form
the turn rests, because it is people's turn now. At the cap the model is asked once more, without tools, to sum up what it found.

Everything is stored as it happens, so a turn that fails, is stopped or dies keeps the memory of what it did.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import groupby

from chatops_bot.agent.briefing import Briefing
from chatops_bot.agent.step import Step, is_cut, json_error
from chatops_bot.agent.together import Together
from chatops_bot.context.history import answer_to, assistant_message
from chatops_bot.context.next_steps import about, worth_offering
from chatops_bot.context.prompt_phrases import CallPhrases
from chatops_bot.domain.errors import ModelBlocked, ModelBroke, ModelError, ModelTooLong
from chatops_bot.domain.followup import FollowUp, Suggestion
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.model import (
    AssistantMessage,
    FinishReason,
    Message,
    ModelNotice,
    ReasoningDelta,
    SystemMessage,
    ThoughtEnded,
    Usage,
)
from chatops_bot.domain.people import Effect
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.tool import ToolCall, ToolResult, call_id_of
from chatops_bot.domain.transcript import ModelSaid, ToolReturned
from chatops_bot.domain.turn_event import (
    Asked,
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
from chatops_bot.ports import LLM, Clock, Ids, ToolContext, Transcripts
from chatops_bot.tools.dispatch import Dispatcher
from chatops_bot.tools.invocation import Dispatched, TurnMemory

_log = logging.getLogger(__name__)

MAX_ROUNDS = 10
"""Model calls with tools in one turn, by default (the second seed system's number)."""

MAX_CALLS = 32
"""Calls of one model message that are run. A person would not follow more, and no provider's model makes as many in earnest."""

MAX_STEP_CHARS = 1_000_000
"""Text, reasoning and arguments of one model message together. Well above the longest output of any model: one that writes
more than this has lost its way, and its message is cut there."""

MAX_CUT_CALLS = 3
"""Model messages in a row whose calls were cut off before the turn gives up."""

CUT = Phrase("回答因长度上限被截断。", "The answer was cut off at the model's output limit.")
CALL_CUT = Phrase(
    "模型的一次调用不完整，已重新请求。", "A call of the model was cut off and was asked for again."
)
BLOCKED = Phrase(
    "模型服务商的内容过滤拦截了回答。", "The model provider's content filter withheld the answer."
)
CUT_CALLS = Phrase(
    "模型的调用连续被截断，已停止。", "The model's calls were cut off several times in a row; stopped."
)
CAP_REACHED = Phrase(
    "已达到 {rounds} 轮上限，以下是目前的结果。",
    "The limit of {rounds} rounds is reached; this is what was found so far.",
)
SILENT = Phrase(
    "模型没有给出回答。请换个说法再问一次。", "The model gave no answer. Ask again in other words."
)
CALL_IN_TEXT = Phrase(
    "模型把工具调用写成了文字，没有执行。", "The model wrote a tool call as text; it was not run."
)
NOT_RUN = Phrase(
    "模型一次要调用的工具超过 {most} 个，其余 {count} 个没有执行。",
    "The model asked for more than {most} calls at once; {count} of them were not run.",
)
_TOO_MANY = Phrase("调用过多，未执行", "too many calls, not run")
INCOMPLETE = Phrase("分析未完成。", "Analysis incomplete.")


Emit = Callable[[TurnEvent], Awaitable[None]]


@dataclass(slots=True)
class Turn:
    """One turn's input. `said` is what model and tools have said in it; the loop appends to it. `asked` is the newest message.

    `taken_ids` are the ids of all calls that the model sees, so that no id stands for two calls of one history; with `has_own_ids`
    none of the model's is used, since what the calls come to lies beside that of another history. `usage` adds up
    what the model calls of the turn cost. `skills_read` are the skills whose words the model has read by now.
    """

    context: ToolContext
    language: Language
    briefing: Briefing
    said: list[Message] = field(default_factory=list)
    memory: TurnMemory = field(init=False)
    asked: str = ""
    suggestions: list[FollowUp] = field(default_factory=list)
    answered: set[FollowUp] = field(default_factory=set)
    waits: bool = False
    usage: Usage = field(default_factory=Usage)
    has_own_ids: bool = False
    taken_ids: set[str] = field(init=False)
    skills_read: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.memory = TurnMemory(self.briefing.toolbox)
        self.skills_read = set(self.briefing.read)
        said = (message for message in self.briefing.history if isinstance(message, AssistantMessage))
        self.taken_ids = {call.id for message in said for call in message.calls}

    def suggest(self, result: ToolResult) -> None:
        """Keep what a tool suggests to ask next, for when the model suggests nothing itself.

        What a result answers is suggested no more; where it goes on from there comes first.
        """
        self.answered |= {self._step(answer) for answer in result.answers}
        steps = [self._step(suggestion) for suggestion in result.suggestions]
        ordered = [*steps, *self.suggestions] if result.answers else [*self.suggestions, *steps]
        self.suggestions = [step for step in dict.fromkeys(ordered) if step not in self.answered]

    def _step(self, suggestion: Suggestion) -> FollowUp:
        return FollowUp(suggestion.needs, suggestion.said_in(self.language))


class Loop:
    def __init__(
        self,
        model: LLM,
        dispatcher: Dispatcher,
        transcripts: Transcripts,
        clock: Clock,
        ids: Ids,
        *,
        max_rounds: int = MAX_ROUNDS,
    ) -> None:
        self._model = model
        self._dispatcher = dispatcher
        self._transcripts = transcripts
        self._clock = clock
        self._ids = ids
        self._max_rounds = max_rounds

    async def run_turn(self, turn: Turn, emit: Emit) -> None:
        """Run until the agent rests; the last event is `Rested`. Raises `ModelError` when the model fails."""
        cut_in_a_row, last_text, corrected = 0, "", False
        rounds = 0
        while rounds < (cap := max(self._max_rounds, turn.briefing.rounds)):
            rounds += 1
            step = await self._ask(turn, emit)
            calls = step.calls(taken=None if turn.has_own_ids else turn.taken_ids, fresh=self._fresh_id)
            await self._remember(turn, step, calls)
            if not calls and step.wrote_call and not corrected:
                corrected = True
                turn.said.append(SystemMessage(turn.briefing.phrases.loop.call_properly))
                last_text = step.body or last_text
                await emit(RoundEnded())
                continue
            if not calls:
                await self._rest_with_answer(turn, step, last_text, emit)
                return
            last_text = step.body or last_text
            await emit(RoundEnded())
            if step.finish is FinishReason.TRUNCATED or is_cut(calls[-1].arguments):
                cut_in_a_row += 1
                await self._answer_cut_calls(turn, calls)
                if cut_in_a_row == 1:
                    await emit(Noted(CALL_CUT))
                if cut_in_a_row == MAX_CUT_CALLS:
                    await emit(Noted(CUT_CALLS))
                    await emit(Rested(TurnOutcome.FAILED, last_text))
                    return
            else:
                cut_in_a_row = 0
                await self._run_calls(turn, calls, emit)
                if turn.waits:
                    await emit(Rested(TurnOutcome.WAITING, last_text))
                    return
        await self._sum_up(turn, last_text, cap, emit)

    def _fresh_id(self) -> str:
        return call_id_of(self._ids.new("call"))

    async def _ask(self, turn: Turn, emit: Emit, *, may_call: bool = True) -> Step:
        """One model call; one more, with less of the conversation, if that was too long and nothing was said yet."""
        step = Step(turn.briefing.toolbox.offered if may_call else frozenset())
        try:
            return await self._stream(turn, emit, step, may_call=may_call)
        except ModelTooLong:
            if step.size or not turn.briefing.shorten():
                raise
        return await self._stream(turn, emit, Step(step.tools), may_call=may_call)

    async def _stream(self, turn: Turn, emit: Emit, step: Step, *, may_call: bool) -> Step:
        """One model call, streamed. If it ends early, for whatever reason, its text so far is remembered."""
        request = await turn.briefing.request(turn.said, turn.language, may_call=may_call)
        try:
            async with aclosing(self._model.stream(request)) as deltas:
                async for delta in deltas:
                    visible = step.fold(delta)
                    if visible:
                        await emit(TextStreamed(visible))
                    elif isinstance(delta, ReasoningDelta):
                        await emit(ReasoningStreamed(delta.text))
                    elif isinstance(delta, ModelNotice):
                        await emit(Noted(delta.phrase, delta.is_first))
                    elif isinstance(delta, ThoughtEnded):
                        await emit(TextWithdrawn())
                    if step.size > MAX_STEP_CHARS:
                        step.finish = FinishReason.TRUNCATED
                        break
            if step.finish is None:
                raise ModelBroke(
                    Phrase("模型的回答没有正常结束。", "The model's answer broke off without an end.")
                )
            if step.finish is FinishReason.BLOCKED:
                raise ModelBlocked(BLOCKED)
        except (ModelError, asyncio.CancelledError):
            await self._remember(turn, step, ())
            raise
        rest = step.close()
        if rest:
            await emit(TextStreamed(rest))
        step.model = step.model or self._model.name
        turn.usage += step.usage
        turn.briefing.answered(step.model, step.usage)
        await emit(StepEnded(step.model, step.usage))
        return step

    async def _rest_with_answer(self, turn: Turn, step: Step, last_text: str, emit: Emit) -> None:
        """No tool call: the text was the answer. An empty one is asked for once more, without tools."""
        if step.empty and step.finish is not FinishReason.TRUNCATED:
            turn.said.append(SystemMessage(turn.briefing.phrases.loop.say_something))
            step = await self._ask(turn, emit, may_call=False)
            await self._remember(turn, step, ())
        if step.wrote_call:
            await emit(Noted(CALL_IN_TEXT))
        if step.finish is FinishReason.TRUNCATED:
            await emit(Noted(CUT))
        if step.empty:
            await emit(Noted(SILENT))
            await emit(Rested(TurnOutcome.FAILED, last_text))
            return
        followups = self._offered(turn, step.followups)
        followups = followups or self._offered(turn, about(step.body, turn.suggestions))
        await emit(Rested(TurnOutcome.ANSWERED, step.body, followups))

    def _offered(self, turn: Turn, steps: Sequence[FollowUp]) -> tuple[str, ...]:
        """The questions of those steps that the asker can really have."""

        skills = {skill.name for skill in turn.briefing.skills}

        def can(name: str) -> bool:
            return name in skills or self._dispatcher.may_call(name, turn.context, turn.memory)

        return worth_offering(steps, asked=turn.asked, language=turn.language, can=can)

    async def _run_calls(self, turn: Turn, calls: Sequence[ToolCall], emit: Emit) -> None:
        """Run the calls of one model message: neighbouring reads together, a write alone; once one waits, no more reads."""
        words = turn.briefing.phrases.calls
        for effect, batch in self._batches(calls[:MAX_CALLS]):
            if turn.waits and effect is Effect.READ:
                for call in batch:
                    await self._store_result(
                        turn, call, _not_run(words.waits_first, Phrase("未执行", "not run"))
                    )
                continue
            for call in batch:
                await emit(CallStarted(call.id, call.name, self._dispatcher.label_of(call)))
            waiting = await self._run_batch(turn, batch, emit)
            turn.usage += turn.context.consultations.take_usage()
            for interrupt in waiting:  # all results are stored: a card that cannot be shown ends the turn
                turn.waits = True
                await emit(interrupt)
        too_many = calls[MAX_CALLS:]
        if too_many:
            await emit(Noted(NOT_RUN.filled(count=len(too_many), most=MAX_CALLS)))
        for call in too_many:
            await self._store_result(turn, call, _not_run(words.too_many.format(most=MAX_CALLS), _TOO_MANY))

    async def _run_batch(self, turn: Turn, batch: Sequence[ToolCall], emit: Emit) -> list[TurnEvent]:
        """Run them at once; returns what waits for people then."""
        waiting: list[TurnEvent] = []
        async with Together() as group:
            running = [group.create_task(self._dispatch(turn, call)) for call in batch]
            for call, task in zip(batch, running, strict=True):
                done, milliseconds = await task
                await self._store_result(turn, call, done.result)
                await emit(
                    CallEnded(call.id, call.name, done.result.status, done.result.summary, milliseconds)
                )
                turn.suggest(done.result)
                turn.briefing.take(done.result)
                if done.proposal is not None:
                    waiting.append(Proposed(done.proposal))
                if done.form is not None:
                    waiting.append(Asked(done.form))
        return waiting

    async def _answer_cut_calls(self, turn: Turn, calls: Sequence[ToolCall]) -> None:
        """The calls of a message that was cut off are not run, however whole they look."""
        for call in calls:
            await self._store_result(turn, call, _cut_off(call, turn.briefing.phrases.calls))

    def _batches(self, calls: Sequence[ToolCall]) -> Iterator[tuple[Effect, list[ToolCall]]]:
        """Neighbouring reads in one batch, each write in its own, in call order."""
        for effect, group in groupby(calls, key=lambda call: self._dispatcher.effect_of(call.name)):
            if effect is Effect.READ:
                yield effect, list(group)
            else:
                yield from ((effect, [call]) for call in group)

    async def _dispatch(self, turn: Turn, call: ToolCall) -> tuple[Dispatched, int]:
        started = self._clock.monotonic()
        done = await self._dispatcher.dispatch(call, turn.context, turn.memory, turn.language)
        return done, round((self._clock.monotonic() - started) * 1000)

    async def _remember(self, turn: Turn, step: Step, calls: tuple[ToolCall, ...]) -> None:
        """Store a model message. One with neither text nor calls would only be refused by the next provider."""
        if not step.text.strip() and not calls:
            return
        briefing, with_skills = turn.briefing, bool(turn.briefing.told or turn.skills_read)
        said = ModelSaid(
            turn.context.turn_id, self._clock.now(), step.text, step.reasoning, calls, step.model or self._model.name, step.usage,
            tuple(sorted(briefing.told)), tuple(sorted(briefing.read)), step.body if with_skills else None,
        )  # fmt: skip
        await self._transcripts.append(turn.context.session, [said])
        turn.said.append(assistant_message(said))

    async def _store_result(self, turn: Turn, call: ToolCall, result: ToolResult) -> None:
        returned = ToolReturned(
            turn.context.turn_id,
            self._clock.now(),
            call.id,
            call.name,
            result.status,
            result.text,
            result.skills_read,
        )
        turn.skills_read.update(result.skills_read)
        await self._transcripts.append(turn.context.session, [returned])
        briefing = turn.briefing
        turn.said.append(
            answer_to(
                call, returned, turn.context.turn_id, marks=briefing.marks, words=briefing.phrases.calls
            )
        )

    async def _sum_up(self, turn: Turn, last_text: str, cap: int, emit: Emit) -> None:
        """The cap is reached: one more call, without tools, sums up; if it fails, the last text stands as incomplete."""
        await emit(Noted(CAP_REACHED.filled(rounds=cap)))
        turn.said.append(SystemMessage(turn.briefing.phrases.loop.sum_up))
        try:
            step = await self._ask(turn, emit, may_call=False)
        except ModelError as failure:
            _log.warning("what was found could not be summed up: %s", failure.phrase.en)
            await emit(Noted(failure.phrase))
            step = Step()
        if step.body:
            await self._remember(turn, step, ())
            await emit(Rested(TurnOutcome.CAPPED, step.body, self._offered(turn, step.followups)))
        else:
            await emit(Noted(INCOMPLETE))
            await emit(Rested(TurnOutcome.CAPPED, last_text))


def _not_run(said: str, summary: Phrase) -> ToolResult:
    return ToolResult("not_run", {"error": said}, summary)


def _cut_off(call: ToolCall, words: CallPhrases) -> ToolResult:
    broken = json_error(call.arguments) if call.arguments.strip() else None
    said = words.cut_off_at.format(problem=broken) if broken else words.cut_off
    return _not_run(said, Phrase("被截断，未执行", "cut off, not run"))
