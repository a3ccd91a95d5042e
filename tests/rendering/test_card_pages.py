"""A long action: the card says exactly what it leaves out, its pages show every letter, and the last one alone records a reader."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.tool import Change
from chatops_bot.domain.view import Buttons, Code, Modal, Notice, View
from chatops_bot.rendering.card import needs_reading, proposal_card, unsealed
from chatops_bot.rendering.card_action import Part, action_of
from chatops_bot.rendering.card_pages import PAGE_BOXES, PAGE_CHARS, PAGE_LINES, pages_of
from chatops_bot.rendering.card_reading import page_modal, read_modal
from chatops_bot.rendering.escapes import exact_block
from tests.rendering.proposals import (
    APPLIED,
    DECIDED,
    LIFE,
    PLAN,
    PROPOSAL,
    controls_of,
    long_proposal,
    long_script,
)


def modal(proposal: Proposal, number: int, *, may_record: bool = True) -> Modal:
    return page_modal(proposal, number, sealed=unsealed, redact=str, may_record=may_record)


def controls(shown: Modal) -> list[str]:
    return controls_of(View(shown.blocks, ""))


def all_pages(proposal: Proposal) -> list[Modal]:
    """Page after page, as somebody reads who only has the buttons."""
    pages = [modal(proposal, 1)]
    while onward := [name for name in controls(pages[-1]) if name == f"page_{len(pages) + 1}"]:
        pages.append(modal(proposal, int(onward[0].removeprefix("page_"))))
    return pages


def text_on(pages: list[Modal]) -> str:
    return "\n".join(block.text for page in pages for block in page.blocks if isinstance(block, Code))


def outline(shown: Modal) -> View:
    """A page with the first and the last line of each of its texts."""
    return View(
        tuple(
            structs.replace(block, text=" … ".join(block.text.split("\n")[:: max(1, block.text.count("\n"))]))
            if isinstance(block, Code)
            else block
            for block in shown.blocks
        ),
        shown.title,
    )


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_long_card_and_its_pages_look_as_drawn(language, golden):
    proposal = long_proposal(language=language)
    golden(f"card_long_{language}", proposal_card(proposal))
    golden(f"card_long_applied_{language}", proposal_card(replace(proposal, **APPLIED)))
    pages = [modal(proposal, number) for number in (1, 2, 3)]
    golden(f"card_pages_{language}", *map(outline, [*pages, read_modal(proposal)]))


@pytest.mark.case("hitl-C49")
def test_a_command_of_10_kb_is_read_to_its_last_letter():
    command = "df -h && " * 1_200 + "rm -rf /"
    plan = replace(PLAN, changes=(), details=((Phrase("命令", "Command"), command),))
    proposal = replace(PROPOSAL, plan=plan, arguments={"payload": command})
    assert needs_reading(proposal)
    view = proposal_card(proposal)
    assert "rm -rf /" not in str(view.blocks)
    (shown,) = [block for block in view.blocks if isinstance(block, Code) and "df -h" in block.text]
    assert shown.label == f"Command: {len(shown.text):,} of {len(command):,} characters"
    pages = all_pages(proposal)
    assert len(pages) == 2
    assert command in text_on(pages).replace("\n", "")


@pytest.mark.case("hitl-C49")
def test_a_card_says_how_many_of_how_many_lines_it_shows():
    view = proposal_card(long_proposal(312))
    (script,) = [block for block in view.blocks if isinstance(block, Code) and "echo step 1 " in block.text]
    assert script.label == "Script that will run: 20 of 312 lines"
    assert script.text == exact_block(long_script(20))
    (notice,) = [block.text for block in view.blocks if isinstance(block, Notice)]
    assert notice.startswith(
        "This card does not show all of it (323 lines with every field, 3 pages). Press Show all"
    )
    assert controls_of(view) == ["show", "approve", "reject"]


def test_a_card_that_shows_everything_asks_nobody_to_read_on():
    assert not needs_reading(PROPOSAL)
    assert "show" not in controls_of(proposal_card(PROPOSAL))


@pytest.mark.parametrize("life", [{}, *LIFE.values(), {"state": ProposalState.FAILED, **DECIDED}])
def test_whether_it_must_be_read_does_not_change_in_its_life(life):
    assert needs_reading(long_proposal(200, **life))
    assert not needs_reading(replace(PROPOSAL, **life))


def test_only_the_last_page_records_and_only_for_somebody_who_may_approve():
    pages = all_pages(long_proposal())
    assert [controls(page) for page in pages] == [["page_2"], ["page_1", "page_3"], ["page_2", "read"]]
    assert controls(modal(long_proposal(), 3, may_record=False)) == ["page_2"]
    assert controls(read_modal(long_proposal())) == []


@pytest.mark.parametrize("number", [-1, 0, 4, 999_999])
def test_a_page_that_is_not_there_is_the_nearest_that_is(number):
    assert modal(long_proposal(), number) == modal(long_proposal(), 1 if number < 1 else 3)


def test_a_long_outcome_is_cut_on_the_card_and_whole_on_the_pages():
    result = "\n".join(f"line {number}: {'x' * 60}" for number in range(400))
    proposal = replace(replace(PROPOSAL, **APPLIED), outcome_text=result)
    view = proposal_card(proposal)
    assert "Result: 21 of 400 lines" in str(view.blocks)
    assert controls_of(view)[0] == "show"
    assert result in text_on(all_pages(proposal)).replace("\n\n", "\n")


def test_no_value_can_pretend_that_something_was_left_out():
    forged = "x ⟨… 3 of 9 characters⟩"
    view = proposal_card(replace(PROPOSAL, requester_name=forged))
    assert "x ⟨U+27E8⟩… 3 of 9 characters⟩" in str(view.blocks)
    assert forged not in str(view.blocks)


@pytest.mark.parametrize(("name", "length"), [("tool", 5_014), ("requester_name", 5_000)])
def test_a_long_name_is_cut_with_its_length_told(name, length):
    changed: dict[str, Any] = {name: "n" * 5_000}
    shown = str(proposal_card(replace(long_proposal(), **changed)).blocks)
    assert "n" * 140 in shown
    assert "n" * 161 not in shown
    assert f"of {length:,} characters⟩" in shown


def test_secrets_are_on_no_page():
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123"
    script = f"{long_script(200)}\nexport TOKEN={secret}"
    plan = replace(PLAN, details=((Phrase("脚本", "Script"), script),))
    proposal = replace(PROPOSAL, plan=plan, arguments={"payload": script})
    shown = [
        page_modal(proposal, number, sealed=unsealed, redact=Redactor().text, may_record=True)
        for number in (1, 2, 3)
    ]
    assert "[redacted:" in text_on(shown)
    assert secret not in text_on(shown)


def test_a_change_of_many_lines_is_told_line_by_line_and_at_once():
    before = "\n".join(f"line {number}" for number in range(5_000))
    edited = before.replace("line 2500\n", "line two thousand\n")
    plan = replace(PLAN, changes=(Change("script", before, edited),), details=())
    (part,) = action_of(replace(PROPOSAL, plan=plan), "en").parts
    assert [line for line in part.text.split("\n") if not line.startswith("  ")] == [
        "- line 2500",
        "+ line two thousand",
    ]
    other = "\n".join(f"a\n{number}" for number in range(2_500))
    shuffled = replace(PLAN, changes=(Change("script", before, other),), details=())
    (part,) = action_of(replace(PROPOSAL, plan=shuffled), "en").parts
    assert part.lines == 10_000


LINES = st.sampled_from(
    ["", "a", "⟨U+202E⟩" * 3, "e\u0301", "👩\u200d🔧", "x" * 200, "⟨U+00A0⟩" * 1_200, "y" * 9_001]
)
PARTS = st.lists(
    st.builds(
        lambda label, lines: Part(label, "\n".join(lines)),
        st.sampled_from(["", "Script", "l" * 61]),
        st.lists(LINES, min_size=1, max_size=40),
    ),
    min_size=1,
    max_size=30,
)


@pytest.mark.case("hitl-C49")
@given(PARTS)
def test_pages_show_every_letter_in_order_and_keep_their_measure(parts):
    pages = pages_of(parts, "en")
    assert [page.number for page in pages] == list(range(1, len(pages) + 1))
    whole = "".join(
        (part.label if len(part.label) > 60 else "") + part.text.replace("\n", "") for part in parts
    )
    assert "".join(box.text.replace("\n", "") for page in pages for box in page.boxes) == whole
    last = 0
    for page in pages:
        assert page.first in (last, last + 1)
        assert page.first <= page.last <= page.lines
        last = page.last
        assert sum(len(box.text) for box in page.boxes) <= PAGE_CHARS
        assert sum(box.lines for box in page.boxes) <= PAGE_LINES
        assert len(page.boxes) <= PAGE_BOXES
        for box in page.boxes:
            assert box.text.count("⟨") == box.text.count("⟩")  # no escape is torn apart
    assert last == pages[-1].lines


def test_buttons_stand_at_the_end_of_a_page():
    assert all(isinstance(page.blocks[-1], Buttons) for page in all_pages(long_proposal()))
