"""A proposal's card and its pages keep Slack's limits in every state and for whatever was proposed, and nothing is cut by Slack's rules.

Nothing that was proposed, decided or found stands where Slack would read markup in it.
"""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.proposal import Check, Proposal, ProposalState, Reader, Vote
from chatops_bot.domain.tool import Change, Inverse, Plan, Verdict
from chatops_bot.domain.view import Buttons, Code, Facts, View
from chatops_bot.platforms.slack.blocks import modal_payload, payload
from chatops_bot.rendering.card import proposal_card
from chatops_bot.rendering.card_reading import page_modal, read_modal
from chatops_bot.simulators.slack.validation import check_message_blocks, check_view
from tests.rendering.proposals import PROPOSAL

NOW = datetime(2026, 11, 29, 13, 50, tzinfo=UTC)
TIMES = (1, 40, 700, 3_000)
LIVE = re.compile(r"(<@U\d{10}> ){20}(please approve or reject\.|请批准或拒绝。)")
"""All that Slack reads as its own language on a card: whom it calls."""
ATOMS = (
    "a", "&", "<!channel>", "<@U2>", "*b* _i_ ~s~ `c` :tada:", "\n", "x\n", "```\n", "\u202e", "\u00a0", "👩\u200d🔧", "é", "磁盘", "\u0336",
    "⟨", "\ud800", "\x00",
)  # fmt: skip
texts = st.builds(lambda atom, times: atom * times, st.sampled_from(ATOMS), st.sampled_from(TIMES))
phrases = st.builds(Phrase, texts, texts)
members = st.dictionaries(texts, texts, max_size=3)
moments = st.sampled_from([NOW + timedelta(minutes=minutes) for minutes in (1, 50, 5_000)])
lists = st.sampled_from((0, 1, 3, 20))


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    text = draw(texts)
    return Plan(
        target=draw(texts),
        summary=draw(phrases),
        changes=tuple(Change(f"{draw(texts)}", None, f"{text}{number}") for number in range(draw(lists))),
        risk="high",
        preconditions=draw(members),
        details=tuple((draw(phrases), f"{text}{number}") for number in range(draw(lists))),
        inverse=draw(st.none() | st.builds(Inverse, texts, members, phrases)),
    )


@st.composite
def proposals(draw: st.DrawFn) -> Proposal:
    name, said = draw(texts), draw(texts)
    vote = Vote(name, name, said, NOW, draw(st.sampled_from(("button", "code", "local"))), draw(texts))
    check = Check(NOW, draw(st.sampled_from(get_args(Verdict))), said, said)
    return replace(
        PROPOSAL, tool=draw(texts), arguments=draw(members), plan=draw(plans()), requester_name=name, tool_hash=name, policy_version=said,
        state=draw(st.sampled_from(ProposalState)), language=draw(st.sampled_from(("zh", "en"))), quorum=draw(st.sampled_from((1, 3))),
        votes=(vote,) * draw(lists), asked_again_at=draw(st.none() | moments), escalated_at=draw(st.none() | moments),
        decided_by_id=said, decided_by_name=name, decided_by_role=said, decided_at=draw(st.none() | moments), reason=said,
        superseded_by=draw(st.sampled_from(("", "prop_2"))), outcome={"drifted": {each: {"before": each, "now": said} for each in draw(members)}}, outcome_text=draw(texts),
        checks=(check,) * draw(lists), undone_by=draw(st.sampled_from(("", "prop_2"))), keep_until=draw(st.none() | moments),
        kept_by_name=name, kept_by_id=draw(st.sampled_from(("", "U1"))), read_by=(Reader("U1", ""),) * draw(lists),
    )  # fmt: skip


def rich_text(blocks: list[dict[str, Any]]) -> str:
    leaves = [
        leaf for block in blocks if block["type"] == "rich_text" for leaf in block["elements"][0]["elements"]
    ]
    return "".join(leaf["text"] for leaf in leaves)


def drawn_rich(view: View) -> int:
    """Characters of a view's codes and facts' values: what Slack's rich text must hold, whole."""
    codes = sum(len(block.text) for block in view.blocks if isinstance(block, Code))
    facts = (fact for block in view.blocks if isinstance(block, Facts) for fact in block.facts)
    return codes + sum(len(fact.value.strip() or "–") for fact in facts)


@pytest.mark.case("hitl-C49")
@pytest.mark.case("hitl-C50")
@given(proposals())
def test_slack_takes_every_card_whole_and_reads_no_markup_in_it(proposal):
    view = proposal_card(proposal, approver_mentions=tuple(f"U{number:010}" for number in range(60)))
    made = payload(view)
    blocks = check_message_blocks(made["blocks"])
    assert len(rich_text(blocks)) >= drawn_rich(view)
    live = [block["text"]["text"] for block in blocks if block.get("text", {}).get("type") == "mrkdwn"]
    assert [LIVE.fullmatch(text) is not None for text in live] == [True] * (
        proposal.state is ProposalState.PENDING
    )
    assert all(part["type"] != "mrkdwn" for block in blocks for part in block.get("elements", ()))
    buttons = [button for block in view.blocks if isinstance(block, Buttons) for button in block.buttons]
    assert [
        element["action_id"]
        for block in blocks
        if block["type"] == "actions"
        for element in block["elements"]
    ] == [button.control for button in buttons]


@given(proposals(), st.integers(1, 400))
def test_slack_takes_every_page(proposal, number):
    page = page_modal(proposal, number, sealed=lambda *parts: "s" * 80, redact=str, may_record=True)
    made = modal_payload(page)
    check_view(made)
    assert len(json.dumps(made)) < 250_000
    assert len(made["blocks"]) < 100
    assert len(rich_text(made["blocks"])) >= drawn_rich(View(page.blocks, ""))
    check_view(modal_payload(read_modal(proposal)))
