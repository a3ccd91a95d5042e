"""Stop ends one turn wherever it stands; what waits is seen to wait, runs next, and can be taken back."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from chatops_bot.context.history import unanswered
from chatops_bot.domain.session import SessionKey, TurnOutcome
from chatops_bot.domain.transcript import TurnRested
from chatops_bot.llm.scripted import ScriptedModel, calls, says
from chatops_bot.ports import Store
from chatops_bot.sessions.mailbox import WAITING_LIMIT
from tests.scenarios.conftest import Json, World, action_ids, everything, until, visible
from tests.scenarios.gateway import Fault
from tests.scenarios.tapped_store import tapped
from tests.scenarios.test_restart import HeldAt

STOPPED = {
    "en": "Stopped by {}; what had been found until then stands above.",
    "zh": "已由 {} 停止；上面是停止前得到的内容。",
}
OSCAR = "林浩然"
PAUSE_TASK = calls(("pause_task", {"task_id": 1, "action": "pause"}))


class UnforeseenError(RuntimeError):
    """A failure that nobody foresees."""


class Kept:
    """Keeps the bot's store, so that a test can read what it holds; a `tap` may hold its calls."""

    def __init__(self, tap: Any = None) -> None:
        self._tap = tap
        self.store: Store | None = None

    def __call__(self, store: Store) -> Store:
        self.store = store
        return tapped(self._tap)(store) if self._tap is not None else store

    async def entries(self, world: World, ts: str) -> list[Any]:
        assert self.store is not None
        return list(await self.store.transcripts.load(self.session(world, ts)))

    def session(self, world: World, ts: str) -> SessionKey:
        return SessionKey("slack", world.workspace.ready()["team_id"], world.incidents, ts)


class Gate:
    """Holds one kind of store call until it is opened."""

    def __init__(self, name: str, number: int = 1) -> None:
        self._name, self._left = name, number
        self.reached, self.opened = asyncio.Event(), asyncio.Event()

    async def __call__(self, name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        if name == self._name:
            self._left -= 1
            if self._left == 0:
                self.reached.set()
                await self.opened.wait()
        return await call()


async def shows(world: World, ts: str, text: str, place: int = -1) -> Json:
    """The message of a thread once it holds `text`."""

    async def seen() -> Json | None:
        messages = await world.thread(ts)
        found = messages[place] if len(messages) > abs(place) - (place < 0) else None
        return found if found is not None and text in everything(found) else None

    message: Json = await until(seen, f"a message that shows {text!r}")
    return message


async def held_answer(world: World, held: HeldAt, question: str = "tell me") -> tuple[str, Json]:
    """A thread whose first answer streams and is held; and that answer, once it can be stopped."""
    ts = await world.says("oscar", f"{world.mention} {question}")
    await asyncio.wait_for(held.reached.wait(), 10)

    async def stoppable() -> Json | None:
        return next((m for m in await world.thread(ts) if "stop" in action_ids(m)), None)

    return ts, await until(stoppable, "a Stop button")


@pytest.mark.parametrize("word", ["Stop!", "/stop", "停下。", "{mention} stop", "{mention}，停"])
async def test_the_word_stops_the_running_turn_and_keeps_its_text(world: World, word: str):
    held = HeldAt("never")
    kept = Kept()
    async with world.bot(
        ScriptedModel([says("So far so good. ", "never")], before_delta=held), wrap_store=kept
    ):
        ts, _ = await held_answer(world, held)
        await world.says("oscar", word.format(mention=world.mention), ts)
        answer = (await world.settled(ts, 1))[1]
        entries = await kept.entries(world, ts)
    assert visible(answer).strip() == "So far so good."
    language = "en"  # of the question, whatever the word was
    assert STOPPED[language].format(OSCAR) in everything(answer)
    assert entries[-1].outcome is TurnOutcome.STOPPED
    assert len(await world.thread(ts)) == 3


@pytest.mark.parametrize(
    ("question", "word", "said"),
    [
        ("what failed?", "please stop", f"Stopped by {OSCAR}."),
        ("最近有哪些失败？", "请停止", f"已由 {OSCAR} 停止。"),
    ],
)
async def test_a_stop_before_anything_was_found_points_at_nothing(
    world: World, question: str, word: str, said: str
):
    held = HeldAt("never")
    async with world.bot(ScriptedModel([says("never")], before_delta=held)):
        ts = await world.says("oscar", f"{world.mention} {question}")
        await asyncio.wait_for(held.reached.wait(), 10)
        await world.says("oscar", word, ts)
        answer = (await world.settled(ts, 1))[1]
    assert everything(answer) == said


@pytest.mark.parametrize("text", ["stop nightly-report", "不要停"])
async def test_more_than_the_word_is_a_question(world: World, text: str):
    async with world.bot(ScriptedModel([says("Answered.")])):
        ts = await world.says("oscar", f"{world.mention} {text}")
        _, answer = await world.settled(ts, 1)
    assert visible(answer) == "Answered."


@pytest.mark.parametrize(
    ("word", "said"), [("stop", "Nothing is running here"), ("停止", "现在没有正在处理的问题")]
)
async def test_with_nothing_running_the_word_says_so_privately(world: World, word: str, said: str):
    async with world.bot(ScriptedModel([says("Hello.")])):
        ts = await world.says("oscar", f"{world.mention} hello")
        await world.settled(ts, 1)
        await world.says("oscar", word, ts)
        (whisper,) = await world.whispers("oscar")
        assert said in everything(whisper)
        assert len(await world.thread(ts)) == 3


@pytest.mark.parametrize("way", ["word", "button"])
async def test_a_viewer_stops_only_their_own_question_and_an_operator_any(world: World, way: str):
    held = HeldAt("never")
    async with world.bot(ScriptedModel([says("Text. ", "never")], before_delta=held)):
        ts, answer = await held_answer(world, held)
        await (world.says("vera", "stop", ts) if way == "word" else world.click("vera", answer, "stop"))
        (whisper,) = await world.whispers("vera")
        assert "may stop only its own questions" in everything(whisper)
        assert "stop" in action_ids((await world.thread(ts))[1])
        await (world.says("ana", "stop", ts) if way == "word" else world.click("ana", answer, "stop"))
        stopped = (await world.settled(ts, 1))[1]
    assert STOPPED["en"].format("Ana Duarte") in everything(stopped)


async def test_a_refusal_that_slack_holds_up_does_not_hold_up_a_stop(world: World):
    """What the bot has to say meanwhile waits for Slack's rate limit, and the word `stop` does not."""
    held = HeldAt("never")
    async with world.bot(ScriptedModel([says("One. ", "never")], before_delta=held)):
        ts, _ = await held_answer(world, held)
        limited = Fault(
            "POST /api/chat.postEphemeral", {"ok": False, "error": "ratelimited"}, times=1, status=429,
            headers={"Retry-After": "60"},
        )  # fmt: skip
        world.to_slack.faults.append(limited)
        await world.says("vera", "stop", ts)

        async def refused() -> bool | None:
            return True if limited.times == 0 else None

        await until(refused, "the refusal that Slack does not take")
        await world.says("oscar", "stop", ts)
        await shows(world, ts, STOPPED["en"].format(OSCAR), place=1)


async def test_a_viewer_may_stop_what_they_asked(world: World):
    held = HeldAt("never")
    async with world.bot(ScriptedModel([says("Text. ", "never")], before_delta=held)):
        ts = await world.says("vera", f"{world.mention} tell me")
        await asyncio.wait_for(held.reached.wait(), 10)
        await world.says("vera", "stop", ts)
        answer = (await world.settled(ts, 1))[1]
    assert STOPPED["en"].format("Vera Lindqvist") in everything(answer)


async def test_a_stop_during_a_tool_call_leaves_no_call_without_a_result(world: World):
    """One of two calls has no result yet when the turn is stopped."""
    kept = Kept(gate := Gate("audit.record", 2))
    model = ScriptedModel([calls(("query_tasks", {}), ("query_workers", {})), says("Later.")])
    async with world.bot(model, wrap_store=kept):
        ts = await world.says("oscar", f"{world.mention} look")
        await asyncio.wait_for(gate.reached.wait(), 10)
        await world.says("oscar", "stop", ts)
        answer = await shows(world, ts, "Stopped by", place=1)
        gate.opened.set()
        assert "not finished" in everything(answer)
        entries = await kept.entries(world, ts)
        turn = next(e.turn_id for e in entries if isinstance(e, TurnRested))
        assert unanswered(entries, turn) == []
        assert isinstance(entries[-1], TurnRested)
        await world.says("oscar", "go on", ts)
        messages = await world.settled(ts, 4)
    assert visible(messages[-1]) == "Later."


async def test_a_stop_after_a_proposal_was_made_loses_no_proposal(world: World):
    """Stopped between the stored proposal and its card: the card comes all the same."""
    gate = Gate("proposals.add")

    async def add_then_hold(name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        done = await call()
        if name == "proposals.add":
            gate.reached.set()
            await gate.opened.wait()
        return done

    kept = Kept(add_then_hold)
    async with world.bot(ScriptedModel([PAUSE_TASK]), wrap_store=kept):
        ts = await world.says("oscar", f"{world.mention} pause it")
        await asyncio.wait_for(gate.reached.wait(), 10)
        await world.says("oscar", "stop", ts)
        await world.settled(ts, 1)
    async with world.bot(ScriptedModel([])):

        async def card() -> Json | None:
            return next((m for m in await world.thread(ts) if "approve" in action_ids(m)), None)

        shown = await until(card, "the card of the proposal")
        await world.click("ana", shown, "approve")
        await world.becomes(ts, shown, "Done: ")
    assert (await world.task("nightly-report"))["Status"] == "disabled"


async def test_a_stop_during_the_final_edit_says_that_it_is_over_and_the_answer_stands(world: World):
    kept = Kept(gate := Gate("turns.end"))
    async with world.bot(ScriptedModel([says("The whole answer.")]), wrap_store=kept):
        ts = await world.says("oscar", f"{world.mention} tell me")
        await asyncio.wait_for(gate.reached.wait(), 10)
        await world.says("oscar", "stop", ts)
        (whisper,) = await world.whispers("oscar")
        assert "over already" in everything(whisper)
        gate.opened.set()
        answer = (await world.settled(ts, 1))[1]
        entries = await kept.entries(world, ts)
    assert visible(answer) == "The whole answer."
    assert entries[-1].outcome is TurnOutcome.ANSWERED


@pytest.mark.case("slack-28")
@pytest.mark.parametrize("language", ["zh", "en"])
async def test_what_waits_is_shown_as_waiting_and_runs_next_when_the_turn_is_stopped(
    world: World, language: str
):
    held = HeldAt("never")
    model = ScriptedModel([says("One. ", "never"), says("Two."), says("Three.")], before_delta=held)
    second, third = {"en": ("second", "third"), "zh": ("第二", "第三")}[language]
    waiting = {"en": "Waiting – {} before this", "zh": "排队中，前面还有 {} 条"}[language]
    async with world.bot(model):
        ts, first = await held_answer(world, held)
        await world.says("ana", second, ts)
        await shows(world, ts, waiting.format(1))
        await world.says("oscar", third, ts)
        await shows(world, ts, waiting.format(2))
        assert len(model.requests) == 1
        await world.click("oscar", first, "stop")
        messages = await world.settled(ts, 5)
    answers = [m for m in messages if m.get("bot_id")]
    assert [visible(m).strip() for m in answers] == ["One.", "Two.", "Three."]
    assert not any(waiting[:4] in everything(m) for m in messages)


async def test_a_waiting_message_is_taken_back_by_its_own_stop(world: World):
    held = HeldAt("never")
    model = ScriptedModel([says("One. ", "never"), says("Three.")], before_delta=held)
    async with world.bot(model):
        ts, first = await held_answer(world, held)
        await world.says("ana", "second", ts)
        back = await shows(world, ts, "Waiting – 1 before this")
        await world.says("oscar", "third", ts)
        await shows(world, ts, "Waiting – 2 before this")
        await world.click("ana", back, "stop")
        await shows(world, ts, "Taken back by Ana Duarte before it was worked on.", place=3)
        await shows(world, ts, "Waiting – 1 before this")
        await world.click("oscar", first, "stop")
        messages = await world.settled(ts, 5)
    assert visible(messages[-1]) == "Three."
    assert len(model.requests) == 2


async def test_one_message_too_many_is_told_so(world: World):
    held = HeldAt("never")
    async with world.bot(ScriptedModel([says("One. ", "never")], before_delta=held)):
        ts, _ = await held_answer(world, held)
        for number in range(WAITING_LIMIT):
            await world.says("ana", f"question {number}", ts)
        await shows(world, ts, f"Waiting – {WAITING_LIMIT} before this")
        await world.says("vera", "one more", ts)
        (whisper,) = await world.whispers("vera")
        assert f"{WAITING_LIMIT} messages wait here already" in everything(whisper)
    assert len(await world.thread(ts)) == 2 + 2 * WAITING_LIMIT + 1


async def test_one_press_too_many_is_told_so_in_both_languages(world: World):
    """A button says nothing of its presser's language."""
    held = HeldAt("never")
    model = ScriptedModel(
        [says("Hello.\n\n```followups\nquery_tasks: Which tasks are there?\n```"), says("One. ", "never")],
        before_delta=held,
    )
    async with world.bot(model):
        ts = await world.says("oscar", f"{world.mention} hello")
        _, first = await world.settled(ts, 1)
        await world.says("oscar", "tell me", ts)
        await asyncio.wait_for(held.reached.wait(), 10)
        for number in range(WAITING_LIMIT):
            await world.says("ana", f"question {number}", ts)
        await shows(world, ts, f"Waiting – {WAITING_LIMIT} before this")
        await world.click("vera", first, "followup")
        (whisper,) = await world.whispers("vera")
    assert f"此处已有 {WAITING_LIMIT} 条消息在排队" in everything(whisper)
    assert f"{WAITING_LIMIT} messages wait here already" in everything(whisper)


async def test_the_second_delivery_of_a_message_is_taken_when_storing_the_first_failed(world: World):
    """Claim and turn are stored together or not at all, so what was acknowledged and not stored comes once more."""
    failed = asyncio.Event()

    async def fail_once(name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        if name == "turns.begin" and not failed.is_set():
            failed.set()
            raise UnforeseenError
        return await call()

    async with world.bot(ScriptedModel([says("Answered.")]), wrap_store=tapped(fail_once)):
        ts = await world.says("oscar", f"{world.mention} hello")
        _, answer = await world.settled(ts, 1)
    assert failed.is_set()
    assert visible(answer) == "Answered."


async def test_a_suggested_question_is_asked_once_and_again_only_if_it_was_not_stored(world: World):
    """The button's claim and its turn are stored together too."""
    begun = 0

    async def fail_second(name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        nonlocal begun
        if name == "turns.begin":
            begun += 1
            if begun == 3:  # a mention is told of twice, so this is the first press
                raise UnforeseenError
        return await call()

    model = ScriptedModel(
        [says("Hello.\n\n```followups\nquery_tasks: Which tasks are there?\n```"), says("Then this.")]
    )
    async with world.bot(model, wrap_store=tapped(fail_second)):
        ts = await world.says("oscar", f"{world.mention} hello")
        _, answer = await world.settled(ts, 1)

        async def twice() -> bool | None:
            return True if begun == 2 else None

        await until(twice, "both deliveries of the mention")
        await world.click("ana", answer, "followup")
        await world.whispers("ana")  # she is told that her click failed
        await world.click("ana", answer, "followup")
        messages = await world.settled(ts, 3)
        await world.click("vera", answer, "followup")
        (whisper,) = await world.whispers("vera")
    assert "asked already" in everything(whisper)
    assert visible(messages[-1]) == "Then this."
    assert len(messages) == 4
