"""query_workers and get_worker_load_history."""

from collections.abc import Iterable
from dataclasses import dataclass

from chatops_bot.domain.followup import Suggestion
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.tool import ToolResult
from chatops_bot.ports import Clock, ToolContext, ToolSpec
from chatops_bot.toolsets.scheduler.api import SchedulerApi
from chatops_bot.toolsets.scheduler.arguments import GetWorkerLoadHistoryArguments, QueryWorkersArguments
from chatops_bot.toolsets.scheduler.client import SchedulerClient
from chatops_bot.toolsets.scheduler.formatting import counted, stamp
from chatops_bot.toolsets.scheduler.suggestions import HOW_LOADED, LOAD_TREND, WHAT_FAILED, WHICH_ARE_OFFLINE
from chatops_bot.toolsets.scheduler.wire import LoadSample, Worker

_MOST_SAMPLES = 2_000  # the most that the API gives at once
_MOST_SNAPSHOTS = 200
_BUSY_PERCENT = 80.0


def utilization(current_load: int, max_concurrency: int) -> float:
    """Load in percent of capacity; 0 for a worker without capacity."""
    return 100.0 * current_load / max_concurrency if max_concurrency > 0 else 0.0


@dataclass(frozen=True, slots=True)
class QueryWorkers:
    client: SchedulerClient
    clock: Clock

    spec = ToolSpec(
        name="query_workers",
        arguments=QueryWorkersArguments,
        effect=Effect.READ,
        label=Phrase("正在查询工作节点…", "querying workers…"),
    )

    async def run(self, arguments: QueryWorkersArguments, context: ToolContext) -> ToolResult:
        workers = await SchedulerApi(self.client, context.person.role).workers()
        online = sum(worker.status == "online" for worker in workers)
        return ToolResult(
            status="ok",
            content={
                "total": len(workers),
                "online": online,
                "as_of": stamp(self.clock.now()),
                "workers": [
                    {
                        "id": worker.id,
                        "hostname": worker.hostname,
                        "status": worker.status,
                        "current_load": worker.current_load,
                        "max_concurrency": worker.max_concurrency,
                        "utilization_pct": f"{utilization(worker.current_load, worker.max_concurrency):.1f}%",
                        "last_heartbeat_at": stamp(worker.last_heartbeat_at),
                    }
                    for worker in workers
                ],
            },
            summary=Phrase(
                f"{len(workers)} 个节点，{online} 个在线",
                f"{counted(len(workers), 'worker')}, {online} online",
            ),
            suggestions=_next_after_workers(workers),
            answers=(WHICH_ARE_OFFLINE, HOW_LOADED),
        )


@dataclass(frozen=True, slots=True)
class GetWorkerLoadHistory:
    client: SchedulerClient
    clock: Clock

    spec = ToolSpec(
        name="get_worker_load_history",
        arguments=GetWorkerLoadHistoryArguments,
        effect=Effect.READ,
        label=Phrase("正在查询负载历史…", "reading the load history…"),
    )

    async def run(self, arguments: GetWorkerLoadHistoryArguments, context: ToolContext) -> ToolResult:
        samples = await SchedulerApi(self.client, context.person.role).worker_loads(
            worker_id=arguments.worker_id, hours=arguments.hours, limit=_MOST_SAMPLES
        )
        every = -(-len(samples) // _MOST_SNAPSHOTS) or 1
        shown = samples[::every]
        average, peak = _average_percent(samples), max((s.current_load for s in samples), default=0)
        return ToolResult(
            status="ok",
            content={
                "count": len(shown),
                "total_matched": len(samples),
                "every_nth": every,
                "truncated": every > 1 or len(samples) == _MOST_SAMPLES,
                "covers_from": stamp(samples[-1].recorded_at) if samples else None,
                "peak_load": peak,
                "average_load_pct": round(average, 1),
                "as_of": stamp(self.clock.now()),
                "snapshots": [
                    {
                        "worker_id": sample.worker_id,
                        "current_load": sample.current_load,
                        "max_concurrency": sample.max_concurrency,
                        "status": sample.status,
                        "recorded_at": stamp(sample.recorded_at),
                    }
                    for sample in shown
                ],
            },
            summary=Phrase(
                f"{len(samples)} 个采样，平均负载 {average:.0f}%，峰值 {peak}",
                f"{counted(len(samples), 'sample')}, average load {average:.0f}%, peak {peak}",
            ),
            suggestions=(HOW_LOADED,),
            answers=(LOAD_TREND,),
        )


def _average_percent(samples: tuple[LoadSample, ...]) -> float:
    return sum(utilization(s.current_load, s.max_concurrency) for s in samples) / (len(samples) or 1)


def _next_after_workers(workers: Iterable[Worker]) -> tuple[Suggestion, ...]:
    troubled = next(
        (
            worker
            for worker in workers
            if worker.status != "online"
            or utilization(worker.current_load, worker.max_concurrency) >= _BUSY_PERCENT
        ),
        None,
    )
    if troubled is None:
        return (LOAD_TREND,)
    return (LOAD_TREND, WHAT_FAILED)
