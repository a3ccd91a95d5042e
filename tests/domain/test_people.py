"""The table of roles: who asks, who approves, and why not."""

import itertools

import pytest

from chatops_bot.domain.people import (
    Effect,
    Person,
    Risk,
    Role,
    lower,
    may_approve,
    may_ask,
    may_reject,
    may_stop,
)

READ, WRITE, DELETE = Effect.READ, Effect.WRITE, Effect.DESTRUCTIVE


def person(role: Role, name: str = "someone") -> Person:
    return Person(name, name, role)


@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        (Role.GUEST, set()),
        (Role.VIEWER, {READ}),
        (Role.OPERATOR, {READ, WRITE, DELETE}),
        (Role.APPROVER, {READ, WRITE, DELETE}),
        (Role.ADMIN, {READ, WRITE, DELETE}),
    ],
)
def test_who_may_ask_for_what(role: Role, allowed: set[Effect]):
    assert {effect for effect in Effect if may_ask(person(role), effect) is None} == allowed


def test_of_two_roles_the_lower_is_the_one_that_may_less():
    for less, more in itertools.combinations(Role, 2):
        assert lower(less, more) is lower(more, less) is less
    assert lower(Role.ADMIN, Role.ADMIN) is Role.ADMIN


def test_guests_hear_that_they_are_guests_and_viewers_whom_to_ask():
    guest, viewer = may_ask(person(Role.GUEST), WRITE), may_ask(person(Role.VIEWER), WRITE)
    assert guest is not None
    assert viewer is not None
    assert guest.en == "Guests cannot use this bot."
    assert viewer.en.startswith("Role viewer may read but not ask for changes")


@pytest.mark.parametrize(
    ("role", "effect", "risk", "own", "allowed"),
    [
        (Role.GUEST, WRITE, Risk.LOW, False, False),
        (Role.VIEWER, WRITE, Risk.LOW, False, False),
        (Role.OPERATOR, WRITE, Risk.LOW, False, False),
        (Role.APPROVER, WRITE, Risk.HIGH, False, True),
        (Role.APPROVER, WRITE, Risk.LOW, True, False),
        (Role.APPROVER, DELETE, Risk.HIGH, False, False),
        (Role.ADMIN, DELETE, Risk.HIGH, False, True),
        (Role.ADMIN, WRITE, Risk.MEDIUM, True, True),
        (Role.ADMIN, WRITE, Risk.HIGH, True, False),
        (Role.ADMIN, DELETE, Risk.HIGH, True, False),
    ],
)
def test_who_may_approve_what(role: Role, effect: Effect, risk: Risk, own: bool, allowed: bool):
    refusal = may_approve(person(role), effect, risk, requester_id="someone" if own else "another")
    assert (refusal is None) is allowed


def test_the_requester_and_approvers_may_reject():
    assert may_reject(person(Role.OPERATOR), WRITE, requester_id="someone") is None
    assert may_reject(person(Role.APPROVER), WRITE, requester_id="another") is None
    assert may_reject(person(Role.VIEWER), WRITE, requester_id="another") is not None


@pytest.mark.parametrize(
    ("role", "effect", "en", "zh"),
    [
        (Role.VIEWER, WRITE, "an approver or admin", "approver 或 admin"),
        (Role.APPROVER, DELETE, "an admin", " admin "),
    ],
)
def test_a_refusal_names_who_may(role: Role, effect: Effect, en: str, zh: str):
    approve = may_approve(person(role), effect, Risk.HIGH, requester_id="another")
    reject = may_reject(person(role), effect, requester_id="another")
    assert approve is not None
    assert reject is not None
    assert approve.en.endswith(f"; it takes {en}.")
    assert reject.en.endswith(f"; only {en} or the person who asked for it may.")
    assert zh in approve.zh.partition("；")[2]
    assert zh in reject.zh.partition("；")[2]


def test_an_admins_own_deletion_is_left_to_another_admin():
    refusal = may_approve(person(Role.ADMIN), DELETE, Risk.HIGH, requester_id="someone")
    assert refusal is not None
    assert "another admin has to decide" in refusal.en
    assert "另一位 admin 来处理" in refusal.zh


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("asked_themselves", [True, False])
def test_who_may_stop_a_turn(role: Role, asked_themselves: bool):
    person = Person("U1", "Ana", role)
    refusal = may_stop(person, asker_id="U1" if asked_themselves else "U2")
    allowed = role is not Role.GUEST and (asked_themselves or role is not Role.VIEWER)
    assert (refusal is None) is allowed
