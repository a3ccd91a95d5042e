"""One master key, and the keys that are made from it, one for each purpose.

The master key stands in the environment, as CHATOPS_KEY. A bot on SQLite may do without: it makes a key at its first start
and keeps it in a file of its data folder that only its owner reads. That keeps it out of the database and of what is
copied of it; it does not keep it from whoever may read the whole folder, and an environment variable does.

A rotation puts a new key before the old one: the new CHATOPS_KEY with the old one in CHATOPS_KEY_OLD, or a new first line
in the file. From then on the new key seals, and the old one only verifies what it sealed before. The
buttons of open cards go on working.
"""

import base64
import binascii
import contextlib
import hmac
import os
import secrets as random_secrets
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from chatops_bot.domain.audit_chain import ChainKey
from chatops_bot.domain.errors import ConfigInvalid

VARIABLE = "CHATOPS_KEY"
VARIABLE_OLD = "CHATOPS_KEY_OLD"
SECRET_BYTES = 32
"""As long as the hash that the keys are used with."""
DISTINCT_BYTES = 16
"""32 random bytes have about 30 different values, and fewer than 16 in no one's lifetime; a typed pattern has a few."""
_MAKE_ONE = "make one with `openssl rand -hex 32`."


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of each purpose. `repr` shows nothing of them.

    `audit` are those of the audit's chain, the current one first; `actions` those that seal what is approved, likewise;
    `secrets` those that seal what people type for tools alone, likewise;
    `buttons` those that seal what a card's buttons carry, likewise; `fences` is what nonces of fences are made with; `texts` are the master keys as they were written, for redaction.
    """

    audit: Sequence[ChainKey]
    actions: Sequence[bytes] = field(repr=False)
    buttons: Sequence[bytes] = field(repr=False)
    secrets: Sequence[bytes] = field(repr=False)
    fences: bytes = field(repr=False)
    texts: Sequence[str] = field(repr=False)


def key_file(data: Path) -> Path:
    """The master key of a bot on SQLite that has none in its environment."""
    return data / "keys" / "chatops.key"


def open_keys(env: Mapping[str, str], data: Path | None) -> Keys:
    """The keys of a bot; without CHATOPS_KEY in `env`, those of the file in `data`, which is made where there is none.

    `data` is None for a bot that shares its store with others: they must share the key as well. Raises ConfigInvalid.
    """
    if not env.get(VARIABLE) and data is not None:
        _make_file(key_file(data))
    return read_keys(env, data)


def read_keys(env: Mapping[str, str], data: Path | None) -> Keys:
    """As `open_keys`, for whoever only looks: a file that is not there is refused."""
    named = [(VARIABLE, env[VARIABLE])] if env.get(VARIABLE) else []
    named += [(VARIABLE_OLD, text) for text in env.get(VARIABLE_OLD, "").split(",") if text.strip()]
    path = key_file(data) if data is not None else None
    in_file = [(str(path), text) for text in _lines(path)] if path is not None and path.exists() else []
    # A key of the environment comes first; what stands in the file sealed what was sealed before there was one.
    named = [*named, *in_file] if env.get(VARIABLE) else [*in_file, *named]
    if not env.get(VARIABLE) and not in_file:
        where = f", and there is no {path}" if path is not None else ""
        raise ConfigInvalid(f"{VARIABLE} is not set in the environment{where}; {_MAKE_ONE}")
    masters = list(dict.fromkeys(_bytes(name, text.strip()) for name, text in named))
    return Keys(
        audit=[ChainKey.of(_derived(master, "audit")) for master in masters],
        actions=[_derived(master, "actions") for master in masters],
        buttons=[_derived(master, "buttons") for master in masters],
        secrets=[_derived(master, "secrets") for master in masters],
        fences=_derived(masters[0], "fences"),
        texts=[text.strip() for _, text in named],
    )


def _derived(master: bytes, purpose: str) -> bytes:
    return hmac.digest(master, f"chatops-bot key for {purpose}, version 1".encode(), "sha256")


def _bytes(name: str, text: str) -> bytes:
    """The key that a text stands for. The message names where it stands, and nothing of it."""
    try:
        key = bytes.fromhex(text)
    except ValueError:
        try:
            key = base64.b64decode(
                text.translate({ord("-"): "+", ord("_"): "/"}) + "=" * (-len(text) % 4), validate=True
            )
        except (binascii.Error, ValueError) as error:
            raise ConfigInvalid(f"{name} is neither hex nor base64; {_MAKE_ONE}") from error
    if len(key) < SECRET_BYTES:
        raise ConfigInvalid(f"{name} has only {len(key)} bytes, and {SECRET_BYTES} are needed; {_MAKE_ONE}")
    if len(set(key)) < DISTINCT_BYTES:
        raise ConfigInvalid(f"{name} is a pattern, and could be guessed; {_MAKE_ONE}")
    return key


def _make_file(path: Path) -> None:
    """Make the file with a fresh key, unless it is there. Another process sees it whole or not at all."""
    if path.exists():
        return
    fresh = path.with_name(f".{random_secrets.token_hex(8)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open(
            fresh, "x", opener=lambda name, flags: os.open(name, flags, 0o600), encoding="ascii"
        ) as file:  # Path.open takes no opener
            file.write(random_secrets.token_hex(SECRET_BYTES) + "\n")
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):  # another process was faster; its key is as good
            path.hardlink_to(fresh)
        fresh.unlink()
    except OSError as error:
        raise ConfigInvalid(
            f"{path} cannot be made ({error.strerror}); make its folder writable, or set {VARIABLE}."
        ) from error


def _lines(path: Path) -> list[str]:
    """The keys in the file, the current one first. Raises ConfigInvalid when somebody else may read it."""
    for kept in (path.parent, path):
        # The folder as well: whoever may write there could put another file in this one's place.
        mode = stat.S_IMODE(kept.stat().st_mode)
        if mode & 0o077:
            wanted = "700" if kept is path.parent else "600"
            raise ConfigInvalid(
                f"{kept} is open to others (mode {mode:o}), and whoever reads the key can forge; chmod {wanted} {kept}, "
                "and put a new key on the first line if it was open for long."
            )
    try:
        lines = path.read_text(encoding="ascii").split()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigInvalid(f"{path} cannot be read ({error}); restore it from a backup.") from error
    if not lines:
        raise ConfigInvalid(f"{path} is empty; restore it from a backup, or {_MAKE_ONE}")
    return lines
