"""Output is kept within its bound whatever is written, and nothing is lost that fits."""

from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.sandbox.output import Kept


@given(st.lists(st.binary(max_size=30)), st.integers(1, 20).map(lambda half: 2 * half))
def test_the_beginning_and_the_end_are_kept_and_what_is_left_out_is_counted(chunks: list[bytes], limit: int):
    kept, whole = Kept(limit), b"".join(chunks)
    for chunk in chunks:
        kept.take(chunk)
    assert kept.seen == len(whole)
    assert kept.cut == max(0, len(whole) - limit)
    half = limit // 2
    if kept.cut:
        assert kept.text.startswith(whole[:half].decode(errors="replace"))
        assert kept.text.endswith(whole[-half:].decode(errors="replace"))
        assert f"{kept.cut} bytes left out" in kept.text
    else:
        assert kept.text == whole.decode(errors="replace")


def test_a_flood_takes_no_more_memory_than_its_bound():
    kept = Kept(1000)
    for _ in range(10_000):
        kept.take(b"x" * 997)
        assert len(kept._head) + len(kept._tail) <= 1500
    assert len(kept.text) < 1100
