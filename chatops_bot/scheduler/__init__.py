"""The embedded task scheduler: a program of its own that serves the Go scheduler's HTTP API from one SQLite file.

It imports nothing of the bot. Start it with `python -m chatops_bot.scheduler`, or in a test with
`SchedulerService.start`. Read `service` for the parts, `lifecycle` for what happens to a run, `states` for its table.

Documented differences from the Go service: a taken name is 409 (not 500); listing runs is newest first in every filter
and an offset past the end is an empty page; resuming recomputes the next time; worker routes need the worker token;
cancelling an ended run is 409.
"""

from chatops_bot.scheduler.clock import ManualClock
from chatops_bot.scheduler.errors import StartRefused
from chatops_bot.scheduler.service import SchedulerService
from chatops_bot.scheduler.settings import SchedulerSettings

__all__ = ["ManualClock", "SchedulerService", "SchedulerSettings", "StartRefused"]
