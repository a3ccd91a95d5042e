"""Scenario: facts are missing → a form → filled in → a proposal → approved → the thing exists. Offline and with a model."""

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from chatops_bot.context.fence import unfence
from chatops_bot.domain.errors import StoreError
from chatops_bot.domain.model import ToolMessage, UserMessage
from chatops_bot.llm.scripted import ScriptedModel, calls, says
from tests.audit_rows import read_audit
from tests.scenarios.conftest import Json, ShiftedClock, World, action_ids, everything, labels, until, visible
from tests.scenarios.dying_bot import KillPoint
from tests.scenarios.filling import Filling, dialog_of, filling, inputs_of, labels_of
from tests.scenarios.tapped_store import tapped
from tests.scenarios.test_kill_points import doomed_bot
from tests.scenarios.test_stop import Gate

ASKS = {"en": "create a task that archives logs every night", "zh": "创建一个每晚归档日志的任务"}
OPEN = {"en": "Create a task: please fill in", "zh": "创建任务：请补充信息"}
LABELS = {
    "en": {
        "name": "Name",
        "type": "Type",
        "shell": "shell: run a script",
        "payload": "What it runs",
        "cron": "Schedule",
        "own": "Schedule, if not in the list",
        "night": "Every night at 02:00 Asia/Shanghai",
    },
    "zh": {
        "name": "名称",
        "type": "类型",
        "shell": "shell：运行脚本",
        "payload": "执行内容",
        "cron": "调度",
        "own": "调度（列表里没有时填写）",
        "night": "每天 02:00（Asia/Shanghai）",
    },
}
SCRIPT = "#!/bin/sh\ntar czf /backup/logs.tgz /var/log \n"


async def form_in(world: World, ts: str) -> Json:
    """The open form of a thread, once it stands there and its turn has come to rest."""

    async def there() -> Json | None:
        messages = await world.thread(ts)
        working = any("stop" in action_ids(message) for message in messages)
        forms = [m for m in messages if any(action.startswith("form_") for action in action_ids(m))]
        return forms[-1] if forms and not working else None

    found: Json = await until(there, "an open form")
    return found


async def asked_for(world: World, text: str, person: str = "oscar") -> tuple[str, Json]:
    ts = await world.says(person, f"{world.mention} {text}")
    return ts, await form_in(world, ts)


async def submits(world: World, person: str, message: Json, fill: Filling) -> Json:
    """Fill in a form's message and press Submit."""
    return await world.sim(
        "submit",
        person=person,
        channel=world.incidents,
        ts=message["ts"],
        action_id="form_submit",
        values=filling(message["blocks"], fill),
    )


async def dialog(world: World, person: str, message: Json) -> Json:
    """Press Fill in; the dialog that opens. One that a dead bot left open is closed first, as its person would."""
    left_open = (await world.look("state", person=person))["view"]
    if left_open is not None:
        await world.sim("close_view", person=person, view_id=left_open["id"])
    assert await world.click(person, message, "form_open") == {"ok": True}
    return await dialog_of(world, person)


async def sends(world: World, person: str, view: Json, fill: Filling) -> Json:
    return await world.sim("submit", person=person, view_id=view["id"], values=filling(view["blocks"], fill))


async def card_in(world: World, ts: str) -> Json:
    async def there() -> Json | None:
        messages = await world.thread(ts)
        working = any("stop" in action_ids(message) for message in messages)
        cards = [message for message in messages if "approve" in action_ids(message)]
        return cards[-1] if cards and not working else None

    found: Json = await until(there, "a card")
    return found


@pytest.mark.case("nightingale-T31")
@pytest.mark.parametrize("language", ["zh", "en"])
async def test_offline_a_task_with_missing_facts_is_asked_for_proposed_approved_and_made(
    world: World, language: str
):
    said = LABELS[language]
    async with world.bot():
        ts, form = await asked_for(world, ASKS[language])
        assert everything(form).startswith(OPEN[language])
        assert said["name"] in everything(form)
        assert said["night"] in everything(form), "what is known is shown"
        assert world.to_scheduler.reached("^POST /api/v1") == []

        view = await dialog(world, "oscar", form)
        shown = labels_of(view["blocks"])
        assert shown[:3] == [said["name"], said["type"], said["payload"]], "what is missing comes first"
        chosen = inputs_of(view["blocks"])[said["cron"]]["initial_option"]["text"]["text"]
        assert chosen == said["night"], "what is known is preselected"
        assert {"zh": "按 UTC 解读，不是 Asia/Shanghai", "en": "read in UTC, not in Asia/Shanghai"}[
            language
        ] in str(view)

        wrong = await sends(
            world,
            "oscar",
            view,
            {said["name"]: "archive-logs", said["type"]: said["shell"], said["payload"]: SCRIPT, said["own"]: "99 2 * * *"},
        )  # fmt: skip
        assert not wrong["ok"]
        (error,) = wrong["errors"].values()
        assert ("不是有效的五段 cron" if language == "zh" else "99") in error

        assert (await sends(world, "oscar", view, {said["own"]: ""}))["ok"]
        card = await card_in(world, ts)
        assert "archive-logs" in everything(card)
        assert everything(card).count("02:00 Asia/Shanghai") >= 3, (
            "the next three runs are shown on both clocks"
        )
        closed = next(m for m in await world.thread(ts) if m["ts"] == form["ts"])
        assert action_ids(closed) == []
        assert "archive-logs" in everything(closed)
        assert "Oscar" in everything(closed) or "林浩然" in everything(closed)

        assert await world.click("ana", card, "approve") == {"ok": True}
        await world.becomes(ts, card, {"zh": "已执行：", "en": "Done: "}[language])
    task = await world.task("archive-logs")
    assert (task["Type"], task["CronExpr"], task["Payload"]) == ("shell", "0 18 * * *", SCRIPT)


async def test_a_model_sees_its_call_wait_and_then_the_filled_form(world: World):
    arguments: dict[str, Any] = {}

    def second_call() -> Any:
        return calls(("create_task", arguments), text="Proposing it.")

    complete = {
        "name": "archive-logs", "type": "http", "cron_expr": "15 3 * * *", "payload": "http://example.test/go", "image": "",
        "timeout_seconds": 300, "max_retry": 5, "retry_policy": "fixed_interval",
    }  # fmt: skip
    arguments.update(complete)
    model = ScriptedModel(
        [
            calls(("create_task", {"name": "archive-logs", "type": "", "payload": None}), text="I need a few facts."),
            second_call(),
        ]
    )  # fmt: skip
    async with world.bot(model):
        ts, form = await asked_for(world, "archive the logs")
        view = await dialog(world, "oscar", form)
        said = LABELS["en"]
        fill = {
            said["type"]: "http: request a URL",
            said["payload"]: "http://example.test/go",
            said["cron"]: "Another, written below",
            said["own"]: "15 3 * * *",
            "Retries at most": "5",
        }
        assert (await sends(world, "oscar", view, fill))["ok"]
        await card_in(world, ts)
    history = model.requests[1].messages
    waited = [m for m in history if isinstance(m, ToolMessage)]
    assert "waits until the asker has filled in a form" in waited[0].text
    newest = [m for m in history if isinstance(m, UserMessage)][-1]
    told = json.loads(unfence(newest.text.partition("\n")[2]))
    assert told == {"tool": "create_task", "arguments": complete}, (
        "a display name stands only where it is fenced"
    )


async def test_a_second_tool_asks_in_the_message_with_the_tasks_to_choose_from(world: World):
    await world.at_scheduler("POST", "tasks/1/pause")
    model = ScriptedModel(
        [calls(("trigger_task", {}), text="Which one?"), calls(("trigger_task", {"task_id": 3}))]
    )
    async with world.bot(model):
        ts, form = await asked_for(world, "run one of the tasks now")
        assert labels(form) == ["Submit", "Cancel"]
        (select,) = inputs_of(form["blocks"]).values()
        offered = [option["text"]["text"] for option in select["options"]]
        assert "log-archive (#3)" in offered
        assert not any("(#1)" in option for option in offered), "a paused task cannot be run"

        assert await submits(world, "oscar", form, {}) == {"ok": True}
        problem = await world.becomes(ts, form, "Run a task now: please fill in")
        problem = await _with(world, ts, form, "Please fill this in.")
        assert "form_submit" in action_ids(problem)

        assert await submits(world, "oscar", problem, {"Task": "log-archive (#3)"}) == {"ok": True}
        card = await card_in(world, ts)
        assert everything(card).startswith("Approval needed: ")
        done = await world.becomes(ts, form, "Run a task now: filled in")
        assert action_ids(done) == []
        assert not any(block["type"] == "input" for block in done["blocks"])
        assert await world.click("ana", card, "approve") == {"ok": True}
        await world.becomes(ts, card, "Done: ")
    assert len(world.to_scheduler.reached("POST /api/v1/tasks/3/trigger")) == 1


async def _with(world: World, ts: str, message: Json, text: str) -> Json:
    async def there() -> Json | None:
        now = next(m for m in await world.thread(ts) if m["ts"] == message["ts"])
        return now if text in everything(now) else None

    found: Json = await until(there, f"a message with {text!r}")
    return found


async def test_a_wrong_value_is_answered_at_its_field_and_what_was_typed_stays(world: World):
    model = ScriptedModel([calls(("retry_failed_instance", {}))])
    async with world.bot(model):
        ts, form = await asked_for(world, "重试一下")
        assert everything(form).startswith("重试失败的运行：请补充信息")
        typed = labels_of(form["blocks"])[-1]  # beside a list, if runs have failed by now
        await submits(world, "oscar", form, {typed: "abc"})
        first = await _with(world, ts, form, "必须是整数。")
        assert inputs_of(first["blocks"])[typed]["initial_value"] == "abc"
        await submits(world, "oscar", first, {typed: "999999"})
        second = await _with(world, ts, form, "没有运行 #999999")
        assert inputs_of(second["blocks"])[typed]["initial_value"] == "999999"
        kinds = [block["type"] for block in second["blocks"]]
        assert kinds[-4:-1] == ["input", "section", "actions"], "the problem stands under its field"


async def test_only_the_requester_fills_in_and_a_viewer_is_refused_before_any_form(world: World):
    model = ScriptedModel(
        [
            calls(("trigger_task", {})),
            calls(("trigger_task", {})),
            says("You may not."),
        ]
    )
    async with world.bot(model):
        ts, form = await asked_for(world, "run a task")
        for press in (
            submits(world, "ana", form, {"Task": "log-archive (#3)"}),
            world.click("ana", form, "form_cancel"),
        ):
            await press
        assert "This form asks 林浩然" in (await world.whispers("ana", 2))[0]["text"]
        assert await world.thread(ts) == await world.thread(ts)
        now = next(m for m in await world.thread(ts) if m["ts"] == form["ts"])
        assert "form_submit" in action_ids(now)

        root = await world.says("vera", f"{world.mention} run a task")
        messages = await world.settled(root, 1)
        assert visible(messages[-1]) == "You may not."
        assert not any("form_submit" in action_ids(message) for message in messages)


async def test_a_form_is_cancelled_or_replaced_and_says_so(world: World):
    model = ScriptedModel([calls(("trigger_task", {})), calls(("trigger_task", {})), says("Fine.")])
    async with world.bot(model):
        ts, first = await asked_for(world, "run a task")
        await world.says("oscar", "no, another one", ts)
        await world.becomes(ts, first, "Run a task now: replaced by a newer form")
        second = await form_in(world, ts)
        assert second["ts"] != first["ts"]
        await submits(world, "oscar", first, {"Task": "log-archive (#3)"})
        assert "A newer form took the place" in (await world.whispers("oscar"))[-1]["text"]
        await world.click("oscar", second, "form_cancel")
        await world.becomes(ts, second, "Run a task now: cancelled")
        await world.says("oscar", "never mind", ts)
        await world.settled(ts, 7)
    assert "cancelled" in str(model.requests[-1].messages)


async def test_an_expired_form_says_so_and_starts_nothing(world: World):
    clock = ShiftedClock()
    async with world.bot(ScriptedModel([calls(("trigger_task", {}))]), clock=clock):
        ts, form = await asked_for(world, "run a task")
        clock.ahead = timedelta(hours=2)
        await submits(world, "oscar", form, {"Task": "log-archive (#3)"})
        expired = await world.becomes(ts, form, "Run a task now: form expired")
        assert action_ids(expired) == []
        await world.whispers("oscar")


async def test_an_open_form_works_after_a_restart_and_two_clicks_make_one_turn(world: World):
    async with world.bot(ScriptedModel([calls(("trigger_task", {}))])):
        ts, form = await asked_for(world, "run a task")
    async with world.bot(ScriptedModel([calls(("trigger_task", {"task_id": 3}))])):
        fill = {"Task": "log-archive (#3)"}
        await submits(world, "oscar", form, fill)
        await submits(world, "oscar", form, fill)
        assert "submitted already" in (await world.whispers("oscar"))[-1]["text"]
        await card_in(world, ts)
    filled = [row for _, row in read_audit(world.folder / "bot" / "bot.db") if row.decision == "filled"]
    assert len(filled) == 1
    assert json.loads(filled[0].arguments) == {"task_id": 3}


async def test_a_secret_is_not_taken_and_a_missing_answer_of_the_scheduler_loses_nothing(world: World):
    async with world.bot():
        ts, form = await asked_for(world, "create a shell task named leaky every night at 2")
        view = await dialog(world, "oscar", form)
        leaky = "curl -H 'Authorization: Bearer abcdefghijklmnop1234'"
        wrong = await sends(world, "oscar", view, {"What it runs": leaky})
        assert list(wrong["errors"].values()) == [
            "This looks like a secret, which must not be stored here; refer to a variable or a file instead."
        ]
        wrong = await sends(world, "oscar", view, {"What it runs": "ls", "Name": "nightly-report"})
        assert "has it already" in next(iter(wrong["errors"].values()))
        assert (await sends(world, "oscar", view, {"Name": "tidy"}))["ok"]
        card = await card_in(world, ts)
        assert "Create task tidy" in everything(card)


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_all_that_is_wrong_with_an_answer_is_said_in_one_round(world: World, language: str):
    said = LABELS[language]
    async with world.bot():
        _, form = await asked_for(world, ASKS[language])
        view = await dialog(world, "oscar", form)
        container = {"zh": "container：运行容器镜像", "en": "container: run an image"}[language]
        timeout = {"zh": "超时（秒）", "en": "Timeout (s)"}[language]
        fill = {
            said["name"]: "nightly-report", said["type"]: container, said["payload"]: "-it", said["own"]: "61 * * * *",
            timeout: "0",
        }  # fmt: skip
        wrong = await sends(world, "oscar", view, fill)
    errors = list(wrong["errors"].values())
    expected = {
        "zh": ("已被任务", "container 类型必须提供镜像", "分钟字段 '61'", "不能小于 1"),
        "en": ("has it already", "required for type container", "Minute '61'", "Must be 1 or more"),
    }[language]
    assert len(errors) == 4
    assert all(any(part in error for error in errors) for part in expected)


async def test_a_message_instead_of_a_submit_is_an_ordinary_message(world: World):
    model = ScriptedModel([calls(("trigger_task", {})), says("Which one do you mean?")])
    async with world.bot(model):
        ts, form = await asked_for(world, "run a task")
        await world.says("oscar", "make it the backup", ts)
        messages = await world.settled(ts, 4)
        assert visible(messages[-1]) == "Which one do you mean?"
        now = next(m for m in messages if m["ts"] == form["ts"])
        assert "form_submit" in action_ids(now)


async def test_a_dialog_that_is_taken_only_after_its_answer_is_taken_once(world: World):
    """The store is slow for longer than Slack waits: the dialog stays open, and sending it off again does no harm."""
    gate = Gate("forms.move")
    async with world.bot(wrap_store=tapped(gate)):
        ts, form = await asked_for(world, "create a shell task named tidy every night at 2")
        view = await dialog(world, "oscar", form)
        kept = await sends(world, "oscar", view, {"What it runs": "ls"})
        assert "Not checked yet; what you typed is kept." in next(iter(kept["errors"].values()))
        gate.opened.set()
        await card_in(world, ts)
        assert (await sends(world, "oscar", view, {"What it runs": "ls"}))["ok"]
        assert "submitted already" in (await world.whispers("oscar"))[-1]["text"]
        assert sum("approve" in action_ids(m) for m in await world.thread(ts)) == 1


async def test_a_filled_form_whose_turn_could_not_be_stored_begins_it_without_a_restart(world: World):
    begun = 0

    async def fail_once(name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        nonlocal begun
        if name == "turns.begin":
            begun += 1
            if begun == 3:  # a mention is told of twice
                raise StoreError("The disk is full.")
        return await call()

    async with world.bot(wrap_store=tapped(fail_once)):
        ts, form = await asked_for(world, "create a shell task named tidy every night at 2")
        await sends(world, "oscar", await dialog(world, "oscar", form), {"What it runs": "ls"})
        assert "Create task tidy" in everything(await card_in(world, ts))
    assert begun >= 4


async def test_a_filled_form_of_somebody_who_lost_their_rights_begins_nothing_and_says_why(world: World):
    ts = await dies(world, KillPoint("forms.move", 1, "after"))
    less = world.config()
    people = {**less.roles.people, world.people["oscar"]["id"]: "viewer"}
    less = less.model_copy(update={"roles": less.roles.model_copy(update={"people": people})})
    async with world.bot(ScriptedModel([]), config=less):  # which nobody asks anything

        async def told() -> bool | None:
            said = [everything(m) for m in await world.thread(ts)]
            return (
                True if any("Role viewer may read but not ask for changes" in each for each in said) else None
            )

        await until(told, "the reason why the form begins nothing")
    async with world.bot(ScriptedModel([])):
        assert not any("approve" in action_ids(m) for m in await world.thread(ts))


POINTS = [
    KillPoint("forms.add", 1, "after"),
    KillPoint("forms.shown", 1, "before"),
    KillPoint("forms.move", 1, "before"),
    KillPoint("forms.move", 1, "after"),
    KillPoint(
        "turns.begin", 3, "before"
    ),  # the first two are those of the question, which comes as two events
    KillPoint("turns.begin", 3, "after"),
    KillPoint("transcripts.append", 6, "before"),
]
"""Deaths from which the answer of the person must not be lost."""
UNSENT = POINTS[:3]
"""Those before the answer was stored: the person sends it once more, in the form that still stands there."""


async def dies(world: World, point: KillPoint) -> str:
    """Ask, send the form off where the bot lives until then, and see it die; returns the thread."""
    async with doomed_bot(world, world.folder / "bot", point) as doomed:
        ts = await world.says("oscar", f"{world.mention} create a shell task named tidy every night at 2")

        async def dead_or_asked() -> bool | None:
            messages = await world.thread(ts)
            return True if doomed.is_dead or any("form_open" in action_ids(m) for m in messages) else None

        await until(dead_or_asked, "a form, or the end of the bot")
        if point not in POINTS[:2]:
            await settle_and_send(world, ts)

        async def dead() -> bool | None:
            return True if doomed.is_dead else None

        await until(dead, "the end of the bot")
    assert doomed.killed_itself
    return ts


async def settle_and_send(world: World, ts: str) -> None:
    view = await dialog(world, "oscar", await form_in(world, ts))
    await sends(world, "oscar", view, {"What it runs": "ls"})


async def one_form_filled_in(world: World, ts: str) -> None:
    async def closed() -> bool | None:
        (form,) = [m for m in await world.thread(ts) if everything(m).startswith("Create a task: ")]
        return True if everything(form).startswith("Create a task: filled in") else None

    await until(closed, "one form, which says that it was filled in")


@pytest.mark.parametrize("point", POINTS, ids=str)
async def test_whatever_the_bot_dies_at_what_was_filled_in_leads_to_one_proposal(
    world: World, point: KillPoint
):
    ts = await dies(world, point)
    async with world.bot():
        if point in UNSENT:
            await settle_and_send(world, ts)
        card = await card_in(world, ts)
        assert "Create task tidy" in everything(card)
        await one_form_filled_in(world, ts)
        messages = await world.thread(ts)
        assert sum("approve" in action_ids(m) for m in messages) == 1


async def test_a_turn_of_a_form_that_the_bot_dies_in_is_told_as_interrupted_and_can_go_on(world: World):
    ts = await dies(world, KillPoint("transcripts.append", 6, "after"))
    model = ScriptedModel([says("Going on.")])
    async with world.bot(model):
        await one_form_filled_in(world, ts)
        await world.says("oscar", "continue", ts)

        async def answered() -> bool | None:
            return True if any(visible(m) == "Going on." for m in await world.thread(ts)) else None

        await until(answered, "an answer")
        assert any("The bot restarted" in everything(m) for m in await world.thread(ts))
    told = [m.text for m in model.requests[0].messages if isinstance(m, UserMessage)]
    assert '"payload":"ls"' in told[1], "the model still knows what was filled in"
