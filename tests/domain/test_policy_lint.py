"""A policy that nobody could meet does not start; what only depends on who is in a group does."""

from dataclasses import replace
from datetime import timedelta

import pytest

from chatops_bot.domain.people import Effect, Person, Risk, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.policy_idle import idle_rules
from chatops_bot.domain.policy_lint import Flaw, lint
from chatops_bot.domain.policy_rules import Rule, Scope, Who
from chatops_bot.domain.roster import Roster

TOOLS = {"list_tasks": Effect.READ, "pause_task": Effect.WRITE, "delete_task": Effect.DESTRUCTIVE}
ONLY_DELETE, ONLY_PAUSE = Scope(tools=frozenset({"delete_task"})), Scope(tools=frozenset({"pause_task"}))
ROSTER = Roster(people={"U1": Role.ADMIN, "U2": Role.APPROVER, "U3": Role.OPERATOR})
GROUPED = Roster(people={"U1": Role.ADMIN}, groups={"S1": Role.APPROVER})
TWO_ADMINS = Roster(people={"U1": Role.ADMIN, "U4": Role.ADMIN})


def flaws(*rules: Rule, roster: Roster = ROSTER, known: list[Person] | None = None) -> list[Flaw]:
    named = [
        Rule(**{**{name: getattr(rule, name) for name in rule.__slots__}, "name": f"rule {n}"})
        for n, rule in enumerate(rules)
    ]
    return lint(Policy(named, roster=roster), TOOLS, known)


REFUSED = [
    pytest.param([Rule(scope=Scope(tools=frozenset({"pause_tsk"})))], "there is no tool pause_tsk", id="unknown tool"),
    pytest.param([Rule(scope=Scope(tools=frozenset({"pause_task"}), effects=frozenset({Effect.READ})))], "it never holds", id="never holds"),
    pytest.param([Rule(scope=ONLY_DELETE, count=2)], "takes 2 approvals, and fewer people may give one", id="a quorum of more than there are"),
    pytest.param([Rule(scope=ONLY_DELETE, approve=Who())], "takes an approval that nobody may give", id="empty means nobody"),
    pytest.param([Rule(scope=ONLY_DELETE, deny=Who(people=("U1",)))], "takes an approval that nobody may give", id="a deny that nobody gets past"),
    pytest.param([Rule(scope=ONLY_DELETE, deny=Who(roles=(Role.ADMIN,)))], "takes an approval that nobody may give", id="a role denied"),
    pytest.param([Rule(scope=ONLY_DELETE, approve=Who(people=("U2",)))], "takes an approval that nobody may give", id="a name without the right"),
    pytest.param([Rule(approve=Who(people=("U3",)))], "U3 is named under approve, and as operator may approve nothing", id="a name that approves nothing"),
    pytest.param([Rule(escalate=Who(people=("U9",)))], "U9 is named under escalate, and as viewer may approve nothing", id="escalated to nobody"),
    pytest.param([Rule(approve=Who(people=("U1",)), deny=Who(people=("U1",)))], "U1 is named under approve and under deny", id="allowed and denied"),
    pytest.param([Rule(approve=Who(groups=("S1",)), deny=Who(groups=("S1",)))], "S1 is named under approve and under deny", id="a group allowed and denied"),
    pytest.param([Rule(ask=Who(roles=(Role.ADMIN,)), deny=Who(roles=(Role.ADMIN,)))], "admin is named under ask and under deny", id="a role allowed and denied"),
    pytest.param([Rule(scope=ONLY_PAUSE, approve=Who(people=("U1",))), Rule(scope=ONLY_PAUSE, approve=Who(people=("U2",)))], "by rule 0 and rule 1, pause_task", id="two rules that cancel each other"),
    pytest.param([Rule(scope=ONLY_PAUSE, approve=Who(people=("U1",))), Rule(deny=Who(people=("U1",)))], "by rule 0 and rule 1, pause_task", id="a rule that denies another's"),
    pytest.param([Rule(scope=ONLY_DELETE, ask=Who(roles=(Role.ADMIN,)), own=False)], "what U1 asks for with delete_task (high risk) the others are too few", id="the only one who asks is the only one who approves"),
]  # fmt: skip


@pytest.mark.case("hitl-C39")
@pytest.mark.parametrize(("rules", "says"), REFUSED)
def test_a_policy_that_nobody_could_meet_is_refused(rules: list[Rule], says: str):
    found = flaws(*rules)
    assert found[0].is_fatal
    assert says in found[0].says
    assert found[0].says.endswith((".",))


@pytest.mark.parametrize(
    ("rules", "roster"),
    [
        pytest.param([Rule(scope=ONLY_PAUSE, count=2)], ROSTER, id="as many as it takes"),
        pytest.param([Rule(ask=Who())], ROSTER, id="a tool switched off"),
        pytest.param([Rule(only_in=frozenset({"C1"}))], ROSTER, id="kept to a channel"),
        pytest.param([Rule(scope=ONLY_PAUSE, count=3)], GROUPED, id="a group may hold as many as it takes"),
        pytest.param([Rule(approve=Who(groups=("S9",)))], GROUPED, id="a group without a role holds those who have one"),
        pytest.param([Rule(approve=Who(groups=("S8",))), Rule(approve=Who(groups=("S9",)))], GROUPED, id="somebody may be in both"),
        pytest.param([Rule(scope=ONLY_DELETE, own=False)], TWO_ADMINS, id="the other one approves"),
        pytest.param([Rule(scope=ONLY_DELETE, count=2, own=True)], TWO_ADMINS, id="whoever asks counts"),
        pytest.param([Rule(count=2)], Roster(local=Role.ADMIN), id="people of this machine"),
        pytest.param([Rule(count=2)], Roster(), id="no approver at all is told elsewhere"),
        pytest.param([], ROSTER, id="no rules"),
    ],
)  # fmt: skip
def test_a_policy_that_could_be_met_is_not_refused(rules: list[Rule], roster: Roster):
    assert [flaw for flaw in flaws(*rules, roster=roster) if flaw.is_fatal] == []


def test_a_single_approver_whose_own_wishes_nobody_else_grants_is_told_and_not_refused():
    (flaw,) = flaws(Rule(scope=ONLY_DELETE, own=False))
    assert not flaw.is_fatal
    assert flaw.says.startswith("what U1 asks for with delete_task")


def test_what_is_kept_to_a_channel_is_not_approved_on_this_machine():
    local = Roster(people={"U3": Role.OPERATOR}, local=Role.ADMIN)
    assert flaws(Rule(count=1, own=False), roster=local) == []
    (flaw, *_) = flaws(Rule(only_in=frozenset({"C1"})), roster=local)
    assert "takes an approval that nobody may give" in flaw.says


MACHINE = Roster(people={"U1": Role.ADMIN}, local=Role.ADMIN)
BY_GROUP = Who(roles=(Role.ADMIN,), groups=("S9",))


@pytest.mark.parametrize(
    ("rule", "roster", "known", "is_told"),
    [
        pytest.param(Rule(count=3), MACHINE, None, True, id="two would have to be of this machine"),
        pytest.param(Rule(count=2), MACHINE, None, False, id="one may well be"),
        pytest.param(Rule(count=3), replace(MACHINE, groups={"S1": Role.ADMIN}), None, False, id="a group with a role may hold them"),
        pytest.param(Rule(count=3, approve=BY_GROUP), MACHINE, None, False, id="a group among the approvers may hold them"),
        pytest.param(Rule(count=3, ask=BY_GROUP), MACHINE, None, False, id="whoever may ask may approve as well"),
        pytest.param(Rule(count=3, approve=BY_GROUP), MACHINE, [], True, id="a group that was looked into holds nobody else"),
    ],
)  # fmt: skip
def test_where_several_people_of_one_machine_would_have_to_approve_it_is_told(
    rule: Rule, roster: Roster, known: list[Person] | None, is_told: bool
):
    told = [
        flaw
        for flaw in flaws(rule, roster=roster, known=known)
        if "different people of this machine" in flaw.says
    ]
    assert bool(told) is is_told
    assert not any(flaw.is_fatal for flaw in told)


def test_a_rule_about_one_risk_is_tried_at_that_risk():
    low, high = Scope(risks=frozenset({Risk.LOW})), Scope(risks=frozenset({Risk.HIGH}))
    found = flaws(Rule(scope=low, approve=Who(people=("U2",))), Rule(scope=high, approve=Who(people=("U1",))))
    assert [flaw.says.partition(" takes")[0] for flaw in found if flaw.is_fatal] == [
        "by rule 0, delete_task (low risk)"
    ]


@pytest.mark.case("hitl-C39")
def test_people_who_left_and_groups_that_emptied_are_missed():
    ana = Person("U2", "Ana", Role.APPROVER, frozenset({"S1"}))
    adam, gone = Person("U1", "Adam", Role.ADMIN), Person("U1", "Adam", Role.GUEST)
    assert flaws(known=[ana, adam]) == []
    (flaw,) = flaws(known=[ana, gone])
    assert flaw == Flaw(
        "roles",
        "by the roles, delete_task (high risk) takes an approval that nobody may give; name more people, or ask for less.",
    )
    by_group = Rule(scope=ONLY_PAUSE, approve=Who(groups=("S1",)))
    assert not any(flaw.is_fatal for flaw in flaws(by_group, roster=GROUPED, known=[ana, adam]))
    assert "by rule 0, pause_task" in flaws(by_group, roster=GROUPED, known=[adam])[0].says
    assert (
        "by rule 0, pause_task"
        in flaws(Rule(scope=ONLY_PAUSE, count=3), roster=GROUPED, known=[ana, adam])[0].says
    )


def test_a_config_without_any_approver_is_told_once_it_is_known_who_is_there():
    assert flaws(roster=Roster()) == []
    assert "takes an approval that nobody may give" in flaws(roster=Roster(), known=[])[0].says


def test_without_a_rule_nobody_is_told_what_their_roles_cannot_do():
    assert flaws(roster=Roster(people={"U2": Role.APPROVER})) == []


def test_a_rule_about_an_effect_that_no_tool_has_never_holds():
    rule = Rule("rule 0", Scope(effects=frozenset({Effect.DESTRUCTIVE})))
    (flaw,) = lint(Policy([rule], roster=ROSTER), {"list_tasks": Effect.READ, "pause_task": Effect.WRITE})
    assert "it never holds" in flaw.says
    assert flaws(rule) == []


def test_one_mistake_is_told_once():
    misspelled = Rule(scope=Scope(tools=frozenset({"pause_tsk"}), effects=frozenset({Effect.WRITE})))
    assert [flaw.says for flaw in flaws(misspelled)] == [
        "there is no tool pause_tsk; correct the name, or remove it."
    ]


def test_of_the_rules_those_are_named_that_say_who_approves():
    found = flaws(
        Rule(scope=ONLY_PAUSE, ask=Who(roles=(Role.OPERATOR,))), Rule(scope=ONLY_PAUSE, approve=Who())
    )
    assert [flaw.says.partition(" takes")[0] for flaw in found] == ["by rule 1, pause_task (high risk)"]


def test_what_takes_more_than_there_are_is_told_once():
    (flaw,) = flaws(Rule(scope=ONLY_DELETE, count=2))
    assert "takes 2 approvals" in flaw.says


def test_an_approver_who_may_not_ask_is_never_the_one_who_asked():
    assert flaws(Rule(scope=ONLY_DELETE, ask=Who(people=("U3",)), own=False)) == []


def test_what_is_switched_off_needs_no_approver():
    assert flaws(Rule(ask=Who(), approve=Who())) == []


def test_many_approvals_that_only_people_of_this_machine_could_give_are_told():
    local = Roster(people={"U1": Role.ADMIN, "U2": Role.APPROVER}, local=Role.ADMIN)
    (flaw, *_) = flaws(Rule(scope=ONLY_PAUSE, count=10), roster=local)
    assert not flaw.is_fatal
    assert "pause_task (high risk) takes 10 approvals, and config names 2 who may give one" in flaw.says
    assert flaws(Rule(scope=ONLY_PAUSE, count=3), roster=local) == [], "one of this machine is a third"


HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (Rule(scope=ONLY_DELETE, keep_for=5 * MINUTE), "keep_minutes takes nothing back of delete_task"),
        (Rule(scope=Scope(effects=frozenset({Effect.DESTRUCTIVE})), keep_for=MINUTE), "nothing back of delete_task"),
        (Rule(remind_after=500 * MINUTE), "remind_minutes: 500, since a proposal waits 60 minutes"),
        (Rule(remind_after=HOUR), "remind_minutes: 60, since a proposal waits 60 minutes"),
    ],
)  # fmt: skip
def test_a_rule_that_changes_nothing_is_told_and_not_refused(rule: Rule, says: str):
    (flaw,) = idle_rules(Policy([rule], roster=ROSTER), TOOLS, frozenset({"pause_task"}), HOUR)
    assert says in flaw.says
    assert not flaw.is_fatal


@pytest.mark.parametrize(
    "rule", [Rule(keep_for=MINUTE), Rule(scope=ONLY_PAUSE, keep_for=MINUTE), Rule(remind_after=59 * MINUTE), Rule()]
)  # fmt: skip
def test_a_rule_that_changes_something_is_not_told(rule: Rule):
    assert idle_rules(Policy([rule], roster=ROSTER), TOOLS, frozenset({"pause_task"}), HOUR) == []
