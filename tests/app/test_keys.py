"""The master key: where it comes from, what is refused, and what is made of it."""

import base64
import stat
from hashlib import sha256
from pathlib import Path

import pytest

from chatops_bot.app.keys import key_file, open_keys, read_keys
from chatops_bot.domain.errors import ConfigInvalid

FIRST, SECOND, THIRD = (sha256(name).hexdigest() for name in (b"first", b"second", b"third"))


def refused(env: dict[str, str], data: Path | None = None) -> str:
    with pytest.raises(ConfigInvalid) as error:
        read_keys(env, data)
    assert str(error.value).count(". ") == 0, "one sentence"
    return str(error.value)


def test_each_purpose_has_a_key_of_its_own_and_none_is_the_master_key():
    keys = read_keys({"CHATOPS_KEY": FIRST}, None)
    (audit,) = keys.audit
    assert len({audit.secret, keys.buttons[0], bytes.fromhex(FIRST)}) == 3
    assert read_keys({"CHATOPS_KEY": FIRST}, None) == keys
    assert read_keys({"CHATOPS_KEY": SECOND}, None).buttons != keys.buttons
    assert FIRST not in repr(keys)
    assert keys.buttons[0].hex() not in repr(keys)


def test_hex_and_base64_of_a_key_are_one_key():
    raw = bytes.fromhex(FIRST)
    texts = [
        FIRST,
        FIRST.upper(),
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode().rstrip("="),
    ]
    assert len({read_keys({"CHATOPS_KEY": text}, None).buttons[0] for text in texts}) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hunter2!", "CHATOPS_KEY is neither hex nor base64; make one with `openssl rand -hex 32`."),
        (FIRST[:62], "CHATOPS_KEY has only 31 bytes, and 32 are needed;"),
        ("ab" * 32, "CHATOPS_KEY is a pattern, and could be guessed;"),
        ("0123456789abcdef" * 4, "CHATOPS_KEY is a pattern, and could be guessed;"),
        (" " + FIRST[:10], "CHATOPS_KEY has only 5 bytes"),
        ("é" * 64, "CHATOPS_KEY is neither hex nor base64;"),
    ],
)
def test_a_weak_key_is_refused_in_one_sentence_that_does_not_quote_it(text: str, words: str):
    said = refused({"CHATOPS_KEY": text})
    assert said.startswith(words)
    assert text.strip() not in said
    assert refused({"CHATOPS_KEY": FIRST, "CHATOPS_KEY_OLD": f"{SECOND},{text}"}).startswith(
        "CHATOPS_KEY_OLD "
    )


def test_without_a_key_and_a_folder_of_its_own_a_bot_does_not_start():
    said = refused({})
    assert said == "CHATOPS_KEY is not set in the environment; make one with `openssl rand -hex 32`."
    with pytest.raises(ConfigInvalid):
        open_keys({"CHATOPS_KEY": ""}, None)


def test_the_first_start_makes_a_key_that_only_its_owner_reads_and_later_ones_find_it(tmp_path: Path):
    keys = open_keys({}, tmp_path)
    path = key_file(tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [*path.parent.iterdir()] == [path], "nothing is left of the making"
    assert open_keys({}, tmp_path) == keys == read_keys({}, tmp_path)
    assert keys.texts == [path.read_text().strip()]


def test_who_only_looks_makes_no_key(tmp_path: Path):
    assert str(key_file(tmp_path)) in refused({}, tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_a_key_in_the_environment_makes_no_file(tmp_path: Path):
    open_keys({"CHATOPS_KEY": FIRST}, tmp_path)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o660])
def test_a_key_that_others_may_read_is_refused(tmp_path: Path, mode: int):
    open_keys({}, tmp_path)
    key_file(tmp_path).chmod(mode)
    said = refused({}, tmp_path)
    assert f"chatops.key is open to others (mode {mode:o})" in said
    assert f"chmod 600 {key_file(tmp_path)}" in said
    key_file(tmp_path).chmod(0o600)
    key_file(tmp_path).parent.chmod(0o755)
    assert "keys is open to others (mode 755)" in refused({}, tmp_path)


def test_a_key_file_that_holds_no_key_is_refused(tmp_path: Path):
    open_keys({}, tmp_path)
    key_file(tmp_path).write_text("\n")
    assert "chatops.key is empty; restore it from a backup" in refused({}, tmp_path)
    key_file(tmp_path).write_text("secret\n")
    assert f"{key_file(tmp_path)} has only" in refused({}, tmp_path) or "neither hex" in refused({}, tmp_path)
    key_file(tmp_path).write_bytes(b"\xff\xfe")
    assert "cannot be read" in refused({}, tmp_path)


def test_a_folder_that_takes_no_key_is_told(tmp_path: Path):
    (tmp_path / "keys").write_text("a file where the folder belongs")
    with pytest.raises(ConfigInvalid, match=r"chatops\.key cannot be made"):
        open_keys({}, tmp_path)


def test_after_a_rotation_the_new_key_comes_first_and_the_old_ones_verify(tmp_path: Path):
    first, second, third = (
        read_keys({"CHATOPS_KEY": text}, None).audit[0] for text in (FIRST, SECOND, THIRD)
    )
    env = {"CHATOPS_KEY": THIRD, "CHATOPS_KEY_OLD": f"{SECOND}, {FIRST}"}
    assert [*read_keys(env, None).audit] == [third, second, first]
    key_file(tmp_path).parent.mkdir(mode=0o700)
    key_file(tmp_path).touch(mode=0o600)
    key_file(tmp_path).write_text(f"{SECOND}\n{FIRST}\n")
    assert [*read_keys({}, tmp_path).audit] == [second, first]
    assert [*read_keys({"CHATOPS_KEY": THIRD}, tmp_path).audit] == [third, second, first], (
        "it moved to the environment"
    )
    assert read_keys(env, tmp_path).texts == [THIRD, SECOND, FIRST, SECOND, FIRST]
