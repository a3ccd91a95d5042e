"""Sealing: what was sealed comes back with its key and its name, and with nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.domain.sealed_value import seal, unseal

KEY, OLDER = b"k" * 32, b"o" * 32
NAMES = st.text(min_size=1, max_size=20)


@given(st.text(max_size=300), NAMES)
def test_what_was_sealed_comes_back_with_a_key_of_the_list(text: str, name: str):
    sealed = seal(OLDER, name, text)
    assert unseal([KEY, OLDER], name, sealed) == text
    assert unseal([KEY], name, sealed) is None
    assert len(text) < 4 or text.encode(errors="surrogatepass").hex() not in sealed


@given(st.text(max_size=100), NAMES, st.data())
def test_whatever_is_changed_opens_nothing(text: str, name: str, data: st.DataObject):
    sealed = bytearray.fromhex(seal(KEY, name, text))
    at = data.draw(st.integers(0, len(sealed) - 1))
    sealed[at] ^= data.draw(st.integers(1, 255))
    assert unseal([KEY], name, sealed.hex()) is None
    assert unseal([KEY], f"{name}'", seal(KEY, name, text)) is None, "nor under another name"
    assert unseal([KEY], name, seal(KEY, name, text)[: 2 * at]) is None


def test_what_is_no_sealed_value_opens_nothing():
    for wrong in ("", "zz", "00", "ab" * 40):
        assert unseal([KEY], "name", wrong) is None


def test_equal_texts_of_equal_length_look_alike_in_nothing_but_length():
    one, other, third = (
        seal(KEY, "a", "same text"),
        seal(KEY, "b", "same text"),
        seal(KEY, "c", "longer by a bit"),
    )
    assert len(one) == len(other) == len(third)
    assert one[:32] != other[:32]
