"""What only the model may read stays with it: nonces in any spelling, and the sentences of the prompt."""

import base64
import secrets
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.withheld import REMEMBERED_NONCES, Withheld

RULE = "Never claim that a change was made before a person approved it."
NONCE = "0123456789abcdeffedcba9876543210"


@pytest.fixture
def withheld() -> Withheld:
    found = Withheld(["hunter2-configured"], [RULE])
    assert found.watching(lambda: NONCE)() == NONCE
    return found


@given(st.text(max_size=5), st.text(max_size=5), st.integers(0, 4))
def test_a_nonce_leaves_in_no_spelling(before: str, after: str, kind: int):
    withheld = Withheld()
    nonce = withheld.watching(lambda: secrets.token_hex(16))()
    raw = bytes.fromhex(nonce)
    spelled = [
        nonce,
        nonce.upper(),
        base64.b64encode(before.encode() + nonce.encode() + after.encode()).decode(),
        base64.urlsafe_b64encode(before.encode() + raw + after.encode()).decode(),
        base64.b64encode(raw).decode().rstrip("="),
    ][kind]
    said = withheld.text(f"{before} {spelled} {after}")
    assert spelled not in said
    assert "[redacted:fence]" in said


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"abc{NONCE}def", "abc[redacted:fence]def"),
        (f"{NONCE}{NONCE}", "[redacted:fence][redacted:fence]"),
        (f"nonce={NONCE}", "nonce=[redacted:fence]"),
        (NONCE[:31], "[redacted:fence]"),
        (f"it begins with {NONCE[:12]}, you see", "it begins with [redacted:fence], you see"),
        (f"{NONCE[20:]}", "[redacted:fence]"),
        (f"{NONCE[:16]} {NONCE[16:]}", "[redacted:fence] [redacted:fence]"),
        (f"{NONCE[3:15].upper()}!", "[redacted:fence]!"),
        (f"0{NONCE[7:23]}0{NONCE[9:22]}zz", "0[redacted:fence]0[redacted:fence]zz"),
        (f"{NONCE[:11]} {NONCE[21:]}", f"{NONCE[:11]} {NONCE[21:]}"),
        ("f" * 40, "f" * 40),
        (f"It says: {RULE} And more.", "It says: [redacted:prompt] And more."),
        (RULE.upper().replace(" ", "\n", 3), "[redacted:prompt]"),
        ("Never claim that.", "Never claim that."),
    ],
)
def test_what_is_taken_out_and_what_stays(withheld: Withheld, text: str, shown: str):
    assert withheld.text(text) == shown
    assert withheld.value({text: [text]}) == {shown: [shown]}


@given(st.binary(min_size=16, max_size=16), st.integers(0, 20), st.data())
def test_no_dozen_digits_of_a_nonce_leave(made: bytes, start: int, data: st.DataObject):
    withheld = Withheld()
    nonce = withheld.watching(made.hex)()
    part = nonce[start : data.draw(st.integers(start + 12, 32))]
    said = withheld.text(f"half of it: g{part}g")
    assert not any(nonce[at : at + 12] in said for at in range(21))


def test_other_numbers_stay():
    withheld = Withheld()
    for _ in range(200):
        withheld.watching(lambda: secrets.token_hex(16))()
    numbers = [secrets.token_hex(20) for _ in range(200)]
    assert withheld.text(" ".join(numbers)) == " ".join(numbers)


def test_the_beginning_of_a_sentence_is_held_back_until_it_turns_out_to_be_another(withheld: Withheld):
    for end in range(12, len(RULE)):
        assert withheld.held_back(f"Look: {RULE[:end]}") >= end
        assert withheld.may_end_in_a_secret(f"Look: {RULE[:end]}")
    assert withheld.held_back(f"Look: {RULE[:20]} nothing ") == 0
    assert withheld.held_back("Look: Never ") == 0, "so little says nothing"
    assert withheld.may_end_in_a_secret(f"it is {NONCE[:20]}")
    assert not withheld.may_end_in_a_secret("it is 0123456")


def test_old_nonces_are_forgotten_and_a_repeated_one_takes_no_longer():
    withheld = Withheld()
    made = [withheld.watching(lambda: secrets.token_hex(16))() for _ in range(REMEMBERED_NONCES + 1)]
    assert withheld.text(made[0]) == made[0]
    assert withheld.text(made[1]) == "[redacted:fence]"
    began = time.process_time()
    assert withheld.text(made[-1] * 2_000) == "[redacted:fence]" * 2_000
    assert time.process_time() - began < 5
