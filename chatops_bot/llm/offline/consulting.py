"""A plan for "ask the scheduler operator": the question goes to the agent that is meant, and its answer comes back as it is."""

import re

from chatops_bot.domain.language import Phrase
from chatops_bot.domain.model import UserMessage
from chatops_bot.domain.tool import CONSULT_AGENT
from chatops_bot.llm.offline import report
from chatops_bot.llm.offline.called_upon import QUESTION
from chatops_bot.llm.offline.conversation import Conversation
from chatops_bot.llm.offline.desk import Answer, Desk, Told
from chatops_bot.llm.offline.quoting import code
from chatops_bot.llm.offline.understanding import Intent
from chatops_bot.llm.offline.wishes import changes_asked

_NOBODY = Phrase(
    "这里没有可以咨询的其他智能体：本频道的智能体没有可以转交的对象，或您在这里不能使用 {tool}。",
    "No other agent can be consulted here: this channel's agent names none to hand over to, or {tool} is not available to you here.",
)
_UNKNOWN = Phrase(
    "这里不能咨询 {name}；可以咨询的有：{agents}。", "{name} cannot be consulted here; {agents} can."
)
_WHAT = Phrase(
    "要问 {agent} 什么？请把问题写在一起，例如：`问一下 {plain}：nightly-report 为什么失败？`",
    "What is {agent} to be asked? Say it together, e.g. `ask {plain} why nightly-report failed`",
)
_THESE = Phrase(
    "这里可以咨询：{agents}。说法：`问一下 {plain}：nightly-report 为什么失败？`",
    "These can be consulted here: {agents}. Say e.g. `ask {plain} why nightly-report failed`",
)
_CHANGE = Phrase(
    "{agent} 被咨询时只查询，不提出变更。请直接在这里说：{question}",
    "{agent} only looks when it is consulted and proposes no change. Say it here: {question}",
)
_ANSWERED = Phrase("{agent} 的回答：", "{agent} answered:")
_INCOMPLETE = Phrase("（回答不完整。）", "(The answer is incomplete.)")

_CHINESE: tuple[tuple[str, str], ...] = (
    (r"调度", "scheduler"),
    (r"事故|事件|故障|应急|排障", "incident"),
)
"""What people call an agent in Chinese, and a part of its id."""
_ANY = frozenset(
    {"another", "other", "agent", "specialist", "另一个", "另外一个", "别的", "其他", "其它", "智能体"}
)


def consult(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    agents = conversation.agents
    if not agents:
        raise Told(_NOBODY.filled(tool=code(CONSULT_AGENT)).said_in(desk.language))
    if not intent.said:
        listed = _THESE.filled(agents=report.listed(agents), plain=agents[0])
        return Answer(listed.said_in(desk.language))
    agent = _meant(agents, intent.said)
    if agent is None:
        said = _UNKNOWN.filled(name=code(intent.said), agents=report.listed(agents))
        raise Told(said.said_in(desk.language))
    question = _question(conversation)
    if not question:
        raise Told(_WHAT.filled(agent=code(agent), plain=agent).said_in(desk.language))
    if changes_asked(question):
        raise Told(_CHANGE.filled(agent=code(agent), question=code(question)).said_in(desk.language))
    told = desk.ask(CONSULT_AGENT, agent_id=agent, question=question)
    parts = [_ANSWERED.filled(agent=code(agent)).said_in(desk.language), str(told.get("answer", ""))]
    if told.get("incomplete"):
        parts.append(_INCOMPLETE.said_in(desk.language))
    return Answer("\n\n".join(parts))


def _meant(agents: tuple[str, ...], said: str) -> str | None:
    """The agent that is meant by its id, by words of it, or as the only other one."""
    words = set(re.findall(r"[a-z0-9]+|[\u4e00-\u9fff]+", said.lower()))
    for agent in agents:
        if words and words <= {*agent.lower().split("_"), "agent", "the"} and words & set(agent.split("_")):
            return agent
    parts = [part for pattern, part in _CHINESE if re.search(pattern, said)]
    found = [agent for agent in agents if any(part in agent for part in parts)]
    if len(found) == 1:
        return found[0]
    is_any = bool(words) and words <= _ANY
    return agents[0] if len(agents) == 1 and is_any else None


def _question(conversation: Conversation) -> str:
    """What is said behind the agent's name; what was asked here before, where nothing is."""
    own = QUESTION.sub("", conversation.text, count=1).strip(" \t\n,:;，：；。.?？!！")
    if own:
        return QUESTION.sub("", conversation.text, count=1).strip(" \t\n,:;，：；。")
    before = (message.text for message in reversed(conversation.history) if isinstance(message, UserMessage))
    return next((text for text in before if not QUESTION.match(text)), "")
