"""The twelve tools in the one order that every request shows them in; a changing order would defeat prompt caching."""

from chatops_bot.ports import Clock, Tool
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


def scheduler_tools(client: SchedulerClient, clock: Clock) -> tuple[Tool, ...]:
    """Every tool of the scheduler: seven that read, then five that propose."""
    return (
        QueryTasks(client, clock),
        QueryInstances(client, clock),
        QueryWorkers(client, clock),
        GetTaskDetail(client, clock),
        GetSystemHealth(client, clock),
        GetWorkerLoadHistory(client, clock),
        AnalyzeFailure(client, clock),
        CreateTask(client, clock),
        TriggerTask(client, clock),
        PauseTask(client, clock),
        RetryFailedInstance(client, clock),
        DeleteTask(client, clock),
    )
