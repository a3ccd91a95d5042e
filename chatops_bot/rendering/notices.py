"""The fixed sentences of views, in both languages. Placeholders in braces are filled with `Phrase.filled`."""

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.view import Notice, Tone, View


def whisper_view(phrase: Phrase, language: Language | None, tone: Tone = "warning") -> View:
    """One sentence as a message of its own, such as the reason why a click was not taken.

    `language` is None where the reader's is not known: they pressed a button, or wrote no word. It is said in both then.
    """
    texts = (phrase.zh, phrase.en) if language is None else (phrase.said_in(language),)
    return View(tuple(Notice(text, tone) for text in texts), " ".join(texts))


# A turn that runs, and how it ended
WORKING = Phrase("正在处理…", "Working…")
WAITING = Phrase("排队中，前面还有 {ahead} 条", "Waiting – {ahead} before this")
SILENT = Phrase("仍在等待模型，已 {seconds} 秒", "Still waiting for the model, {seconds} s")
HANDED_OVER = Phrase(
    "机器人正在重启，重启后立即处理这条消息。", "The bot restarts; this is worked on right after."
)
STOPPED_BY = Phrase(
    "已由 {name} 停止；上面是停止前得到的内容。",
    "Stopped by {name}; what had been found until then stands above.",
)
STOPPED_EARLY_BY = Phrase("已由 {name} 停止。", "Stopped by {name}.")
WITHDRAWN_BY = Phrase("已由 {name} 在开始处理前撤回。", "Taken back by {name} before it was worked on.")
STOPPED = Phrase(
    "已按要求停止；上面是停止前得到的内容。",
    "Stopped on request; what had been found until then stands above.",
)
INTERRUPTED = Phrase(
    "机器人在处理过程中重启了，本次回答没有完成；已得到的内容保留在上面。回复“继续”可接着做。",
    "The bot restarted while it was working on this, so the answer is incomplete; what had been found stands above. "
    "Reply “continue” to go on.",
)
CAPPED = Phrase(
    "已达到单次回答的步数上限，先到这里；回复“继续”可接着做。",
    "This answer reached the limit of steps for one turn and ends here; reply “continue” to go on.",
)
FAILED = Phrase(
    "本次回答没有成功，请稍后重试。", "This answer could not be completed; please try again shortly."
)
NO_ANSWER = Phrase(
    "模型没有给出任何文字；请换个说法再问一次。", "The model gave no text; please ask again in other words."
)

# Tool lines
CALL_RUNNING = Phrase("{label}…", "{label}…")
CALL_OK = Phrase("{label} → {summary}，{duration}", "{label} → {summary}, {duration}")
CALL_ERROR = Phrase("✗ {label} → {summary}，{duration}", "✗ {label} → {summary}, {duration}")
CALL_WAITS = Phrase("⏸ {label} → {summary}", "⏸ {label} → {summary}")
CALL_NOT_RUN = Phrase("– {label} → {summary}", "– {label} → {summary}")
CALL_UNFINISHED = Phrase("– {label} → 没有完成", "– {label} → not finished")
MORE_LINES = Phrase("另有 {count} 项", "+{count} more")
MILLISECONDS = Phrase("{value} 毫秒", "{value} ms")
SECONDS = Phrase("{value} 秒", "{value} s")

# Buttons
STOP = Phrase("停止", "Stop")
APPROVE = Phrase("批准", "Approve")
REJECT = Phrase("拒绝", "Reject")
CANCEL = Phrase("返回", "Go back")

# Proposal cards
CARD_HEADINGS = {
    "pending": Phrase("待批准：{summary}", "Approval needed: {summary}"),
    "approved": Phrase("已批准：{summary}", "Approved: {summary}"),
    "claimed": Phrase("执行中：{summary}", "Running: {summary}"),
    "applied": Phrase("已执行：{summary}", "Done: {summary}"),
    "failed": Phrase("执行失败：{summary}", "Failed: {summary}"),
    "outcome_unknown": Phrase("结果未知：{summary}", "Outcome unknown: {summary}"),
    "drifted": Phrase("未执行（情况已变）：{summary}", "Not run, things changed: {summary}"),
    "rejected": Phrase("已拒绝：{summary}", "Rejected: {summary}"),
    "expired": Phrase("已过期：{summary}", "Expired: {summary}"),
    "superseded": Phrase("已被取代：{summary}", "Replaced: {summary}"),
}
WHAT = Phrase("内容", "What")
TARGET = Phrase("对象", "On")
ASKED_BY = Phrase("发起人", "Asked by")
RISK = Phrase("风险", "Risk")
EXPIRES = Phrase("有效期至", "Expires")
EXPIRES_AT = Phrase("{time}（提出后 {minutes} 分钟）", "{time} ({minutes} min from request)")
APPROVED_BY = Phrase("批准人", "Approved by")
REJECTED_BY = Phrase("拒绝人", "Rejected by")
DECIDED = Phrase("{name}（{role}），{time}", "{name} ({role}), {time}")
RESULT = Phrase("结果", "Result")
NOTHING = Phrase("无", "none")
DRIFT_FOUND = Phrase("再次核对时发现", "Found when checking again")
FIELDS = {
    "status": Phrase("状态", "Status"),
    "next_run": Phrase("下次运行", "Next run"),
    "run": Phrase("运行", "Run"),
    "new_runs": Phrase("新增运行", "New runs"),
    "task": Phrase("任务", "Task"),
    "name": Phrase("名称", "Name"),
    "type": Phrase("类型", "Type"),
    "cron_expr": Phrase("调度", "Schedule"),
    "image": Phrase("镜像", "Image"),
    "timeout_seconds": Phrase("超时（秒）", "Timeout (s)"),
    "max_retry": Phrase("最多重试", "Retries at most"),
    "retry_policy": Phrase("重试方式", "Retry policy"),
    "dependency": Phrase("依赖", "Dependency"),
}
"""Fields of tasks as people call them; any other field shows its own name."""
FIELD_OF = Phrase("{owner} 的{field}", "{field} of {owner}")
STATUS_VALUES = {
    "enabled": Phrase("启用", "enabled"),
    "disabled": Phrase("停用", "disabled"),
}
RUN_VALUES = {
    "failed": Phrase("失败", "failed"),
    "timeout": Phrase("超时", "timed out"),
    "linked retry": Phrase("关联的重试", "linked retry"),
    "fresh run": Phrase("全新的运行", "fresh run"),
}
RETRY_VALUES = {
    "fixed_interval": Phrase("固定间隔", "fixed interval"),
    "exponential_backoff": Phrase("间隔逐次加倍", "interval doubles each time"),
}
VALUES = {"status": STATUS_VALUES, "run": RUN_VALUES, "retry_policy": RETRY_VALUES}
"""Values of fields in the words that forms have for them; any other value is shown to the letter."""
TARGET_TASK = Phrase("任务 {task}", "task {task}")
TARGET_NEW_TASK = Phrase("任务 {task}（新建）", "task {task} (new)")
TARGET_RUN = Phrase("任务 {task} 的运行 {run}", "run {run} of task {task}")

# The quiet end of a card
RECORD = Phrase("确切的操作", "The exact action")
TOOL = Phrase("工具", "tool")
ARGUMENTS = Phrase("参数", "arguments")
PRECONDITIONS = Phrase("执行前重新核对", "checked again before it runs")
REQUESTER = Phrase("发起人", "asked by")
SESSION = Phrase("会话", "conversation")
EXPIRY = Phrase("有效期至", "expires")
DECIDER = Phrase("决定人", "decided by")
PROPOSAL = Phrase("编号、摘要", "id, digest")
RISKS = {
    "low": Phrase("低", "low"),
    "medium": Phrase("中", "medium"),
    "high": Phrase(
        "高：会在机器上执行代码，或无法撤销", "high: runs code on a machine, or cannot be taken back"
    ),
}
EFFECTS = {
    "read": Phrase("只读", "read"),
    "write": Phrase("修改", "write"),
    "destructive": Phrase("破坏性", "destructive"),
}
PLEASE_DECIDE = Phrase("请批准或拒绝。", "please approve or reject.")
NO_APPROVER = Phrase(
    "没有配置批准人，无人能批准此变更；请在配置的 `roles.people` 中给某人 approver 或 admin 角色。",
    "Nobody can approve this: no approver is configured. Give somebody the role approver or admin under `roles.people` in the "
    "configuration.",
)
TYPE_TO_DECIDE = Phrase(
    "也可以输入：批准 {code}　或　拒绝 {code}", "Or type: approve {code}  or  reject {code}"
)
CONFIRM_TITLE = Phrase("确认高风险变更", "Confirm a high-risk change")
CONFIRM_TEXT = Phrase(
    "{summary}。\n批准后立即生效，可能无法撤销。",
    "{summary}.\nIt takes effect at once and may be impossible to take back.",
)

# What a decided card says
APPROVED = Phrase("已批准，即将执行。", "Approved; it is about to run.")
CLAIMED = Phrase("已批准，正在执行。", "Approved; it is running now.")
APPLIED = Phrase("已执行一次。", "It was run, once.")
APPLY_FAILED = Phrase("已批准，但执行失败；没有再试。", "It was approved but failed; it was not tried again.")
OUTCOME_UNKNOWN = Phrase(
    "无法确认是否已生效：请到系统中核对 {target} 的当前状态。机器人没有再试，也不会再试。",
    "It is not known whether this took effect: check the current state of {target} in the system itself. It was not tried "
    "again and will not be.",
)
DRIFTED = Phrase(
    "没有执行：提出之后情况已经变化。如仍需要，请重新提出。",
    "Nothing was run: things changed after it was asked for. Ask again if it is still needed.",
)
REJECTED = Phrase("已被拒绝，什么都没有执行。", "Rejected; nothing was run.")
EXPIRED = Phrase("已于 {time} 过期，什么都没有执行。", "Expired at {time}; nothing was run.")
SUPERSEDED = Phrase("已被新的提案取代，什么都没有执行。", "A newer proposal took its place; nothing was run.")

# Alert cards
ALERT_HEADING = Phrase("任务失败：{task}", "Task failed: {task}")
ALERT_FALLBACK = Phrase("任务 {task} 失败：{code}", "Task {task} failed: {code}")
ALERT_TASK = Phrase("任务", "Task")
ALERT_RUN = Phrase("运行", "Run")
ALERT_CODE = Phrase("错误码", "Error code")
ALERT_ATTEMPT_OF = Phrase(
    "{run}（第 {attempt} 次尝试，共 {limit} 次）", "{run} (attempt {attempt} of {limit})"
)
ALERT_TIME = Phrase("时间", "Time")
