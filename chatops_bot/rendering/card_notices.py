"""The fixed sentences of cards, in both languages. Placeholders in braces are filled with `Phrase.filled`."""

from chatops_bot.domain.language import Phrase

# Buttons
APPROVE = Phrase("批准", "Approve")
REJECT = Phrase("拒绝", "Reject")
CANCEL = Phrase("返回", "Go back")
SHOW = Phrase("显示全部", "Show all")
AGAIN = Phrase("重新提出", "Propose again")
LOOK = Phrase("再看一次", "Look again")
UNDO = Phrase("撤销", "Undo")
KEEP = Phrase("保留", "Keep")
CONTINUE = Phrase("继续处理", "Continue")
SAY_WHY = Phrase("说明理由", "Say why")

HEADINGS = {
    "pending": Phrase("待批准：{summary}", "Approval needed: {summary}"),
    "approved": Phrase("已批准：{summary}", "Approved: {summary}"),
    "claimed": Phrase("执行中：{summary}", "Running: {summary}"),
    "applied": Phrase("已执行：{summary}", "Done: {summary}"),
    "failed": Phrase("执行失败：{summary}", "Failed: {summary}"),
    "outcome_unknown": Phrase("结果未知：{summary}", "Outcome unknown: {summary}"),
    "drifted": Phrase("未执行（情况已变）：{summary}", "Not run, things changed: {summary}"),
    "rejected": Phrase("已拒绝：{summary}", "Rejected: {summary}"),
    "expired": Phrase("已过期：{summary}", "Expired: {summary}"),
    "withdrawn": Phrase(
        "未执行（批准不再有效）：{summary}", "Not run, its approval no longer holds: {summary}"
    ),
    "superseded": Phrase("已被取代：{summary}", "Replaced: {summary}"),
}

# At a glance
WHAT = Phrase("内容", "What")
TARGET = Phrase("对象", "On")
ASKED_BY = Phrase("发起人", "Asked by")
RISK = Phrase("风险", "Risk")
RISKS = {
    "low": Phrase("低", "low"),
    "medium": Phrase("中", "medium"),
    "high": Phrase("高：会在机器上执行代码", "high: runs code on a machine"),
}
HIGH_FOR_GOOD = Phrase("高：无法撤销", "high: cannot be taken back")
HIGH_IN_PART = Phrase("高：只能部分撤销", "high: can be taken back only in part")
EXPIRES = Phrase("有效期至", "Expires")
EXPIRES_AT = Phrase("{time}（提出后 {minutes} 分钟）", "{time} ({minutes} min from request)")
NOTHING = Phrase("无", "none")
CAN_UNDO = Phrase("可撤销", "Can be undone")
REVERTED = Phrase("自动撤销", "Taken back")
REVERTED_AFTER = Phrase(
    "执行后 {minutes} 分钟，除非有人保留", "{minutes} min after it ran, unless somebody keeps it"
)
TAKES_BACK = Phrase("撤销的提案", "Takes back")
MAY_REPEAT = Phrase(
    "注意：这可能是第二次执行。提案 {code} 的结果未知，可能已经生效；批准之前，请先在系统中核对 {target}。",
    "This may be done a second time: nobody knows what came of proposal {code}, and it may have taken effect. Check {target} in the "
    "system itself before you approve.",
)
IN_PLACE_OF = Phrase("取代的提案", "In place of")
APPROVALS = Phrase("批准", "Approvals")
APPROVALS_SO_FAR = Phrase("{count}/{quorum}：{names}", "{count} of {quorum}: {names}")
APPROVALS_NEEDED = Phrase("需要 {quorum} 位不同的人", "{quorum} different people needed")
APPROVED_BY = Phrase("批准人", "Approved by")
REJECTED_BY = Phrase("拒绝人", "Rejected by")
KEPT_BY = Phrase("保留人", "Kept by")
REASON = Phrase("理由", "Reason")
DECIDED = Phrase("{name}（{role}），{time}", "{name} ({role}), {time}")
VOTED = Phrase("{name}（{role}，{time}）", "{name} ({role}, {time})")
VOTED_VIA = {
    "button": VOTED,
    "code": Phrase("{name}（{role}，{time}，输入代码）", "{name} ({role}, {time}, by typed code)"),
    "local": Phrase("{name}（{role}，{time}，命令行）", "{name} ({role}, {time}, on the command line)"),
}
AND = Phrase("、", ", ")
BREAK_GLASS = Phrase(
    "有人在冻结期内破例批准，需要复核。", "It was approved in spite of a freeze; this is to be reviewed."
)
BROKE_GLASS = Phrase("破例理由", "Break-glass reason")

# What does not fit
SOME_CHARACTERS = Phrase("⟨… 共 {all} 个字符，此处显示前 {some} 个⟩", "⟨… {some} of {all} characters⟩")
SOME_LINES = Phrase("{label}：共 {all} 行，此处显示前 {some} 行", "{label}: {some} of {all} lines")
SOME_OF_ONE_LINE = Phrase(
    "{label}：共 {all} 个字符，此处显示前 {some} 个", "{label}: {some} of {all} characters"
)
MORE_FIELDS = Phrase("另有 {count} 项未在此显示", "{count} more, not shown here")
MORE_PARTS = Phrase(
    "另有 {count} 段（{lines} 行）未在此显示", "{count} more parts ({lines} lines), not shown here"
)
MORE = Phrase("其余", "More")
READ_FIRST = Phrase(
    "内容较长，此卡片没有显示全部（连同各项字段共 {lines} 行，{pages} 页）。请按“显示全部”读到最后一页，之后您的批准才有效。",
    "This card does not show all of it ({lines} lines with every field, {pages} pages). Press Show all and read to the last page: only then does "
    "your Approve count.",
)
READ_ON = Phrase(
    "内容较长，此卡片没有显示全部（连同各项字段共 {lines} 行）；按“显示全部”查看其余。",
    "This card does not show all of it ({lines} lines with every field); Show all has the rest.",
)
READ_BY = Phrase("已有 {count} 人读完全部内容", "Read to the end by {count}")

# The dialog that asks why
WHY_TITLE = Phrase("拒绝的理由", "Why it was rejected")
WHY_LABEL = Phrase("为什么拒绝提案 {code}？", "Why was proposal {code} rejected?")
WHY_HINT = Phrase(
    "理由会写在卡片和审计记录里，模型也会看到。", "It goes on the card, on the record, and to the model."
)
WHY_EMPTY = Phrase("请写下理由，或关闭此窗口。", "Give a reason, or close this.")
WHY_NOT_YOURS = Phrase(
    "只有拒绝此提案的人可以说明理由，而且只能说明一次。",
    "Only whoever rejected this proposal can say why, and once.",
)
SEND = Phrase("提交", "Send")

# The pages of a long action
PAGES_TITLE = Phrase("完整内容", "The whole action")
PAGE_OF = Phrase(
    "第 {page} 页，共 {pages} 页　·　第 {first}–{last} 行，共 {lines} 行",
    "Page {page} of {pages}  ·  lines {first}–{last} of {lines}",
)
PREVIOUS = Phrase("上一页", "Previous page")
NEXT = Phrase("下一页", "Next page")
HAVE_READ = Phrase("我已读完全部内容", "I have read all of it")
CLOSE = Phrase("关闭", "Close")
NOT_APPROVED_YET = Phrase(
    "按下面的按钮只记录您已读完，不代表批准。",
    "The button below records that you have read this; it approves nothing.",
)
READ_RECORDED = Phrase(
    "已记录：您已读完全部内容。如要批准，请关闭此窗口，再按卡片上的“批准”。",
    "Recorded: you have read all of it. To approve, close this and press Approve on the card.",
)
CLOSED = Phrase(
    "此提案已有结论或已过期，没有可决定的了。",
    "This proposal is decided or expired; there is nothing left to decide.",
)
READ_HERE = Phrase(
    "以上是完整内容，已记录您看过；尚未批准。如要批准，请再次输入 approve {code}。",
    "This is all of it, and it is on record that you had it before you. Nothing is approved yet: to approve, give approve {code} "
    "once more.",
)
READ_FIRST_REFUSED = Phrase(
    "这个变更太长，卡片没有显示全部：请先按卡片上的“显示全部”，读到最后一页并确认。您的批准没有计入。",
    "This change is longer than its card: press Show all on the card first and read to the last page. Your approval was not "
    "counted.",
)
CONTINUED = Phrase("{label}（续）", "{label} (continued)")

# The quiet end of a card
RECORD = Phrase("确切的操作", "The exact action")
FORGED_RECORD = Phrase(
    "存储中现在的内容（被改动过，不是大家批准的）",
    "What the store holds now (changed, not what was approved)",
)
TOOL = Phrase("工具", "tool")
CONTRACT = Phrase("工具定义", "tool contract")
ARGUMENTS = Phrase("参数", "arguments")
REPEATS = Phrase("可能重复", "may do again")
EXACT_TARGET = Phrase("对象", "target")
PRECONDITIONS = Phrase("执行前重新核对", "checked again before it runs")
INVERSE = Phrase("撤销操作", "undo")
OF_THE_RESULT = Phrase("执行结果中的 {key}", "{key} of the result")
REQUESTER = Phrase("发起人", "asked by")
SESSION = Phrase("会话", "conversation")
EXPIRY = Phrase("有效期至", "expires")
QUORUM = Phrase("所需批准人数", "approvals needed")
RULES = Phrase("规则版本", "rules")
DECIDER = Phrase("决定人", "decided by")
PROPOSAL = Phrase("编号、摘要", "id, digest")
EFFECTS = {
    "read": Phrase("只读", "read"),
    "write": Phrase("修改", "write"),
    "destructive": Phrase("破坏性", "destructive"),
}

# What a pending card asks for
PLEASE_DECIDE = Phrase("请批准或拒绝。", "please approve or reject.")
ASKED_AGAIN = Phrase("{time} 已再次提醒", "Asked again at {time}")
ESCALATED = Phrase("{time} 已通知上一级", "Escalated at {time}")
NO_APPROVER = Phrase(
    "没有配置批准人，无人能批准此变更；请在配置的 `roles.people` 中给某人 approver 或 admin 角色。",
    "Nobody can approve this: no approver is configured. Give somebody the role approver or admin under `roles.people` in the "
    "configuration.",
)
TYPE_TO_DECIDE = Phrase(
    "也可以输入：批准 {code}　或　拒绝 {code}", "Or type: approve {code}  or  reject {code}"
)
CONFIRM_TITLE = Phrase("确认高风险变更", "Confirm a high-risk change")
CONFIRM_REVERSIBLE = Phrase("{summary}。\n批准后立即生效。", "{summary}.\nIt takes effect at once.")
CONFIRM_IN_PART = Phrase(
    "{summary}。\n批准后立即生效，只能部分撤销。",
    "{summary}.\nIt takes effect at once and can be taken back only in part.",
)
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
    "无法确认是否已生效：请到系统中核对 {target} 的当前状态。机器人不会自行再试。",
    "It is not known whether this took effect: check the current state of {target} in the system itself. The bot does not try it "
    "again by itself.",
)
DRIFTED = Phrase(
    "没有执行：提出之后情况已经变化。如仍需要，请重新提出。",
    "Nothing was run: things changed after it was asked for. Propose it again if it is still needed.",
)
REJECTED = Phrase("已被拒绝，什么都没有执行。", "Rejected; nothing was run.")
REJECTED_LATE = Phrase(
    "在 {time} 过期后被拒绝，什么都没有执行。", "Rejected, after it had expired at {time}; nothing was run."
)
EXPIRED = Phrase("已于 {time} 过期，什么都没有执行。", "Expired at {time}; nothing was run.")
WITHDRAWN = Phrase(
    "批准在执行前已不再有效，什么都没有执行。",
    "Its approval no longer held when it was about to run; nothing was run.",
)
SUPERSEDED = Phrase("已被新的提案取代，什么都没有执行。", "A newer proposal took its place; nothing was run.")
SUPERSEDED_BY = Phrase(
    "已被提案 {code} 取代，什么都没有执行。", "Proposal {code} took its place; nothing was run."
)
RESULT = Phrase("结果", "Result")
NOW_AND_BEFORE = Phrase("现在是 {now}（提出时是 {before}）", "now {now} (was {before} when it was asked for)")
READ_AT = Phrase(
    "{at} 读到 {{now}}（提出时是 {{before}}）", "read {{now}} at {at} (was {{before}} when it was asked for)"
)
DRIFT_FOUND = Phrase("再次核对时发现", "Found when checking again")

# What a card says afterwards
ASKED_FOR_AGAIN = Phrase("已重新提出：提案 {code}。", "Proposed again, as {code}.")
TAKEN_BACK_BY = Phrase(
    "已于 {time} 撤销（提案 {code}）。", "It no longer stands: proposal {code} took it back, seen at {time}."
)
UNDONE_BY = Phrase("撤销它的提案：{code}。", "The proposal that takes it back: {code}.")
REVERTS = Phrase(
    "除非有人保留，将于 {time} 自动撤销。", "It is taken back at {time} unless somebody keeps it."
)
BEFORE = Phrase("此前", "Before")
CHECKED = {
    "recovered": Phrase("{time} 复查：已恢复", "Looked again at {time}: recovered"),
    "as_intended": Phrase("{time} 复查：符合预期", "Looked again at {time}: as intended"),
    "failed": Phrase("{time} 复查：运行失败", "Looked again at {time}: failed"),
    "failed_again": Phrase("{time} 复查：再次失败", "Looked again at {time}: failed again"),
    "no_effect": Phrase("{time} 复查：没有效果", "Looked again at {time}: no effect"),
    "worse": Phrase("{time} 复查：更糟", "Looked again at {time}: worse"),
    "unknown": Phrase("{time} 复查：无法判断", "Looked again at {time}: cannot tell"),
}
WITH_DETAIL = Phrase("{said}——{detail}", "{said} – {detail}")
