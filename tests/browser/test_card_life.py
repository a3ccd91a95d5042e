"""The whole life of a card, looked at: pictures of each turn of it in both themes and widths, and a long one read in the page."""

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect

from chatops_bot.app.policy_config import PolicyConfig, RolesConfig, RuleConfig, WhoConfig
from chatops_bot.domain.language import Language
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.platforms.slack.blocks import payload
from chatops_bot.rendering.card import proposal_card
from chatops_bot.simulators.slack.server import Workspace
from tests.browser.conftest import Bot, Pages, Windows
from tests.browser.kinds import channel_of
from tests.browser.looks import ALL_LOOKS, TWO_LOOKS, Look, all_look_right, looks_right
from tests.browser.test_scenarios import ANSWER_MS, ask, become, reply
from tests.rendering.proposals import CODES, DECIDED, LIFE, PROPOSAL, long_proposal
from tests.scenarios.conftest import ShiftedClock, open_world
from tests.scenarios.gateway import Fault
from tests.scenarios.test_long_action import creating

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

DRIFTED = {
    **DECIDED,
    "state": ProposalState.DRIFTED,
    "outcome_text": "cron_expr: 0 2 * * * → 5 5 * * *",
    "outcome": {"drifted": {"cron_expr": {"before": "0 2 * * *", "now": "5 5 * * *"}}},
}
LOOKED_AT = (
    "one_of_two", "will_be_taken_back", "rejected_with_reason", "superseded_by", "undone",
    "worse",
)  # fmt: skip
"""How the rest of a life reads, `tests/rendering` compares letter by letter."""
CARDS: dict[str, Proposal] = {
    "long": long_proposal(),
    "drifted": replace(PROPOSAL, **DRIFTED),
    "expired": replace(PROPOSAL, state=ProposalState.EXPIRED),
    **{name: replace(PROPOSAL, **LIFE[name]) for name in LOOKED_AT},
}


async def test_each_turn_of_a_cards_life_is_readable_wide_and_narrow_light_and_dark(
    workspace: Workspace, bot: Bot, open_page: Pages
) -> None:
    channel = channel_of(workspace)
    stamps = {}
    for name, proposal in CARDS.items():
        card = payload(proposal_card(proposal, codes=CODES))
        stamps[name] = await bot.post(channel, card["text"], blocks=card["blocks"])
    page = await open_page("ana", f"#/{channel}")
    await expect(page.get_by_role("article")).to_have_count(len(CARDS))
    rows = {f"card-{name}": page.locator(f'#channel .message[data-ts="{ts}"]') for name, ts in stamps.items()}
    for row in rows.values():
        await expect(row).not_to_contain_text("which this page does not show")
    await all_look_right(page, rows, ALL_LOOKS)


async def test_a_long_action_is_read_by_keyboard_page_by_page_and_approved_then(
    chromium: Windows, tmp_path: Path
) -> None:
    async with open_world(tmp_path) as world, world.bot(creating()):
        pages = Pages(chromium, world.workspace.url)
        page = await pages("oscar")
        await ask(page, "create the migration task")
        await become(page, "Ana Duarte")
        card = reply(page, "Approval needed: Create task migrate")
        await expect(card).to_contain_text("What will be executed: 20 of 313 lines", timeout=ANSWER_MS)
        await card.get_by_role("button", name="Approve").click()
        await page.get_by_role("alertdialog").get_by_role("button", name="Approve").click()
        refusal = page.locator("#thread .message.ephemeral", has_text="Your approval was not counted.")
        await expect(refusal).to_be_visible(timeout=ANSWER_MS)

        await card.get_by_role("button", name="Show all").press("Enter")
        dialog = page.get_by_role("dialog", name="The whole action")
        for number in (1, 2, 3):
            await expect(dialog).to_contain_text(f"Page {number} of 3", timeout=ANSWER_MS)
            body = dialog.locator(".dialog-body")
            await expect(body).to_be_focused()
            assert await body.evaluate("node => node.scrollTop") == 0
            if number == 2:
                await looks_right(page, "pages", dialog)
            onward = dialog.get_by_role(
                "button", name="I have read all of it" if number == 3 else "Next page"
            )
            while not await onward.evaluate("node => node === document.activeElement"):
                await page.keyboard.press("Tab")
            if number == 3:
                await looks_right(page, "pages-last", onward)
            await page.keyboard.press("Enter")
        await expect(dialog).to_contain_text("Recorded: you have read all of it.", timeout=ANSWER_MS)
        await looks_right(page, "pages-read", dialog, TWO_LOOKS)
        await page.keyboard.press("Escape")
        await expect(dialog).to_be_hidden()

        await expect(card).to_contain_text("Read to the end by 1")
        await card.get_by_role("button", name="Approve").click()
        await page.get_by_role("alertdialog").get_by_role("button", name="Approve").click()
        await expect(reply(page, "Done: Create task migrate")).to_be_visible(timeout=ANSWER_MS)
        await pages.close()
        assert pages.problems == []


AGAIN: dict[Language, tuple[str, str, str, str, str, str]] = {
    "en": (
        "pause nightly-report", "Approval needed: Pause", "Approve", "Not run, things changed: Pause", "Propose again",
        "took its place; nothing was run.",
    ),
    "zh": (
        "暂停 nightly-report", "待批准：暂停任务", "批准", "未执行（情况已变）：暂停任务", "重新提出", "取代，未执行任何操作。",
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", list(AGAIN))
async def test_what_drifted_is_proposed_again_and_its_card_points_to_the_new_one(
    chromium: Windows, tmp_path: Path, language: Language
) -> None:
    wish, pending, approve, drifted, again, replaced = AGAIN[language]
    async with open_world(tmp_path) as world, world.bot():
        pages = Pages(chromium, world.workspace.url)
        page = await pages("oscar")
        await ask(page, wish)
        await expect(reply(page, pending)).to_be_visible(timeout=ANSWER_MS)
        task = await world.task("nightly-report")
        names = ("name", "type", "payload", "max_retry", "timeout_seconds")
        kept = ("Name", "Type", "Payload", "MaxRetry", "TimeoutSeconds")
        body = {name: task[field] for name, field in zip(names, kept, strict=True)}
        await world.at_scheduler("PUT", f"tasks/{task['ID']}", body | {"cron_expr": "5 5 * * *"})
        await become(page, "Ana Duarte")
        await reply(page, pending).get_by_role("button", name=approve).click()
        old = reply(page, drifted)
        await expect(old).to_contain_text("5 5 * * *", timeout=ANSWER_MS)
        await looks_right(page, f"drifted-{language}", old)
        await become(page, "林浩然")
        await reply(page, drifted).get_by_role("button", name=again).click()
        new = reply(page, pending)
        await expect(new).to_be_visible(timeout=ANSWER_MS)
        await expect(reply(page, replaced)).to_be_visible(timeout=ANSWER_MS)
        await looks_right(page, f"replaced-{language}", reply(page, replaced), TWO_LOOKS)
        await looks_right(page, f"proposed-again-{language}", new, TWO_LOOKS)
        await pages.close()
        assert pages.problems == []


async def test_a_card_that_waits_escalates_is_run_and_looked_at_is_readable_at_each_turn(
    chromium: Windows, tmp_path: Path
) -> None:
    """By the roads of the product: nothing here is drawn from a made-up proposal."""
    clock = ShiftedClock()
    async with open_world(tmp_path) as world:
        adam = WhoConfig(people=(world.people["adam"]["id"],))
        rule = RuleConfig(tools=("pause_task",), remind_minutes=20, escalate=adam, keep_minutes=10)
        config = world.config(policy=PolicyConfig(rules=(rule,)))
        async with world.bot(clock=clock, config=config):
            pages = Pages(chromium, world.workspace.url)
            page = await pages("oscar")
            await ask(page, "pause nightly-report")
            await turns(page, "Approval needed", "pending")
            await become(page, "Ana Duarte")
            clock.ahead = timedelta(minutes=21)
            await turns(page, "still waits for an approve or a reject", "asked-again")
            clock.ahead = timedelta(minutes=46)
            await turns(page, "Nobody has decided", "escalated")
            await reply(page, "Approval needed").get_by_role("button", name="Approve").click()
            await turns(page, "It is taken back at", "kept-until")
            clock.ahead += timedelta(seconds=61)
            await turns(page, "as intended – still paused", "watched")
            clock.ahead += timedelta(minutes=10)
            await turns(page, "Done: Resume task nightly-report", "taken-back-by")
            clock.ahead += timedelta(seconds=16)
            await turns(page, "It no longer stands", "reverted")
            answered = page.locator("#thread .message", has_text="A decision about").first
            await expect(answered).to_be_visible()
            await looks_right(page, "life-answered-calls", answered, looks())
            await pages.close()
            assert pages.problems == []


async def turns(page: Page, text: str, name: str) -> Locator:
    """The message that comes to say `text`, once there is a picture of it."""
    row = reply(page, text)
    await expect(row).to_be_visible(timeout=2 * ANSWER_MS)
    await looks_right(page, f"life-{name}", row, looks())
    return row


def looks() -> Sequence[Look]:
    """Every one where somebody looks at the pictures."""
    return ALL_LOOKS if os.environ.get("SHOTS") else TWO_LOOKS


async def asked(page: Page, wish: str) -> None:
    """Oscar asks for a change in a thread of its own, and Ana is there to decide about it."""
    await become(page, "林浩然")
    await ask(page, wish)
    await expect(reply(page, "Approval needed")).to_be_visible(timeout=ANSWER_MS)
    await become(page, "Ana Duarte")


async def presses(page: Page, text: str, button: str) -> None:
    await reply(page, text).get_by_role("button", name=button).click()


async def test_what_is_kept_undone_unknown_expired_or_lost_its_approval_is_readable(
    chromium: Windows, tmp_path: Path
) -> None:
    """By the roads of the product as well: the other ends of a card."""
    clock = ShiftedClock()
    async with open_world(tmp_path) as world:
        pages = Pages(chromium, world.workspace.url)
        page = await pages("oscar")
        keeps = PolicyConfig(rules=(RuleConfig(tools=("pause_task",), keep_minutes=10),))
        async with world.bot(clock=clock, config=world.config(policy=keeps)):
            await asked(page, "pause nightly-report")
            await presses(page, "Approval needed", "Approve")
            await turns(page, "It is taken back at", "to-be-kept")
            await presses(page, "It is taken back at", "Keep")
            await turns(page, "Kept by", "kept")
            await presses(page, "Kept by", "Undo")
            await turns(page, "Approval needed: Resume", "undo-proposed")
            await become(page, "陈思远")
            await presses(page, "Approval needed: Resume", "Approve")
            await expect(reply(page, "Done: Resume")).to_be_visible(timeout=ANSWER_MS)
            clock.ahead += timedelta(seconds=16)
            await turns(page, "It no longer stands", "undone")

            world.to_scheduler.faults.append(Fault("POST .*/pause", "reply_lost", times=9))
            await asked(page, "pause log-archive")
            await presses(page, "Approval needed", "Approve")
            await turns(page, "Outcome unknown", "unknown")
            await presses(page, "Outcome unknown", "Look again")
            await turns(page, "Looked again at", "unknown-looked-at")
            world.to_scheduler.faults.clear()
            await world.at_scheduler("POST", f"tasks/{(await world.task('log-archive'))['ID']}/resume", {})
            await presses(page, "Outcome unknown", "Propose again")
            await turns(page, "This may be done a second time", "may-repeat")
            await turns(page, "Proposed again, as", "unknown-renewed")

            await asked(page, "pause cert-check")
            clock.ahead += timedelta(minutes=61)
            await turns(page, "Expired at", "expired")
        two = PolicyConfig(rules=(RuleConfig(tools=("pause_task",), count=2),))
        async with world.bot(clock=clock, config=world.config(policy=two)):
            await asked(page, "pause cert-check")
            await presses(page, "Approval needed", "Approve")
            await turns(page, "1 of 2", "one-of-two")
        ids = {name: person["id"] for name, person in world.people.items()}
        roles = RolesConfig(
            people={**world.config().roles.people, ids["ana"]: "viewer", ids["vera"]: "approver"}
        )
        async with world.bot(clock=clock, config=world.config(policy=two, roles=roles)):
            await become(page, "陈思远")
            await presses(page, "1 of 2", "Approve")
            await turns(page, "Not run, its approval no longer holds", "quorum-broken")
        await pages.close()
        assert pages.problems == []
