"""`chatops-bot audit verify` and `export`: whether the audit is what was sealed, and the chain for others to keep and verify."""

import json
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from chatops_bot.app.anchoring import read_anchors
from chatops_bot.app.audit_export import export_line, exported_rows
from chatops_bot.app.audit_reading import all_rows, open_audit
from chatops_bot.app.config import Config, anchor_path_of
from chatops_bot.app.keys import read_keys
from chatops_bot.app.where import Where
from chatops_bot.domain.audit_chain import Head
from chatops_bot.domain.audit_check import Broken, Check, Verified, Wrong
from chatops_bot.domain.errors import AuditGone, ConfigInvalid, StoreError
from chatops_bot.rendering.escapes import one_line

WHOLE, BROKEN = 0, 1

_SAYS: Mapping[Wrong, str] = {
    "changed": "is not what was sealed: somebody changed it",
    "missing": "is missing: somebody took it out",
    "reordered": "is not in its place: somebody changed the order",
    "duplicated": "is not in its place: an earlier record stands there a second time",
    "inserted": "is not in its place: something that was never sealed stands before it",
    "forked": "does not follow the record before it: two processes wrote, or part of another copy was put here",
    "cut": "is missing, and all after it: the end was cut off",
    "not_as_anchored": "is not the one that was noted down: the audit was written anew from there or before",
    "wrong_key": "was sealed with another key: give the right one as CHATOPS_KEY, and older ones in CHATOPS_KEY_OLD",
    "old_key": "was sealed with a key that had been replaced before: somebody has the old key",
    "unreadable": "cannot be read",
}


@dataclass(frozen=True, slots=True)
class Proof:
    """What to verify, and against what: `file` is an export in place of the store, `anchors` are heads that somebody gave."""

    file: Path | None = None
    anchor_file: Path | None = None
    anchors: tuple[Head, ...] = ()


async def verify(where: Where, proof: Proof, env: Mapping[str, str], *, as_json: bool) -> int:
    """Say in one sentence whether the audit is whole: 0 when it is, 1 when not. Raises ChatopsError when nobody can say."""
    folder, config = _bot(where, is_needed=proof.file is None)
    keys = read_keys(env, config.key_folder if config else folder)
    anchor_file = proof.anchor_file
    if anchor_file is None and proof.file is None and folder is not None:
        anchor_file = config.anchor_path if config else anchor_path_of(folder)
    # Before the rows: beside a running bot, an anchor that is read later may know more than the rows that were read.
    noted = _anchors(anchor_file, is_named=proof.anchor_file is not None)
    anchors = [*noted, *proof.anchors]
    check = Check(keys.audit, anchors)
    if proof.file is not None:
        _check_export(proof.file, check)
    elif folder is not None:
        try:
            async with open_audit(folder, config, env) as reader:
                async for row in all_rows(reader):
                    check.take(row)
        except AuditGone:
            if not anchors:  # nothing says that there ever was one
                raise
            sys.stdout.write(_gone(max(anchor.seq for anchor in anchors), as_json=as_json) + "\n")
            return BROKEN
    found = check.end()
    sys.stdout.write((_as_json(found) if as_json else _sentence(found)) + "\n")
    return WHOLE if isinstance(found, Verified) else BROKEN


def _bot(where: Where, *, is_needed: bool) -> tuple[Path | None, Config | None]:
    """The bot's folder and configuration. An export is verified without them, where the key stands in the environment."""
    try:
        return where.find()
    except ConfigInvalid:
        if is_needed or where != Where():
            raise
        return None, None


def _anchors(path: Path | None, *, is_named: bool) -> Iterable[Head]:
    if path is None or not (is_named or path.exists()):
        return []
    try:
        with path.open(encoding="ascii", errors="replace") as file:
            return list(read_anchors(file))
    except OSError as error:
        raise ConfigInvalid(
            f"{path} cannot be read ({error.strerror}); name the anchor file with --anchors."
        ) from error


def _check_export(path: Path, check: Check) -> None:
    try:
        with path.open("rb") as file:
            for row in exported_rows(file):
                check.take(row)
    except OSError as error:
        raise ConfigInvalid(
            f"{path} cannot be read ({error.strerror}); name an export with --file."
        ) from error


def _sentence(found: Verified | Broken) -> str:
    if isinstance(found, Broken):
        detail = f" ({one_line(found.detail)})" if found.detail else ""
        good = f"; the {found.seq - 1:,} before it are good" if found.seq > 1 else ""
        return f"The audit is broken: record {found.seq} {_SAYS[found.wrong]}{detail}{good}."
    if not found.count:
        return "The audit is empty, and no anchor knows of a record."
    anchored = (
        f"anchors confirm it up to record {found.anchored:,}"
        if found.anchored
        else "no anchor confirms it, so records may be missing at the end"
    )
    return f"The audit is whole: {found.count:,} records, each as it was sealed; {anchored}. Its head is {found.count}:{found.head.mac}."


def _gone(known: int, *, as_json: bool) -> str:
    says = f"The audit is gone: the store has no table of it, and an anchor knows record {known}."
    return json.dumps({"ok": False, "record": 1, "wrong": "gone", "says": says}) if as_json else says


def _as_json(found: Verified | Broken) -> str:
    if isinstance(found, Broken):
        value = {"ok": False, "record": found.seq, "wrong": found.wrong, "says": _sentence(found)}
        return json.dumps(value)
    return json.dumps(
        {"ok": True, "records": found.count, "head": found.head.mac, "anchored": found.anchored}
    )


async def export(where: Where, out: Path | None) -> int:
    """Write every row with its seal as JSON lines, to `out` or to standard output. Raises ChatopsError."""
    folder, config = where.find()
    async with open_audit(folder, config) as reader:
        with ExitStack() as stack:
            file = stack.enter_context(_new_file(out)) if out else sys.stdout
            async for row in all_rows(reader):
                file.write(export_line(row) + "\n")
    return WHOLE


def _new_file(path: Path) -> TextIO:
    """For its owner only, since it holds what people asked."""
    try:
        return open(
            path, "x", opener=lambda name, flags: os.open(name, flags, 0o600), encoding="ascii"
        )  # Path.open takes no opener; the caller closes it
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror}); name a new file with --out."
        ) from error
