"""Where the temporary folders of a test run lie."""

from pathlib import Path

from tests.in_memory import has_room, settle_in


def test_a_folder_that_is_full_or_missing_is_left_alone(tmp_path: Path):
    assert has_room(tmp_path, 0)
    assert not has_room(tmp_path, 1 << 62)
    assert not has_room(tmp_path / "missing", 0)


def test_whoever_chose_a_folder_keeps_it(tmp_path: Path):
    chosen = {"TMPDIR": "/elsewhere"}
    assert not settle_in(tmp_path, chosen, room=0)
    assert chosen == {"TMPDIR": "/elsewhere"}
