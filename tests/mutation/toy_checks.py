"""What the toy's tests look at; not collected by itself, since faults are tried on it."""

from tests.mutation.toy import found


def test_what_is_in_the_table_is_found():
    assert found("a") == 1
    assert found("xxxa") is None
