"""Bounded output, whole characters, and cycles: small pure parts, tried with generated input."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.scheduler.alerts import pause_after
from chatops_bot.scheduler.dag import find_cycle
from chatops_bot.scheduler.worker.capture import Capture, decode_cut_end, decode_cut_start

graphs = st.dictionaries(st.integers(1, 8), st.lists(st.integers(1, 8), max_size=4), max_size=8)


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_a_capture_counts_everything_and_keeps_head_and_tail(chunks: list[bytes]):
    capture = Capture(half=32)
    for chunk in chunks:
        capture.feed(chunk)
    whole = b"".join(chunks)
    assert capture.total == len(whole)
    assert capture.truncated == (len(whole) > 64)
    if not capture.truncated:
        assert capture.text() == whole.decode(errors="replace")
    assert len(capture.text()) <= 64 + 60


@given(st.text(alphabet="aé错🙂", max_size=60), st.integers(0, 200))
def test_a_cut_never_shows_half_a_character(text: str, cut: int):
    raw = text.encode()
    assert text.startswith(decode_cut_end(raw[:cut]))
    assert text.endswith(decode_cut_start(raw[cut:]))


@given(st.binary(max_size=40))
def test_bytes_that_are_no_text_decode_anyway(raw: bytes):
    decode_cut_end(raw).encode()
    decode_cut_start(raw).encode()


@given(graphs)
def test_a_found_cycle_is_one_and_none_is_missed(graph: dict[int, list[int]]):
    cycle = find_cycle(graph)
    if cycle is not None:
        assert cycle[0] == cycle[-1]
        assert all(after in graph.get(before, []) for before, after in itertools.pairwise(cycle))
        return
    left = {node: set(below) for node, below in graph.items()}
    while leaves := [node for node, below in left.items() if not below & set(left)]:
        for node in leaves:
            del left[node]
    assert not left


def test_pauses_between_deliveries_grow_from_half_a_second_to_ten():
    assert [pause_after(n) for n in (1, 2, 3, 4, 5, 6, 7, 500)] == [0.5, 1, 2, 4, 8, 10, 10, 10]
