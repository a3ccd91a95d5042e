"""The task scheduler's twelve tools, over the HTTP API that the Go service and the embedded service share."""

from chatops_bot.toolsets.scheduler.client import SchedulerClient
from chatops_bot.toolsets.scheduler.login import Account
from chatops_bot.toolsets.scheduler.toolset import scheduler_tools

__all__ = ["Account", "SchedulerClient", "scheduler_tools"]
