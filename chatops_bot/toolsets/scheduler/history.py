"""Runs since a point in time, read page by page from the newest on.

The Go service has traps here: filtered by status it returns the oldest rows, and an offset at or past the total returns
the first page again. So pages are unfiltered, the offset stays below the total, and a row counts
once: runs that start meanwhile push older ones onto the next page. A page without a new row is the end.
"""

from dataclasses import dataclass
from datetime import datetime

from chatops_bot.toolsets.scheduler.api import SchedulerApi
from chatops_bot.toolsets.scheduler.wire import Run

MOST_ROWS = 2_000
_PAGE = 200


@dataclass(frozen=True, slots=True)
class RunHistory:
    """Runs inside the window, newest first. `complete` is False when the cap came before the window's end."""

    runs: tuple[Run, ...]
    complete: bool


async def runs_since(api: SchedulerApi, cutoff: datetime, *, task_id: int | None = None) -> RunHistory:
    """The runs at or after `cutoff`, at most the newest `MOST_ROWS`."""
    seen: dict[int, Run] = {}
    offset = 0
    while True:
        page = await api.run_page(limit=_PAGE, offset=offset, task_id=task_id)
        fresh = [run for run in page.instances if run.id not in seen]
        seen.update((run.id, run) for run in fresh)
        offset += len(page.instances)
        past_window = not any(_is_inside(run, cutoff) for run in page.instances)
        exhausted = not fresh or past_window or (page.total is not None and offset >= page.total)
        if exhausted or len(seen) >= MOST_ROWS:
            break
    newest = sorted(seen.values(), key=lambda run: run.id, reverse=True)[:MOST_ROWS]
    return RunHistory(tuple(run for run in newest if _is_inside(run, cutoff)), complete=exhausted)


def _is_inside(run: Run, cutoff: datetime) -> bool:
    """A run without any time counts as inside: better one row too many than a run nobody sees."""
    return run.moment is None or run.moment >= cutoff
