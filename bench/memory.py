"""Where a benchmark keeps what a store would: spelled out as the store does, then held in memory."""

from collections.abc import Sequence
from dataclasses import asdict

from chatops_bot.domain.audit import AuditRecord
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.transcript import Entry
from chatops_bot.stores.codec import entry_from, entry_text


class KeptEntries:
    """`Transcripts` without a disk."""

    def __init__(self) -> None:
        self._texts: dict[SessionKey, list[str]] = {}

    async def append(self, session: SessionKey, entries: Sequence[Entry]) -> None:
        self._texts.setdefault(session, []).extend(map(entry_text, entries))

    async def load(self, session: SessionKey) -> list[Entry]:
        return list(map(entry_from, self._texts.get(session, ())))

    async def known(self, session: SessionKey) -> bool:
        return session in self._texts

    def forget(self, session: SessionKey) -> None:
        """Drop a conversation that is over, so that what is measured does not grow with the number of conversations."""
        del self._texts[session]


class KeptAudit:
    """`Audit` that keeps the newest record only."""

    async def record(self, record: AuditRecord) -> None:
        self.newest = asdict(record)
