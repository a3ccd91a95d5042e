"""Rules take away from roles: deny beats allow, empty means nobody, the highest count holds."""

from dataclasses import replace
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
    assert "only in ⟨#C1⟩" in says(policy.may_ask(OPERATOR, "pause_task", Effect.WRITE, "C2"))
    assert policy.may_approve(ADMIN, PAUSE, NOW, via="code") is None
    assert "only in ⟨#C1⟩" in says(policy.may_approve(ADMIN, PAUSE, NOW, via="local"))
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
        "an admin or an operator may break the glass with “approve CODE break-glass: reason”."
    )
    for blank in ("", "  "):
        assert "You may break the glass" in says(policy.may_approve(ADMIN, PAUSE, NOW, break_glass=blank))
    assert policy.may_approve(ADMIN, PAUSE, NOW, break_glass="the site is down") is None
    assert "may not approve" in says(policy.may_approve(OPERATOR, PAUSE, NOW, break_glass="the site is down"))
    assert policy.frozen(PAUSE, NOW) is frozen
    assert policy.frozen(PAUSE, NOW + timedelta(days=3)) is None


def test_a_card_says_of_a_freeze_how_long_it_holds_and_who_gets_past_it_while_it_holds():
    weekend = (Freeze(*WEEKEND), Freeze(*WEEKEND, break_glass=Who(roles=(Role.ADMIN,))))
    for_all, but_admins = (Policy(freezes=[freeze]).frozen_on_card(PAUSE, NOW) for freeze in weekend)
    assert says(for_all) == "Frozen until Mon 08:00 Europe/Berlin; nobody may approve before."
    assert says(but_admins) == (
        "Frozen until Mon 08:00 Europe/Berlin; an admin may break the glass by typing: approve CODE break-glass: reason"
    )
    assert Policy(freezes=weekend[:1]).frozen_on_card(PAUSE, NOW + timedelta(days=3)) is None


@pytest.mark.parametrize(
    ("who", "en", "zh"),
    [
        (Who(roles=(Role.ADMIN, Role.VIEWER)), "an admin or a viewer", " admin 、 viewer "),
        (Who(people=("U9",)), "somebody whom the policy names", "策略指定的人"),
        (Who(groups=("S9",)), "somebody whom the policy names", "策略指定的人"),
        (Who(people=("U9",), groups=("S9",), roles=(Role.ADMIN,)), "an admin or somebody whom the policy names", " admin 、策略指定的人"),
    ],
)  # fmt: skip
def test_a_no_says_who_gets_past_it(who: Who, en: str, zh: str):
    asked = Policy([Rule(ask=who)]).may_ask(OPERATOR, "pause_task", Effect.WRITE, "C1")
    frozen = Policy(freezes=[Freeze(*WEEKEND, break_glass=who)]).may_approve(APPROVER, PAUSE, NOW)
    assert asked == Phrase(
        f"策略规定只有{zh}可以发起 pause_task，您的角色是 operator；请让他们来提出。",
        f"The policy lets only {en} ask for pause_task, and you are operator; ask one of them to request it.",
    )
    assert frozen == Phrase(
        f"冻结期至 Mon 08:00 Europe/Berlin，未执行任何操作；{zh}可以用“批准 CODE 紧急: 原因”紧急批准。",
        f"Frozen until Mon 08:00 Europe/Berlin, so nothing was run; {en} may break the glass with “approve CODE break-glass: reason”.",
    )


@pytest.mark.parametrize(
    ("channels", "en", "zh"),
    [(frozenset({"C9", "C8"}), "⟨#C8⟩ or ⟨#C9⟩", "⟨#C8⟩、⟨#C9⟩"), (frozenset(), "no channel", "")],
)
def test_what_is_kept_to_channels_says_which(channels: frozenset[str], en: str, zh: str):
    refusal = Policy([Rule(only_in=channels)]).may_ask(ADMIN, "pause_task", Effect.WRITE, "C1")
    assert refusal == Phrase(
        f"策略规定 pause_task 只能在频道 {zh} 中发起和批准；请到那里处理。",
        f"The policy lets pause_task be asked for and approved only in {en}; do it there.",
    )


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


def test_of_those_to_whom_it_goes_up_only_those_are_called_who_may():
    roster = Roster(
        people={"U1": Role.ADMIN, "U2": Role.OPERATOR}, groups={"S2": Role.OPERATOR, "S3": Role.ADMIN}
    )
    named = Who(people=("U1", "U2", "U9", "local:root"), groups=("S2", "S3"))
    policy = Policy([Rule(escalate=named), Rule(count=2)], roster=roster)
    assert policy.escalation(PAUSE) == Who(people=("U1",), groups=("S3",)), (
        "even if they asked: they are told"
    )
    assert Policy().approvers(PAUSE) == Who()


def test_a_rule_that_does_not_say_leaves_times_and_wishes_to_the_others():
    ten = timedelta(minutes=10)
    policy = Policy([Rule(), Rule(remind_after=ten, keep_for=ten, own=True)])
    assert (policy.reminder_after(PAUSE), policy.keep_for(PAUSE)) == (ten, ten)
    assert policy.may_approve(person(Role.ADMIN, "U1"), DELETE, NOW) is None


@pytest.mark.parametrize(("channel", "via", "may"), [("C1", "button", True), ("C2", "button", False), ("C1", "local", False)])  # fmt: skip
def test_what_is_kept_to_a_channel_is_approved_by_those_who_are_there(channel, via, may):
    policy = Policy([Rule(only_in=frozenset({"C1"}))])
    refusal = policy.may_approve(ADMIN, replace(PAUSE, channel=channel), NOW, via=via)
    assert (refusal is None) is may


def test_a_freeze_is_about_its_scope_alone():
    policy = Policy(freezes=[Freeze(*WEEKEND, scope=ONLY_DELETE)])
    assert policy.frozen(DELETE, NOW) is not None
    assert policy.frozen(PAUSE, NOW) is None
    assert policy.may_approve(ADMIN, PAUSE, NOW) is None


def test_a_rule_about_an_effect_holds_for_that_effect_alone():
    policy = Policy([Rule(scope=Scope(effects=frozenset({Effect.DESTRUCTIVE})), count=2)])
    assert (policy.quorum(DELETE), policy.quorum(PAUSE)) == (2, 1)


def test_a_guest_hears_of_their_role_and_nothing_of_the_rules():
    policy = Policy([Rule(deny=Who(roles=tuple(Role)))])
    assert "Role guest may not approve" in says(policy.may_approve(person(Role.GUEST), PAUSE, NOW))
    assert "rules you out" in says(policy.may_approve(ADMIN, PAUSE, NOW))


def test_who_may_neither_approve_nor_asked_hears_at_a_no_what_their_role_lacks():
    assert "Role operator may not reject" in says(Policy().may_reject(OPERATOR, PAUSE))


def test_a_card_calls_only_so_many():
    crowd = {f"U{number}": Role.ADMIN for number in range(50)}
    who = Policy(
        [Rule(escalate=Who(people=tuple(crowd)))], roster=Roster(people=crowd, groups={"S1": Role.ADMIN})
    )
    assert len(who.approvers(PAUSE).people) == len(who.escalation(PAUSE).people) == MOST_CALLED == 10
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
    two = Policy(
        [Rule(answer=Who(roles=(Role.ADMIN, Role.APPROVER))), Rule(answer=Who(roles=(Role.ADMIN,))), Rule()]
    )
    assert refusal(two, ADMIN) is None
    assert refusal(two, APPROVER) is not None, "where two rules name somebody, both have to"


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


def test_a_release_that_changes_no_rule_keeps_the_version():
    """What waits for approval was sealed with it: another spelling of the same rules would make all of that drift."""
    rule = Rule("a", Scope(tools=frozenset({"a", "b", "c"}), effects=frozenset(Effect)), ask=Who(roles=(Role.ADMIN,)), keep_for=timedelta(minutes=5))  # fmt: skip
    assert Policy([rule], [Freeze(*WEEKEND)]).version == "333619ed547b6959"


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
