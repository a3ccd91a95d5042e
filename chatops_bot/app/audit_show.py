"""`chatops-bot audit show`: what was recorded, a line a record."""

import json
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, replace

from chatops_bot.app.audit_filter import AuditFilter, is_code, proposes
from chatops_bot.app.audit_reading import all_rows, open_audit
from chatops_bot.app.where import Where
from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.audit_check import Row, Unreadable
from chatops_bot.domain.errors import ConfigInvalid
from chatops_bot.ports import AuditReader
from chatops_bot.rendering.escapes import json_shown, one_line

SAYS_CHARS = 200
_REASONS = {"break_glass": "broke the glass", "reason": "reason"}
"""What a decision's record calls what somebody said, and what people call it."""


async def show(where: Where, wanted: AuditFilter, *, as_json: bool, last: int) -> int:
    """Print the newest `last` records that are wanted, oldest of them first. Raises StoreError without a readable store."""
    folder, config = where.find()
    async with open_audit(folder, config) as reader:
        if is_code(wanted.proposal):
            wanted = replace(wanted, proposal=await _id_of(reader, wanted.proposal.upper()))
        newest = (await reader.head()).seq
        is_everything = wanted == AuditFilter()
        found: deque[tuple[int, AuditRecord | str]] = deque(maxlen=last)
        async for row in all_rows(reader, after=max(0, newest - last) if is_everything else 0):
            read = _read(row)
            if is_everything or (isinstance(read, AuditRecord) and wanted.takes(read)):
                found.append((row.seq, read))
    for seq, read in found:
        sys.stdout.write((_json(seq, read) if as_json else _line(seq, read)) + "\n")
    if not found and not as_json:
        sys.stdout.write("The audit is empty.\n" if not newest else "The audit has no such record.\n")
    return 0


async def _id_of(reader: AuditReader, code: str) -> str:
    """The id of the newest proposal with this code."""
    found = ""
    async for row in all_rows(reader):
        read = _read(row)
        if isinstance(read, AuditRecord) and proposes(read, code):
            found = read.proposal_id
    if not found:
        raise ConfigInvalid(f"The audit knows no proposal with the code {code}; check the code on its card.")
    return found


def _read(row: Row) -> AuditRecord | str:
    """The record, or why it cannot be read."""
    if isinstance(row, Unreadable):
        return row.why
    try:
        return row.record
    except ValueError as error:
        return str(error)


def _json(seq: int, read: AuditRecord | str) -> str:
    fields = {"unreadable": read} if isinstance(read, str) else {**asdict(read), "at": read.at.isoformat()}
    return json_shown(json.dumps({"seq": seq, **fields}, ensure_ascii=False))


def _line(seq: int, read: AuditRecord | str) -> str:
    if isinstance(read, str):
        return f"{seq:>6}  cannot be read: {one_line(read)}"
    # What a call brought back is long and seldom asked for; what a question, a card or a refusal says is all there is to it.
    says = read.result[:SAYS_CHARS] if not read.arguments or read.decision == "refused" else ""
    parts = [one_line(text) for text in (read.tool, read.arguments, says) if text]
    parts += [f"{name}: {one_line(why)}" for name, why in _reasons(read)]
    if read.person_id:
        parts.append(f" by {one_line(read.person_name)} ({one_line(read.role)})")
    if read.milliseconds:
        parts.append(f" {read.milliseconds} ms")
    return (
        f"{seq:>6}  {read.at:%Y-%m-%d %H:%M:%S} UTC  {one_line(read.decision):<15} {one_line(read.status):<15} "
        f"{' '.join(parts)}"
    )


def _reasons(read: AuditRecord) -> Iterator[tuple[str, str]]:
    """What people said why they decided so, which is what is reviewed."""
    try:
        told = json.loads(read.result)
    except ValueError:
        return
    for name, said in _REASONS.items():
        if isinstance(told, dict) and isinstance(why := told.get(name), str) and why:
            yield said, why
