"""Every way to change a chain is found, and named at the first record that is not as it was sealed."""

import random
import time
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.audit_chain import GENESIS, ChainKey, Head, Sealed, canonical_text, link, record_from
from chatops_bot.domain.audit_check import Broken, Row, Unreadable, Verified, verify

KEY = ChainKey.of(b"k" * 32)
OTHER = ChainKey.of(b"o" * 32)
AT = datetime(2026, 3, 2, 14, 32, tzinfo=UTC)


def a_record(number: int, **changes: Any) -> AuditRecord:
    record = AuditRecord(
        at=AT + timedelta(seconds=number), person_id="U1", person_name="林浩然", role="operator", session="s", turn_id="turn_1",
        tool="pause_task", arguments='{"task_id":3}', decision="approved", status="approved", result=f"{{\"n\":{number}}}",
        result_sha256="ab", proposal_id="prop_1", milliseconds=number,
    )  # fmt: skip
    return replace(record, **changes)


def a_chain(length: int, key: ChainKey = KEY, head: Head = GENESIS, **changes: Any) -> list[Sealed]:
    rows: list[Sealed] = []
    for number in range(head.seq + 1, head.seq + length + 1):
        rows.append(link(key, head, a_record(number, **changes)))
        head = rows[-1].head
    return rows


def renumbered(rows: Sequence[Sealed]) -> list[Sealed]:
    """As a database keeps them whose numbers were made to fit."""
    return [replace(row, seq=number) for number, row in enumerate(rows, 1)]


def broken(
    rows: Sequence[Row], anchors: Sequence[Head] = (), keys: Sequence[ChainKey] = (KEY,)
) -> tuple[int, str]:
    found = verify(keys, rows, anchors)
    assert isinstance(found, Broken), found
    return found.seq, found.wrong


CHAIN = a_chain(12)
POSITIONS = st.integers(0, len(CHAIN) - 1)
ANY_TEXT = st.text(max_size=20)


def test_a_chain_that_nobody_touched_is_verified_from_the_first_record_on():
    anchors = [CHAIN[3].head, CHAIN[8].head]
    assert verify([KEY], CHAIN, anchors) == Verified(CHAIN[-1].head, anchored=9)
    assert verify([KEY], []) == Verified(GENESIS)
    assert Verified(CHAIN[-1].head).count == 12


@given(ANY_TEXT, ANY_TEXT, st.integers(0, 10**9))
def test_a_record_is_read_back_as_it_was_sealed(name: str, result: str, milliseconds: int):
    record = a_record(1, person_name=name, result=result, milliseconds=milliseconds)
    text = canonical_text(record)
    assert record_from(text) == record
    assert text.isascii()
    assert "\n" not in text


def test_half_a_surrogate_pair_is_sealed_like_any_text():
    record = a_record(1, arguments="\ud83d")
    assert verify([KEY], [link(KEY, GENESIS, record)]) == Verified(link(KEY, GENESIS, record).head)
    assert record_from(canonical_text(record)) == record


@pytest.mark.parametrize(
    "body",
    ["", "[]", "{}", '{"v":2}', "[" * 100_000, canonical_text(a_record(1)).replace('"v":1', '"v":1,"w":1')],
)
def test_a_text_that_is_no_record_is_refused(body: str):
    with pytest.raises(ValueError):
        record_from(body)


@given(POSITIONS, st.sampled_from([field.name for field in fields(AuditRecord)]))
def test_a_record_with_any_field_changed_is_named(at: int, name: str):
    record = CHAIN[at].record
    old: Any = getattr(record, name)
    new: Any = old + timedelta(microseconds=1) if isinstance(old, datetime) else old + type(old)("1")
    rows = [*CHAIN]
    rows[at] = replace(CHAIN[at], body=canonical_text(replace(record, **{name: new})))
    assert broken(rows) == (at + 1, "changed")


@given(POSITIONS, st.sampled_from(["key_id", "prev", "mac", "body"]), st.integers(0, 15))
def test_a_row_with_any_character_of_its_seal_changed_is_named(at: int, name: str, character: int):
    text = getattr(CHAIN[at], name)
    odd = text[:character] + ("0" if text[character] != "0" else "1") + text[character + 1 :]
    rows = [*CHAIN]
    rows[at] = replace(CHAIN[at], **{name: odd})
    assert broken(rows) == (at + 1, "changed")


def test_a_changed_record_whose_hashes_were_all_computed_anew_without_the_key_is_named():
    forged = a_chain(7, OTHER, CHAIN[4].head, tool="delete_task")
    assert broken([*CHAIN[:5], *(replace(row, key_id=KEY.id) for row in forged)]) == (6, "changed")
    assert broken([*CHAIN[:5], *forged]) == (6, "wrong_key")


@given(POSITIONS, st.integers(1, 5), st.booleans())
def test_records_that_were_taken_out_are_missing(at: int, many: int, fit: bool):
    rest = [*CHAIN[:at], *CHAIN[at + many :]]
    rows = renumbered(rest) if fit else rest
    if at + many >= len(CHAIN):
        assert isinstance(verify([KEY], rows), Verified)  # only an anchor tells
        assert broken(rows, [CHAIN[-1].head]) == (at + 1, "cut")
    else:
        assert broken(rows) == (at + 1, "missing")


@given(POSITIONS, POSITIONS, st.booleans())
def test_records_that_changed_places_are_reordered(one: int, two: int, fit: bool):
    if one == two:
        return
    rows = [*CHAIN]
    rows[one], rows[two] = rows[two], rows[one]
    assert broken(renumbered(rows) if fit else rows) == (min(one, two) + 1, "reordered")


@given(st.lists(st.tuples(POSITIONS, st.booleans()), max_size=16))
def test_whatever_is_done_to_the_rows_the_first_that_is_not_in_its_place_as_it_was_is_named(
    picks: list[tuple[int, bool]],
):
    """Any rows in any order, some of them forged, against the plain definition of the first bad one."""
    start = [(at, False) for at in range(len(picks) % 7)]  # else most chains would break at once
    rows = [
        replace(CHAIN[at], mac="0" * 64) if is_forged else CHAIN[at] for at, is_forged in [*start, *picks]
    ]
    whole = [one == two for one, two in zip(rows, CHAIN, strict=False)]
    good = whole.index(False) if False in whole else min(len(rows), len(CHAIN))
    found = verify([KEY], rows, [CHAIN[-1].head])
    if rows == CHAIN:
        assert isinstance(found, Verified)
    else:
        assert isinstance(found, Broken)
        assert found.seq == good + 1


@given(POSITIONS, st.booleans())
def test_a_record_that_stands_twice_is_duplicated(at: int, fit: bool):
    rows = [*CHAIN[: at + 1], CHAIN[at], *CHAIN[at + 1 :]]
    assert broken(renumbered(rows) if fit else rows) == (at + 2, "duplicated")


def test_a_forged_row_in_the_place_of_one_that_was_moved_on_is_no_insertion():
    forged = replace(CHAIN[2], mac="f" * 64)
    assert broken([*CHAIN[:2], forged, CHAIN[3], CHAIN[2], *CHAIN[4:]]) == (3, "reordered")


def test_the_bytes_that_are_sealed_stay_the_same_from_version_to_version():
    """A chain outlives the program that began it: who changes these bytes breaks every chain there is."""
    sealed = link(KEY, Head(6, "ab" * 32), a_record(7))
    assert sealed.body == (
        '{"arguments":"{\\"task_id\\":3}","at":"2026-03-02T14:32:07+00:00","decision":"approved","milliseconds":7,'
        '"person_id":"U1","person_name":"\\u6797\\u6d69\\u7136","proposal_id":"prop_1","result":"{\\"n\\":7}",'
        '"result_sha256":"ab","role":"operator","session":"s","status":"approved","tool":"pause_task","turn_id":"turn_1","v":1}'
    )
    assert (sealed.seq, sealed.key_id, sealed.prev) == (7, KEY.id, "ab" * 32)
    assert (sealed.key_id, sealed.mac) == (
        "4d8c36bc73f30511",
        "0ba808ebde6a0606643923629e0ae4abc06923225289b74a3e939b06c7abbd65",
    )


def test_a_record_that_stands_again_much_later_is_duplicated():
    assert broken([*CHAIN, CHAIN[2]]) == (13, "duplicated")


@given(POSITIONS, st.booleans())
def test_a_record_that_was_never_sealed_is_inserted(at: int, fit: bool):
    forged = replace(CHAIN[at], body=canonical_text(a_record(99)), mac="f" * 64)
    rows = [*CHAIN[:at], forged, *CHAIN[at:]]
    assert broken(renumbered(rows) if fit else rows) == (at + 1, "inserted")


@given(POSITIONS)
def test_a_row_that_cannot_be_read_is_named(at: int):
    rows: list[Row] = [*CHAIN]
    rows[at] = Unreadable(at + 1, "a field of it is no text")
    assert verify([KEY], rows) == Broken(at + 1, "unreadable", "a field of it is no text")


def test_two_writers_who_sealed_on_from_different_heads_are_a_fork():
    branch = a_chain(3, KEY, CHAIN[6].head, result="another")
    assert broken([*CHAIN[:8], *branch[1:]]) == (9, "forked")
    assert broken([*CHAIN[:8], *branch]) == (8, "forked")


@pytest.mark.parametrize("length", [0, 1, 8, 11])
def test_a_tail_that_was_cut_is_known_by_an_anchor(length: int):
    assert broken(CHAIN[:length], [CHAIN[1].head, CHAIN[11].head]) == (length + 1, "cut")


def test_a_chain_that_was_cut_and_went_on_is_not_what_the_anchor_knows():
    """A number alone proves nothing: the chain is as long as the anchor says, and not the same."""
    went_on = [*CHAIN[:6], *a_chain(6, KEY, CHAIN[5].head, result="another")]
    assert isinstance(verify([KEY], went_on), Verified)
    assert broken(went_on, [CHAIN[3].head, CHAIN[9].head]) == (10, "not_as_anchored")


def test_a_chain_that_was_made_anew_from_nothing_is_not_what_the_anchor_knows():
    assert broken(a_chain(12, KEY, result="another"), [CHAIN[0].head]) == (1, "not_as_anchored")


def test_with_another_key_the_first_record_says_so():
    assert broken(CHAIN, keys=[OTHER]) == (1, "wrong_key")
    assert broken(CHAIN, keys=[]) == (1, "wrong_key")


def test_after_a_rotation_the_older_key_verifies_what_it_sealed_and_seals_no_more():
    rotated = [*CHAIN, *a_chain(3, OTHER, CHAIN[-1].head)]
    assert isinstance(verify([OTHER, KEY], rotated), Verified)
    assert broken(rotated, keys=[OTHER]) == (1, "wrong_key")
    assert broken(rotated, keys=[KEY]) == (13, "wrong_key")
    back = [*rotated, *a_chain(1, KEY, rotated[-1].head)]
    assert broken(back, keys=[OTHER, KEY]) == (16, "old_key")


@pytest.mark.case("hitl-S9")
@pytest.mark.soak
def test_in_a_long_chain_every_tampering_is_found_and_it_is_verified_quickly(soak: int):
    chain = a_chain(10_000)
    began = time.process_time()
    assert verify([KEY], chain) == Verified(chain[-1].head)
    rate = len(chain) / (time.process_time() - began)
    print(f"\n[measured] verified {rate:,.0f} records/s")
    assert rate >= 50_000
    anchors = [row.head for row in chain[63::64]]
    positions = random.Random(soak).sample(range(1, len(chain) - 64), k=2 * soak)
    for at in positions:
        row, later = chain[at], chain[at + 40]
        forged = replace(row, body=row.body.replace("pause_task", "delete_task"))
        assert broken([*chain[:at], forged, *chain[at + 1 :]]) == (at + 1, "changed")
        assert broken([*chain[:at], *chain[at + 1 :]]) == (at + 1, "missing")
        assert broken([*chain[:at], forged, *chain[at:]]) == (at + 1, "inserted")
        assert broken([*chain[:at], later, *chain[at + 1 : at + 40], row, *chain[at + 41 :]]) == (
            at + 1,
            "reordered",
        )
        assert broken(chain[:at], anchors) == (at + 1, "cut")


def test_a_key_shows_nothing_of_itself():
    assert "kkkk" not in repr(KEY)
    assert KEY.id not in ("6b" * 8, "")
