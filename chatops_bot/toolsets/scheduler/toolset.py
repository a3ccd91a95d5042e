"""The twelve tools in the one order that every request shows them in; a changing order would defeat prompt caching."""

from chatops_bot.ports import Clock, Tool, ToolSpec
from chatops_bot.toolsets.scheduler.client import SchedulerClient
from chatops_bot.toolsets.scheduler.create import CreateTask
from chatops_bot.toolsets.scheduler.delete import DeleteTask
from chatops_bot.toolsets.scheduler.health import GetSystemHealth
from chatops_bot.toolsets.scheduler.pause import PauseTask
from chatops_bot.toolsets.scheduler.retry import RetryFailedInstance
from chatops_bot.toolsets.scheduler.runs import AnalyzeFailure, QueryInstances
from chatops_bot.toolsets.scheduler.tasks import GetTaskDetail, QueryTasks
from chatops_bot.toolsets.scheduler.trigger import TriggerTask
from chatops_bot.toolsets.scheduler.workers import GetWorkerLoadHistory, QueryWorkers

_READS = (
    QueryTasks,
    QueryInstances,
    QueryWorkers,
    GetTaskDetail,
    GetSystemHealth,
    GetWorkerLoadHistory,
    AnalyzeFailure,
)
_WRITES = (CreateTask, TriggerTask, PauseTask, RetryFailedInstance, DeleteTask)
SCHEDULER_SPECS: tuple[ToolSpec, ...] = tuple(kind.spec for kind in (*_READS, *_WRITES))
"""What the tools are, for whoever needs no back end."""


def scheduler_tools(client: SchedulerClient, clock: Clock) -> tuple[Tool, ...]:
    """Every tool of the scheduler: seven that read, then five that propose."""
    return (*(kind(client, clock) for kind in _READS), *(kind(client, clock) for kind in _WRITES))
