"""Whatever shape a message has, its text is read whole, in order, and once."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.platforms.slack.message_text import ids_in, text_of

Json = dict[str, Any]
NAMES = {"U1": "Ana", "C1": "ops"}


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


ALERT: Json = {
    "text": "[FIRING:1] DiskFull",
    "blocks": [
        {"type": "header", "text": plain("[FIRING:1] DiskFull")},
        {"type": "section", "text": mrkdwn("disk of *db-1* is at 97 % &lt;full&gt;"), "fields": [mrkdwn("severity: critical")]},
        {"type": "context", "elements": [mrkdwn("told <@U1> in <#C1>"), {"type": "image", "alt_text": "logo"}]},
        {"type": "divider"},
        {"type": "actions", "elements": [{"type": "button", "text": plain("Silence"), "action_id": "x"}]},
    ],
    "attachments": [
        {
            "fallback": "not needed",
            "pretext": "From Grafana",
            "title": "Runbook",
            "text": "clean <https://wiki.example.com/disk|the page>",
            "fields": [{"title": "host", "value": "db-1"}, {"value": "only a value"}],
            "footer": "rule 12",
        },
        {"fallback": "only a fallback"},
        {"blocks": [{"type": "section", "text": mrkdwn("inside an attachment")}]},
    ],
    "files": [{"name": "disk.png"}],
}  # fmt: skip


def test_an_alert_is_read_whole_and_no_line_twice():
    assert text_of(ALERT, NAMES).splitlines() == [
        "[FIRING:1] DiskFull",
        "disk of *db-1* is at 97 % <full>",
        "severity: critical",
        "told @Ana in #ops",
        "From Grafana",
        "Runbook",
        "clean the page (https://wiki.example.com/disk)",
        "host: db-1",
        "only a value",
        "rule 12",
        "only a fallback",
        "inside an attachment",
        "[file: disk.png]",
    ]
    assert ids_in(ALERT) == ({"U1"}, {"C1"})


def test_what_a_person_types_is_read_once_though_it_comes_twice():
    elements = [
        {"type": "text", "text": "ask "},
        {"type": "user", "user_id": "U1"},
        {"type": "text", "text": " about "},
        {"type": "link", "url": "https://example.com", "text": "this"},
        {"type": "emoji", "name": "fire"},
    ]
    message = {
        "text": "ask <@U1> about <https://example.com|this>:fire:",
        "blocks": [{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}],
    }
    assert text_of(message, NAMES) == "ask @Ana about this (https://example.com):fire:"
    assert ids_in(message) == ({"U1"}, set())


def test_a_list_in_rich_text_has_a_line_an_item():
    items = [
        {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]} for text in ("one", "two")
    ]
    block = {"type": "rich_text", "elements": [{"type": "rich_text_list", "elements": items}]}
    assert text_of({"blocks": [block]}, {}) == "one\ntwo"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "elements", "blocks", "fields", "user_id", "title"]), inner, max_size=4)
    ),
    max_leaves=12,
)  # fmt: skip


@given(JSON, JSON, JSON)
def test_no_message_is_too_odd_to_read(text: Any, blocks: Any, attachments: Any):
    message = {"text": text, "blocks": blocks, "attachments": attachments}
    assert isinstance(text_of(message, {}), str)
    ids_in(message)
