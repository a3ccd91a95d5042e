"""Whatever is cut off a conversation and however small the room, a provider accepts what is sent, and nothing is lost."""

import json
import random
import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.app.clock import CountingIds
from chatops_bot.context.budget import Budget
from chatops_bot.context.clearing import summary
from chatops_bot.context.fence import fence, fresh_marks, kept_marks, unfence
from chatops_bot.context.history import project
from chatops_bot.context.tokens import estimate, tokens_of
from chatops_bot.context.window import NEWEST_KEPT, Window, fit
from chatops_bot.domain.model import (
    AssistantMessage,
    ContextMessage,
    Message,
    Reasoning,
    RecordMessage,
    ToolMessage,
    UserMessage,
)
from chatops_bot.domain.session import TurnOutcome
from chatops_bot.domain.skill import LOAD_SKILL
from chatops_bot.domain.thread import EarlierMessage
from chatops_bot.domain.tool import ToolCall
from chatops_bot.domain.transcript import (
    EarlierRead,
    Entry,
    ModelSaid,
    ProposalDecided,
    ToolReturned,
    TurnRested,
    UserSaid,
)
from tests.context.provider_rules import refusals
from tests.small_tools import PHRASES

AT = datetime(2026, 3, 2, 14, 32, tzinfo=UTC)
NONCE = "0" * 32


def turn(number: int, calls: int, size: int, tool: str = "query_tasks") -> list[Entry]:
    """A question, one message with `calls` calls, their results in another order, the answer and the end."""
    name = f"t{number}"
    made = tuple(ToolCall(f"call_{number}_{index}", tool, '{"limit":1}') for index in range(calls))
    results = [
        ToolReturned(name, AT, call.id, tool, "ok", json.dumps({"n": number, "text": "x" * size}))
        for call in reversed(made)
    ]
    thought = Reasoning("let me think", "reasoning_content")
    return [
        UserSaid(name, AT, f"U{number % 3}", "N", "operator", f"question {number}"),
        *([ModelSaid(name, AT, "let me look", thought, made, "m")] if made else []),
        *results,
        ModelSaid(name, AT, f"answer {number}", Reasoning(), (), "m"),
        TurnRested(name, AT, TurnOutcome.ANSWERED if number % 2 else TurnOutcome.STOPPED, f"answer {number}"),
    ]


def forty(size: int = 300) -> list[Entry]:
    """Entries whose projection has 40 messages."""
    entries: list[Entry] = [EarlierRead("t0", AT, (EarlierMessage("Alertmanager", AT, "disk full"),))]
    for number in range(1, 8):
        entries += turn(number, 2, size)
    decided = ProposalDecided("t7", AT, "p", "K7QFAB", "pause_task", "task x", "applied", "Ana", "done")
    return [*entries, decided]


def projected(entries: Sequence[Entry]) -> list[Message]:
    return project(entries, marks=fresh_marks(CountingIds().nonce), words=PHRASES.calls)


def sent(messages: Sequence[Message], room: int) -> Sequence[Message]:
    return fit(messages, room, fresh_marks(lambda: NONCE))


def assert_sound(messages: Sequence[Message], room: int) -> None:
    before = list(messages)
    window = sent(messages, room)
    assert list(messages) == before, "the input is changed"
    assert not refusals(window)
    users = [message for message in messages if isinstance(message, UserMessage)]
    if users:
        assert users[-1] in window, "the newest question is gone"
    assert sum(is_note(message) for message in window) <= 1
    assert [m for m in window if isinstance(m, AssistantMessage)] == [
        m for m in messages if isinstance(m, AssistantMessage)
    ][-sum(isinstance(m, AssistantMessage) for m in window) or len(messages) :]


def is_note(message: Message) -> bool:
    return (
        isinstance(message, RecordMessage)
        and "left_out" in message.text
        and "earlier_messages" not in message.text
    )


def notes(messages: Sequence[Message]) -> list[dict[str, object]]:
    inside = [json.loads(unfence(m.text)) for m in messages if isinstance(m, ToolMessage)]
    return [each for each in inside if "cleared" in each]


def test_the_history_of_these_tests_has_forty_messages():
    assert len(projected(forty())) == 40


@pytest.mark.case("peer-T41")
def test_the_transcript_cut_at_every_entry_in_every_room_is_accepted_by_four_providers():
    entries = forty()
    for cut in range(2, len(entries) + 1):
        for room in (1, 200, 800, 2_000, 100_000):
            assert_sound(projected(entries[:cut]), room)


@pytest.mark.case("peer-T41")
def test_the_window_of_every_size_is_accepted_by_four_providers():
    messages = projected(forty())
    whole = sum(map(tokens_of, messages))
    for room in range(0, whole + 20, 7):
        assert_sound(messages, room)
    assert sent(messages, 10 * whole) is messages


@pytest.mark.case("peer-T41")
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2_000)), min_size=1, max_size=10), st.data())
def test_random_histories_cut_anywhere_are_accepted(turns: list[tuple[int, int]], data: st.DataObject):
    entries = [entry for number, (calls, size) in enumerate(turns, 1) for entry in turn(number, calls, size)]
    cut = data.draw(st.integers(1, len(entries)))
    assert_sound(projected(entries[:cut]), data.draw(st.integers(0, 6_000)))


def test_the_checker_refuses_what_providers_refuse():
    call = ToolCall("c", "look", "{}")
    asked, made, answer = (
        UserMessage("q", "U1"),
        AssistantMessage("", calls=(call,)),
        ToolMessage("c", "look", "r"),
    )
    assert not refusals([asked, made, answer])
    refused: tuple[list[Message], ...] = (
        [],
        [made, answer],
        [asked, made],
        [asked, answer],
        [asked, made, asked, answer],
        [asked, made, answer, answer],
        [asked, made, answer, made, answer],
        [asked, AssistantMessage("", calls=(ToolCall("c", "look", "[1]"),)), answer],
        [
            asked,
            AssistantMessage("", calls=(call, ToolCall("d", "see", "{}"))),
            ToolMessage("d", "see", "r"),
            answer,
        ],
    )
    for broken in refused:
        assert refusals(broken), broken


def test_old_results_leave_notes_the_newest_and_skills_stay_and_who_asked_stays():
    entries: list[Entry] = [e for number in range(1, 21) for e in turn(number, 1, 2_000)]
    entries[:0] = turn(0, 1, 2_000, LOAD_SKILL)
    messages = projected(entries)
    window = sent(messages, 12_000)
    told = notes(window)
    assert told
    assert {key for note in told for key in note} == {"cleared", "characters", "summary", "read_result"}
    assert told[0]["read_result"] == {"handle": "call_1_0"}
    results = [m for m in window if isinstance(m, ToolMessage)]
    assert results[-NEWEST_KEPT:] == [m for m in messages if isinstance(m, ToolMessage)][-NEWEST_KEPT:]
    assert results[0] == messages[2], "a loaded skill is sent whole"
    assert [m for m in window if isinstance(m, UserMessage)] == [
        m for m in messages if isinstance(m, UserMessage)
    ]


def test_left_out_turns_leave_one_note_that_says_how_much_and_whose_and_the_thread_stays_in_front():
    entries: list[Entry] = [EarlierRead("t0", AT, (EarlierMessage("Alertmanager", AT, "disk full"),))]
    for number in range(1, 31):
        asked, *rest = turn(number, 0, 0)
        assert isinstance(asked, UserSaid)
        entries += [UserSaid(asked.turn_id, AT, asked.author_id, "N", "operator", "y" * 800), *rest]
    messages = projected(entries)
    first, note, second, *_ = window = sent(messages, 3_000)
    assert "disk full" in first.text
    assert isinstance(second, UserMessage)
    told = json.loads(unfence(note.text))["left_out"]
    assert told["people"] == ["U1", "U2", "U0"]
    assert told["messages"] == len(messages) - len(window) + 1
    assert sum(map(tokens_of, window)) < 3_000


def test_a_long_result_of_json_stays_json_and_names_its_handle():
    content = json.dumps({"count": 3_000, "rows": [{"id": number} for number in range(3_000)]})
    call = ToolCall("c1", "query_tasks", "{}")
    text = fence(content, source="tool query_tasks", nonce=lambda: NONCE)
    messages: list[Message] = [
        UserMessage("q"),
        AssistantMessage("", calls=(call,)),
        ToolMessage("c1", "query_tasks", text),
    ]
    told = json.loads(unfence(sent(messages, 6_000)[-1].text))
    assert (told["count"], told["rows"][0], told["read_result"]) == (3_000, {"id": 0}, {"handle": "c1"})
    assert told["cut"] == [{"key": "rows", "first_rows": len(told["rows"]), "of_rows": 3000}]


def test_a_result_that_is_too_long_keeps_head_and_tail_and_says_what_was_cut():
    content = "\n".join(f"line {number}" for number in range(5_000))
    call = ToolCall("c1", "read_log", "{}")
    text = fence(content, source="tool read_log", nonce=lambda: NONCE)
    messages: list[Message] = [
        UserMessage("q"),
        AssistantMessage("", calls=(call,)),
        ToolMessage("c1", "read_log", text),
    ]
    inside = unfence(sent(messages, 6_000)[-1].text)
    assert inside.startswith("line 0\n")
    assert inside.endswith("line 4999")
    (cut,) = (json.loads(line) for line in inside.splitlines() if line.startswith("{"))
    assert cut["read_result"] == {"handle": "c1"}
    head, tail = inside.split("\n" + next(x for x in inside.splitlines() if x.startswith("{")) + "\n")
    assert cut["cut"]["characters"] == len(content) - len(head) - len(tail)
    assert tokens_of(sent(messages, 6_000)[-1]) < 1_200


def test_what_was_sent_is_only_added_to_between_few_jumps():
    """Providers reuse the longest prefix that is the same, so it may change at jumps only."""
    entries: list[Entry] = [e for number in range(1, 61) for e in turn(number, 1, 800)]
    messages = projected(entries)
    jumps, before = 0, list(sent(messages[:1], 6_000))
    for end in range(2, len(messages) + 1):
        if isinstance(messages[end - 1], AssistantMessage) and messages[end - 1].calls:  # type: ignore[union-attr]
            continue
        now = list(sent(messages[:end], 6_000))
        jumps += now[: len(before)] != before
        before = now
    assert 2 < jumps < 12, "one in fifteen at most"


KEY = secrets.token_bytes(32)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 800)), min_size=2, max_size=8), st.data())
def test_a_conversation_that_grows_keeps_the_bytes_that_were_sent_before(
    turns: list[tuple[int, int]], data: st.DataObject
):
    """Cut where a turn ends: there every call has its result. Each projection is of a process of its own, with the same key."""
    entries: list[Entry] = [EarlierRead("t0", AT, (EarlierMessage("Alertmanager", AT, "disk full"),))]
    ends = []
    for number, (calls, size) in enumerate(turns, 1):
        entries += turn(number, calls, size)
        ends.append(len(entries))
    cut = data.draw(st.sampled_from(ends))
    marks = [kept_marks(KEY, "a session") for _ in range(2)]
    before, after = (
        project(entries[:cut], marks=marks[0], words=PHRASES.calls),
        project(entries, marks=marks[1], words=PHRASES.calls),
    )
    assert after[: len(before)] == before
    nonces = [
        found[1]
        for message in after
        if (found := re.match(r"\[UNTRUSTED DATA nonce=(\w{32}),", message.text))
    ]
    assert (
        len(nonces)
        == len(set(nonces))
        == sum(not isinstance(m, UserMessage | AssistantMessage) for m in after)
    )
    elsewhere = project(entries, marks=kept_marks(KEY, "another session"), words=PHRASES.calls)
    assert not {*nonces} & {*re.findall(r"nonce=(\w{32})", "\n".join(m.text for m in elsewhere))}


def test_the_note_about_what_is_left_out_stays_the_same_until_more_is_left_out():
    entries = [entry for number in range(1, 30) for entry in turn(number, 1, 900)]
    cuts = [place for place, entry in enumerate(entries, 1) if isinstance(entry, TurnRested)]
    seen: dict[str, set[str]] = {}
    for cut in cuts:
        marks = kept_marks(KEY, "a session")
        for message in fit(project(entries[:cut], marks=marks, words=PHRASES.calls), 3_000, marks):
            if is_note(message):
                seen.setdefault(unfence(message.text), set()).add(message.text)
    assert len(seen) > 2
    assert {len(texts) for texts in seen.values()} == {1}


def test_a_summary_is_the_same_each_time_and_tells_counts_and_the_first_error():
    content = json.dumps({"count": 3, "rows": [1, 2, 3], "log": "ok\nERROR: disk full on db-1\nmore"})
    assert summary(content) == summary(content)
    assert summary(content).startswith("count: 3; rows: 3")
    assert "ERROR: disk full on db-1" in summary(content)
    assert summary('{"error":"no such task"}').startswith("error: no such task")
    assert len(summary(json.dumps({"error": "x" * 9_000}))) <= 240


def test_a_window_counts_what_came_since_and_sends_everything_while_it_fits():
    window = Window(Budget(), "m", fresh_marks(CountingIds().nonce))
    history: tuple[Message, ...] = (*projected(forty()), ContextMessage("now"))
    assert window.fit(history, (), "") is history
    said = (*history, ToolMessage("c", "look", fence("z" * 400_000, source="tool look", nonce=lambda: NONCE)))
    assert len(window.fit(said, (), "")[-1].text) < 60_000


def test_a_window_whose_context_changes_sends_what_a_new_one_would_and_chooses_once():
    history = projected(forty(9_000))
    marks, budget = kept_marks(b"a key", "s"), Budget(10_000)
    window = Window(budget, "m", marks)
    for text in ("now", "x" * 9_000, "later", "later"):
        messages = (*history, ContextMessage(text))
        chosen = window.fit(messages, (), "")
        assert chosen is not messages
        assert chosen == Window(budget, "m", marks).fit(messages, (), "")
        assert window.fit((*history, ContextMessage(text)), (), "") is chosen
    said = (*history, ContextMessage("later"), AssistantMessage("hm"), UserMessage("and?"))
    assert window.fit(said, (), "") == Window(budget, "m", marks).fit(said, (), "")


def test_cjk_text_is_reckoned_at_more_tokens_than_latin():
    assert estimate("") == 0
    assert estimate("a" * 1_000) == 300
    assert estimate("告" * 1_000) == 800
    assert estimate("告" * 500 + "a" * 500) == 550
    assert estimate("\ud800") >= 0


@pytest.mark.soak
def test_long_random_histories_in_random_rooms(soak: int):
    rng = random.Random(5)
    for _ in range(20 * soak):
        entries: list[Entry] = [
            e
            for n in range(1, rng.randint(2, 40))
            for e in turn(n, rng.randint(0, 5), rng.choice((0, 50, 9_000)))
        ]
        assert_sound(projected(entries[: rng.randint(1, len(entries))]), rng.randint(0, 30_000))
