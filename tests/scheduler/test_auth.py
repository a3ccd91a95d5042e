"""Tokens and passwords."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.scheduler.auth import (
    LEAST_COST,
    Account,
    Accounts,
    Principal,
    Role,
    TokenSigner,
    hash_password,
    parse_accounts,
    verify_password,
)
from chatops_bot.scheduler.clock import SECOND
from chatops_bot.scheduler.errors import StartRefused, Unauthenticated

NOW = 1_800_000_000 * SECOND
SIGNER = TokenSigner("secret")
TOKEN = SIGNER.issue(Principal("ana", Role.OPERATOR), NOW)


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def test_a_token_speaks_for_its_owner_for_an_hour():
    assert SIGNER.read(TOKEN, NOW + 3_599 * SECOND) == Principal("ana", Role.OPERATOR)
    with pytest.raises(Unauthenticated):
        SIGNER.read(TOKEN, NOW + 3_600 * SECOND)


def test_another_secret_another_role_or_no_signature_is_refused():
    header, claims, signature = TOKEN.split(".")
    admin = encoded({"sub": "ana", "role": "admin", "exp": 2_000_000_000})
    none = f"{encoded({'alg': 'none'})}.{admin}."
    for forged in (f"{header}.{admin}.{signature}", f"{header}.{claims}.", none, f"{header}.{claims}"):
        with pytest.raises(Unauthenticated):
            SIGNER.read(forged, NOW)
    with pytest.raises(Unauthenticated):
        TokenSigner("other").read(TOKEN, NOW)


@given(st.text(max_size=40) | st.text(alphabet="abcXYZ019-_.=", max_size=80))
def test_no_text_but_a_token_is_accepted_and_none_breaks_the_reader(text: str):
    with pytest.raises(Unauthenticated):
        SIGNER.read(text, NOW)


def test_passwords_are_salted_and_verified():
    first, second = hash_password("päss"), hash_password("päss")
    assert first != second
    assert verify_password("päss", first)
    assert not verify_password("pass", first)
    for broken in (
        "",
        "scrypt$zz$zz",
        "plain$$",
        "a$b",
        "scrypt:$$",
        "scrypt:x$$",
        "scrypt:-1$$",
        "scrypt:99$$",
    ):
        assert not verify_password("", broken)


def test_a_hash_says_its_cost_and_has_the_usual_one_where_it_says_none():
    cheap, usual = hash_password("päss", LEAST_COST), hash_password("päss")
    assert cheap.startswith("scrypt:4$")
    assert verify_password("päss", cheap)
    assert verify_password("päss", usual.replace("scrypt:14$", "scrypt$"))
    assert not verify_password("päss", cheap.replace("scrypt:4$", "scrypt$"))


@pytest.mark.parametrize("username", ["nobody", "ana", "broken"])
def test_whoever_does_not_exist_cannot_log_in_with_any_password(username: str):
    ana = Account("ana", Role.VIEWER, hash_password("päss", LEAST_COST))
    accounts = Accounts([ana, Account("broken", Role.ADMIN, "plain$$")])
    for password in ("", "pass"):
        with pytest.raises(Unauthenticated):
            accounts.log_in(username, password)
    assert accounts.log_in("ana", "päss") == Principal("ana", Role.VIEWER)


@pytest.mark.parametrize("text", ["", "[1]", '[{"username": "a", "role": "root", "password_hash": "x"}]'])
def test_a_broken_accounts_file_is_refused(text: str):
    with pytest.raises(StartRefused, match="f must be a JSON list"):
        parse_accounts(text, "f")
