"""A card is exact: whatever the digest covers changes it, nothing that people cannot see hides on it, and no secret stands there."""

import unicodedata
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Risk
from chatops_bot.domain.proposal import Proposal, ProposalState, Reader, action_digest
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.tool import Change
from chatops_bot.domain.view import View
from chatops_bot.rendering.card import proposal_card, unsealed
from chatops_bot.rendering.card_reading import page_modal
from chatops_bot.rendering.escapes import exact, exact_block
from tests.rendering.proposals import (
    ANA,
    APPLIED,
    DECIDED,
    EARLY,
    NOW,
    PLAN,
    PROPOSAL,
    REVERSIBLE,
    long_proposal,
    record_of,
)


def card(proposal: Proposal) -> View:
    return proposal_card(proposal, approver_mentions=("U2", "U3"))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
MAPPINGS = st.dictionaries(st.text(max_size=6), JSON, max_size=4)
NAMES = st.text(max_size=12)
MOMENTS = st.datetimes(
    min_value=datetime(2026, 11, 29, 14),
    max_value=datetime(2030, 1, 1),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=8))]),
)
ACTIONS = st.fixed_dictionaries(
    {
        "tool": NAMES,
        "arguments": MAPPINGS,
        "target": NAMES,
        "preconditions": MAPPINGS,
        "requester_id": NAMES,
        "thread": NAMES,
        "expires_at": MOMENTS,
        "tool_hash": NAMES,
        "policy_version": NAMES,
        "quorum": st.integers(1, 4),
        "may_repeat": st.sampled_from(["", "prop_0", "prop_9"]),
        "keep_for": st.none() | st.builds(lambda seconds: timedelta(seconds=seconds), st.integers(1, 86_400)),
    }
)
COVERED = sorted(
    {
        "tool", "arguments", "target", "preconditions", "requester_id", "thread", "expires_at", "tool_hash", "policy_version",
        "quorum", "may_repeat", "keep_for",
    }
)  # fmt: skip
"""What the digest covers."""


def proposal_of(action: dict[str, Any]) -> tuple[Proposal, str]:
    """The proposal for an action with a fixed digest, so that only the action itself shows, and its true digest."""
    plan = replace(PLAN, target=action["target"], preconditions=action["preconditions"])
    session = replace(PROPOSAL.session, thread=action["thread"])
    elsewhere = {"target", "preconditions", "thread"}
    fields = {name: value for name, value in action.items() if name not in elsewhere}
    proposal = replace(PROPOSAL, plan=plan, session=session, **fields)
    return proposal, action_digest(proposal)


@pytest.mark.case("hitl-C48")
@given(ACTIONS, ACTIONS, st.sampled_from(COVERED))
def test_any_change_of_what_the_digest_covers_changes_the_card(action, other, changed):
    proposal, digest = proposal_of(action)
    tampered, other_digest = proposal_of({**action, changed: other[changed]})
    assume(digest != other_digest)
    assert card(proposal) != card(tampered)


SHOWN: dict[str, dict[str, Any]] = {
    "summary": {"plan": replace(PLAN, summary=Phrase("x", "x"))},
    "changed field": {
        "plan": replace(PLAN, changes=(replace(PLAN.changes[0], field="cron"), *PLAN.changes[1:]))
    },
    "value before": {
        "plan": replace(PLAN, changes=(replace(PLAN.changes[0], before="1"), *PLAN.changes[1:]))
    },
    "value after": {"plan": replace(PLAN, changes=(replace(PLAN.changes[0], after="1"), *PLAN.changes[1:]))},
    "detail": {"plan": replace(PLAN, details=((PLAN.details[0][0], "echo 4\n"),))},
    "label of a detail": {"plan": replace(PLAN, details=((Phrase("x", "x"), PLAN.details[0][1]),))},
    "inverse": {"plan": REVERSIBLE},
    "effect": {"effect": Effect.DESTRUCTIVE},
    "risk": {"risk": Risk.LOW},
    "id": {"id": "prop_9"},
    "code": {"code": "AAAAAA"},
    "digest": {"digest": "f" * 64},
    "requester's name": {"requester_name": "x"},
    "votes": {"votes": (ANA,)},
    "how a vote came": {"votes": (replace(ANA, via="local"),)},
    "break-glass": {"votes": (replace(ANA, break_glass="x"),)},
    "readers": {"read_by": (Reader("U1", "s" * 64),)},
    "reminder": {"asked_again_at": NOW},
    "escalation": {"escalated_at": NOW},
    "predecessor": {"supersedes": "prop_0"},
    "what it may do again": {"may_repeat": "prop_0"},
    "what it takes back": {"inverse_of": "prop_0"},
}
SHOWN_AFTERWARDS: dict[str, dict[str, Any]] = {
    "who decided": {"decided_by_name": "x"},
    "in which role": {"decided_by_role": "x"},
    "when": {"decided_at": NOW},
    "result": {"outcome_text": "x"},
    "checks": {"checks": (EARLY,)},
    "verdict": {"checks": (replace(EARLY, verdict="worse"),)},
    "undo": {"undone_by": "prop_2"},
    "until when to keep": {"keep_until": NOW},
    "who kept it": {"keep_until": NOW, "kept_by_id": "U1", "kept_by_name": "x"},
    "reason": {"reason": "x"},
}


def test_each_field_that_is_shown_changes_the_card():
    pending = {name: repr(card(replace(PROPOSAL, **changed)).blocks) for name, changed in SHOWN.items()}
    applied = {
        name: repr(card(replace(PROPOSAL, **(APPLIED | changed))).blocks)
        for name, changed in SHOWN_AFTERWARDS.items()
    }
    assert len({repr(card(PROPOSAL).blocks), *pending.values()}) == len(SHOWN) + 1
    assert (
        len({repr(card(replace(PROPOSAL, **APPLIED)).blocks), *applied.values()}) == len(SHOWN_AFTERWARDS) + 1
    )


@pytest.mark.case("hitl-C48")
@pytest.mark.parametrize(
    "changed",
    [
        {"arguments": {"task": "nightly-etl\u200b"}},
        {"arguments": {"task": "nightly-etl⟨U+200B⟩"}},
        {"arguments": {"task": "nightly-etl", "env": {"PATH": "/tmp"}}},
        {"arguments": {}},
        {"target": ""},
        {"target": "⟨⟩"},
        {"preconditions": {}},
    ],
)
def test_hidden_parts_of_an_action_show(changed):
    action = {
        "tool": "t", "arguments": {"task": "nightly-etl"}, "target": "x", "preconditions": {"r": 1}, "requester_id": "U1", "thread": "1",
        "expires_at": PROPOSAL.expires_at,
    }  # fmt: skip
    assert card(proposal_of(action)[0]) != card(proposal_of({**action, **changed})[0])


@pytest.mark.case("hitl-C48")
@pytest.mark.case("hitl-C49")
def test_of_a_long_action_any_change_of_its_end_changes_the_pages_and_by_the_digest_the_card():
    def shown(proposal: Proposal) -> tuple[str, str]:
        sealed = replace(proposal, digest=action_digest(proposal))
        last = page_modal(sealed, 99, sealed=unsealed, redact=str, may_record=True)
        return repr(card(sealed).blocks), repr(last.blocks)

    honest, tampered = long_proposal(), long_proposal()
    script = f"{tampered.plan.details[0][1]} && reboot"
    plan = replace(tampered.plan, details=((tampered.plan.details[0][0], script),))
    tampered = replace(tampered, plan=plan, arguments={**tampered.arguments, "payload": script})
    for one, other in zip(shown(honest), shown(tampered), strict=True):
        assert one != other


@pytest.mark.case("hitl-C50")
def test_every_invisible_odd_or_private_character_is_shown_as_an_escape():
    ends_of_private_use = [0xE000, 0xF8FF, 0xF0000, 0xFFFFD, 0x100000, 0x10FFFD]
    hidden = [
        chr(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in ("Cf", "Cc", "Zs", "Zl", "Zp", "Cs") and code != 0x20
    ]
    for character in [*hidden, *map(chr, ends_of_private_use)]:
        assert exact(character) == f"⟨U+{ord(character):04X}⟩"
        assert exact_block(character) == (character if character in "\t\n" else exact(character))
    assert len(hidden) > 2_200


@pytest.mark.case("hitl-C50")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rm\u0336", "rm⟨U+0336⟩"),
        ("4\u20dd", "4⟨U+20DD⟩"),
        ("\u0301a", "⟨U+0301⟩a"),
        ("a \u0301b", "a ⟨U+0301⟩b"),
        ("z" + "\u0306" * 5, "z" + "\u0306" * 3 + "⟨U+0306⟩⟨U+0306⟩"),
        ("Việt Nam, हिन्दी, ภาษาไทย, עִבְרִית, 磁盘", "Việt Nam, हिन्दी, ภาษาไทย, עִבְרִית, 磁盘"),
        ("cafe\u0301", "cafe\u0301"),
        ("a\U000e0061b\ufe0f", "a⟨U+E0061⟩b⟨U+FE0F⟩"),
    ],
)
def test_marks_that_cover_are_shown_and_letters_of_languages_stay(text, shown):
    assert exact(text) == shown


@pytest.mark.case("hitl-C50")
def test_characters_that_trick_the_eye_are_shown_everywhere_on_the_card(draw):
    trick = "a\u202eb\u200b\u2066\ufeff\u00a0\x1b"
    plan = replace(
        PLAN,
        target=trick,
        summary=Phrase(trick, trick),
        changes=(Change(trick, trick, trick), Change(trick, trick + "\n", trick)),
        preconditions={trick: trick},
        details=((Phrase(trick, trick), trick),),
    )
    for state in ProposalState:
        proposal = replace(
            PROPOSAL,
            state=state,
            tool=trick,
            plan=plan,
            arguments={trick: [trick]},
            requester_name=trick,
            outcome_text=trick,
            **DECIDED,
        )
        drawn = draw(card(replace(proposal, decided_by_name=trick)))
        assert not set(drawn) & set(trick) - {"a", "b"}
        assert "⟨U+202E⟩b⟨U+200B⟩" in drawn


SECRETS = (
    "xoxb-123456789012-abcdEFGHijkl",
    "sk-proj-abcdefghijklmnopqrst",
    "ghp_abcdefghijklmnopqrstuvwxyz0123",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
    "tr0ub4dor!",
)
REDACT = Redactor(["tr0ub4dor!"]).text


@st.composite
def planted(draw) -> tuple[str, Proposal]:
    """A proposal that holds one secret wherever text from outside can stand, in prose of one line or of several."""
    secret = draw(st.sampled_from(SECRETS))
    text = draw(
        st.sampled_from([secret, f"run {secret} now", f"export T={secret}\necho 1", f"{'x ' * 200}{secret}"])
    )
    phrase = Phrase(text, text)
    plan = replace(
        PLAN,
        target=text,
        summary=phrase,
        changes=(Change(text, None, text), Change("payload", text, "echo"), Change("s", "a\nb", text)),
        preconditions={text: [text, {text: text}]},
        details=((phrase, text),),
    )
    state = draw(st.sampled_from(ProposalState))
    proposal = replace(
        PROPOSAL,
        plan=plan,
        state=state,
        language=draw(st.sampled_from(["zh", "en"])),
        tool=text,
        arguments={"payload": text, "env": [{text: text}]},
        session=replace(PROPOSAL.session, channel=text, thread=text),
        requester_id=text,
        requester_name=text,
        outcome={"drifted": {text: {"before": {text: text}, "now": text}}},
        outcome_text=text,
        **DECIDED,
    )
    return secret, replace(proposal, decided_by_id=text, decided_by_name=text, decided_by_role=text)


@given(planted())
def test_no_secret_appears_anywhere_on_a_card(case):
    secret, proposal = case
    assert secret in repr(proposal_card(proposal))
    assert secret not in repr(proposal_card(proposal, redact=REDACT))


def test_redacted_values_keep_their_place_in_the_arguments():
    arguments = {"payload": "xoxb-123456789012-abc", SECRETS[0]: 1, SECRETS[0] + "x": 2}
    view = proposal_card(replace(PROPOSAL, arguments=arguments), redact=REDACT)
    label = "[redacted:slack-token]"
    assert f'{{"{label}": 1, "{label} (2)": 2, "payload": "{label}"}}' in record_of(view)
