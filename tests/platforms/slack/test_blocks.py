"""Any view gives a payload that Slack takes, loses no code, and calls nobody by accident."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.channel_token import channel_token
from chatops_bot.domain.view import (
    Block,
    Button,
    Buttons,
    Code,
    Confirm,
    Fact,
    Facts,
    Heading,
    Lines,
    Markdown,
    Mention,
    Modal,
    Notice,
    Option,
    Select,
    TextInput,
    View,
)
from chatops_bot.platforms.slack.blocks import modal_payload, payload
from chatops_bot.simulators.slack.validation import check_message_blocks, check_view

TOKENS = (
    "<!channel>",
    "<!here|x>",
    "<!subteam^S1>",
    "<@U2>",
    "<#C1>",
    "<https://x.io|x>",
    "```",
    "*&*",
    "\n",
)
texts = st.text(max_size=60) | st.lists(st.sampled_from(TOKENS), max_size=6).map("".join)
long_texts = texts | st.builds(
    lambda text, times: text * times, st.sampled_from(TOKENS), st.integers(1, 2000)
)
confirms = st.builds(Confirm, long_texts, long_texts, texts, texts)
buttons = st.builds(
    Button,
    st.sampled_from(("approve", "reject", "followup", "form_submit")),
    long_texts,
    st.text(max_size=100),
    st.sampled_from(("default", "primary", "danger")),
    st.none() | confirms,
)


def blocks(any_text: st.SearchStrategy[str]) -> st.SearchStrategy[Block]:
    return st.one_of(
        st.builds(Heading, any_text),
        st.builds(Lines, st.lists(any_text, max_size=12).map(tuple)),
        st.builds(Notice, any_text, st.sampled_from(("info", "good", "warning", "danger"))),
        st.builds(
            Facts, st.lists(st.builds(Fact, any_text, any_text, st.booleans()), max_size=12).map(tuple)
        ),
        st.builds(Code, any_text, texts),
        st.builds(Buttons, st.lists(buttons, max_size=30).map(tuple)),
    )


mentions = st.builds(Mention, st.lists(st.sampled_from(("U1", "W22", "x>y")), max_size=3).map(tuple), texts)
views = st.builds(
    View,
    st.lists(blocks(long_texts) | st.builds(Markdown, long_texts) | mentions, max_size=60).map(tuple),
    long_texts,
)
quiet_views = st.builds(View, st.lists(blocks(texts), max_size=8).map(tuple), texts)


def code_of(made: dict[str, Any]) -> str:
    return "".join(
        block["elements"][0]["elements"][0]["text"]
        for block in made["blocks"]
        if block["type"] == "rich_text"
    )


@given(views)
def test_any_view_gives_a_payload_that_slack_takes(view: View):
    made = payload(view)
    check_message_blocks(made["blocks"])
    assert 0 < len(made["text"].encode()) <= 3_800
    ids = [e["action_id"] for b in made["blocks"] if b["type"] == "actions" for e in b["elements"]]
    assert len(ids) == len(set(ids))
    assert sum(len(b["text"]) for b in made["blocks"] if b["type"] == "markdown") <= 10_000
    json.dumps(made).encode()


@pytest.mark.case("slack-45")
@given(quiet_views)
def test_no_text_calls_anybody(view: View):
    made = payload(view)
    parsed = [made["text"]]
    for block in made["blocks"]:
        if block["type"] != "rich_text":  # rich text is shown letter by letter and never parsed
            parsed.append(json.dumps(block, ensure_ascii=False))
    assert not any(re.search(r"<[!@#h]", text) for text in parsed)


@given(st.lists(st.text(max_size=50) | st.sampled_from(TOKENS), max_size=40).map("".join).filter(str.strip))
def test_code_is_shown_whole(code: str):
    kept = code.replace("\x00", "")
    assert code_of(payload(View((Code(code * 4, "Payload"),), "x"))) == kept * 4


def test_long_code_continues_in_the_next_box_at_a_line():
    code = "".join(f"line {number}\n" for number in range(1000))
    made = payload(View((Code(code), Buttons((Button("approve", "OK", "1"),))), "x"))
    assert code_of(made) == code
    boxes = [block for block in made["blocks"] if block["type"] == "rich_text"]
    assert len(boxes) > 1
    assert all(box["elements"][0]["elements"][0]["text"].endswith("\n") for box in boxes)


@pytest.mark.case("slack-4")
def test_fifteen_hundred_chinese_characters_fit_an_edit():
    made = payload(View((Markdown("磁" * 1500),), "磁" * 1500))
    assert len(made["text"].encode()) <= 4_000
    assert made["blocks"][0]["text"] == "磁" * 1500


def test_buttons_are_numbered_only_where_their_control_repeats():
    row = Buttons((*(Button("followup", f"q{n}", str(n)) for n in range(3)), Button("stop", "Stop", "t")))
    elements = payload(View((row,), "x"))["blocks"][0]["elements"]
    assert [element["action_id"] for element in elements] == [
        "followup:0",
        "followup:1",
        "followup:2",
        "stop",
    ]


def test_half_a_value_is_refused():
    with pytest.raises(ValueError, match="longer than 2000"):
        payload(View((Buttons((Button("stop", "Stop", "x" * 2001),)),), "x"))


def test_only_a_mention_calls_people():
    made = payload(View((Mention(("U1", "<!channel>", "W2"), "needs <you>"),), "x"))
    assert made["blocks"][0]["text"]["text"] == "<@U1> <@W2> needs &lt;you&gt;"


def test_an_empty_view_still_removes_old_blocks():
    assert payload(View((), "done")) == {"text": "done", "blocks": []}


def test_facts_are_a_line_each_with_a_bold_label():
    facts = Facts((Fact("On", "task *a* <!here>"), Fact("Runs", "df -h", is_code=True)))
    (block,) = payload(View((facts,), "x"))["blocks"]
    (section,) = block["elements"]
    assert (
        "".join(leaf["text"] for leaf in section["elements"]) == "On\u2002task *a* <!here>\nRuns\u2002df -h"
    )
    assert [leaf.get("style") for leaf in section["elements"]] == [
        {"bold": True}, None, None, None, {"bold": True}, None, {"code": True},
    ]  # fmt: skip


def test_a_notice_in_passing_is_small_and_a_warning_is_not():
    blocks = payload(View((Notice("by the way"), Notice("look", "warning")), "x"))["blocks"]
    assert [block["type"] for block in blocks] == ["context", "section"]
    assert blocks[1]["text"]["text"] == "△ look"


@given(st.integers(1, 30), st.integers(1, 2000))
def test_facts_are_shown_whole_until_the_message_is_full(count: int, length: int):
    values = [f"{number}:" + "v" * length for number in range(count)]
    made = payload(View((Facts(tuple(Fact("f", value) for value in values)),), "x"))
    leaves = [leaf["text"] for block in made["blocks"] for leaf in block["elements"][0]["elements"]]
    if sum(map(len, values)) < 12_000:
        assert [leaf for leaf in leaves if ":" in leaf] == values
    assert sum(map(len, leaves)) <= 13_000


options = st.builds(Option, st.text(alphabet="0123456789", min_size=1, max_size=3), long_texts, long_texts)


def inputs(key: str) -> st.SearchStrategy[Block]:
    return st.one_of(
        st.builds(
            Select, st.just(key), st.just(key), long_texts, st.lists(options, min_size=1, unique_by=lambda o: o.value).map(tuple),
            st.lists(st.sampled_from(["1", "2", "9"]), max_size=2).map(tuple), st.booleans(), st.booleans(), texts, long_texts,
        ),
        st.builds(
            TextInput, st.just(key), st.just(key), long_texts, long_texts, st.booleans(), st.booleans(), texts, long_texts,
            st.sampled_from([64, 3000]),
        ),
    )  # fmt: skip


forms = st.integers(1, 5).flatmap(
    lambda count: st.tuples(*(inputs(f"field{place}") for place in range(count)))
)


@given(forms, long_texts, texts)
def test_any_form_is_within_slacks_limits_in_a_message_and_in_a_dialog(
    fields: tuple[Block, ...], title: str, text: str
):
    buttons = Buttons(
        (Button("form_submit", text, "form_1", "primary"), Button("form_cancel", text, "form_1"))
    )
    check_message_blocks(payload(View((Heading(title), *fields, buttons), text))["blocks"])
    check_view(modal_payload(Modal("form_1", title, fields, text, text)))


@pytest.mark.case("slack-54")
def test_long_and_equal_labels_of_a_list_stay_apart_and_values_come_back_whole():
    many = tuple(Option(str(place), "long label " * 12, "detail " * 30) for place in range(250))
    (block,) = payload(View((Select("task", "k", "Task", many, ("7",)),), ""))["blocks"]
    shown = block["element"]["options"]
    assert len(shown) == 100
    assert len({option["text"]["text"] for option in shown}) == 100
    assert [option["value"] for option in shown] == [str(place) for place in range(100)]
    assert block["element"]["initial_option"] == shown[7]
    check_message_blocks([block])


def test_no_address_in_the_plain_text_of_a_message_is_a_link():
    made = payload(
        View((Heading("see https://evil.example/x"),), "see https://evil.example/x or evil.example/?q=1")
    )
    assert made["text"] == "see https[:]//evil[.]example/x or evil[.]example/?q=1"
    assert payload(View((Heading("www.evil.example"),), ""))["text"] == "www[.]evil[.]example"


@pytest.mark.parametrize(
    "block", [Notice, lambda text: Notice(text, "warning"), lambda text: Lines(("one", text))]
)
def test_a_channel_is_named_live_and_nothing_beside_it_is(block):
    text = f"only in {channel_token('C0123')} <!channel> *x* or {channel_token('C9<!here>')}"
    sent = payload(View((block(text),), text))
    (rich,) = sent["blocks"]
    leaves = rich["elements"][0]["elements"]
    assert [leaf["channel_id"] for leaf in leaves if leaf["type"] == "channel"] == ["C0123"]
    assert "".join(leaf["text"] for leaf in leaves if leaf["type"] == "text").endswith(
        "only in  <!channel> *x* or C9<!here>"
    )
    assert sent["text"] == "only in <#C0123> &lt;!channel&gt; *x* or C9&lt;!here&gt;"
    check_message_blocks(sent["blocks"])


def test_an_answer_that_names_a_channel_shows_it_by_name():
    (block,) = payload(View((Markdown(f"only in {channel_token('C0123')}"),), "x"))["blocks"]
    assert block["text"] == "only in <#C0123>"


def test_a_view_with_channels_is_cut_like_any_other():
    long = Notice(f"{channel_token('C1')} {'x' * 2_900}", "warning")
    check_message_blocks(payload(View((long,) * 40, "x"))["blocks"])
