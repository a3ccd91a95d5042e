"""Rules take away from roles: deny beats allow, empty means nobody, the highest count holds."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from chatops_bot.domain.freeze import Freeze, Moment
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect, Person, Risk, Role
from chatops_bot.domain.policy import MOST_CALLED, Policy, Subject
from chatops_bot.domain.policy_rules import Rule, Scope, Who
from chatops_bot.domain.roster import Roster

NOW = datetime(2026, 11, 28, 3, 0, tzinfo=UTC)  # a Saturday
DELETE = Subject("delete_task", Effect.DESTRUCTIVE, Risk.HIGH, "task 3", "U1", "C1")
PAUSE = Subject("pause_task", Effect.WRITE, Risk.LOW, "task 3", "U1", "C1")
ONLY_DELETE = Scope(tools=frozenset({"delete_task"}))
WEEKEND = (Moment.parse("Fri 18:00"), Moment.parse("Mon 08:00"), ZoneInfo("Europe/Berlin"))


def person(role: Role, name: str = "U2", *groups: str) -> Person:
    return Person(name, name, role, frozenset(groups))


ADMIN, APPROVER, OPERATOR = person(Role.ADMIN), person(Role.APPROVER), person(Role.OPERATOR)


def says(refusal: Phrase | None) -> str:
    assert refusal is not None
    return refusal.en


def test_empty_means_nobody():
    policy = Policy([Rule(scope=ONLY_DELETE, ask=Who(), approve=Who())])
    assert "lets nobody ask" in says(policy.may_ask(ADMIN, "delete_task", Effect.DESTRUCTIVE, "C1"))
    assert "not among those" in says(policy.may_approve(ADMIN, DELETE, NOW))
    assert policy.may_approve(ADMIN, PAUSE, NOW) is None


@pytest.mark.case("hitl-C17")
def test_a_deny_beats_every_wider_grant():
    named = Who(people=("U2",), roles=tuple(Role))
    policy = Policy(
        [Rule(ask=named, approve=named, own=True), Rule(scope=ONLY_DELETE, deny=Who(people=("U2",)))]
    )
    assert "rules you out" in says(policy.may_ask(ADMIN, "delete_task", Effect.DESTRUCTIVE, "C1"))
    assert "rules you out" in says(policy.may_approve(ADMIN, DELETE, NOW))
    assert "rules you out" in says(policy.may_reject(ADMIN, DELETE))
    assert policy.may_approve(ADMIN, PAUSE, NOW) is None


@pytest.mark.case("hitl-C18")
def test_what_is_granted_for_one_tool_is_granted_for_no_other():
    policy = Policy([Rule(scope=ONLY_DELETE, own=True)])
    requester = person(Role.ADMIN, "U1")
    assert policy.may_approve(requester, DELETE, NOW) is None
    for tool in ("delete_tasks", "delete", "other.delete_task", "Delete_task"):
        other = Subject(tool, Effect.DESTRUCTIVE, Risk.HIGH, "task 3", "U1", "C1")
        assert "another admin" in says(policy.may_approve(requester, other, NOW))


@pytest.mark.case("hitl-C40")
def test_nobody_gets_from_a_rule_what_their_role_does_not_give():
    everybody = Who(people=("U2",), groups=("S1",), roles=tuple(Role))
    policy = Policy([Rule(ask=everybody, approve=everybody)])
    for role in (Role.GUEST, Role.VIEWER, Role.OPERATOR, Role.APPROVER):
        assert policy.may_approve(person(role, "U2", "S1"), DELETE, NOW) is not None
    assert (
        policy.may_ask(person(Role.VIEWER, "U2", "S1"), "delete_task", Effect.DESTRUCTIVE, "C1") is not None
    )


@pytest.mark.case("hitl-C31")
@pytest.mark.parametrize("own", [None, True])
def test_guests_bots_and_the_departed_never(own: bool | None):
    guest = person(Role.GUEST, "U1", "S1")
    all_of_them = Who(people=("U1",), groups=("S1",), roles=(Role.GUEST,))
    policy = Policy([Rule(ask=all_of_them, approve=all_of_them, own=own, answer=all_of_them)])
    asks = [policy.may_ask(guest, "look", effect, "C1") for effect in Effect]
    answer = policy.may_answer(guest, "look", Effect.READ, "C1", asked_id="U1", asked_name="Oscar")
    refused = [
        *asks, answer, policy.may_speak(guest), policy.may_stop(guest, asker_id="U1"), policy.may_propose(guest, PAUSE),
        policy.may_approve(guest, PAUSE, NOW), policy.may_reject(guest, PAUSE),
    ]  # fmt: skip
    assert None not in refused


@pytest.mark.case("hitl-C38")
@pytest.mark.parametrize("via", ["button", "code", "local"])
def test_on_every_path_whoever_asked_needs_another(via):
    policy = Policy([Rule(own=False)])
    assert "asked for this change yourself" in says(
        policy.may_approve(person(Role.ADMIN, "U1"), PAUSE, NOW, via=via)
    )
    assert policy.may_approve(person(Role.ADMIN, "U1"), PAUSE, NOW) is not None
    assert policy.may_approve(ADMIN, PAUSE, NOW, via=via) is None


@pytest.mark.parametrize("rules", [[], [Rule(own=False)]])
def test_another_name_at_the_same_machine_is_whoever_asked(rules: list[Rule]):
    asked_here = Subject("trigger_task", Effect.WRITE, Risk.HIGH, "task 3", "local:alice", "C1")
    policy = Policy(rules)
    refused = policy.may_approve(person(Role.ADMIN, "local:bob"), asked_here, NOW, via="local")
    assert "counts as one person" in says(refused)
    assert policy.may_approve(person(Role.ADMIN, "U2"), asked_here, NOW) is None


def test_one_rule_against_the_requester_beats_another_for_them():
    policy = Policy([Rule(own=True), Rule(scope=ONLY_DELETE, own=False)])
    requester = person(Role.ADMIN, "U1")
    assert policy.may_approve(requester, DELETE, NOW) is not None
    assert policy.may_approve(requester, PAUSE, NOW) is None


def test_the_highest_count_holds_and_the_shortest_times():
    short, long = timedelta(minutes=5), timedelta(minutes=20)
    policy = Policy(
        [Rule(count=2, remind_after=long, keep_for=short), Rule(count=3, remind_after=short, keep_for=long)]
    )
    assert (policy.quorum(PAUSE), policy.reminder_after(PAUSE), policy.keep_for(PAUSE)) == (3, short, short)
    assert (Policy().quorum(PAUSE), Policy().reminder_after(PAUSE), Policy().keep_for(PAUSE)) == (
        1,
        None,
        None,
    )


def test_every_rule_that_names_approvers_must_name_them():
    policy = Policy([Rule(approve=Who(groups=("S1",))), Rule(approve=Who(groups=("S2",)))])
    assert policy.may_approve(person(Role.ADMIN, "U2", "S1"), PAUSE, NOW) is not None
    assert "not among those" in says(policy.may_reject(person(Role.ADMIN, "U2", "S1"), PAUSE))
    assert policy.may_reject(person(Role.ADMIN, "U2", "S1", "S2"), PAUSE) is None
    assert policy.may_reject(person(Role.ADMIN, "U1"), PAUSE) is None, "whoever asked may take it back"
    assert policy.may_approve(person(Role.ADMIN, "U2", "S1", "S2"), PAUSE, NOW) is None


def test_a_rule_about_a_channel_holds_there_alone():
    policy = Policy([Rule(scope=Scope(channels=frozenset({"C1"})), ask=Who(roles=(Role.ADMIN,)))])
    assert "lets only an admin ask for pause_task" in says(
        policy.may_ask(OPERATOR, "pause_task", Effect.WRITE, "C1")
    )
    assert policy.may_ask(OPERATOR, "pause_task", Effect.WRITE, "C2") is None


def test_what_is_kept_to_a_channel_is_asked_for_and_decided_there():
    policy = Policy([Rule(only_in=frozenset({"C1"}))])
    assert policy.may_ask(OPERATOR, "pause_task", Effect.WRITE, "C1") is None
    assert "only in C1" in says(policy.may_ask(OPERATOR, "pause_task", Effect.WRITE, "C2"))
    assert policy.may_approve(ADMIN, PAUSE, NOW, via="code") is None
    assert "only in C1" in says(policy.may_approve(ADMIN, PAUSE, NOW, via="local"))
    assert policy.may_reject(ADMIN, PAUSE) is None


def test_a_rule_about_a_risk_is_asked_once_the_risk_is_known():
    policy = Policy([Rule(scope=Scope(risks=frozenset({Risk.HIGH})), ask=Who(roles=(Role.ADMIN,)))])
    assert policy.may_ask(OPERATOR, "delete_task", Effect.DESTRUCTIVE, "C1") is None
    assert policy.may_propose(OPERATOR, DELETE) is not None
    assert policy.may_propose(OPERATOR, PAUSE) is None


def test_a_freeze_lets_nobody_approve_and_everybody_reject():
    policy = Policy(freezes=[Freeze(*WEEKEND)])
    assert says(policy.may_approve(ADMIN, PAUSE, NOW)) == (
        "Frozen until Mon 08:00 Europe/Berlin, so nothing was run; nobody may approve before, so approve it then."
    )
    assert policy.may_approve(ADMIN, PAUSE, NOW, break_glass="the site is down") is not None
    assert policy.may_approve(ADMIN, PAUSE, NOW + timedelta(days=3)) is None
    assert policy.may_reject(ADMIN, PAUSE) is None


def test_whoever_may_breaks_the_glass_with_a_reason_and_with_all_other_rights():
    frozen = Freeze(*WEEKEND, break_glass=Who(roles=(Role.ADMIN, Role.OPERATOR)))
    policy = Policy(freezes=[frozen])
    assert says(policy.may_approve(APPROVER, PAUSE, NOW, break_glass="x")).endswith(
        "an admin or an operator may break the glass with `approve CODE break-glass: reason`."
    )
    for blank in ("", "  "):
        assert "You may break the glass" in says(policy.may_approve(ADMIN, PAUSE, NOW, break_glass=blank))
    assert policy.may_approve(ADMIN, PAUSE, NOW, break_glass="the site is down") is None
    assert "may not approve" in says(policy.may_approve(OPERATOR, PAUSE, NOW, break_glass="the site is down"))
    assert policy.frozen(PAUSE, NOW) is frozen
    assert policy.frozen(PAUSE, NOW + timedelta(days=3)) is None


def test_a_card_calls_by_name_those_who_may_and_did_not_ask():
    roster = Roster(
        people={
            "U1": Role.ADMIN,
            "U2": Role.ADMIN,
            "U3": Role.APPROVER,
            "U4": Role.OPERATOR,
            "local:root": Role.ADMIN,
        },
        groups={"S1": Role.APPROVER, "S2": Role.OPERATOR},
    )
    assert Policy(roster=roster).approvers(PAUSE) == Who(people=("U2", "U3"), groups=("S1",))
    assert Policy(roster=roster).approvers(DELETE) == Who(people=("U2",))
    named = Policy([Rule(approve=Who(people=("U3",), groups=("S9",)))], roster=roster)
    assert named.approvers(PAUSE) == Who(people=("U3",), groups=("S9",))
    assert named.escalation(PAUSE) == Who()


def test_a_card_calls_only_so_many():
    crowd = {f"U{number}": Role.ADMIN for number in range(50)}
    who = Policy(
        [Rule(escalate=Who(people=tuple(crowd)))], roster=Roster(people=crowd, groups={"S1": Role.ADMIN})
    )
    assert len(who.approvers(PAUSE).people) == len(who.escalation(PAUSE).people) == MOST_CALLED
    assert who.approvers(PAUSE).groups == ()


def test_a_form_is_for_whom_it_asks_and_for_whom_a_rule_names():
    def refusal(policy: Policy, who: Person, tool: str = "delete_task") -> Phrase | None:
        return policy.may_answer(who, tool, Effect.DESTRUCTIVE, "C1", asked_id="U1", asked_name="Oscar")

    assert refusal(Policy(), person(Role.OPERATOR, "U1")) is None
    assert "only Oscar can fill it in" in says(refusal(Policy(), ADMIN))
    policy = Policy([Rule(scope=ONLY_DELETE, answer=Who(roles=(Role.ADMIN,)))])
    assert refusal(policy, ADMIN) is None
    assert refusal(policy, APPROVER) is not None
    assert refusal(policy, ADMIN, "pause_task") is not None


def test_the_version_is_that_of_the_rules_and_of_nothing_else():
    one = Rule(
        "policy.rules.0", Scope(tools=frozenset({"a", "b"}), channels=frozenset({"C1", "C2"})), count=2
    )
    same = Rule(
        "policy.rules.7", Scope(tools=frozenset({"b", "a"}), channels=frozenset({"C2", "C1"})), count=2
    )
    version = Policy([one]).version
    assert Policy([same], roster=Roster(people={"U1": Role.ADMIN})).version == version
    others = [Policy(), Policy([one, one]), Policy([Rule(count=2)]), Policy([one], [Freeze(*WEEKEND)])]
    assert len({version, *(other.version for other in others)}) == 5


@pytest.mark.parametrize(
    ("groups", "channel", "role"),
    [
        ((), "C9", Role.VIEWER),
        ((), "C1", Role.OPERATOR),
        (("S1",), "C1", Role.VIEWER),
        (("S1", "S2"), "C9", Role.APPROVER),
        (("S9",), "C1", Role.OPERATOR),
    ],
)
def test_the_most_exact_entry_gives_the_role(groups: tuple[str, ...], channel: str, role: Role):
    roster = Roster(
        people={"U1": Role.OPERATOR},
        groups={"S1": Role.VIEWER, "S2": Role.APPROVER},
        channels={"C1": Role.OPERATOR},
    )
    assert roster.role("U2", groups, channel) is role
    assert roster.role("U1", groups, channel) is Role.OPERATOR
