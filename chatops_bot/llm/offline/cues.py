"""What people say when they mean something: the tables that understanding reads, and nothing else.

All patterns see text that `arguments.mask` prepared: lower case, names and quoted text replaced by one placeholder
character each, so that a task called `delete-old-logs` or a pasted log line never counts as somebody's words.
Changing verbs are matched strictly (see `verbs`); questions are matched loosely, since a wrong read costs nothing.
"""

import re
from enum import StrEnum

from chatops_bot.domain.regex import regex


class Kind(StrEnum):
    """What is wanted. The value is the word for it in tests and logs."""

    PAUSE = "pause"
    RESUME = "resume"
    TRIGGER = "trigger"
    RETRY = "retry"
    DELETE = "delete"
    CREATE = "create"
    EXPLAIN = "explain"
    WHY_CHANGED = "why_changed"
    VERIFY = "verify"
    FAILURES = "failures"
    WORKERS = "workers"
    RUNS = "runs"
    HEALTH = "health"
    DETAIL = "detail"
    CONDITION = "condition"
    LIST = "list"
    HELP = "help"
    THANKS = "thanks"
    HELD = "held"
    ALTER = "alter"
    SKILLS = "skills"
    SKILL = "skill"
    SCRIPT = "script"
    CONSULT = "consult"


WRITES = frozenset({Kind.PAUSE, Kind.RESUME, Kind.TRIGGER, Kind.RETRY, Kind.DELETE, Kind.CREATE})


class Hold(StrEnum):
    """Why a changing verb is not acted on."""

    NEGATED = "negated"
    CONDITIONAL = "conditional"
    DEFERRED = "deferred"
    BULK = "bulk"
    CHOICE = "choice"
    REPORTED = "reported"
    PART = "part"


NAME = "[\ue000-\uefff]"
"""One masked name, quotation or address."""

CHINESE_QUESTION = regex(
    r"为什么|为何|怎么|怎样|如何|咋|谁|何时|什么|哪|是否|有没有|是不是|要不要|该不该|应该|会不会|多少|多久|多长|几[次个点]|吗|呢|么\s*$"
)
PROHIBITION = regex(
    r"\b(?:don'?t|do not|dont|never|not|no need to|avoid|rather not|shouldn'?t|mustn'?t|won'?t|can'?t|cannot|"
    r"refrain from|without)\b"
    r"|不要|(?<![特分级区类识个])别(?!的|人)|勿|不必|不用|无需|不准|不许|禁止|(?<!能)不能(?!.*吗)|不可(?!以)|不该|不应|不想|没必要|没有必要|暂不|先不|不再|不会|不(?=\s*(?:暂停|删|恢复|重试|触发))"
)
RETRACTION = regex(
    r"(?:\s*+(?:nope|not|no|don'?t|do not|never ?mind|cancel(?: that| it)?|forget (?:it|that)|wait|scratch that|不要了|不要|不用了|不|别|算了|"
    r"取消|先别|等等|等一下)(?:吧|了)?+\s*+)++"
)
GO_ON = regex(
    r"\s*+(?:please |pls |请)?(?:continue|go on|继续(?:处理)?|接着(?:做)?)(?: please|吧)?\s*+[.!。！]?\s*+"
)
"""Nothing else said: it goes on from the change that was made, and names no task to resume."""
CONTRAST = regex(r"\b(?:but|instead|rather)\b|但是|但|不过|而是|改为|改成")
POLITE_CONDITION = regex(
    r"\bif (?:you (?:can|could|may|please)|possible|that'?s ok(?:ay)?)\b|(?:如果)?(?:可以|方便|行|没问题)的话|如果(?:可以|方便|行)"
)

HOLDS: tuple[tuple[Hold, re.Pattern[str]], ...] = (
    (Hold.CONDITIONAL, regex(
        r"\b(?:if|when|whenever|once(?!\s*(?:more|now|please|again|for me)*\s*$)|unless|after|until|before|in case)\b"
        r"|如果|要是|假如|倘若|一旦|的话|除非|直到|等.{0,16}(?:后|再|了)|当.{1,20}时")),
    (Hold.DEFERRED, regex(
        r"\b(?:tomorrow|tonight|later|next (?:week|month|monday|day)|in \d+ ?(?:m|min|minutes?|h|hours?|days?)|"
        r"for \d+ ?(?:m|min|minutes?|h|hours?|days?)|at \d)"
        r"|明天|后天|今晚|稍后|晚点|下周|下个月|(?:小时|分钟|天)(?:之|以)?后|点(?:钟)?再")),
    (Hold.BULK, regex(r"\b(?:all|every(?!\s+(?:night|day|hour|time|morning|evening|week|month|minute|\d))|everything|each|both|any)\b|所有|全部|每个|每一个|一切|全都|任何")),
    (Hold.CHOICE, regex(r"\bor\b|或者?|还是")),
)  # fmt: skip

_RECURS = (
    r"(?:每(?:天|日|晚|夜|早|个?(?:周|星期|礼拜)[一二三四五六日天末]?|个?月(?:\d{1,2}\s*[号日])?|个?小时|隔?\s*\d+\s*(?:分钟|个?小时)|个?工作日)"
    r"|天天|工作日)"
)
RECURRING = regex(
    rf"{_RECURS}\s*(?:都|定时|自动|固定|的)?\s*(?:凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|半夜|午夜|零点|\d{{1,2}}\s*[点时:]"
    r"|[一二两三四五六七八九十]{1,3}点|(?:触发|执行|运行|跑|启动)(?!的))"
    r"|\b(?:every|each)\s+(?:other\s+)?(?:\d+\s+)?(?:day|night|morning|evening|hour|minute|week|weekday|month|monday|tuesday|wednesday|"
    r"thursday|friday|saturday|sunday)s?\b|\b(?:daily|nightly|hourly|weekly|monthly)\b\s*(?=at\b|please\b|but\b|$)"
)
"""Again and again, at a time: said of running something, it asks for a schedule and not for a run now."""

REFERENCE = regex(
    r"\b(?:it|its|that|this|the (?:same )?(?:task|job))\b|它|这个|那个|该任务|此任务|这任务|刚才|上面"
)
SUCCESS_RATE = regex(r"成功率|success rate")
SOME_OTHER = regex(
    r"\b(?:last|latest|newest|recent|recently|all|any|everything|things?|runs|tasks|jobs|which|system|scheduler)\b"
    r"|最近|最后|上次|最新|所有|全部|哪|系统|整体|调度"
)
"""Words that make a sentence without a name be about something else than what the thread is about."""
CHANGED = regex(
    r"\b(?:paused?|resumed?|disabled?|enabled?|deleted?|removed?|triggered?|suspended?|stopped)\b|暂停|停用|停掉|恢复|启用|删除|触发|禁用"
)

_FAILURE = (
    r"\b(?:fail(?:s|ed|ing|ures?)?|errors?|errored|broken?|broke|crash(?:es|ed|ing)?|timed out|timeouts?|"
    r"red|unsuccessful|wrong|died|blew up|exploded)\b|失败|报错|出错|异常|挂了|挂掉|跑挂|红了|变红|炸了|崩了|超时|错误|没跑成|出问题|故障|没成功"
)
FAILURE = regex(_FAILURE)
SHOW = regex(r"\b(?:show|display|view|see|print|get)\b|看|显示|查")
LOOK = regex(
    r"\b(?:look into|look at|(?:take|have) a look|check (?:it|this|that|on|out)|figure (?:it|this|that) out|figure out|dig into|find out)\b"
    r"|看一下|看一看|看下|看看|瞧瞧|查一下|查下|查查|查一查|处理一下"
)
"""A request to look, without saying for what: about a named task that failed, or about what the thread is about."""

CONDITION = regex(
    r"^(?!.*\bwh)[^\w\ue000-\uefff]*(?:(?:and|so|hey|but) )?(?:is|are|was|how(?:'s| is| are| was| about)|what about|what's up with)\b.*?(?:\b(?:ok(?:ay)?|fine|healthy|alright|all right|good|well|doing|going|working|alive|stable|up)\b"
    rf"|{NAME}\s*$)"
    r"|还好|正常(?!了)|怎么样|怎样|如何|还行|没事吧|没问题吧|好着吗|好吗|ok吗|健康|稳定吗|状况|状态|\b(?:health\w*|status|state)\b"
)
"""Of a task that is named: whether it runs as it should."""

QUESTIONS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    (Kind.HELP, regex(
        r"^\s*(?:hi|hello|hey|help|help me|你好|您好|嗨|帮助|hello there|good (?:morning|evening)|早上好|晚上好|在吗)\s*$"
        r"|what can you do|what do you do|how (?:do|can) i use|who are you|how (?:do|to|can|could|would)\b.*\b(?:pause|resume|delete|trigger|create|retry|run)\b"
        r"|你能做什么|你会什么|能干什么|能做什么|怎么用|使用说明|你是谁"
        r"|(?:怎么|如何|怎样)(?!.*被).{0,6}(?:暂停|恢复|删除|触发|创建|新建|重试)")),
    (Kind.LIST, regex(
        r"\b(?:what(?:'s)?|which(?: ones?)?|any(?:thing|one)?|something|list|all)\b(?: else)?(?: (?:is|are|has|have|was|were|got|been|that|all|still|currently|now|right)\b)*"
        r" (?:paused|disabled|suspended|enabled|active)\b(?! by\b)"
        r"|(?:(?<!为)什么(?!时候|原因)|哪些|哪几个|有没有|谁(?=被))(?:任务)?(?:是|都|被|还|已经?|现在|正在)*(?:暂停|停用|禁用|启用)(?:着|了|的|状态|中|吗|\s*$)"
        r"|(?:暂停|停用|禁用|启用)(?:着|了|的)(?:是|都|有)*(?:什么(?!时候|原因)|哪些|哪几个)")),
    (Kind.THANKS, regex(
        r"^[^\w\ue000-\uefff]*(?:(?:ok(?:ay)?|k|yes|yep|yeah|sure|great|good|nice|cool|perfect|alright|all right|got it|understood|thanks?(?: you)?|thx|ty|cheers|a lot|so much|very much|bot|"
        r"好的?|行|嗯|收到|明白了?|知道了|了解|可以|谢谢(?:你|您|啦|了)?|谢啦|谢了|多谢|感谢|辛苦了?|不错|太好了|啦|哈|呀|啊)(?:[^\w\ue000-\uefff]+|(?=[\u4e00-\u9fff])|$))++$")),
    (Kind.WHY_CHANGED, regex(
        r"\bwho(?: has| have|'s)? (?:last |just |recently )?(?:changed?|edited|modified|touched|updated|altered|created|paused|resumed|disabled|enabled|deleted|removed|triggered|suspended|stopped|rescheduled)\b"
        r"|\bby whom\b|谁(?:最后|最近|刚才?|把|又|给|来|\s)*[\ue000-\uefff它]?.{0,8}?(?:改|修改|更改|调整|动|创建|建|暂停|恢复|停用|启用|删除|删|触发|停|关)(?:了|过|的|掉)")),
    (Kind.VERIFY, regex(
        r"\b(?:why|what|who|when)\b.*\b(?:rejected|rejection)\b|\bwh(?:y|o)\b.*\breject (?:it|that|this|the (?:change|proposal))\b"
        r"|(?:为什么|为何|为啥|怎么|谁|何时|什么时候).{0,8}拒绝|被拒|拒绝.{0,6}(?:原因|理由|为什么)")),
    (Kind.EXPLAIN, regex(
        r"\b(?:why|reasons?|cause|analy[sz]e|analysis|diagnose|investigate|debug|troubleshoot|explain)\b"
        r"|what (?:went wrong|happened|is wrong|'?s wrong)|what'?s wrong|look into"
        r"|为什么|为何|原因|分析|怎么.{0,3}(?:失败|挂|红|停|报错|出错)|怎么回事|怎么了|怎么会|排查|诊断|咋|查一下.*(?:报错|错误)|出了什么问题")),
    (Kind.DETAIL, regex(
        r"\b(?:config\w*|details?|depend\w*|upstream|downstream|success rate|retry (?:policy|count)|max retries|payload|cron|"
        r"next run|when (?:does|will|is)|timeout setting|describe|schedule|compare)\b"
        r"|配置|详情|详细|依赖|上游|下游|成功率|超时时间|重试策略|重试次数|下次|什么时候|何时|对比|比较")),
    (Kind.VERIFY, regex(
        r"\bdid (?:it|that|this|the (?:change|pause|resume|retry|trigger|delete|deletion))\b.*\b(?:work|go through|succeed|happen|take effect|apply)\b"
        r"|\b(?:is|was|has|did|are) (?:it|that|this|the (?:change|proposal))\b.*\b(?:done|applied|approved|rejected|executed|been applied|get approved|in effect|finished|expire[d]?)\b"
        r"|\b(?:did|was|were|has|is)\s+\S+\s+(?:get |got |been |really )?(?:done|applied|approved|rejected|executed|paused|resumed|deleted|"
        r"removed|triggered|retried|created|carried out|go through|take effect)\b"
        r"|\b(?:who approved|who rejected|any luck|did it|worked\?|outcome of (?:it|that|the))"
        r"|(?:成功|生效|执行|完成|搞定|通过|批准|处理|恢复|暂停|删除|触发|重试|创建|停|改|好)(?:成功|好|完)?了(?:吗|没有|没|么)|有没有(?:成功|生效|通过|批准|执行)|(?:是否|是不是)(?:已经?)?(?:成功|生效|通过|批准|执行)"
        r"|谁(?:批准|同意|拒绝)|结果(?:如何|怎么样|怎样|呢)|^\s*生效没")),
    (Kind.FAILURES, FAILURE),
    (Kind.WORKERS, regex(
        r"\b(?:workers?|nodes?|loads?|capacity|utili[sz]ation|machines?|executors?|overload\w*|(?<!you )busy|busiest|saturated)\b|过载|超载|(?<!帮)忙不过来|太忙|繁忙|(?<!帮)忙吗|节点|负载|机器|执行器|容量|利用率")),
    (Kind.RUNS, regex(
        r"\b(?:running|in progress|recent runs|latest runs|last runs|run history|runs|executions?)\b"
        r"|正在运行|正在执行|在跑|在运行|在执行|运行记录|执行记录|最近的?运行|最近的?执行|运行历史|执行历史|跑了")),
    (Kind.HEALTH, regex(
        r"\b(?:health\w*|overview|overall|status|state|summary|"
        r"how(?:'?s| is| are) (?:the |our |your )?(?:whole |entire )?(?:system|scheduler|platform|cluster|things|everything)|"
        r"how (?:does|do) (?:the |our )?(?:system|scheduler|platform|cluster|things|everything) look|all (?:good|ok|okay|green|fine)|"
        r"everything (?:ok|okay|fine|good|alright)|is the scheduler)\b"
        r"|健康|概览|整体|总体|概况|状态|状况|大盘|情况|正常|总览|还好吗|还行吗|没事吧|没问题吧"
        r"|(?:系统|调度器?|平台|集群|一切).{0,6}?(?:怎么样|怎样|如何|还好|还行)")),
    (Kind.LIST, regex(r"\b(?:tasks?|jobs?)\b|任务|作业|列表")),
)  # fmt: skip
"""Tried in this order; the first that matches wins."""

STATUS_FILTERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("disabled", regex(r"\b(?:paused|disabled|suspended|stopped)\b|(?:已)?(?:暂停|停用|禁用)")),
    ("enabled", regex(r"\b(?:enabled|active)\b|已?启用")),
)
