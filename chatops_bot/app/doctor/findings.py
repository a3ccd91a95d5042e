"""What a check found, and how that is told: a line for people, an object for machines."""

import asyncio
import json
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from chatops_bot.domain.errors import ChatopsError
from chatops_bot.domain.redaction import Redactor
from chatops_bot.rendering.escapes import one_line


class Status(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """`check` names what was looked at; `says` is what was found, and what to do where something is to be done."""

    check: str
    status: Status
    says: str


def ok(check: str, says: str) -> Finding:
    return Finding(check, Status.OK, says)


def warning(check: str, says: str) -> Finding:
    return Finding(check, Status.WARNING, says)


def failed(check: str, says: str) -> Finding:
    return Finding(check, Status.FAILED, says)


@dataclass(frozen=True, slots=True)
class Check:
    """`work` looks at one thing, within `seconds`."""

    name: str
    work: Awaitable[Sequence[Finding]]
    seconds: float = 15.0


async def run_side_by_side(checks: Iterable[Check]) -> list[Finding]:
    """What all checks found, in their order. One that takes too long has failed, and so has one that cannot be made."""
    found = await asyncio.gather(*(_bounded(check) for check in checks))
    return [finding for findings in found for finding in findings]


async def _bounded(check: Check) -> Sequence[Finding]:
    try:
        async with asyncio.timeout(check.seconds):
            return await check.work
    except TimeoutError:
        return [
            failed(check.name, f"No answer within {check.seconds:g} s; check the network and the address.")
        ]
    except ChatopsError as error:
        return [failed(check.name, f"Could not be looked at: {error}")]


def redacted(findings: Iterable[Finding], redactor: Redactor) -> list[Finding]:
    return [replace(finding, says=redactor.text(finding.says)) for finding in findings]


def as_lines(findings: Sequence[Finding]) -> str:
    """A line a finding, and one that sums up."""
    width = max(len(finding.check) for finding in findings)
    lines = [
        f"{finding.status:<7}  {finding.check:<{width}}  {one_line(finding.says)}" for finding in findings
    ]
    count = {status: sum(finding.status is status for finding in findings) for status in Status}
    lines.append(f"{count[Status.OK]} ok, {count[Status.WARNING]} to look at, {count[Status.FAILED]} failed.")
    return "\n".join(lines) + "\n"


def as_json(findings: Sequence[Finding]) -> str:
    checks = [
        {"check": finding.check, "status": finding.status.value, "says": finding.says} for finding in findings
    ]
    return json.dumps({"ok": all_well(findings), "checks": checks}, ensure_ascii=False) + "\n"


def all_well(findings: Iterable[Finding]) -> bool:
    """Whether nothing failed; a warning is no failure."""
    return all(finding.status is not Status.FAILED for finding in findings)
