"""What the tests of the offline model share: a canned scheduler, and the loop's part of a turn played by hand."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from chatops_bot.context.fence import fence
from chatops_bot.context.skill_text import framed
from chatops_bot.domain.clocks import ONE_CLOCK, Clocks
from chatops_bot.domain.model import (
    AssistantMessage,
    ContextMessage,
    Message,
    ModelDelta,
    ModelRequest,
    SystemMessage,
    TextDelta,
    ToolCallDelta,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)
from chatops_bot.domain.skill import LOAD_SKILL, Skill
from chatops_bot.domain.tool import CONSULT_AGENT, ToolCall
from chatops_bot.llm.offline import OfflineModel

WRITE_TOOLS = {"create_task", "trigger_task", "pause_task", "retry_failed_instance", "delete_task"}
READ_TOOLS = {
    "query_tasks",
    "query_instances",
    "query_workers",
    "get_task_detail",
    "get_system_health",
    "get_worker_load_history",
    "analyze_failure",
}
Content = Mapping[str, Any]
NONCES = count(1)


def tools(*names: str, maximum: int = 500) -> tuple[ToolDefinition, ...]:
    schema = {"type": "object", "properties": {"limit": {"type": "integer", "maximum": maximum}}}
    return tuple(ToolDefinition(name, "", schema) for name in names or sorted(READ_TOOLS | WRITE_TOOLS))


def task(task_id: int, name: str, **more: Any) -> dict[str, Any]:
    return {
        "id": task_id,
        "name": name,
        "type": "shell",
        "cron_expr": "0 2 * * *",
        "status": "enabled",
        "next_trigger_time": "2026-11-30T02:00:00Z",
        "max_retry": 3,
        "timeout_seconds": 300,
    } | more


def run(run_id: int, task_id: int, status: str, error: str = "", **more: Any) -> dict[str, Any]:
    return {
        "id": run_id,
        "task_id": task_id,
        "schedule_instance_id": f"task-{task_id}-{run_id}",
        "status": status,
        "worker_id": "worker-1",
        "trigger_time": f"2026-11-29T02:00:{run_id % 60:02d}Z",
        "retry_count": 0,
        "error_code": {"failed": "execute_failed", "timeout": "timeout"}.get(status, ""),
        "error_message": error,
    } | more


@dataclass
class Scheduler:
    """Answers the twelve tools from rows; a write waits as a proposal. `broken` maps a tool to its error."""

    tasks: Sequence[dict[str, Any]] = field(
        default_factory=lambda: [
            task(3, "nightly-report"),
            task(4, "etl-sync", status="disabled"),
            task(5, "daily-report"),
        ]
    )
    runs: Sequence[dict[str, Any]] = field(
        default_factory=lambda: [
            run(30, 3, "success", "ok"),
            run(28, 3, "failed", "exit 1: disk full"),
            run(27, 4, "timeout"),
        ]
    )
    broken: Mapping[str, Content] = field(default_factory=dict)

    def answer(self, tool: str, arguments: Content) -> Content:
        if tool in self.broken:
            return self.broken[tool]
        wanted = "instance_id" if tool == "retry_failed_instance" else "task_id"
        if tool in WRITE_TOOLS - {"create_task"} and wanted not in arguments:
            return {"status": "waits until the asker has filled in a form", "missing": [wanted]}
        if tool in WRITE_TOOLS:
            target = next((one for one in self.tasks if one["id"] == arguments.get("task_id")), None)
            return {
                "status": "waits for approval; nothing has changed",
                "proposal": "HKWM",
                "target": f"task {target['name']} (#{target['id']})" if target else "",
            }
        answered: Content = getattr(self, tool)(**arguments)
        return answered

    def query_tasks(self, name: str = "", status: str = "", limit: int = 20) -> Content:
        rows = [
            one for one in self.tasks if name.lower() in one["name"].lower() and status in ("", one["status"])
        ]
        return {"count": len(rows[:limit]), "total_matched": len(rows), "tasks": rows[:limit]}

    def query_instances(
        self, status: str = "", task_id: int = 0, hours: int = 24, limit: int = 20
    ) -> Content:
        rows = [one for one in self.runs if status in ("", one["status"]) and task_id in (0, one["task_id"])]
        return {"count": len(rows[:limit]), "total_matched": len(rows), "instances": rows[:limit]}

    def query_workers(self) -> Content:
        row = {
            "id": "worker-1",
            "hostname": "h",
            "status": "online",
            "current_load": 3,
            "max_concurrency": 10,
            "utilization_pct": "30.0%",
            "last_heartbeat_at": "2026-11-29T02:00:00Z",
        }
        return {"total": 1, "online": 1, "workers": [row]}

    def get_task_detail(self, task_id: int) -> Content:
        found = next((one for one in self.tasks if one["id"] == task_id), None)
        if found is None:
            return {"error": f"task {task_id} not found"}
        recent = [one for one in self.runs if one["task_id"] == task_id]
        return found | {
            "payload": "python report.py",
            "retry_policy": "fixed_interval",
            "route_strategy": "round_robin",
            "upstream_deps": [4],
            "downstream_deps": [],
            "recent_instances": recent,
        }

    def get_system_health(self) -> Content:
        return {
            "tasks": {"total": 3, "enabled": 2, "disabled": 1},
            "workers": {"total": 1, "online": 1, "avg_load_pct": 30.0},
            "instances_24h": {"total": 3, "success": 1, "failed": 2, "running": 0, "failure_rate": 66.7},
        }

    def get_worker_load_history(self, worker_id: str = "worker-1", hours: int = 24) -> Content:
        loads = [(1, "02:00:00"), (7, "02:00:30"), (4, "02:01:00")]
        return {
            "count": len(loads),
            "snapshots": [
                {
                    "worker_id": worker_id,
                    "current_load": load,
                    "max_concurrency": 10,
                    "status": "online",
                    "recorded_at": f"2026-11-29T{at}Z",
                }
                for load, at in loads
            ],
        }

    def analyze_failure(self, instance_id: int) -> Content:
        found = next((one for one in self.runs if one["id"] == instance_id), None)
        if found is None:
            return {"error": f"instance {instance_id} not found"}
        return found | {"instance_id": instance_id, "task_type": "shell"}


@dataclass
class Played:
    """A turn that was played: its calls step by step, all its text, and the messages for the next turn's history."""

    steps: list[list[tuple[str, dict[str, Any]]]]
    text: str
    history: list[Message]

    @property
    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        return [call for step in self.steps for call in step]

    @property
    def writes(self) -> list[tuple[str, dict[str, Any]]]:
        return [call for call in self.calls if call[0] in WRITE_TOOLS]


def nonce() -> str:
    return f"{next(NONCES):032x}"


def fenced(content: Content) -> str:
    return fence(json.dumps(content), source="tool", nonce=nonce)


def loaded(skills: Sequence[Skill], name: str) -> Content:
    """What load_skill gives for a name."""
    found = next((skill for skill in skills if skill.name == name), None)
    return {"error": "no such skill"} if found is None else {"skill": found.name, "text": found.body}


async def answer(request: ModelRequest) -> list[ModelDelta]:
    return [delta async for delta in OfflineModel().stream(request)]


async def play(
    text: str,
    scheduler: Scheduler | None = None,
    history: Sequence[Message] = (),
    offered: tuple[ToolDefinition, ...] | None = None,
    context: str = "2026-11-29 10:00",
    skills: Sequence[Skill] = (),
    agents: Sequence[str] = (),
    is_shared: bool = True,
    clocks: Clocks = ONE_CLOCK,
) -> Played:
    """One turn. `history` is what came before; `context` is the text of the context message, which states time and zone.

    With `skills`, load_skill is offered and brings the tools of what it loads; with `agents`, consult_agent is.
    """
    scheduler = scheduler or Scheduler()
    offered = tools() if offered is None else offered
    offered += (
        tools(*([LOAD_SKILL] if skills else []), *([CONSULT_AGENT] if agents else []))
        if skills or agents
        else ()
    )
    messages: list[Message] = [*history, UserMessage(text), ContextMessage(context)]
    steps: list[list[tuple[str, dict[str, Any]]]] = []
    said = ""
    for _ in range(10):
        request = ModelRequest(
            (SystemMessage("system"), *messages),
            offered,
            skills=tuple(skills),
            agents=tuple(agents),
            is_shared=is_shared,
            clocks=clocks,
        )
        deltas = await answer(request)
        spoken = "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))
        calls = [
            ToolCall(delta.id, delta.name, delta.arguments)
            for delta in deltas
            if isinstance(delta, ToolCallDelta)
        ]
        said += spoken
        messages.append(AssistantMessage(spoken, calls=tuple(calls)))
        if not calls:
            return Played(steps, said, messages)
        assert {call.name for call in calls} <= {tool.name for tool in offered}
        steps.append([(call.name, json.loads(call.arguments)) for call in calls])
        results = [
            loaded(skills, json.loads(call.arguments)["name"])
            if call.name == LOAD_SKILL
            else scheduler.answer(call.name, json.loads(call.arguments))
            for call in calls
        ]
        messages += [
            ToolMessage(call.id, call.name, framed(json.dumps(result), nonce, "know-how") or fenced(result))
            for call, result in zip(calls, results, strict=True)
        ]
        if any(
            call.name in WRITE_TOOLS and "error" not in result
            for call, result in zip(calls, results, strict=True)
        ):
            return Played(steps, said, messages)
    raise AssertionError(f"no end after {steps}")
