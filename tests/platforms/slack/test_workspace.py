"""The adapter against a running workspace, through slack-bolt and Socket Mode."""

import asyncio

import pytest
from yarl import URL

from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.event import ControlUsed, MessageReceived
from chatops_bot.domain.people import Role
from chatops_bot.domain.session import MessageRef, SessionKey
from chatops_bot.domain.view import Button, Buttons, Code, Fact, Facts, Heading, Markdown, Notice, View
from chatops_bot.ports import Place
from chatops_bot.simulators.slack import Workspace
from tests.platforms.slack.conftest import Driver, eventually

ANSWER = View((Markdown("**All** quiet."),), "All quiet.")
CARD = View(
    (
        Heading("Restart payments-api"),
        Facts((Fact("Target", "payments-api <prod>"),)),
        Code("kubectl rollout restart deploy/payments-api"),
        Buttons((Button("approve", "Approve", "p-1", "primary"), Button("reject", "Reject", "p-1"))),
    ),
    "Restart payments-api?",
)


@pytest.mark.case("slack-17")
async def test_a_mention_and_its_message_carry_one_dedupe_key(drive, events, platform):
    ts = await drive.says("ana", "@opsbot why is checkout slow?")
    pair = await events.until(lambda items: len(items) == 2)
    assert {event.dedupe_key for event in pair} == {
        f"slack:{drive.workspace.identity.team_id}:{drive.incidents}:{ts}"
    }
    assert all(event.mentions_bot and event.text == "why is checkout slow?" for event in pair)


async def test_a_message_names_session_author_and_role(drive, events, platform):
    root = await drive.says("oscar", "disk is full")
    reply = await drive.says("ana", "on it, @vera", thread_ts=root)
    first, second = await events.until(lambda items: len(items) == 2)
    session = SessionKey("slack", drive.workspace.identity.team_id, drive.incidents, root)
    vera = next(person.id for person in drive.workspace.identity.people if person.key == "vera")
    assert first.session == second.session == session
    assert second == MessageReceived(
        dedupe_key=f"slack:{session.workspace}:{drive.incidents}:{reply}",
        session=session,
        message_id=reply,
        author=second.author,
        text=f"on it, @{vera}",
        mentions_bot=False,
        is_direct=False,
        mentions_others=True,
        names=(f"@{vera}",),
        mentioned={vera: "Vera Lindqvist"},
    )
    assert (second.author.name, second.author.role) == ("Ana Duarte", Role.APPROVER)


async def test_a_direct_message_counts_as_direct(drive, events, platform):
    dm = next(person.dm for person in drive.workspace.identity.people if person.key == "vera")
    await drive.says("vera", "hello", channel=dm)
    (event,) = await events.until(lambda items: items)
    assert event.is_direct


@pytest.mark.case("slack-37")
async def test_what_a_person_types_arrives_letter_by_letter(drive, events, platform):
    typed = "cpu > 80% && mem < 1 &lt; &amp;amp; in #ops"
    await drive.says("ana", typed)
    (event,) = await events.until(lambda items: items)
    ops = next(each.id for each in drive.workspace.identity.channels if each.name == "ops")
    assert event.text == typed.replace("#ops", f"#{ops}"), "a channel stands in it by its id"
    assert event.mentioned == {ops: "ops"}


@pytest.mark.case("slack-58")
async def test_an_answer_stands_in_its_thread_and_ends_as_finished(drive, platform):
    root = await drive.says("ana", "status?")
    ref = await platform.post(Place(drive.incidents, root), View((Notice("Working"),), "Working"))
    for step in range(20):
        platform.edit(ref, View((Markdown(f"step {step}"),), f"step {step}"))
        await asyncio.sleep(0)
    assert await platform.finish(ref, ANSWER) == ref
    thread = await drive.thread(root)
    assert [(message["text"], message["thread_ts"]) for message in thread[1:]] == [("All quiet.", root)]
    versions = (await drive.get("versions", channel=ref.channel, ts=ref.id))["versions"]
    assert versions[-1]["text"] == "All quiet."


async def test_a_click_on_a_card_names_control_value_and_message(drive, events, platform):
    root = await drive.says("ana", "restart it")
    card = await platform.post(Place(drive.incidents, root), CARD)
    clicked = await drive.call("click", person="adam", channel=card.channel, ts=card.id, action_id="approve")
    assert clicked["ok"], clicked
    (event,) = [
        each
        for each in await events.until(lambda items: any(isinstance(item, ControlUsed) for item in items))
        if isinstance(each, ControlUsed)
    ]
    assert (event.control, event.value, event.message) == ("approve", "p-1", card)
    assert event.session.thread == root
    assert event.person.role is Role.ADMIN


@pytest.mark.case("slack-53")
async def test_a_resolved_card_has_no_actions_block(drive, platform):
    root = await drive.says("ana", "restart it")
    card = await platform.post(Place(drive.incidents, root), CARD)
    await platform.finish(card, View((*CARD.blocks[:-1], Notice("Approved by Adam", "good")), "Approved"))
    kinds = [block["type"] for block in (await drive.thread(root))[1]["blocks"]]
    assert "actions" not in kinds
    assert "header" in kinds


@pytest.mark.case("slack-63")
async def test_an_unknown_control_is_acknowledged_and_explained(drive, events, platform):
    blocks = [
        {
            "type": "actions",
            "elements": [
                {"type": "button", "text": {"type": "plain_text", "text": "Old"}, "action_id": "ancient"}
            ],
        }
    ]
    posted = await drive.web("chat.postMessage", channel=drive.incidents, text="old", blocks=blocks)
    clicked = await drive.call(
        "click", person="vera", channel=drive.incidents, ts=posted["ts"], action_id="ancient"
    )
    assert clicked == {"ok": True}

    async def whispers():
        return (await drive.get("ephemerals", person="vera"))["ephemerals"]

    (whisper,) = await eventually(whispers)
    assert "no longer valid" in whisper["text"]
    assert "此控件已失效" in whisper["text"]
    assert events.items == []


async def test_a_whisper_is_seen_by_one_person_in_the_thread(drive, platform):
    root = await drive.says("ana", "restart it")
    await platform.whisper(
        Place(drive.incidents, root), drive.person_id("vera"), View((Notice("Not you."),), "Not you.")
    )
    (seen,) = (await drive.get("ephemerals", person="vera"))["ephemerals"]
    assert (seen["text"], seen["thread_ts"]) == ("Not you.", root)
    assert (await drive.get("ephemerals", person="ana"))["ephemerals"] == []


@pytest.mark.case("slack-9")
async def test_a_deleted_message_is_finished_as_a_new_one_in_its_thread(drive, platform):
    root = await drive.says("ana", "status?")
    ref = await platform.post(Place(drive.incidents, root), ANSWER)
    await drive.web("chat.delete", channel=ref.channel, ts=ref.id)
    again = await platform.finish(ref, ANSWER)
    assert again != ref
    assert [message["ts"] for message in (await drive.thread(root))[1:]] == [again.id]


async def test_a_message_from_before_a_restart_is_finished_in_its_thread(drive, platform):
    root = await drive.says("ana", "status?")
    posted = await drive.web("chat.postMessage", channel=drive.incidents, thread_ts=root, text="…")
    ref = MessageRef(drive.incidents, posted["ts"])
    assert await platform.finish(ref, ANSWER) == ref


@pytest.mark.case("slack-49")
async def test_own_posts_edits_and_other_bots_hand_on_nothing(drive, events, platform):
    root = await drive.says("ana", "first")
    ref = await platform.post(Place(drive.incidents, root), ANSWER)
    await platform.finish(ref, ANSWER)
    last = await drive.says("ana", "last")
    await events.until(lambda items: items and items[-1].message_id == last)
    assert [event.message_id for event in events.items] == [root, last]


@pytest.mark.case("slack-59")
async def test_events_come_again_after_slack_was_away(tmp_path, make_platform, events, session):
    async with Workspace.start(tmp_path) as first:
        platform = make_platform(first)
        await platform.start(events.add)
        assert platform.deaf_because == ""
        port = URL(first.url).port or 0

    async def noticed():
        return platform.deaf_because

    await eventually(noticed)
    async with Workspace.start(tmp_path, port=port) as second:
        ts = await Driver(second, session).says("ana", "still there?")
        assert (await events.until(lambda items: items))[0].message_id == ts
        assert platform.deaf_because == ""
        await platform.aclose()


async def test_a_refused_token_is_one_sentence_without_the_token(workspace, make_platform):
    platform = make_platform(workspace, bot_token="xoxb-wrong")
    with pytest.raises(PlatformError, match="invalid_auth; check the bot token") as refused:
        await platform.start(lambda event: asyncio.sleep(0))
    assert "xoxb-wrong" not in str(refused.value)
    await platform.aclose()


async def test_a_message_is_found_again_by_its_key(drive, platform):
    root = await drive.says("ana", "restart it")
    place = Place(drive.incidents, root)
    assert await platform.find(place, "card-p-1") is None
    card = await platform.post(place, CARD, key="card-p-1")
    await platform.finish(card, ANSWER)
    assert await platform.find(place, "card-p-1") == card
