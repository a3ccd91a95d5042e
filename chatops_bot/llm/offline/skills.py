"""Plans for skills: which there are, and one of them carried out as far as rules can.

A skill is prose for a model. What rules can do of it are the lookups of its worked example (see `carrying_out`); the answer
says what it left out. Skills that the asker may not see are not among those of the request, so nothing here can name them.
"""

import re
from collections.abc import Iterable

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.regex import regex
from chatops_bot.domain.skill import LOAD_SKILL, Skill
from chatops_bot.llm.offline import report
from chatops_bot.llm.offline.arguments import Target
from chatops_bot.llm.offline.carrying_out import (
    can_be_narrowed,
    carried_out,
    example_of,
    lookups,
    names_a_task,
    narrowed,
)
from chatops_bot.llm.offline.conversation import Conversation
from chatops_bot.llm.offline.cues import Kind
from chatops_bot.llm.offline.desk import Answer, Desk, Told, sayable
from chatops_bot.llm.offline.lookup import Task, folded, nearest, target_in, tasks_of
from chatops_bot.llm.offline.quoting import code, one_line
from chatops_bot.llm.offline.understanding import Intent

_LINE_CHARS = 120
_MOST_LISTED = 40
_MOST_DECISIONS = 4

_SENTENCE = regex(r"(?:[^。！？.!?]|[.!?](?=\S))+(?:[。！？.!?]+|\Z)")
_HAN = regex(r"[\u4e00-\u9fff]")

_NO_SKILLS = Phrase("这里没有您可以用的技能。", "There are no skills here that you can use.")
_HEAD = Phrase("您在这里可以用 {count} 个技能：", "You can use {count} skills here:")
_ONE = Phrase("技能 {name}：{about}", "The skill {name}: {about}")
_MORE = Phrase("- ……另有 {count} 个", "- … and {count} more")
_PERSONAL = Phrase(
    "另有 {count} 个技能不是人人可见；这里有别人在看，名字只在私聊里列出。",
    "{count} more are not for everybody; others read along here, so they are listed in a direct message only.",
)
_NEEDS_MODEL_MARK = Phrase("（需要语言模型）", " (needs a language model)")
_WITHOUT_MODEL = Phrase(
    "没有语言模型时，规则读取一个技能并做它示例里的查询；判断、归纳和成文需要模型。说法：`用 {name} 技能`。",
    "Without a language model, rules load a skill and make the lookups of its example; judging, summing up and writing need a "
    "model. Say `use the skill {name}`.",
)
_UNKNOWN = Phrase("这里没有您可以用的技能 {name}。", "There is no skill {name} here that you can use.")
_NEAR = Phrase("您是指 {near} 吗？", "Did you mean {near}?")
_ASK_LIST = Phrase("输入“有哪些技能”查看。", "Ask “which skills do you have?” for those there are.")
_SEVERAL = Phrase(
    "这可能是几个技能：{names}。请写出名字。", "That could be several skills: {names}. Write the name."
)
_PROSE_ONLY = Phrase(
    "已读取技能 {name}，但它没有规则能执行的步骤：按它的说明做事需要语言模型。",
    "The skill {name} is loaded, but it has no steps that rules can carry out: following its text needs a language model.",
)
_CARRIED_OUT = Phrase("技能 {name}，规则完成了它的查询：", "The skill {name}; rules made its lookups:")
_NOT_ABOUT_ONE = Phrase(
    "这个技能的查询不针对单个任务，所以没有按 {names} 缩小范围。",
    "The lookups of this skill are not about one task, so they were not narrowed to {names}.",
)
_NO_SCRIPTS = Phrase(
    "运行技能的脚本需要语言模型；规则只能做示例里的查询：`用 {name} 技能`。",
    "Running a script of a skill needs a language model; rules can only make the lookups of its example: `use the skill {name}`.",
)
_DO = regex(
    r"(?:please |let's |let us |now )*+(?:do|perform|make|start|begin|run|carry out) (?:a |an |the |our |your )?(?P<en>[a-z][a-z0-9 -]{2,63}?)(?: please| now)?[.!]?"
    r"|(?:请|帮我|来|做|进行|开始|执行|跑|一?个|一下|一次|\s)+(?P<zh>[a-z][a-z0-9-]{2,63})\s*(?:吧|一下)?[。！]?",
    re.IGNORECASE,
)
_LEFT = Phrase(
    "没有做的：判断和成文（需要语言模型）{rest}。",
    "Not done: judging and writing it up, which need a language model{rest}.",
)
_LEFT_STEPS = Phrase(
    "；{tools} 也没有调用，要做变更请直接说",
    "; {tools} was not called either: ask for a change in so many words",
)
_LEFT_TOOLS = Phrase("；您在这里不能使用 {tools}", "; {tools} is not available to you here")


def list_skills(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    """Every skill that the asker may see, a line each; of one that was named, its whole description."""
    language = desk.language
    if intent.said:
        skill = _meant(conversation, intent.said, language)
        about = _about(skill, language, len(skill.described_in(language)))
        return Answer(_ONE.filled(name=code(skill.name), about=about).said_in(language))
    shown = sayable(conversation)
    personal = len(conversation.skills) - len(shown)
    parts = [_catalogue(shown, language)] if shown else []
    if personal:
        parts.append(_PERSONAL.filled(count=personal).said_in(language))
    if shown:
        able = next((skill for skill in shown if _is_able(skill)), shown[0])
        parts.append(_WITHOUT_MODEL.filled(name=able.name).said_in(language))
    return Answer("\n\n".join(parts) or _NO_SKILLS.said_in(language))


def _catalogue(skills: list[Skill], language: Language) -> str:
    lines = [_HEAD.filled(count=len(skills)).said_in(language)]
    for skill in skills[:_MOST_LISTED]:
        mark = "" if _is_able(skill) else _NEEDS_MODEL_MARK.said_in(language)
        lines.append(f"- {code(skill.name)}{mark} — {_about(skill, language, _LINE_CHARS)}")
    if more := len(skills) - _MOST_LISTED:
        lines += [_MORE.filled(count=more).said_in(language)] if more > 0 else []
    return "\n".join(lines)


def _is_able(skill: Skill) -> bool:
    """Whether rules can do anything of it."""
    example = example_of(skill.body)
    return example is not None and bool(lookups(example))


def _about(skill: Skill, language: Language, most: int) -> str:
    """What a skill is for: as many sentences of its description as fit, those in the asker's language where it has some."""
    described = skill.described_in(language)
    said = one_line(described, len(described) + 1)
    sentences = _SENTENCE.findall(said)
    own = [each for each in sentences if (_HAN.search(each) is not None) == (language == "zh")] or sentences
    kept = own[0]
    for each in own[1:]:
        if len(kept) + len(each) > most:
            break
        kept += each
    return one_line(kept.strip(), most)


def use_skill(desk: Desk, conversation: Conversation, intent: Intent) -> Answer:
    """The skill loaded, the lookups of its example made for the asker's task and hours, and what that leaves to do."""
    language = desk.language
    skill = _meant(conversation, intent.said, language)
    can_load = desk.offers(LOAD_SKILL) or not desk.offers_anything
    text = str(desk.ask(LOAD_SKILL, name=skill.name).get("text", "")) if can_load else skill.body
    example = example_of(text)
    steps = lookups(example) if example is not None else ()
    if example is None or not steps:
        return Answer(_PROSE_ONLY.filled(name=code(skill.name)).said_in(language))
    named = bool(intent.target.names or intent.target.task_ids)
    is_narrowed = named and can_be_narrowed(steps)
    is_about_one = any(map(names_a_task, steps)) or is_narrowed
    task = _task(desk, conversation, intent, skill) if is_about_one else None
    if task is not None and is_narrowed:
        steps = narrowed(steps, task)
    sections, missing = carried_out(desk, steps, task, intent.window)
    left = list(dict.fromkeys(step.call for step in example.steps[len(steps) :]))
    return Answer(
        report.joined(
            [
                _CARRIED_OUT.filled(name=code(skill.name)).said_in(language),
                _not_about_one(intent.target, language) if named and task is None else "",
                *sections,
                *(_of_this_thread(desk, conversation) if task is None else ()),
                _left(left, missing, language),
            ]
        )
    )


def _not_about_one(target: Target, language: Language) -> str:
    named = [*target.names, *(f"#{task_id}" for task_id in target.task_ids)]
    return _NOT_ABOUT_ONE.filled(names=report.listed(named)).said_in(language)


def run_script(desk: Desk, _: Conversation, intent: Intent) -> Answer:
    """What rules do instead of running a script of a skill."""
    return Answer(_NO_SCRIPTS.filled(name=intent.said).said_in(desk.language))


def named_in(text: str, known: Iterable[str]) -> str:
    """The skill of the `known` names that a text asks to do without calling it one ("do the retry campaign"), else empty."""
    wanted = _DO.fullmatch(text.strip())
    said = folded(wanted["en"] or wanted["zh"]) if wanted else ""
    return next((name for name in known if folded(name) == said), "")


def _left(left: list[str], missing: list[str], language: Language) -> str:
    rest = [
        phrase.filled(tools=report.listed(tools)).said_in(language)
        for phrase, tools in ((_LEFT_STEPS, left), (_LEFT_TOOLS, missing))
        if tools
    ]
    return _LEFT.filled(rest="".join(rest)).said_in(language)


def _task(desk: Desk, conversation: Conversation, intent: Intent, skill: Skill) -> Task:
    """The task that the example's task gives way to. Raises Pending, or Told when nobody named one."""
    target = intent.target if not intent.target.is_empty else Target(is_reference=True)
    found = target_in(desk, conversation, Intent(Kind.DETAIL, target))
    if not (found.names or found.task_ids):
        raise Told(report.which_task_for(skill.name, desk.language))
    return tasks_of(desk, found, Kind.DETAIL)[0]


def _of_this_thread(desk: Desk, conversation: Conversation) -> Iterable[str]:
    """What waits here and what was decided here, which no tool tells."""
    yield from (report.undecided(one, desk.language) for one in conversation.proposals)
    yield from (report.decision(one, desk.reader) for one in conversation.records[:_MOST_DECISIONS])


def _known(skills: Iterable[Skill], said: str) -> Skill | None:
    return next((skill for skill in skills if folded(skill.name) == folded(said)), None)


def _meant(conversation: Conversation, said: str, language: Language) -> Skill:
    """The skill of this name, or the only one that these words fit. Raises Told for none and for several."""
    if not conversation.skills:
        raise Told(_NO_SKILLS.said_in(language))
    known = _known(conversation.skills, said)
    if known is not None:
        return known
    shown = sayable(conversation)
    words = set(re.findall(r"[a-z0-9]+|[\u4e00-\u9fff]+", said.lower()))
    if "-" in said:
        words = set()  # the name of another skill, and not words for one
    letters = {letter for word in words for letter in (word if _HAN.search(word) else [word])}
    fits = [skill for skill in shown if words & set(skill.name.split("-"))]
    for skill in () if fits or not letters else shown:
        described = f"{skill.description} {skill.description_zh}".lower()
        fits += [skill] if all(one in described for one in letters) else []
    if len(fits) == 1:
        return fits[0]
    if fits:
        names = report.listed([skill.name for skill in fits])
        raise Told(_SEVERAL.filled(names=names).said_in(language))
    near = nearest(said, [skill.name for skill in shown])
    hint = _NEAR.filled(near=report.listed(near)) if near else _ASK_LIST
    unknown = _UNKNOWN.filled(name=code(said)).said_in(language)
    raise Told(report.sentences(language, unknown, hint.said_in(language)))
