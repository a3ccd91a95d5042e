"""Moments as people read them: with their zone, and no more of the date than it takes."""

from datetime import datetime


def moment_text(moment: datetime) -> str:
    """A moment to the second with its offset: `2026-11-29 14:02:00 UTC`, `2026-11-29 22:02:00 UTC+08:00`."""
    return f"{moment:%Y-%m-%d %H:%M:%S} {_zone(moment)}"


def clock_text(moment: datetime, since: datetime) -> str:
    """The time to the minute; with the date where that is another one than `since`."""
    same_day = moment.date() == since.astimezone(moment.tzinfo).date()
    return f"{moment:{'%H:%M' if same_day else '%Y-%m-%d %H:%M'}} {_zone(moment)}"


def _zone(moment: datetime) -> str:
    offset = moment.isoformat(timespec="seconds")[19:]
    return f"UTC{'' if offset == '+00:00' else offset}"
