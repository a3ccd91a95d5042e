"""What to do about each intent: one short plan a kind, in one table.

A plan asks the desk for what it needs and returns the answer; see `desk` for how it is cut into model calls. Intents of one
message are planned side by side: their reads go out together, and no change is proposed while a read is missing or while
any of the changes still needs a question answered.
"""

from collections.abc import Callable
from dataclasses import replace

from chatops_bot.context.filled_form import filled_form_in
from chatops_bot.llm.offline import (
    changes,
    consulting,
    phrases,
    questions,
    report,
    run_findings,
    skills,
    task_findings,
    worker_findings,
)
from chatops_bot.llm.offline.asked_back import understand_reply
from chatops_bot.llm.offline.content import Content
from chatops_bot.llm.offline.conversation import Conversation
from chatops_bot.llm.offline.cues import GO_ON, WRITES, Kind
from chatops_bot.llm.offline.desk import Answer, Call, Desk, Pending, Told, hours_of
from chatops_bot.llm.offline.filled import call_with
from chatops_bot.llm.offline.open_form import answer_in_words, open_form_of
from chatops_bot.llm.offline.quoting import Reader
from chatops_bot.llm.offline.understanding import Intent, with_skills
from chatops_bot.llm.offline.windows import Window

_MOST_CALLS = 8
"""Calls of one model message at most; what is left is asked for in the next."""


def respond(conversation: Conversation) -> Answer | tuple[Call, ...]:
    """The next calls of this turn, or its answer (which may propose changes). Never fails."""
    filled = filled_form_in(conversation.text)
    if filled is not None:
        desk = Desk(replace(conversation, language=filled.language))
        return call_with(filled.tool, filled.arguments, desk)
    desk = Desk(conversation)
    skills_here = {skill.name for skill in conversation.skills}
    intents = with_skills(
        understand_reply(conversation.text, conversation.history, conversation.now), skills_here
    )
    is_bare = all(intent.is_bare for intent in intents)
    if is_bare and (named := skills.named_in(conversation.text, skills_here)):
        intents = (Intent(Kind.SKILL, said=named),)
    if GO_ON.fullmatch(conversation.text.lower()) and (conversation.records or conversation.proposals):
        intents = (Intent(Kind.VERIFY),)
    form = open_form_of(conversation.author, conversation.history)
    if form is not None:
        answered = answer_in_words(conversation, form, intents)
        if answered is not None:
            return call_with(form.tool, answered[1], desk, answered[0])
        if all(intent.kind is Kind.THANKS for intent in intents):
            return Answer(report.form_waits(form.tool, form.missing, conversation.language))
    if not intents:
        return questions.help_text(desk, conversation, understood=not conversation.text.strip())
    answers: list[Answer] = []
    pending: list[Call] = []
    is_open = False
    if conversation.has_spoken:
        # What was said with the proposals stands already; only what became of them is new.
        intents = tuple(intent for intent in intents if intent.kind in WRITES) or intents
    for intent in intents:
        try:
            answers.append(_PLANS[intent.kind](desk, conversation, intent))
        except Pending as missing:
            pending += missing.calls
        except Told as told:
            answers.append(Answer(told.text))
            is_open = is_open or intent.kind in WRITES
    if pending and conversation.offered:
        return tuple(dict.fromkeys(pending))[:_MOST_CALLS]
    if pending:
        answers.append(Answer(_gathered(conversation, desk.reader)))
    if is_open or pending:
        # One question left open about a change holds back all changes of the message: they may belong together.
        answers = [_held_back(answer, conversation) for answer in answers]
    changes = tuple(dict.fromkeys(change for answer in answers for change in answer.changes))
    return Answer(report.joined(answer.text for answer in answers), changes)


def _held_back(answer: Answer, conversation: Conversation) -> Answer:
    return Answer(phrases.HELD_BACK.said_in(conversation.language)) if answer.changes else answer


def _gathered(conversation: Conversation, reader: Reader) -> str:
    """A summing-up of whatever this turn has found, for when no further call is allowed."""
    sections = []
    for result in conversation.results:
        if result.error:
            sections.append(report.tool_error(result, reader.language))
        elif result.tool == "query_instances":
            status = str(result.arguments.get("status") or "")
            sections.append(run_findings.runs(result.content, {}, Window(hours_of(result)), status, reader))
        elif result.tool in _SUMMARIES:
            sections.append(_SUMMARIES[result.tool](result.content, reader))
    return "\n\n".join(sections) or phrases.NOTHING_FOUND.said_in(conversation.language)


_SUMMARIES: dict[str, Callable[[Content, Reader], str]] = {
    "query_tasks": lambda content, reader: task_findings.tasks(content, "", reader),
    "get_task_detail": lambda content, reader: task_findings.detail(content, None, reader),
    "get_system_health": worker_findings.health,
    "query_workers": worker_findings.workers,
    "analyze_failure": lambda content, reader: run_findings.explanation(content, "", (), reader),
}

_PLANS: dict[Kind, Callable[[Desk, Conversation, Intent], Answer]] = {
    Kind.FAILURES: questions.failures,
    Kind.RUNS: questions.runs,
    Kind.EXPLAIN: questions.explain,
    Kind.WHY_CHANGED: questions.why_changed,
    Kind.VERIFY: questions.verify,
    Kind.LIST: questions.list_tasks,
    Kind.DETAIL: questions.detail,
    Kind.CONDITION: questions.condition,
    Kind.HEALTH: questions.health,
    Kind.WORKERS: questions.workers,
    Kind.HELP: questions.help_text,
    Kind.THANKS: questions.thanks,
    Kind.HELD: questions.held,
    Kind.ALTER: questions.cannot_alter,
    Kind.SKILLS: skills.list_skills,
    Kind.SKILL: skills.use_skill,
    Kind.SCRIPT: skills.run_script,
    Kind.CONSULT: consulting.consult,
    Kind.PAUSE: changes.change("pause_task", action="pause"),
    Kind.RESUME: changes.change("pause_task", action="resume"),
    Kind.TRIGGER: changes.change("trigger_task"),
    Kind.DELETE: changes.change("delete_task"),
    Kind.RETRY: changes.retry,
    Kind.CREATE: changes.create,
}
