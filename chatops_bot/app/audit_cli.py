"""`chatops-bot audit`: what the bot did, read beside the running bot without touching its store."""

import json
import sqlite3
import sys
from dataclasses import asdict
from pathlib import Path

from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.errors import StoreError
from chatops_bot.rendering.escapes import one_line
from chatops_bot.stores.sqlite_audit import read_audit


def print_audit(store_path: Path, *, as_json: bool, last: int) -> int:
    """Print the newest `last` rows, oldest of them first. Raises StoreError when there is no readable store."""
    try:
        rows = list(read_audit(store_path))[-last:]
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"{store_path} is not a bot's store ({error}); name the data folder of the bot with --data."
        ) from error
    for seq, record in rows:
        sys.stdout.write((_json(seq, record) if as_json else _line(seq, record)) + "\n")
    if not rows and not as_json:
        sys.stdout.write("The audit is empty: no tool was called yet.\n")
    return 0


def _json(seq: int, record: AuditRecord) -> str:
    return json.dumps({"seq": seq, **asdict(record), "at": record.at.isoformat()}, ensure_ascii=False)


def _line(seq: int, record: AuditRecord) -> str:
    who = f"{record.person_name} ({record.role})" if record.person_id else "nobody"
    return (
        f"{seq:>6}  {record.at:%Y-%m-%d %H:%M:%S}  {record.decision:<15} {record.status:<15} "
        f"{one_line(record.tool)} {one_line(record.arguments)}  by {one_line(who)}  {record.milliseconds} ms"
    )
