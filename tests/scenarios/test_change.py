"""Scenario 2: a change is proposed, a person decides on its card, the stored action runs once and is read back."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from chatops_bot.app.policy_config import RolesConfig
from chatops_bot.domain.model import RecordMessage
from chatops_bot.llm.scripted import ScriptedModel, calls, says
from tests.scenarios.conftest import (
    Json,
    ShiftedClock,
    World,
    action_ids,
    everything,
    labels,
    until,
    visible,
)
from tests.scenarios.gateway import Fault
from tests.scenarios.tapped_store import tapped

ASKS = {"zh": "暂停 nightly-report", "en": "pause nightly-report"}
HEADINGS = {
    "zh": "待批准：暂停任务 nightly-report (#1)",
    "en": "Approval needed: Pause task nightly-report (#1)",
}
PAUSE = "POST /api/v1/tasks/1/pause"


def pausing() -> ScriptedModel:
    """A model that asks for the pause and would fail if it were asked again."""
    return ScriptedModel([calls(("pause_task", {"task_id": 1, "action": "pause"}), text="I will ask.")])


async def asked_for(world: World, text: str, person: str = "oscar") -> tuple[str, Json]:
    """A change asked for in a new thread: the thread's ts and the card."""
    ts = await world.says(person, f"{world.mention} {text}")
    messages = await world.settled(ts, 2)
    card = next(message for message in messages if "approve" in action_ids(message))
    return ts, card


def code_of(card: Json) -> str:
    found = re.search(r"approve ([A-Z0-9]{6})", everything(card))
    assert found is not None
    return found.group(1)


async def is_paused(world: World) -> bool:
    return bool((await world.task("nightly-report"))["Status"] == "disabled")


async def told(world: World, person: str, count: int = 1) -> str:
    """The newest whisper to a person."""
    return str((await world.whispers(person, count))[-1]["text"])


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_offline_a_card_shows_the_change_and_one_approval_runs_it_once(world: World, language: str):
    async with world.bot():
        ts, card = await asked_for(world, ASKS[language])
        shown = everything(card)
        assert shown.startswith(HEADINGS[language])
        assert {"zh": "启用 → 停用", "en": "enabled → disabled"}[language] in shown
        assert world.people["oscar"]["id"] in shown
        for words in {
            "zh": ("发起人", "风险\n", "低", "有效期至", "提出后 60 分钟", "也可以输入：批准 "),
            "en": (
                "Asked by",
                "Risk",
                "low",
                "Expires",
                "60 min from request",
                "Or type: approve ",
            ),
        }[language]:
            assert words.strip() in shown
        assert labels(card) == {"zh": ["批准", "拒绝"], "en": ["Approve", "Reject"]}[language]
        assert not await is_paused(world)
        assert world.to_scheduler.reached("^(POST|PUT|DELETE) /api/v1") == []

        assert await world.click("ana", card, "approve") == {"ok": True}
        done = await world.becomes(ts, card, {"zh": "已执行：", "en": "Done: "}[language])
        assert action_ids(done) == ["undo", "continue"]
        assert "Ana Duarte" in everything(done)
        assert world.people["ana"]["id"] in everything(done)
        assert {
            "zh": "任务 nightly-report (#1) 已暂停（回读状态：disabled）",
            "en": "Task nightly-report (#1) is paused (read back: disabled)",
        }[language] in everything(done)
        assert await is_paused(world)

        assert await world.click("adam", card, "approve") == {"ok": True}
        assert (await told(world, "adam")).startswith(
            {"zh": "此提案已有结论：", "en": "This proposal is decided already: "}[language]
        )
        assert "Ana Duarte" in await told(world, "adam")

        await world.says("oscar", {"zh": "成功了吗？", "en": "Did it work?"}[language], ts)
        answer = (await world.settled(ts, 4))[-1]
    assert {"zh": "已暂停（回读状态：disabled）", "en": "is paused (read back: disabled)"}[
        language
    ] in visible(answer)
    assert len(world.to_scheduler.reached(PAUSE)) == 1


async def test_the_approved_action_runs_with_no_model_and_is_told_to_it_later(world: World):
    model = ScriptedModel(
        [
            calls(("pause_task", {"task_id": 1, "action": "pause"}), text="I will ask."),
            says("Yes: it is paused."),
        ]
    )
    async with world.bot(model):
        ts, card = await asked_for(world, "too many reports at night")
        assert await world.click("ana", card, "approve") == {"ok": True}
        await world.becomes(ts, card, "Done: ")
        assert len(model.requests) == 1
        await world.says("oscar", "did it work?", ts)
        answer = (await world.settled(ts, 4))[-1]
    assert visible(answer) == "Yes: it is paused."
    records = [m.text for m in model.requests[1].messages if isinstance(m, RecordMessage)]
    assert len(records) == 1
    assert '"state":"applied"' in records[0]
    assert "is paused (read back: disabled)" in records[0]


@pytest.mark.case("peer-T74")
async def test_who_may_not_approve_is_told_so_alone_and_nothing_changes(world: World):
    async with world.bot(pausing()):
        ts, card = await asked_for(world, "pause it please")
        before = await world.thread(ts)
        for person, role in {"vera": "viewer", "oscar": "operator"}.items():
            assert await world.click(person, card, "approve") == {"ok": True}
            assert (
                await told(world, person)
                == f"Role {role} may not approve this change (write); it takes an approver or admin."
            )
        assert await world.click("vera", card, "reject") == {"ok": True}
        assert (
            await told(world, "vera", 2)
            == "Role viewer may not reject this change (write); only an approver or admin or the person who asked for it may."
        )
        assert await world.thread(ts) == before
        assert (await world.look("ephemerals", person="ana"))["ephemerals"] == []
        assert not await is_paused(world)


async def test_the_reason_of_a_refused_click_is_in_the_language_of_the_card(world: World):
    async with world.bot():
        _, card = await asked_for(world, ASKS["zh"])
        await world.click("vera", card, "approve")
        assert (
            await told(world, "vera")
            == "角色 viewer 不能批准此变更（write）；需要 approver 或 admin 来批准。"
        )


async def test_a_viewers_wish_is_refused_before_there_is_a_card(world: World):
    async with world.bot():
        ts = await world.says("vera", f"{world.mention} {ASKS['en']}")
        messages = await world.settled(ts, 1)
    assert len(messages) == 2
    assert "Role viewer may read but not ask for changes" in everything(messages[1])


@pytest.mark.case("hitl-C10")
async def test_twenty_changes_of_one_turn_are_twenty_cards_each_decided_alone(world: World):
    task = {"type": "shell", "cron_expr": "0 4 1 1 *", "payload": "true"}
    wishes = [("create_task", {**task, "name": f"probe-{number}"}) for number in range(20)]
    async with world.bot(ScriptedModel([calls(*wishes, text="I will ask.")])):
        ts = await world.says("oscar", f"{world.mention} create the probes")
        cards = [m for m in await world.settled(ts, 21) if "approve" in action_ids(m)]
        named = [re.match(r"Approval needed: Create task (probe-\d+)\n", everything(card)) for card in cards]
        assert [found and found.group(1) for found in named] == [f"probe-{number}" for number in range(20)]
        assert len({code_of(card) for card in cards}) == 20
        await world.click("ana", cards[7], "approve")
        await world.click("ana", cards[8], "reject")
        await world.becomes(ts, cards[7], "Done: Create task probe-7")
        await world.becomes(ts, cards[8], "Rejected: Create task probe-8")
        assert sum("approve" in action_ids(m) for m in await world.thread(ts)) == 18
    names = {task["Name"] for task in await world.at_scheduler("GET", "tasks")}
    assert {name for name in names if name.startswith("probe-")} == {"probe-7"}


@pytest.mark.parametrize("person", ["ana", "oscar"])
async def test_rejecting_runs_nothing_and_stays_rejected(world: World, person: str):
    """An approver may reject, and so may the person who asked."""
    async with world.bot(pausing()):
        ts, card = await asked_for(world, "pause it please")
        await world.click(person, card, "reject")
        done = await world.becomes(ts, card, "Rejected: ")
        assert action_ids(done) == ["reason"]
        assert "Rejected; nothing was run." in everything(done)
        await world.click("adam", card, "approve")
        assert (await told(world, "adam")).startswith("This proposal is decided already: rejected (")
    assert world.to_scheduler.reached(PAUSE) == []


@pytest.mark.parametrize(
    ("words", "heading"),
    [("approve {code}", "Done: "), ("批准 {code}", "Done: "), ("reject {code}", "Rejected: ")],
)
async def test_a_typed_code_decides_whatever_its_case(world: World, words: str, heading: str):
    async with world.bot(pausing()):
        ts, card = await asked_for(world, "pause it please")
        await world.says("ana", words.format(code=code_of(card).lower()), ts)
        await world.becomes(ts, card, heading)
        assert (await told(world, "ana")).startswith(heading)
        assert len(await world.thread(ts)) == 4  # the answer is for whoever typed alone
    assert len(world.to_scheduler.reached(PAUSE)) == (1 if heading == "Done: " else 0)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("拒绝 {code} 磁盘满了，先清理", "磁盘满了，先清理"),
        ("reject {code}: the disk is full", "the disk is full"),
    ],
)
async def test_words_behind_the_code_are_the_reason_of_a_reject_and_make_an_approval_none(
    world: World, words: str, reason: str
):
    async with world.bot(pausing()):
        ts, card = await asked_for(world, "pause it please")
        code = code_of(card)
        await world.says("ana", f"approve {code.lower()} please", ts)
        assert f"Type “approve {code}” alone" in await told(world, "ana")
        await world.says("ana", f"批准 {code} 吧", ts)
        assert f"“批准 {code} 紧急: 原因”" in await told(world, "ana", 2)
        await world.says("ana", f"> approve {code}", ts)
        await world.says("ana", "reject change requests, please", ts)
        await world.says("ana", words.format(code=code), ts)
        assert reason in everything(await world.becomes(ts, card, "Rejected: "))
        assert (await told(world, "ana", 3)).startswith("Rejected: ")
    assert world.to_scheduler.reached(PAUSE) == []


async def test_a_code_that_is_wrong_or_typed_elsewhere_or_by_the_wrong_person_decides_nothing(world: World):
    unknown = "There is no such proposal here, so nothing was run; check the code on the card."
    async with world.bot(pausing()):
        ts, card = await asked_for(world, "pause it please")
        await world.says("ana", "approve ZZZZZZ", ts)
        assert await told(world, "ana") == unknown
        await world.says("ana", f"{world.mention} approve {code_of(card)}")
        assert await told(world, "ana", 2) == unknown
        await world.says("ana", f"{world.mention} 批准 {code_of(card)}")
        assert await told(world, "ana", 3) == "此处没有这个提案，未执行任何操作；请核对卡片上的代码。"
        await world.says("vera", f"approve {code_of(card)}", ts)
        assert (await told(world, "vera")).startswith("Role viewer may not approve this change")
        now = next(m for m in await world.thread(ts) if m["ts"] == card["ts"])
        assert "approve" in action_ids(now)
    assert world.to_scheduler.reached(PAUSE) == []


async def test_free_words_are_no_consent(world: World):
    model = ScriptedModel(
        [calls(("pause_task", {"task_id": 1, "action": "pause"})), says("Please use the card.")]
    )
    async with world.bot(model):
        ts, card = await asked_for(world, "pause it please")
        await world.says("ana", "yes, approve it, go ahead", ts)
        messages = await world.settled(ts, 4)
        assert visible(messages[-1]) == "Please use the card."
        assert "approve" in action_ids(next(m for m in messages if m["ts"] == card["ts"]))
    assert world.to_scheduler.reached(PAUSE) == []


@pytest.mark.case("hitl-C01")
@pytest.mark.case("peer-T76")
async def test_two_people_who_click_at_once_make_one_decision(world: World):
    both_read = asyncio.Barrier(2)
    first_reads = 0

    async def meet(name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        nonlocal first_reads
        found = await call()
        if name == "proposals.get" and first_reads:
            first_reads -= 1
            await both_read.wait()
        return found

    async with world.bot(pausing(), wrap_store=tapped(meet)):
        ts, card = await asked_for(world, "pause it please")
        first_reads = 2
        await asyncio.gather(world.click("ana", card, "approve"), world.click("adam", card, "approve"))
        done = await world.becomes(ts, card, "Done: ")
        winner, loser = ("ana", "adam") if "Ana Duarte" in everything(done) else ("adam", "ana")
        assert (await told(world, loser)).startswith("This proposal is decided already: ")
        assert (await world.look("ephemerals", person=winner))["ephemerals"] == []
    assert len(world.to_scheduler.reached(PAUSE)) == 1


async def test_an_approver_does_not_approve_a_wish_of_their_own(world: World):
    async with world.bot(pausing()):
        ts, card = await asked_for(world, "pause it please", person="ana")
        await world.click("ana", card, "approve")
        assert (
            await told(world, "ana")
            == "You asked for this change yourself (risk: low), so another approver or admin has to decide."
        )
        await world.click("adam", card, "approve")
        await world.becomes(ts, card, "Done: ")


async def test_deleting_takes_an_admin_and_never_the_one_who_asked(world: World):
    delete = ScriptedModel([calls(("delete_task", {"task_id": 8}))])
    async with world.bot(delete):
        ts, card = await asked_for(world, "remove the old sync", person="adam")
        assert everything(card).startswith("Approval needed: Delete task legacy-sync (#8) for good")
        assert "high: cannot be taken back" in everything(card)
        assert await world.click("adam", card, "approve", confirm=False) == {"ok": True, "cancelled": True}
        await world.click("adam", card, "approve")
        assert (
            await told(world, "adam")
            == "You asked for this change yourself (risk: high), so another admin has to decide."
        )
        await world.click("ana", card, "approve")
        assert (
            await told(world, "ana")
            == "Role approver may not approve this change (destructive); it takes an admin."
        )
    assert world.to_scheduler.reached("DELETE") == []
    assert (await world.task("legacy-sync"))["Status"] == "disabled"
    async with world.bot(ScriptedModel([calls(("delete_task", {"task_id": 8}))])):
        ts, card = await asked_for(world, "remove the old sync", person="oscar")
        await world.click("adam", card, "approve")
        done = await world.becomes(ts, card, "Done: ")
        assert "Task legacy-sync (#8) is deleted (read back: not found)" in everything(done)


@pytest.mark.case("peer-T77")
@pytest.mark.parametrize("language", ["zh", "en"])
async def test_a_target_that_changed_since_is_left_alone(world: World, language: str):
    async with world.bot():
        ts, card = await asked_for(world, ASKS[language])
        task = await world.task("nightly-report")
        kept = ("Name", "Type", "Payload", "MaxRetry", "TimeoutSeconds")
        names = ("name", "type", "payload", "max_retry", "timeout_seconds")
        body = {name: task[field] for name, field in zip(names, kept, strict=True)}
        await world.at_scheduler("PUT", f"tasks/{task['ID']}", body | {"cron_expr": "5 5 * * *"})
        await world.click("ana", card, "approve")
        done = await world.becomes(
            ts, card, {"zh": "未执行（情况已变）：", "en": "Not run, things changed: "}[language]
        )
    assert {"zh": "5 5 * * *（提出时是 0 2 * * *）", "en": "now 5 5 * * * (was 0 2 * * *"}[
        language
    ] in everything(done)
    assert action_ids(done) == ["again"]
    assert world.to_scheduler.reached(PAUSE) == []


async def test_what_somebody_else_did_meanwhile_is_not_done_again(world: World):
    async with world.bot(pausing()):
        ts, card = await asked_for(world, "pause it please")
        await world.at_scheduler("POST", "tasks/1/pause")
        await world.click("ana", card, "approve")
        done = await world.becomes(ts, card, "Not run, things changed: ")
    assert "is paused already" in everything(done)
    assert world.to_scheduler.reached(PAUSE) == []


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_an_approval_that_comes_too_late_runs_nothing(world: World, language: str):
    clock = ShiftedClock()
    async with world.bot(clock=clock):
        ts, card = await asked_for(world, ASKS[language])
        clock.ahead = timedelta(minutes=61)
        await world.click("ana", card, "approve")
        sentence = {
            "zh": r"此提案已于 \d\d:\d\d UTC 过期，未执行任何操作；如仍需要，请在卡片上重新提出。",
            "en": r"This proposal expired at \d\d:\d\d UTC; nothing was run. Press Propose again on its card if it is still needed.",
        }[language]
        assert re.fullmatch(sentence, await told(world, "ana"))
        done = await world.becomes(ts, card, {"zh": "已过期：", "en": "Expired: "}[language])
        assert action_ids(done) == ["again"]
    assert world.to_scheduler.reached(PAUSE) == []


async def test_a_scheduler_that_is_down_at_the_approval_is_named_and_nothing_ran(world: World):
    async with world.bot(pausing()):
        ts, card = await asked_for(world, "pause it please")
        world.to_scheduler.faults.append(Fault(".", "refused", times=1000))
        await world.click("ana", card, "approve")
        done = await world.becomes(ts, card, "Failed: ")
    assert "It was approved but failed; it was not tried again." in everything(done)
    assert "Nothing ran: " in everything(done)
    assert world.to_scheduler.reached(PAUSE) == []


@pytest.mark.case("hitl-C06")
async def test_a_lost_reply_is_an_unknown_outcome_and_never_a_second_try(world: World):
    async with world.bot(pausing()):
        ts, card = await asked_for(world, "pause it please")
        world.to_scheduler.faults.append(Fault(PAUSE, "reply_lost"))
        await world.click("ana", card, "approve")
        done = await world.becomes(ts, card, "Outcome unknown: ")
        assert "It is not known whether this took effect" in everything(done)
        await world.click("adam", card, "approve")
        assert (await told(world, "adam")).startswith("This proposal is decided already: outcome unknown")
    assert len(world.to_scheduler.reached(PAUSE)) == 1


@pytest.mark.case("peer-T75")
async def test_a_refusal_of_the_scheduler_ends_the_card(world: World):
    async with world.bot(pausing()):
        ts, card = await asked_for(world, "pause it please")
        refusal = {"error": "insufficient permissions"}
        world.to_scheduler.faults.append(Fault(PAUSE, refusal, status=403))
        await world.click("ana", card, "approve")
        done = await world.becomes(ts, card, "Failed: ")
    assert "insufficient permissions" in everything(done)
    assert action_ids(done) == ["again", "continue"]


@pytest.mark.case("peer-T78")
@pytest.mark.parametrize("language", ["zh", "en"])
async def test_without_an_approver_the_card_names_the_config_key(world: World, language: str):
    nobody = RolesConfig(people={world.people["oscar"]["id"]: "operator"})
    async with world.bot(config=world.config(roles=nobody)):
        _, card = await asked_for(world, ASKS[language])
    sentence = {
        "zh": "没有配置批准人，无人能批准此变更",
        "en": "Nobody can approve this: no approver is configured",
    }
    assert sentence[language] in everything(card)
    assert "`roles.people`" in everything(card)


async def test_several_changes_of_one_message_are_decided_one_by_one(world: World):
    model = ScriptedModel(
        [
            calls(
                ("pause_task", {"task_id": 1, "action": "pause"}),
                ("pause_task", {"task_id": 3, "action": "pause"}),
                ("pause_task", {"action": "pause", "task_id": 1}),
            )
        ]
    )
    async with world.bot(model):
        ts = await world.says("oscar", f"{world.mention} pause both")
        _, *replies = await world.settled(ts, 3)
        cards = {everything(m).splitlines()[0]: m for m in replies if "approve" in action_ids(m)}
        assert len(cards) == 2
        first, second = cards.values()
        await world.click("ana", second, "reject")
        await world.becomes(ts, second, "Rejected: ")
        await world.click("ana", first, "approve")
        await world.becomes(ts, first, "Done: ")

        async def both_told() -> bool | None:
            return True if len(await world.thread(ts)) == 4 else None

        await until(both_told, "no more messages than question, answer and two cards")
    assert [passed.call for passed in world.to_scheduler.reached("pause")] == [PAUSE]


@pytest.mark.parametrize(
    ("words", "said"), [("cancel it", "Type “reject {code}”"), ("withdraw that", "Type “reject {code}”"), ("撤回", "请输入“拒绝 {code}”")]
)  # fmt: skip
async def test_who_wants_their_own_change_back_is_told_what_to_type(world: World, words: str, said: str):
    async with world.bot():
        ts = await world.says("oscar", f"{world.mention} pause nightly-report")
        card = next(m for m in await world.settled(ts, 2) if "prop_" in everything(m))
        await world.says("oscar", f"{world.mention} {words}", ts)
        (whisper,) = await world.whispers("oscar")
        assert said.format(code=code_of(card)) in str(whisper)
