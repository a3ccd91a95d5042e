"""What a bot's SQLite store holds of its threads, read beside the running bot."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from chatops_bot.domain.errors import StoreError
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.transcript import Entry
from chatops_bot.stores.codec import entry_from, proposal_from
from chatops_bot.stores.sqlite_file import open_read_only


def read_threads(
    path: Path, is_meant: Callable[[SessionKey], bool]
) -> list[tuple[SessionKey, list[Entry], list[Proposal]]]:
    """The threads that are meant, each with its entries and its proposals, oldest first. Raises StoreError."""
    try:
        with closing(open_read_only(path)) as db:
            keys = [SessionKey.parse(text) for (text,) in db.execute("SELECT DISTINCT session FROM entries")]
            return [(key, _entries(db, key), _proposals(db, key)) for key in keys if is_meant(key)]
    except sqlite3.Error as error:
        raise StoreError(
            f"{path} cannot be read ({error}); name the data folder of a bot that has run."
        ) from error


def read_people(path: Path) -> list[tuple[str, str]]:
    """Ids and names of everybody who wrote to the bot in any thread. Raises StoreError."""
    try:
        with closing(open_read_only(path)) as db:
            return db.execute(
                "SELECT DISTINCT json_extract(body, '$.author_id') AS id, json_extract(body, '$.author_name') AS name "
                "FROM entries WHERE id IS NOT NULL AND name IS NOT NULL ORDER BY id, name"
            ).fetchall()
    except sqlite3.Error as error:
        raise StoreError(
            f"{path} cannot be read ({error}); name the data folder of a bot that has run."
        ) from error


def _entries(db: sqlite3.Connection, key: SessionKey) -> list[Entry]:
    rows = db.execute("SELECT body FROM entries WHERE session = ? ORDER BY seq", (str(key),))
    return [entry_from(body, str(key)) for (body,) in rows]


def _proposals(db: sqlite3.Connection, key: SessionKey) -> list[Proposal]:
    rows = db.execute("SELECT id, body FROM proposals WHERE session = ? ORDER BY rowid", (str(key),))
    return [proposal_from(body, name) for name, body in rows]
