"""Skills and agents in what people say: asked after, asked for by name, or only mentioned.

All patterns see masked text (see `cues`). A skill is only asked for where a verb of use or nothing but its name stands; a task
whose name holds the word is masked, so it never counts.
"""

import re
from dataclasses import dataclass

from chatops_bot.domain.regex import regex
from chatops_bot.llm.offline.arguments import Masked
from chatops_bot.llm.offline.cues import NAME, PROHIBITION, Kind
from chatops_bot.llm.offline.verbs import OPENERS

_WORD = regex(r"\bskills?\b|技能")
_TASK = regex(r"\b(?:tasks?|jobs?)\b|任务|作业")
_NAMED = regex(
    rf"\bskills?\s*[:=]?\s*(?:called\s+|named\s+)?(?P<en>{NAME})|(?P<en2>{NAME})\s+skill\b"
    rf"|技能\s*[:=]?\s*(?:叫|名为)?\s*(?P<zh>{NAME})|(?P<zh2>{NAME})\s*(?:这个|那个|这项|的)?\s*技能"
)
_USE_EN = r"(?:use|using|apply|applying|load|run|follow|following|try|invoke|start|execute|perform|do|go with|with|via|per)"
_USE_ZH = (
    r"(?:使用|用|按照|按|照着|照|加载|载入|调用|运行|执行|启用|启动|套用|走|跑|读取|通过|试试)\s*(?:一下|下)?"
)
_USE = regex(
    rf"\b{_USE_EN}\s+(?:(?:the|your|our|my|a)\s+)?(?:skills?\b|{NAME}\s+skill\b|(?:[a-z]+\s+){{1,4}}skill\b)"
    rf"|{_USE_ZH}\s*(?:这个|那个)?\s*(?:技能|{NAME}\s*(?:这个|那个|这项|的)?\s*技能|[\u4e00-\u9fff]{{2,10}}技能)"
    rf"|技能.{{0,4}}(?:跑|执行|运行|用)(?:一下|一遍|一次|起来)"
)
_NONE_AT_ALL = regex(
    rf"\b(?:don'?t|do not|never|no need to|without)\s+{_USE_EN}\s+(?:any|a|the|your|some)?\s*skills?\b|\bno skills?\b|\bwithout (?:any )?skills?\b"
    r"|(?:不要|别|不用|不必|无需|不准)\s*(?:再)?\s*(?:使用|用|调用|加载)?\s*(?:任何)?\s*技能"
)
_IN_WORDS = regex(
    rf"\b{_USE_EN}\s+(?:(?:the|your|our|my)\s+)(?P<before>[a-z]+(?:\s+[a-z]+){{0,3}}?)\s+skill\b"
    rf"|\b{_USE_EN}\s+(?:the\s+|your\s+)?skill\b\s*:?\s*(?P<after>(?!for\b|on\b|to\b|which\b|that\b)[a-z]+)"
    rf"|{_USE_ZH}\s*(?:这个|那个)?\s*(?P<zh>[\u4e00-\u9fff]{{2,8}}?)(?:这个|的)?技能"
    r"|^\s*(?:请|帮我|把|麻烦)?\s*(?P<zh2>[\u4e00-\u9fff]{2,8}?)(?:这个|的)?技能\s*(?:跑|执行|运行|用)(?:一下|一遍|一次|起来)"
)
_BARE_USE = regex(
    rf"^\s*{OPENERS}(?:use|apply|load|follow)\s+(?P<en>{NAME})(?:\s+(?:for|on|with|about|to)\b.*)?\s*$"
    rf"|^\s*(?:请|帮我|麻烦)?\s*(?:使用|用|加载|按照?|套用)\s*(?:一下)?\s*(?P<zh>{NAME})\s*(?:$|(?:来|去|处理|看|分析|排查|检查|做|跑|查))"
)
_ALONE = regex(
    rf"^(?:\s|{NAME}|skill|技能|please|pls|now|for|on|the|task|job|thanks?|请|对|给|针对|一下|谢谢|吧|的|任务|[:,.!])*$"
)
_ASKS_ABOUT = regex(
    r"\b(?:what|which|how|does|is there|is|are|do you|describe|explain|about|show)\b|什么|哪|啥|介绍|说明|怎么|干嘛|干什么|讲讲|吗"
)
_LISTED = regex(
    r"\b(?:what|which|how many|list|show|any|available|have|your|know|tell|there|see|all|name)\b.*\bskills?\b"
    r"|\bskills?\b.*\b(?:list|available|have|offer|there|can you use|do you|know)\b|^\s*(?:the )?skills\s*$"
    r"|(?:什么|哪些|哪几|哪个|啥|几个|多少|列出|列一下|有|会|看看|看下|查看|显示|介绍|所有|全部|可用|能用|支持).{0,8}技能"
    r"|技能.{0,6}(?:有哪些|有什么|有啥|列表|清单|大全|都有|是什么|哪些|有几|怎么用|吗)|^\s*(?:[你您]的)?技能\s*$"
)
_HOW = regex(r"\bhow\b|怎么用|如何用|怎样用|如何使用|怎么使用|怎样使用")
_AGENTS = regex(
    r"\b(?:which|what|any|other)\b.{0,20}\bagents?\b.{0,20}\b(?:ask|consult|there|have|know|available)\b|\bother agents\b"
    r"|\bwho (?:else )?can (?:you|i|we) (?:ask|consult)\b|\bwho can be (?:asked|consulted)\b"
    r"|(?:哪些|什么|有没有|几个|其他|别的|哪个).{0,8}智能体|智能体.{0,4}(?:有哪些|列表|吗)|(?:能|可以|会)(?:咨询|问)(?:谁|哪些人)"
)
_WHO_EN = (
    rf"(?:(?:the|our|your|another|other|an?)\s+)*(?:agent\s+)?"
    rf"(?:{NAME}(?:\s+agent)?|(?:[a-z]+[\s-]+){{0,2}}(?:operator|responder|agent|specialist)\b)"
)
_WHO_ZH = (
    rf"(?:{NAME}|(?:任务)?调度(?:操作)?(?:员|助手|专家|智能体|agent)|(?:事故|事件|故障|应急|排障)(?:响应|处理|处置)?(?:员|者|人|专家|助手|智能体|agent)"
    r"|(?:另(?:外)?一个|别的|其他|其它)?\s*(?:智能体|agent))"
)
_ASKED_EN = regex(
    rf"^\s*{OPENERS}(?P<verb>consult(?: with)?|ask|check with|talk to|bring in|query|(?:hand|pass|refer|escalate) (?:this|it|that)?\s*(?:on |over )?to|"
    rf"get (?:a second opinion|an opinion|advice) (?:from|of)|have|let)\s+(?P<who>{_WHO_EN})"
)
_ASKED_ZH = regex(
    rf"^\s*(?:请|帮我|麻烦|帮忙|先|你|能不能|可以|再|去|,|\s)*(?P<verb>问一下|问下|问问|问一问|问|咨询一下|咨询下|咨询|请教一下|请教|转交给|转给|交给|找|叫|让|请)\s*(?P<who>{_WHO_ZH})"
)
QUESTION = regex(
    r"^\s*(?:(?:please|pls|hey|ok|okay|can you|could you|would you|you should|let'?s|go|also|then)\b[\s,]*)*"
    r"(?:consult(?: with)?|ask|check with|talk to|bring in|query|(?:hand|pass|refer|escalate) (?:this|it|that)?\s*(?:on |over )?to|"
    r"get (?:a second opinion|an opinion|advice) (?:from|of)|have|let)\s+(?:(?:the|our|your|another|other|an?)\s+)*"
    r"(?:(?:agent\s+)?(?:[a-z]+(?:[_.-][a-z0-9]+)+|[`\"'][a-z0-9_.-]+[`\"'])(?:\s+agent\b)?|(?:[a-z]+[\s-]+){0,2}?(?:operator|responder|agent|specialist)\b)"
    r"(?:\s+(?:to|about|on)\b(?=\s+\S))?"
    r"|^\s*(?:请|帮我|麻烦|帮忙|先|你|能不能|可以|再|去|,|，|\s)*(?:问一下|问下|问问|问一问|问|咨询一下|咨询下|咨询|请教一下|请教|转交给|转给|交给|找|叫|让|请)\s*[`“\"]?"
    r"(?:[a-z]+(?:_[a-z0-9]+)+|(?:任务)?调度(?:操作)?(?:员|助手|专家|智能体|agent)|(?:事故|事件|故障|应急|排障)(?:响应|处理|处置)?(?:员|者|人|专家|助手|智能体|agent)"
    r"|(?:另(?:外)?一个|别的|其他|其它)?\s*(?:智能体|agent))[`”\"]?\s*(?:来|去)?(?:看看|看一下|看下)?(?=$|\W|[\u4e00-\u9fff])",
    re.IGNORECASE,
)
"""In a message as it was written: what calls upon an agent, up to what it is asked."""
_ASKING = regex(r"^(?:consult|get|ask|talk to|check with|问|咨询|请教)")
"""Verbs of which a task can hardly be the object; behind any other, a masked name is an agent's only where it is said to be one."""


@dataclass(frozen=True, slots=True)
class CalledUpon:
    """What a clause says of a skill (Kind.SKILL, Kind.SKILLS) or an agent (Kind.CONSULT); Kind.HELD where it says not to.

    `said` is the name or the words for it; empty where all skills or agents are asked after. `names` are other names of the clause.
    `is_bare`: nothing says that it is a skill.
    """

    kind: Kind
    said: str = ""
    names: tuple[str, ...] = ()
    is_bare: bool = False


def called_upon(message: Masked, clause: str) -> CalledUpon | None:
    """What a masked clause calls upon, None where that is neither a skill nor an agent."""
    asked = _agent_in(message, clause)
    if asked is not None:
        return asked
    if _WORD.search(clause) is None:
        bare = _BARE_USE.search(clause)
        if bare is None:
            return None
        first, *others = message.names_in(clause) or ("",)
        return CalledUpon(Kind.SKILL, first, tuple(others), is_bare=True) if first else None
    return _skill_in(message, clause)


def _skill_in(message: Masked, clause: str) -> CalledUpon | None:
    named = _NAMED.search(clause)
    names = message.names_in(clause)
    if named is not None:
        said = next(iter(message.names_in(named.group(named.lastgroup or 0))), "")
        others = tuple(name for name in names if name != said)
        if not said:
            return None
        if PROHIBITION.search(clause):
            return CalledUpon(Kind.HELD, said)
        if _ALONE.match(clause) or (_USE.search(clause) and not _HOW.search(clause)):
            return CalledUpon(Kind.SKILL, said, others)
        return CalledUpon(Kind.SKILLS, said) if _ASKS_ABOUT.search(clause) else None
    words = _IN_WORDS.search(clause)
    if words is not None and not _ASKS_ABOUT.search(words.group(words.lastgroup or 0)):
        if PROHIBITION.search(clause):
            return CalledUpon(Kind.HELD)
        return CalledUpon(Kind.SKILL, words.group(words.lastgroup or 0), names)
    if _NONE_AT_ALL.search(clause):
        return CalledUpon(Kind.HELD)
    if names or _TASK.search(clause) or PROHIBITION.search(clause):
        return None
    return CalledUpon(Kind.SKILLS) if _LISTED.search(clause) else None


def _agent_in(message: Masked, clause: str) -> CalledUpon | None:
    forbidden = PROHIBITION.search(clause)
    asking = clause if forbidden is None else clause[forbidden.end() :]
    asked = _ASKED_EN.match(asking) or _ASKED_ZH.match(asking)
    if asked is None:
        return CalledUpon(Kind.CONSULT) if forbidden is None and _AGENTS.search(clause) else None
    who = asked.group("who")
    name = next(iter(message.names_in(who)), "")
    is_consulted = asked.group("verb").startswith(("consult", "咨询"))
    looks_like_one = "_" in name and _ASKING.match(asked.group("verb"))
    if name and not (is_consulted or looks_like_one or "agent" in who or "智能体" in who):
        return None
    said = name or re.sub(r"^(?:(?:the|our|your|an?)\s+)+", "", who.strip())
    return CalledUpon(Kind.HELD if forbidden else Kind.CONSULT, said)
