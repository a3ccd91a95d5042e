"""Next questions about one task or run, as texts that a person may click.

A click makes the text the person's own words. So none of it may come from the scheduler's data, where a task's name can
read as a request: only ids, which are numbers.
"""

from chatops_bot.domain.followup import Suggestion

WHAT_FAILED = Suggestion("最近有哪些任务失败了？", "Which tasks failed recently?", "query_instances")
WHICH_ARE_OFFLINE = Suggestion("哪些工作节点离线了？", "Which workers are offline?", "query_workers")
HOW_LOADED = Suggestion("现在各节点的负载如何？", "How loaded are the workers now?", "query_workers")
LOAD_TREND = Suggestion(
    "过去 24 小时的负载趋势如何？",
    "How did the load develop over the last 24 hours?",
    "get_worker_load_history",
)
IS_HEALTHY = Suggestion("系统整体健康吗？", "Is the system healthy?", "get_system_health")


def ask_why_failed(run_id: int) -> Suggestion:
    return Suggestion(f"分析运行 #{run_id} 为什么失败", f"Why did run #{run_id} fail?", "analyze_failure")


def ask_to_retry(run_id: int) -> Suggestion:
    return Suggestion(f"重试运行 #{run_id}", f"Retry run #{run_id}", "retry_failed_instance")


def ask_for_details(task_id: int) -> Suggestion:
    return Suggestion(
        f"查看任务 #{task_id} 的详情", f"Show the details of task #{task_id}", "get_task_detail"
    )


def ask_to_resume(task_id: int) -> Suggestion:
    return Suggestion(f"恢复任务 #{task_id}", f"Resume task #{task_id}", "pause_task")


def ask_to_trigger(task_id: int) -> Suggestion:
    return Suggestion(f"立即触发任务 #{task_id}", f"Trigger task #{task_id} now", "trigger_task")
