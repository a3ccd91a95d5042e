"""A proposal's card shows everything that is decided about, and afterwards what came of it."""

from dataclasses import replace
from datetime import timedelta, timezone

import pytest

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Risk
from chatops_bot.domain.proposal import Proposal, ProposalState
from chatops_bot.domain.tool import Change, Plan
from chatops_bot.domain.view import Buttons, Code, Fact, Facts, Mention, Notice, View
from chatops_bot.rendering.card import proposal_card
from chatops_bot.rendering.moments import moment_text
from chatops_bot.sessions.commands import DecideByCode, parse_command
from tests.rendering.proposals import (
    CODES,
    DECIDED,
    LIFE,
    NOW,
    PLAN,
    PROPOSAL,
    buttons_of,
    controls_of,
    facts_of,
    long_proposal,
    record_of,
)


def card(proposal: Proposal) -> View:
    return proposal_card(proposal, approver_mentions=("U2", "U3"))


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("state", list(ProposalState))
def test_a_card_looks_as_drawn(language, state, golden):
    proposal = replace(PROPOSAL, language=language, state=state)
    if state not in (ProposalState.PENDING, ProposalState.EXPIRED):
        proposal = replace(proposal, **DECIDED)
    if state in (
        ProposalState.APPLIED,
        ProposalState.FAILED,
        ProposalState.OUTCOME_UNKNOWN,
        ProposalState.DRIFTED,
    ):
        proposal = replace(
            proposal, finished_at=NOW + timedelta(minutes=3), outcome_text="schedule is now 0 3 * * *"
        )
    if state is ProposalState.DRIFTED:
        drifted = {"drifted": {"revision": {"before": 7, "now": 8}}}
        proposal = replace(proposal, outcome=drifted, outcome_text="Nothing ran: revision: 7 → 8")
    golden(f"card_{state}_{language}", card(proposal))


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("name", list(LIFE))
def test_each_turn_of_its_life_looks_as_drawn(language, name, golden):
    proposal = replace(PROPOSAL, language=language, **LIFE[name])
    golden(f"card_life_{name}_{language}", proposal_card(proposal, codes=CODES))


BUTTONS = {
    ProposalState.PENDING: ["approve", "reject"],
    ProposalState.REJECTED: ["reason"],
    ProposalState.EXPIRED: ["again"],
    ProposalState.WITHDRAWN: ["again"],
    ProposalState.DRIFTED: ["again"],
    ProposalState.APPLIED: ["continue"],
    ProposalState.FAILED: ["again", "continue"],
    ProposalState.OUTCOME_UNKNOWN: ["look", "again", "continue"],
}


@pytest.mark.parametrize("state", list(ProposalState))
def test_a_card_offers_what_can_be_done_in_its_state_and_only_a_pending_one_calls_people(state):
    view = card(replace(PROPOSAL, state=state, **DECIDED))
    assert controls_of(view) == BUTTONS.get(state, [])
    assert any(isinstance(block, Mention) for block in view.blocks) is (state is ProposalState.PENDING)


@pytest.mark.parametrize(
    ("life", "controls"),
    [
        ("can_be_undone", ["undo", "continue"]),
        ("kept_until", ["keep", "undo", "continue"]),
        ("kept", ["undo", "continue"]),
        ("undone", ["continue"]),
        ("superseded_by", []),
        ("unknown_renewed", ["look", "continue"]),
    ],
)
def test_what_was_undone_kept_or_replaced_is_not_offered_again(life, controls):
    assert controls_of(card(replace(PROPOSAL, **LIFE[life]))) == controls


@pytest.mark.parametrize("name", list(LIFE))
def test_each_button_is_sealed_for_its_own_press_on_this_proposal_and_revision(name):
    proposal = replace(long_proposal(revision=4), **LIFE[name])
    view = proposal_card(proposal, sealed=lambda *parts: "/".join(map(str, parts)))
    assert buttons_of(view)
    for button in buttons_of(view):
        assert button.value == f"{button.control}/prop_1/4"


def test_an_expired_card_says_when_and_that_nothing_was_run():
    view = card(replace(PROPOSAL, state=ProposalState.EXPIRED))
    (notice,) = [block for block in view.blocks if isinstance(block, Notice)]
    assert notice.text == "Expired at 14:02 UTC; nothing was run."


TASK_PLAN = Plan(
    target="task logs-archive (new)",
    summary=Phrase("创建任务 logs-archive", "Create task logs-archive"),
    changes=(
        Change("retry_policy", None, "fixed_interval"),
        Change("status", None, "enabled"),
        Change("dependency of report", None, "logs (#3)"),
        Change("run", None, "#7 failed"),
    ),
    risk="high",
    preconditions={"name_is_free": "logs-archive"},
    details=((Phrase("状态", "Status"), "disabled"), (Phrase("内容", "Payload"), "enabled")),
)
TASK_FACTS = {
    "zh": {
        "状态": "停用", "内容": "enabled", "重试方式": "固定间隔", "report 的依赖": "logs (#3)", "运行": "#7 失败",
        "对象": "任务 logs-archive（新建）",
    },
    "en": {
        "Status": "disabled", "Payload": "enabled", "Retry policy": "fixed interval", "Dependency of report": "logs (#3)",
        "Run": "#7 failed", "On": "task logs-archive (new)",
    },
}  # fmt: skip


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_card_calls_things_by_the_words_of_the_form(language):
    plan = replace(TASK_PLAN, changes=(TASK_PLAN.changes[0], *TASK_PLAN.changes[2:]))
    view = card(replace(PROPOSAL, language=language, plan=plan))
    shown = {
        fact.label: fact.value for block in view.blocks if isinstance(block, Facts) for fact in block.facts
    }
    assert shown.items() >= TASK_FACTS[language].items()


@pytest.mark.parametrize(
    ("change", "zh", "en"),
    [
        (Change("status", "enabled", "disabled"), "启用 → 停用", "enabled → disabled"),
        (Change("run", "#7 timeout", "linked retry"), "#7 超时 → 关联的重试", "#7 timed out → linked retry"),
        (Change("cron_expr", "0 2 * * *", "enabled"), "0 2 * * * → enabled", "0 2 * * * → enabled"),
    ],
)
def test_a_changed_value_is_said_in_words_where_its_field_has_them(change, zh, en):
    plan = replace(TASK_PLAN, changes=(change,))
    for language, said in (("zh", zh), ("en", en)):
        (facts, *_) = [
            b for b in card(replace(PROPOSAL, language=language, plan=plan)).blocks if isinstance(b, Facts)
        ]
        assert said in [fact.value for fact in facts.facts]


@pytest.mark.parametrize(
    ("target", "zh"),
    [
        ("task a (#1)", "任务 a (#1)"),
        ("run #7 of task a (#1)", "任务 a (#1) 的运行 #7"),
        ("host db-9", "host db-9"),
    ],
)
def test_the_target_is_said_in_words_and_the_record_keeps_the_exact_arguments(target, zh, draw):
    plan = replace(TASK_PLAN, target=target)
    unknown = replace(PROPOSAL, language="zh", plan=plan, state=ProposalState.OUTCOME_UNKNOWN, **DECIDED)
    assert f"对象: {zh}\n" in draw(card(unknown))
    assert f"请到系统中核对 {zh} 的当前状态" in draw(card(unknown))
    english = replace(PROPOSAL, plan=plan)
    assert f"On: {target}\n" in draw(card(english))


def test_a_chinese_card_is_decided_by_typing_chinese(draw):
    drawn = draw(card(replace(PROPOSAL, language="zh")))
    assert "也可以输入：批准 K7Q2MX　或　拒绝 K7Q2MX" in drawn
    assert parse_command("批准 K7Q2MX") == DecideByCode("approve", "K7Q2MX")
    assert parse_command("拒绝 K7Q2MX") == DecideByCode("reject", "K7Q2MX")


@pytest.mark.parametrize(
    "said",
    ["This proposal expired at 14:02 UTC; nothing was run.", "The approver may not approve this any more."],
)
def test_an_expired_card_says_why_in_one_sentence(said, draw):
    view = card(replace(PROPOSAL, state=ProposalState.EXPIRED, outcome_text=said))
    (notice,) = [block for block in view.blocks if isinstance(block, Notice)]
    assert notice.text == said
    assert draw(view).count("nothing was run") == said.count("nothing was run")
    assert draw(view).count(said) == 1


@pytest.mark.parametrize("risk", list(Risk))
def test_only_a_high_risk_asks_twice(risk):
    view = card(replace(PROPOSAL, risk=risk))
    (row,) = [block for block in view.blocks if isinstance(block, Buttons)]
    assert (row.buttons[0].confirm is not None) is (risk is Risk.HIGH)
    assert row.buttons[1].confirm is None


def test_a_card_that_nobody_can_approve_says_so():
    view = proposal_card(PROPOSAL, approver_configured=False)
    assert any("no approver" in block.text for block in view.blocks if isinstance(block, Notice))


@pytest.mark.case("hitl-C27")
def test_drawing_a_card_again_gives_the_same_card(draw):
    reloaded = replace(
        PROPOSAL, arguments={key: PROPOSAL.arguments[key] for key in reversed(list(PROPOSAL.arguments))}
    )
    assert draw(card(reloaded)).encode() == draw(card(PROPOSAL)).encode()


def test_long_values_stand_whole_on_the_card_as_long_as_they_fit():
    script = "\n".join(f"line {number}" for number in range(60))
    target = "x" * 400
    plan = replace(
        PLAN,
        target=target,
        details=((Phrase("脚本", "Script"), script),),
        changes=(Change("s", None, script),),
    )
    view = card(replace(PROPOSAL, plan=plan))
    codes = [block.text for block in view.blocks if isinstance(block, Code)]
    assert script in codes
    assert "\n".join(f"+ {line}" for line in script.split("\n")) in codes
    assert any(
        fact.value == target for block in view.blocks if isinstance(block, Facts) for fact in block.facts
    )


def test_a_moment_names_its_offset():
    assert moment_text(NOW) == "2026-11-29 13:50:00 UTC"
    assert moment_text(NOW.astimezone(timezone(timedelta(hours=8)))) == "2026-11-29 21:50:00 UTC+08:00"
    assert moment_text(NOW.replace(microsecond=5)) == "2026-11-29 13:50:00 UTC"


@pytest.mark.parametrize(
    ("minutes", "shown"),
    [
        (12, "14:02 UTC (12 min from request)"),
        (1440, "2026-11-30 13:50 UTC (1440 min from request)"),
    ],
)
def test_an_expiry_is_a_time_and_a_date_only_where_it_is_another_day(minutes, shown):
    expires_at = NOW + timedelta(minutes=minutes, microseconds=4321)
    view = card(replace(PROPOSAL, expires_at=expires_at))
    assert ("Expires", shown) in [(fact.label, fact.value) for fact in facts_of(view)]
    assert f"expires: {expires_at.isoformat()}" in record_of(view)


def test_a_payload_stands_on_the_card_once_and_is_named_in_the_record():
    script = "#!/bin/sh\necho 1\necho 3"
    proposal = replace(
        PROPOSAL, arguments={"payload": script}, plan=replace(PLAN, preconditions={"payload": script})
    )
    view = card(proposal)
    assert 'arguments: {"payload": ⟨↑ Script that will run⟩}' in record_of(view)
    assert 'checked again before it runs: {"payload": ⟨↑ Script that will run⟩}' in record_of(view)
    forged = card(replace(proposal, arguments={"payload": "⟨↑ Script that will run⟩"}))
    assert 'arguments: {"payload": "⟨U+27E8⟩↑ Script that will run⟩"}' in record_of(forged)
    other = card(replace(proposal, arguments={"payload": script + "\n"}))
    assert '"#!/bin/sh\\necho 1\\necho 3\\n"' in record_of(other)


def test_short_details_are_facts_to_the_letter():
    view = card(replace(PROPOSAL, plan=replace(PLAN, details=((Phrase("命令", "Command"), "df -h"),))))
    assert Fact("Command", "df -h", is_code=True) in facts_of(view)


def test_the_record_is_the_last_block_and_buttons_stand_before_it():
    kinds = [type(block) for block in card(PROPOSAL).blocks]
    assert kinds[-1] is Code
    assert kinds.index(Buttons) < len(kinds) - 1


@pytest.mark.parametrize(
    ("language", "risk", "depends"),
    [
        ("zh", "高：无法撤销", "依赖它的任务: 无"),
        ("en", "high: cannot be taken back", "Tasks that depend on it: none"),
    ],
)
def test_a_deletion_says_which_of_the_high_risks_it_is_and_that_nothing_depends_on_it(
    language, risk, depends
):
    plan = replace(PROPOSAL.plan, details=((Phrase("依赖它的任务", "Tasks that depend on it"), "-"),))
    shown = card(replace(PROPOSAL, language=language, effect=Effect.DESTRUCTIVE, plan=plan))
    facts = [
        f"{f.label}: {f.value}" for block in shown.blocks if isinstance(block, Facts) for f in block.facts
    ]
    assert depends in facts
    assert any(fact.endswith(risk) for fact in facts)
