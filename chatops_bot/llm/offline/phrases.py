"""The fixed texts of the offline model, each in Chinese and English."""

from chatops_bot.domain.language import Phrase
from chatops_bot.llm.offline.cues import Hold, Kind

NO_MODEL = Phrase(
    "未连接语言模型，由固定规则回答（输入“帮助”查看能做什么）。连接方法：设置 OPENAI_BASE_URL、OPENAI_API_KEY、OPENAI_MODEL。",
    "No language model is connected; fixed rules answer (say “help” for what they can do). To connect one, set "
    "OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL.",
)

HELP = Phrase(
    "可以这样问：\n"
    "- 最近有哪些任务失败了？ / 过去 3 小时有失败吗？\n"
    "- nightly-report 为什么失败？ / 分析运行 88\n"
    "- 看一下（消息串里说的那个任务）/ 昨晚有失败吗？\n"
    "- 列出任务 / nightly-report 的配置和成功率\n"
    "- 整体健康情况 / 节点负载\n"
    "- 暂停 nightly-report / 恢复 nightly-report / 触发 nightly-report\n"
    "- 重试运行 88 / 删除任务 old-report\n"
    "- 创建 shell 任务 clean-tmp，每天凌晨2点执行 `find /tmp -mtime +7 -delete`\n"
    "- 成功了吗？（查看上一次变更的结果）",
    "You can ask:\n"
    "- what failed recently? / any failures in the last 3 hours?\n"
    "- why did nightly-report fail? / analyse run 88\n"
    "- can you look into it? (the task that the thread is about) / what failed since yesterday 14:00?\n"
    "- list tasks / config and success rate of nightly-report\n"
    "- health overview / worker load\n"
    "- pause nightly-report / resume nightly-report / trigger nightly-report\n"
    "- retry run 88 / delete task old-report\n"
    "- create shell task clean-tmp every night at 2 running `find /tmp -mtime +7 -delete`\n"
    "- did it work? (the outcome of the last change)",
)
HELP_SKILLS = Phrase(
    "- 有哪些技能？ / 用 shift-handover 技能", "- which skills do you have? / use the skill shift-handover"
)
HELP_CONSULT = Phrase("- 问一下 {agent}：最近有什么失败？", "- ask {agent} what failed recently")
HELP_END = Phrase("所有变更都要有人批准后才执行。", "Every change runs only after a person approves it.")
WELCOME = Phrase("好的。输入“帮助”查看还能做什么。", "You are welcome. Say “help” for what else I can do.")
WITHOUT_THE_MODEL = Phrase(
    "语言模型暂时不可用；没有它，我只能按固定规则回答，这句话要等它恢复后再问。",
    "The model is away; without it I can only answer by fixed rules. Ask this again once it is back.",
)
NOT_UNDERSTOOD = Phrase("没看懂这句话；规则只认识固定的问法。", "No rule understands that.")

FORM_WAITS = Phrase(
    "您的表单还在等待填写（缺：{missing}）。请在上面的表单里填写，或用一条消息写明，例如“名称 clean-tmp，类型 shell，执行 `ls`”；输入“取消”可撤回表单。",
    "Your form still waits for: {missing}. Fill in the form above, or say it in one message, e.g. “name clean-tmp, type shell, "
    "runs `ls`”; `cancel` takes the form back.",
)
FORM_WAITS_FOR_A_TARGET = Phrase(
    "您的表单还在等待填写（缺：{missing}）。请在上面的表单里选择，或写出名字或编号；输入“取消”可撤回表单。",
    "Your form still waits for: {missing}. Choose in the form above, or write the name or number; `cancel` takes the form back.",
)

HOLDS: dict[Hold, Phrase] = {
    Hold.NEGATED: Phrase("没有提议任何变更：您说了不要做。", "No change proposed: you said not to."),
    Hold.CONDITIONAL: Phrase(
        "没有提议任何变更：规则不能等待条件成立；条件满足时请再说一次。",
        "No change proposed: rules cannot wait for a condition. Ask again when it holds.",
    ),
    Hold.DEFERRED: Phrase(
        "没有提议任何变更：变更只能现在做，不能定时或限时；到时请再说一次。",
        "No change proposed: a change can only be made now, not at or until a later time. Ask again then.",
    ),
    Hold.BULK: Phrase(
        "没有提议任何变更：规则不做批量变更；请逐个写出任务名。",
        "No change proposed: rules make no bulk changes. Name each task.",
    ),
    Hold.CHOICE: Phrase(
        "没有提议任何变更：这句话给出了多个选择；请只写一个。",
        "No change proposed: the sentence leaves a choice. Name one change.",
    ),
    Hold.PART: Phrase(
        "没有提议任何变更：规则只能变更整个任务，不能只变更它的日志、告警或设置。",
        "No change proposed: rules change whole tasks, not their logs, alerts or settings.",
    ),
    Hold.REPORTED: Phrase(
        "没有提议任何变更：这像是在转述别人的话；如果是您要做，请直接说。",
        "No change proposed: that reads like somebody else's words. Say it yourself if you want it.",
    ),
}

CANNOT_ALTER = Phrase(
    "我不能修改任务的调度或其他设置；能提议的变更有：暂停、恢复、触发、重试、创建、删除。",
    "I cannot change a task's schedule or other settings; what I can propose is to pause, resume, trigger, retry, create or delete.",
)
WHICH = Phrase("哪个任务？", "which task?")
"""How both questions below begin, behind the verb."""
WHICH_TASK = Phrase(
    "{verb}" + WHICH.zh + "请写出任务名或编号，例如：{example}",
    "{verb} " + WHICH.en + " Name it or give its id, e.g. {example}",
)
WHICH_OF = Phrase(
    "{verb}" + WHICH.zh + "这里提到了多个（最近提到的在前），请写出任务名：",
    "{verb} " + WHICH.en + " Several were named here, newest first. Write the name:",
)
SKILL_BEGINS = Phrase("的查询从一个任务开始", "begin with a task")
"""What the question below alone says."""
WHICH_TASK_FOR = Phrase(
    "技能 {name} " + SKILL_BEGINS.zh + "，请写出任务名，例如：`用 {name} 技能看 nightly-report`",
    "The lookups of the skill {name} "
    + SKILL_BEGINS.en
    + ". Name it, e.g. `use the skill {name} for nightly-report`",
)
NOTHING_NAMED = Phrase("这里没有提到任何任务。", "Nothing here names a task.")
NEWEST_OF_ANY = Phrase("所有任务里最近的一次失败是：", " The newest failure of any task is this:")
VERBS: dict[Kind, Phrase] = {
    Kind.PAUSE: Phrase("暂停", "Pause"),
    Kind.RESUME: Phrase("恢复", "Resume"),
    Kind.TRIGGER: Phrase("触发", "Trigger"),
    Kind.RETRY: Phrase("重试", "Retry"),
    Kind.DELETE: Phrase("删除", "Delete"),
    Kind.EXPLAIN: Phrase("分析", "Analyse"),
    Kind.DETAIL: Phrase("查看", "Show"),
    Kind.CONDITION: Phrase("查看", "Show"),
    Kind.WHY_CHANGED: Phrase("查看", "Show"),
}  # fmt: skip
PROPOSED = Phrase("变更（{tool}）正在等待批准。", "The change ({tool}) waits for approval.")

NOT_OFFERED = Phrase(
    "这需要工具 {tool}，但您在这里不能使用它；请让有权限的人来问，或换个问法。",
    "This needs the tool {tool}, which is not available to you here. Ask somebody who has it, or ask differently.",
)
REFUSED = Phrase("没有提议任何变更；原因见上面那一行。", "No change was proposed; the line above says why.")
"""People read the reason where the call stands, with the channels that it names as links."""
TOOL_FAILED = Phrase("{tool}没有成功：{error}。{advice}", "{tool} failed: {error}. {advice}")
TOOL_FAILED_IN_ITS_WORDS = Phrase(
    "{tool}没有成功，它的原文是 {error}。{advice}", "{tool} failed, in its own words {error}. {advice}"
)
TOOL_UNREADABLE = Phrase(
    "{tool} 的结果无法读取，可能被截断；请缩小范围再问，例如只问最近 1 小时。",
    "The result of {tool} could not be read; it may have been cut. Ask for less, e.g. only the last hour.",
)
DOING = {
    "query_tasks": Phrase("查询任务", "Querying tasks"),
    "query_instances": Phrase("查询运行", "Querying runs"),
    "query_workers": Phrase("查询工作节点", "Querying workers"),
    "get_task_detail": Phrase("查询任务详情", "Reading the task"),
    "get_system_health": Phrase("检查系统健康", "Checking system health"),
    "get_worker_load_history": Phrase("查询负载历史", "Reading the load history"),
    "analyze_failure": Phrase("收集失败信息", "Collecting facts about the failure"),
    "create_task": Phrase("创建任务", "Creating the task"),
    "trigger_task": Phrase("触发任务", "Triggering the task"),
    "pause_task": Phrase("暂停或恢复任务", "Pausing or resuming the task"),
    "retry_failed_instance": Phrase("重试", "The retry"),
    "delete_task": Phrase("删除任务", "Deleting the task"),
}
"""What a failed call was to do, in people's words; a tool that is not here is named as it is."""
VALID_NAMES = Phrase("可用的名称：{names}。", "Valid names: {names}.")

ADVICE: tuple[tuple[str, Phrase], ...] = (
    (
        r"so nothing ran|未执行|没有执行",
        Phrase("请改正这里说的参数。", "Correct the arguments that it names."),
    ),
    (
        r"did not fail|没有失败",
        Phrase(
            "没有什么要重试的；若想再运行一次，请触发它的任务。",
            "There is nothing to retry; to run it once more, trigger its task.",
        ),
    ),
    (
        r"nothing to (?:do|resume)|无需",
        Phrase("现在已经是这样了。", "It is that way already."),
    ),
    (
        r"forbidden|permission|\brole\b|may (?:not|read)|not allowed|unauthori[sz]ed|token|权限|角色",
        Phrase("请让有权限的人提出。", "Ask somebody who has the right to."),
    ),
    (
        r"not.supported",
        Phrase("这个后端没有此项数据。", "This back end does not have that data."),
    ),
    (
        r"connect|unreachable|unavailable|not available|does not answer|did not re|timed? ?out|refused|gateway|\b50[234]\b|down|无法连接|超时|没有应答|没有回复|没有返回|不可用",
        Phrase(
            "请确认调度器在运行且可访问，然后再问一次。",
            "Check that the scheduler is up and reachable, then ask again.",
        ),
    ),
    (
        r"not found|no such|unknown|不存在",
        Phrase("请核对任务名或编号。", "Check the name or id."),
    ),
    (
        r"conflict|disabled|not enabled|already|停用|已存在",
        Phrase("请先查看该任务的当前状态。", "Look at the task's current state first."),
    ),
)
"""First match wins; the pattern is searched in the tool's own error text."""
ADVICE_ELSE = Phrase("请核对后再问一次。", "Check it and ask again.")

HELD_BACK = Phrase(
    "其余变更先不提议：请先回答这里的问题，再说一次。",
    "The other changes are not proposed yet: answer the question here and ask again.",
)
NO_SUCH_TASK = Phrase("没有名为 {name} 的任务。", "There is no task named {name}.")
SKILL_OF_THAT_NAME = Phrase(
    "有一个同名的技能，要用它请说：`用 {name} 技能`。",
    "There is a skill of that name; to use it, say `use the skill {name}`.",
)
DID_YOU_MEAN = Phrase(
    "您是指 {near} 吗？请用完整的任务名再说一次。", "Did you mean {near}? Ask again with the full name."
)
SEVERAL_TASKS = Phrase(
    "{name} 对应 {count} 个任务，请用完整的任务名或编号再说一次：",
    "{name} matches {count} tasks. Ask again with the full name or id:",
)
NOTHING_FOUND = Phrase(
    "这一轮没有查到任何结果；请换个问法再问一次。",
    "This turn has found nothing. Ask again in other words.",
)
NO_TASKS = Phrase("调度器里没有任务。", "The scheduler has no tasks.")
EXACT_FOR_DELETE = Phrase(
    "删除需要完整的任务名；最接近的是 {near}。请用它再说一次。",
    "Deleting needs the full name; the nearest is {near}. Ask again with it.",
)

STATUSES: dict[str, Phrase] = {
    "success": Phrase("成功", "succeeded"),
    "failed": Phrase("失败", "failed"),
    "timeout": Phrase("超时", "timed out"),
    "cancelled": Phrase("已取消", "cancelled"),
    "running": Phrase("运行中", "running"),
    "pending": Phrase("等待派发", "pending"),
    "dispatched": Phrase("已派发", "dispatched"),
    "retry_waiting": Phrase("等待重试", "waits for retry"),
    "enabled": Phrase("启用", "enabled"),
    "disabled": Phrase("停用", "disabled"),
    "online": Phrase("在线", "online"),
    "offline": Phrase("离线", "offline"),
}  # fmt: skip

DECISIONS: dict[str, Phrase] = {
    "applied": Phrase("已执行", "was carried out"),
    "failed": Phrase("执行失败", "failed"),
    "outcome_unknown": Phrase("结果未知（可能已执行，也可能没有）", "has an unknown outcome: it may or may not have happened"),
    "drifted": Phrase("未执行：目标在批准前已经变化", "was not carried out: the target had changed meanwhile"),
    "rejected": Phrase("被拒绝，未执行", "was rejected and not carried out"),
    "expired": Phrase("已过期，未执行", "expired and was not carried out"),
    "withdrawn": Phrase("批准已不再有效，未执行", "was not carried out, since its approval no longer held"),
    "approved": Phrase("已批准，尚未执行", "is approved and not carried out yet"),
    "claimed": Phrase("正在执行", "is being carried out"),
    "pending": Phrase("还没有人决定", "is not decided yet"),
}  # fmt: skip
NO_DECISION = Phrase(
    "这个会话里还没有任何已决定的变更，所以没有结果可报告。",
    "No change has been decided in this conversation, so there is no outcome to report.",
)
UNDECIDED = Phrase(
    "变更 {change}还没有决定，什么都没有改变；请在卡片 {code} 上批准或拒绝。",
    "The change {change} is not decided yet, so nothing has changed. Approve or reject it on its card {code}.",
)
NO_REASON_KEPT = Phrase(
    "这个会话里没有关于它的决定；调度器不记录暂停、恢复或删除的原因和操作人。",
    "This conversation holds no decision about it, and the scheduler keeps no reason or person for a pause, resume or delete.",
)
WRONG_CRON = Phrase(
    "{cron} 不是调度器接受的 cron 表达式：{problem}。请在表单里选择或填写调度，例如 `0 2 * * *`。",
    "The scheduler does not take {cron} as a cron expression: {problem}. Choose or write a schedule in the form, e.g. `0 2 * * *`.",
)
