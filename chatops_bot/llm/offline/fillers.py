"""Words that are never part of a task's name when somebody writes one in plain words ("pause the nightly report")."""

from chatops_bot.domain.regex import regex

ENGLISH = frozenset(
    """a about again all am an and any are as asap at away back be been bot by can could currently did do does doing done down
    ever everything exactly execution failed failing failure fail fails find for forever from get give go going got had happened happening has
    have hello help hey hi how i if immediately in instance into is it its job jobs just keep keeps kindly last lately latest let like
    look me mine more most my named called need new newest now of off ok okay on once one our out over past please pls previous
    quickly reason reasons recent recently right run runs scheduled scheduler see show since so some still task tasks tell than thanks thank that the
    their them then there these they thing things this those time times to today tonight too up us very want was way we
    well were what what's whats when where which while who whom why will with wrong would yes yesterday yet you your
    error errors explain analyse analyze analysis cause root investigate diagnose debug happened went hour hours day days
    week minute minutes night morning config configuration details detail status state schedule next dependencies depends
    depend dependency success rate upstream downstream payload cron describe compare paused resumed disabled enabled deleted triggered
    off did didn't isn't broken crash crashed timeout timed into first check know history list retry retries policy count max
    setting settings not don't doesn't information info or versus vs between""".split()  # noqa: SIM905 - a list literal would be 200 lines
)
CHINESE = regex(
    r"还有|所有|全部|每个|任何|为什么|为何|怎么回事|怎么样|怎么了|怎么|一下|一次|一遍|一会儿|最近|上次|最后|最新|刚才|刚刚|失败|报错|出错|错误|异常|超时|运行|实例|执行|任务|作业|"
    r"帮我|帮忙|麻烦|请问|请|立即|立刻|马上|现在|手动|先|再|又|吧|了|的|掉|把|将|给我|我|你|您|它|这个|那个|这次|那次|该|此|"
    r"能不能|可不可以|能否|可否|可以|能|吗|呢|啊|呀|么|是否|是不是|有没有|是|被|会|老是|总是|一直|原因|分析|看看|看下|看一下|查看|查一下|查询|查|看|告诉|显示|"
    r"配置|详情|详细|信息|依赖|上游|下游|成功率|成功|状态|情况|下次|什么时候|何时|什么|哪些|哪个|触发|时间|今天|昨天|昨晚|和|与|跟|对比|比较|还|都|也|就|在|个|叫|名为|名字|一|"
    r"挂了|挂|出|问题|排查|诊断|暂停|恢复|删除|停用|启用|重试|重跑|系统|次|咋|不|没|号|上面|用|节点|负载|那么|那|谁"
)
