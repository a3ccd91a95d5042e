"""What to say when there is no data to show: errors, questions back, held changes, decisions.

Reports on the scheduler's data stand in `findings`. Both quote untrusted values through `quoting` only.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chatops_bot.domain.language import Language, Phrase, language_of
from chatops_bot.domain.regex import regex
from chatops_bot.llm.offline import phrases
from chatops_bot.llm.offline.content import UNREADABLE, Content
from chatops_bot.llm.offline.conversation import Result
from chatops_bot.llm.offline.cues import Hold, Kind
from chatops_bot.llm.offline.decisions import WRITE_TOOLS, OpenProposal, Record
from chatops_bot.llm.offline.quoting import Reader, code, fact, one_line

_NAMES_SHOWN = 8


def task_label(task: Mapping[str, Any]) -> str:
    """`nightly-report` (#3), as far as known."""
    name, task_id = task.get("name"), task.get("id", task.get("task_id"))
    number = f"#{task_id}" if isinstance(task_id, int) else ""
    if not name:
        return number or "—"
    return f"{code(name, 128)} ({number})" if number else code(name, 128)


def status_word(value: object, language: Language) -> str:
    phrase = phrases.STATUSES.get(str(value))
    return phrase.said_in(language) if phrase else fact(value)


def sentences(language: Language, *said: str) -> str:
    """Whole sentences as one text, in Chinese without spaces between them."""
    return ("" if language == "zh" else " ").join(said)


def listed(values: Sequence[object]) -> str:
    shown = ", ".join(code(value, 128) for value in values[:_NAMES_SHOWN])
    return shown + (", …" if len(values) > _NAMES_SHOWN else "")


def tool_error(result: Result, language: Language) -> str:
    """One sentence: what was to be done, the tool's own error text, what to do; then the names that it offers instead.

    An error text in the other language is marked as quoted, so that no sentence changes its language midway.
    """
    if result.error == UNREADABLE:
        return phrases.TOOL_UNREADABLE.filled(tool=code(result.tool)).said_in(language)
    if result.content.get("refused") is True and result.tool in WRITE_TOOLS:
        return phrases.REFUSED.said_in(language)
    advice = next(
        (said for pattern, said in phrases.ADVICE if re.search(pattern, result.error, re.IGNORECASE)),
        phrases.ADVICE_ELSE,
    )
    sentence = (
        phrases.TOOL_FAILED
        if language_of(result.error, language) == language
        else phrases.TOOL_FAILED_IN_ITS_WORDS
    )
    doing = phrases.DOING.get(result.tool, Phrase(code(result.tool), code(result.tool)))
    lines = [
        sentence.said_in(language).format(
            tool=doing.said_in(language), error=_error_of(result), advice=advice.said_in(language)
        )
    ]
    for key, phrase in (("valid_names", phrases.VALID_NAMES), ("near", phrases.DID_YOU_MEAN)):
        names = result.content.get(key)
        if isinstance(names, list) and names:
            lines.append(
                phrase.filled(**{"names" if key == "valid_names" else "near": listed(names)}).said_in(
                    language
                )
            )
    return "\n".join(lines)


def _error_of(result: Result) -> str:
    return code(result.error.rstrip("。. "))


def not_offered(tool: str, language: Language) -> str:
    return phrases.NOT_OFFERED.filled(tool=code(tool)).said_in(language)


def proposed(tool: str, made: Content, language: Language) -> str:
    """That a change waits, by its target and the code of its card; by its tool alone where the result names neither."""
    change = change_label(tool, str(made.get("target") or ""), language)
    waits = made.get("proposal")
    if not waits:
        return phrases.PROPOSED.filled(tool=change).said_in(language)
    return phrases.UNDECIDED.filled(change=change, code=code(str(waits))).said_in(language)


def run_label(run_id: object, language: Language) -> str:
    return Phrase(f"运行 {fact(run_id)}", f"run {fact(run_id)}").said_in(language)


def held(hold: Hold, names: Sequence[str], language: Language) -> str:
    said = phrases.HOLDS[hold].said_in(language)
    return f"{said} ({listed(names)})" if names else said


def which_task(kind: Kind, language: Language) -> str:
    verb = phrases.VERBS[kind]
    example = Phrase(f"`{verb.zh} nightly-report`", f"`{verb.en.lower()} nightly-report`")
    return phrases.WHICH_TASK.said_in(language).format(
        verb=verb.said_in(language), example=example.said_in(language)
    )


def which_task_for(skill: str, language: Language) -> str:
    return phrases.WHICH_TASK_FOR.filled(name=skill).said_in(language)


def which_of(kind: Kind, labels: Sequence[str], language: Language) -> str:
    """The question which of several tasks is meant; `labels` newest first."""
    verb = phrases.VERBS.get(kind, phrases.VERBS[Kind.DETAIL])
    head = phrases.WHICH_OF.said_in(language).format(verb=verb.said_in(language))
    lines = [f"- {label}" for label in labels[:_NAMES_SHOWN]]
    return "\n".join([head, *lines, *(["- …"] if len(labels) > _NAMES_SHOWN else [])])


def asks_which(said: str, kind: Kind, names: Sequence[str]) -> bool:
    """Whether `said` holds one of the questions above or below, in either language: which task is meant for `kind`, or by `names`."""
    if kind is Kind.SKILL and any(
        said_so in said for said_so in (phrases.SKILL_BEGINS.zh, phrases.SKILL_BEGINS.en)
    ):
        return True
    verb = phrases.VERBS.get(kind, phrases.VERBS[Kind.DETAIL])
    heads = [verb.zh + phrases.WHICH.zh, f"{verb.en} {phrases.WHICH.en}"]
    for phrase in (phrases.NO_SUCH_TASK, phrases.SEVERAL_TASKS) if names else ():
        for name in names:
            heads += [
                head.partition("{count}")[0].replace("{name}", code(name, 128))
                for head in (phrase.zh, phrase.en)
            ]
    if kind is Kind.DELETE:
        heads += [
            head.partition("{near}")[0] for head in (phrases.EXACT_FOR_DELETE.zh, phrases.EXACT_FOR_DELETE.en)
        ]
    return any(line.startswith(head) for line in said.splitlines() for head in heads)


def several_tasks(name: str, tasks: Sequence[Mapping[str, Any]], language: Language) -> str:
    head = phrases.SEVERAL_TASKS.filled(name=code(name, 128), count=len(tasks)).said_in(language)
    lines = [f"- {task_label(task)}" for task in tasks[:_NAMES_SHOWN]]
    return "\n".join([head, *lines, *(["- …"] if len(tasks) > _NAMES_SHOWN else [])])


def no_such_task(name: str, near: Sequence[str], has_tasks: bool, language: Language) -> str:
    said = phrases.NO_SUCH_TASK.filled(name=code(name, 128)).said_in(language)
    if not has_tasks:
        return sentences(language, said, phrases.NO_TASKS.said_in(language))
    if not near:
        return said
    return sentences(language, said, phrases.DID_YOU_MEAN.filled(near=listed(near)).said_in(language))


def skill_of_that_name(name: str, language: Language) -> str:
    return phrases.SKILL_OF_THAT_NAME.filled(name=one_line(name, 64)).said_in(language)


def exact_for_delete(task: Mapping[str, Any], language: Language) -> str:
    return phrases.EXACT_FOR_DELETE.filled(near=task_label(task)).said_in(language)


def wrong_cron(expression: str, problem: Phrase, language: Language) -> str:
    said = phrases.WRONG_CRON.said_in(language)
    return said.format(cron=code(expression), problem=problem.said_in(language))


def change_label(tool: str, target: str, language: Language) -> str:
    """A change by its tool and its target, the target's fixed words in the asker's language."""
    whole = re.fullmatch(
        r"(?:run #(?P<run>\d+) of )?(?:task )?(?P<task>.+?)(?P<id> \(#\d+\))?(?P<new> \(new\))?", target
    )
    if whole is None:
        return code(tool)
    task = code(whole["task"], 128) + (whole["id"] or "")
    run = run_label(int(whole["run"]), language) if whole["run"] else ""
    owner = (
        Phrase(f"任务 {task} 的{run}", f"{run} of task {task}")
        if run
        else Phrase(f"任务 {task}", f"task {task}")
    )
    return Phrase(f"{code(tool)}（{owner.zh}）", f"{code(tool)} ({owner.en})").said_in(language)


def undecided(proposal: OpenProposal, language: Language) -> str:
    task_id = proposal.arguments.get("task_id")
    target = proposal.target or (f"#{task_id}" if isinstance(task_id, int) else "")
    change = change_label(proposal.tool, target, language)
    return phrases.UNDECIDED.filled(change=change, code=code(proposal.code)).said_in(language)


def decision(record: Record, reader: Reader) -> str:
    """State, person, time and outcome of an earlier change."""
    language = reader.language
    state = phrases.DECISIONS.get(record.state)
    times = reader.times(record.at)
    what = change_label(record.tool, record.target, language)
    said = state.said_in(language) if state else code(record.state)
    head = Phrase(f"变更 {what}{said}。", f"The change {what} {said}.").said_in(language)
    is_foreign = language_of(record.outcome) != language
    outcome = (
        Phrase("结果（原文）：", "Outcome (as recorded): ") if is_foreign else Phrase("结果：", "Outcome: ")
    )
    facts = (
        (Phrase("决定人：", "Decided by: "), code(record.by) if record.by else ""),
        (Phrase("理由：", "Reason: "), code(record.reason) if record.reason else ""),
        (Phrase("时间：", "At: "), times.show(record.at) if record.at else ""),
        (outcome, code(record.outcome) if record.outcome else ""),
    )
    lines = [f"- {label.said_in(language)}{value}" for label, value in facts if value]
    return "\n".join(line for line in (head, *lines, times.note()) if line)


def taken_back(undone: Record, reader: Reader) -> str:
    """That a change did not stay: when it was taken back, and by whom or by what."""
    times = reader.times(undone.at)
    when = times.show(undone.at)
    by = code(undone.by) if undone.by else ""
    said = (
        Phrase(
            f"之后已撤销：{when}，由 {by} 批准。", f"It was taken back since: at {when}, approved by {by}."
        )
        if by
        else Phrase(
            f"之后已自动撤销：{when}（到期没有人保留）。",
            f"It was taken back automatically since: at {when}, as nobody kept it.",
        )
    )
    return "\n".join(line for line in (said.said_in(reader.language), times.note()) if line)


def help_text(
    language: Language, *, before: Phrase | None = None, skills: bool = False, agent: str = ""
) -> str:
    """What can be asked, after the sentence `before`; of skills and of another agent only where there are any."""
    more = [phrases.HELP_SKILLS.said_in(language)] if skills else []
    more += [phrases.HELP_CONSULT.filled(agent=agent).said_in(language)] if agent else []
    listed = "\n".join([phrases.HELP.said_in(language), *more])
    said = f"{listed}\n\n{phrases.HELP_END.said_in(language)}"
    return said if before is None else sentences(language, before.said_in(language), said)


def form_waits(tool: str, missing: Sequence[str], language: Language) -> str:
    said = phrases.FORM_WAITS if tool == "create_task" else phrases.FORM_WAITS_FOR_A_TARGET
    return said.filled(missing=listed(missing)).said_in(language)


def joined(sections: Iterable[str]) -> str:
    """Sections as one text, repetitions left out; a note about zone and day that several share stands once, at the end."""
    lines = "\n\n".join(dict.fromkeys(section for section in sections if section)).split("\n")
    notes = [line for line in lines if line.startswith(("(Times ", "（时间："))]
    kept = [line for place, line in enumerate(lines) if line not in notes or line not in lines[place + 1 :]]
    return _lists_ended("\n".join(kept))


_BLOCK = regex(r"(?m)^(`{3,})\n[\s\S]*?\n\1$")


def _lists_ended(text: str) -> str:
    """A blank line behind each list: without one, Markdown takes the next line into the last item. Quoted blocks stay as they are."""
    ended, place = "", 0
    for quoted in _BLOCK.finditer(text):
        ended += _ended(text[place : quoted.start()]) + quoted.group()
        place = quoted.end()
    return ended + _ended(text[place:])


def _ended(text: str) -> str:
    return re.sub(r"(?m)^(- .*)\n(?!- |\s|\Z)", r"\1\n\n", text)
