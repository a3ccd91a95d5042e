"""The writer under Slack's faults: nothing twice, nothing lost, nothing old on top."""

import asyncio

import pytest

from chatops_bot.domain.errors import MessageGone, PlatformError, PlatformUnavailable
from chatops_bot.domain.session import MessageRef
from chatops_bot.domain.view import Button, Buttons, Markdown, View
from chatops_bot.platforms.slack.outbound import SlackWriter
from chatops_bot.ports import Place
from chatops_bot.rendering.pacing import Pace
from tests.platforms.slack.conftest import (
    QUICK,
    CountedIds,
    RealClock,
    http_429,
    ratelimited_with_200,
    refuses,
    resets_after_accepting,
    resets_before_accepting,
    waits_for,
)

THREAD = Place("C1", "100.000001")


def view(text: str) -> View:
    return View((Markdown(text),), text)


@pytest.mark.case("slack-16")
async def test_a_reset_after_accepting_posts_once(slack, writer):
    slack.fault("chat.postMessage", resets_after_accepting)
    ref = await writer.post(THREAD, view("hello"))
    assert [text for _, text in slack.shown] == ["hello"]
    assert ref == MessageRef("C1", slack.shown[0][0])


async def test_a_reset_before_accepting_posts_after_looking(slack, writer):
    slack.fault("chat.postMessage", resets_before_accepting)
    await writer.post(THREAD, view("hello"))
    assert [text for _, text in slack.shown] == ["hello"]
    assert slack.methods() == ["chat.postMessage", "conversations.replies", "chat.postMessage"]


async def test_a_lost_post_is_not_repeated_while_nobody_can_look(slack, writer):
    slack.fault("chat.postMessage", resets_after_accepting)
    slack.fault("conversations.replies", refuses("missing_scope"))
    with pytest.raises(PlatformError, match="scope"):
        await writer.post(THREAD, view("hello"))
    assert slack.methods().count("chat.postMessage") == 1


async def test_a_rate_limited_post_waits_as_long_as_slack_says(slack, writer):
    slack.fault("chat.postMessage", http_429(0.1), ratelimited_with_200(0.1))
    began = asyncio.get_running_loop().time()
    await writer.post(THREAD, view("hello"))
    assert asyncio.get_running_loop().time() - began >= 0.2
    assert [text for _, text in slack.shown] == ["hello"]


@pytest.mark.case("slack-22")
async def test_many_posts_to_a_channel_keep_their_order_and_its_pace(slack, api):
    posts = Pace(spacing=0.1, burst=2)
    writer = SlackWriter(api, RealClock(), CountedIds(), pace=QUICK, posts=posts)
    began = asyncio.get_running_loop().time()
    texts = [f"alert {number}" for number in range(10)]
    await asyncio.gather(*(writer.post(Place("C1", None), view(text)) for text in texts))
    took = asyncio.get_running_loop().time() - began
    assert [text for _, text in slack.shown[3:]] == texts[3:]
    assert sorted(text for _, text in slack.shown[:3]) == texts[:3]
    assert took >= 0.7
    await writer.post(Place("C2", None), view("elsewhere"))
    assert asyncio.get_running_loop().time() - began < took + 0.1
    await writer.aclose()


async def test_an_answer_in_a_thread_does_not_queue_behind_alerts(slack, api):
    posts = Pace(spacing=0.1, burst=2)
    writer = SlackWriter(api, RealClock(), CountedIds(), pace=QUICK, posts=posts)
    alerts = [asyncio.create_task(writer.post(Place("C1", None), view(str(n)))) for n in range(12)]
    await slack.calls.until(lambda calls: len(calls) >= 3)
    await writer.post(THREAD, view("the answer"))
    assert not alerts[-1].done()
    await asyncio.gather(*alerts)
    assert "the answer" in [text for _, text in slack.shown[:6]]
    await writer.aclose()


@pytest.mark.case("slack-58")
async def test_every_post_and_whisper_names_its_thread(slack, writer):
    await writer.post(THREAD, view("hello"))
    await writer.whisper(THREAD, "U1", view("psst"))
    assert [arguments["thread_ts"] for _, arguments in slack.calls.items] == [THREAD.thread] * 2


async def test_slack_is_told_to_fetch_no_address_of_a_post_an_edit_or_a_whisper(slack, writer):
    ref = await writer.post(THREAD, view("hello"))
    await writer.finish(ref, view("bye"))
    await writer.whisper(THREAD, "U1", view("psst"))
    said = [arguments for method, arguments in slack.calls.items if method.startswith("chat.")]
    assert len(said) == 3
    assert all((each["unfurl_links"], each["unfurl_media"]) == ("false", "false") for each in said)


@pytest.mark.case("slack-6")
async def test_an_edit_under_way_lands_before_the_final(slack, writer):
    ref = await writer.post(THREAD, view("…"))
    answered = asyncio.Event()
    slack.fault("chat.update", waits_for(answered))
    writer.edit(ref, view("partial"))
    await slack.calls.until(lambda calls: calls[-1][0] == "chat.update")
    writer.edit(ref, view("stale"))
    final = asyncio.create_task(writer.finish(ref, view("final")))
    await asyncio.sleep(0)
    assert not final.done()
    answered.set()
    assert await final == ref
    writer.edit(ref, view("too late"))
    await writer.aclose()
    assert [text for _, text in slack.shown] == ["…", "partial", "final"]


async def test_only_the_newest_of_many_edits_lands(slack, writer):
    ref = await writer.post(THREAD, view("…"))
    for number in range(50):
        writer.edit(ref, view(f"edit {number}"))
    await slack.calls.until(lambda calls: calls[-1][0] == "chat.update")
    await writer.finish(ref, view("final"))
    assert [text for _, text in slack.shown] == ["…", "edit 49", "final"]


async def test_a_rate_limited_edit_is_shown_later(slack, writer):
    ref = await writer.post(THREAD, view("…"))
    slack.fault("chat.update", http_429(0.05))
    writer.edit(ref, view("progress"))
    await slack.calls.until(lambda calls: [method for method, _ in calls].count("chat.update") == 2)
    await writer.finish(ref, view("final"))
    assert [text for _, text in slack.shown] == ["…", "progress", "final"]


@pytest.mark.case("slack-10")
@pytest.mark.parametrize(
    "fault", [ratelimited_with_200(0.05), http_429(0.05), refuses("internal_error"), resets_before_accepting]
)
async def test_a_final_gets_through_passing_failures(slack, writer, fault):
    ref = await writer.post(THREAD, view("…"))
    slack.fault("chat.update", fault)
    assert await writer.finish(ref, view("final")) == ref
    assert slack.shown[-1] == (ref.id, "final")


@pytest.mark.case("slack-9")
@pytest.mark.parametrize(
    "code",
    ["message_not_found", "cant_update_message", "edit_window_closed", "is_inactive", "block_mismatch"],
)
async def test_a_message_that_cannot_be_edited_is_posted_anew_in_its_thread(slack, writer, code):
    ref = await writer.post(THREAD, view("…"))
    slack.fault("chat.update", refuses(code))
    again = await writer.finish(ref, view("whole answer"))
    assert again != ref
    assert slack.messages[again.id]["thread_ts"] == THREAD.thread
    assert slack.shown[-1] == (again.id, "whole answer")
    assert await writer.finish(ref, view("corrected")) == again


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_successor_is_found_under_the_key_of_the_message_it_replaces(slack, api, writer, restarted):
    ref = await writer.post(THREAD, view("…"), key="turn-1")
    if restarted:
        writer = SlackWriter(api, RealClock(), CountedIds(), pace=QUICK, patience=3.0)
        assert await writer.find(THREAD, "turn-1") == ref
    slack.fault("chat.update", refuses("edit_window_closed"))
    again = await writer.finish(ref, view("whole answer"))
    assert ref.id in slack.messages
    after = SlackWriter(api, RealClock(), CountedIds(), pace=QUICK, patience=3.0)
    assert await after.find(THREAD, "turn-1") == again != ref


@pytest.mark.parametrize("fault", [resets_after_accepting, resets_before_accepting])
async def test_a_lost_successor_is_not_mistaken_for_the_message_it_replaces(slack, writer, fault):
    ref = await writer.post(THREAD, view("…"), key="turn-1")
    slack.fault("chat.update", refuses("edit_window_closed"))
    slack.fault("chat.postMessage", fault)
    again = await writer.finish(ref, view("whole answer"))
    assert again != ref
    assert slack.shown == [(ref.id, "…"), (again.id, "whole answer")]


async def test_a_message_of_unknown_thread_is_not_posted_into_the_channel(slack, writer):
    slack.fault("conversations.replies", refuses("thread_not_found"))
    with pytest.raises(MessageGone, match="thread is not known"):
        await writer.finish(MessageRef("C1", "99.9"), view("answer"))
    assert slack.shown == []


async def test_patience_ends(slack, api):
    writer = SlackWriter(api, RealClock(), CountedIds(), pace=QUICK, patience=0.2)
    ref = await writer.post(THREAD, view("…"))
    slack.fault("chat.update", http_429(30))
    with pytest.raises(PlatformUnavailable, match="may be called again in 30 s"):
        await writer.finish(ref, view("final"))


async def test_refused_blocks_go_out_as_plain_text(slack, writer, caplog):
    slack.fault("chat.postMessage", refuses("invalid_blocks"))
    ref = await writer.post(THREAD, view("hello"))
    assert (slack.messages[ref.id]["text"], slack.messages[ref.id]["blocks"]) == ("hello", [])
    assert "invalid_blocks" in caplog.text


@pytest.mark.case("slack-53")
async def test_an_edit_always_replaces_the_blocks(slack, writer):
    ref = await writer.post(THREAD, View((Buttons((Button("stop", "Stop", "1"),)),), "…"))
    await writer.finish(ref, View((), "stopped"))
    assert slack.messages[ref.id]["blocks"] == []


@pytest.mark.case("slack-14")
async def test_finals_do_not_queue_behind_progress(slack, writer):
    refs = [await writer.post(THREAD, view("…")) for _ in range(10)]
    for ref in refs:
        writer.edit(ref, view("progress"))
    slack.fault("chat.update", http_429(0.1))
    began = asyncio.get_running_loop().time()
    await asyncio.gather(*(writer.finish(ref, view("final")) for ref in refs))
    assert asyncio.get_running_loop().time() - began < 1.0
    assert all(slack.messages[ref.id]["text"] == "final" for ref in refs)


async def test_a_final_that_keeps_failing_holds_up_no_progress_of_others(slack, writer):
    failing, other = await writer.post(THREAD, view("…")), await writer.post(THREAD, view("…"))
    slack.fault("chat.update", refuses("internal_error"))
    final = asyncio.create_task(writer.finish(failing, view("final")))
    await slack.calls.until(lambda calls: calls[-1][0] == "chat.update")
    writer.edit(other, view("progress"))
    await slack.calls.until(lambda calls: calls[-1][1].get("text") == "progress")
    assert not final.done()
    await final
    assert [text for _, text in slack.shown] == ["…", "…", "progress", "final"]


async def test_no_error_tells_the_token(slack, writer):
    slack.fault("chat.postMessage", refuses("invalid_auth"))
    with pytest.raises(PlatformError, match="check the bot token") as refused:
        await writer.post(THREAD, view("hello"))
    assert "xoxb" not in repr(refused.value)
