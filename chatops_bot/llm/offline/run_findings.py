"""Runs as a report: the shortest true statement first, then the runs newest first, then what was not looked at."""

from collections.abc import Iterable, Mapping, Sequence

from chatops_bot.domain.language import Phrase
from chatops_bot.llm.offline.content import Content, id_of, rows_of
from chatops_bot.llm.offline.conversation import Result
from chatops_bot.llm.offline.quoting import (
    LONGEST_QUOTE,
    Reader,
    Times,
    block,
    code,
    fact,
    one_line,
    parse_time,
)
from chatops_bot.llm.offline.report import run_label, status_word, task_label, tool_error
from chatops_bot.llm.offline.windows import Window

_GLANCE = 140
"""Characters of an error in a list of runs: enough for what went wrong; asking about the run shows more."""
_LOG_LINES, _LOG_CHARS = 12, 1_200
"""The end of a log, where programs say why they gave up; about what fits on a phone without scrolling twice."""

HAS_FAILED = ("failed", "timeout")
"""What people call a failure."""

_NO_ERROR_TEXT = Phrase("没有记录错误文本", "no error text recorded")
_NOT_A_CAUSE = Phrase(
    "以上是调度器记录的事实；规则不推断原因。",
    "These are the facts that the scheduler recorded; rules infer no cause.",
)


def lines(*parts: str) -> str:
    """The parts that are not empty, a line each."""
    return "\n".join(part for part in parts if part)


def newest_first(rows: Iterable[Content]) -> list[Content]:
    return sorted(rows, key=lambda row: id_of(row.get("id")) or -1, reverse=True)


def total_of(content: Content, key: str) -> int:
    """How many rows matched, as the result says: `total_matched`, else `count`, else the rows themselves."""
    for field in ("total_matched", "count"):
        number = id_of(content.get(field))
        if number is not None:
            return max(number, len(rows_of(content, key)))
    return len(rows_of(content, key))


def is_cut(content: Content, key: str) -> bool:
    """Whether rows that match were not given."""
    return bool(content.get("truncated")) or total_of(content, key) > len(rows_of(content, key))


def cut_note(content: Content, key: str, shown: int, reader: Reader) -> str:
    total = total_of(content, key)
    if total > shown:
        return reader.say(
            f"只列出了 {total} 条中最新的 {shown} 条。", f"Only the newest {shown} of {total} are listed."
        )
    if content.get("truncated"):
        return reader.say(
            f"只列出了最新的 {shown} 条，可能还有更早的。",
            f"Only the newest {shown} are listed; there may be more.",
        )
    return ""


def not_checked(reader: Reader, *what: Phrase) -> str:
    """What a report did not look at, so that nobody takes silence for an all-clear."""
    listed = reader.say("、".join(one.zh for one in what), ", ".join(one.en for one in what))
    return reader.say(f"未检查：{listed}。", f"Not checked: {listed}.")


LOGS = Phrase("日志全文", "full logs")
OTHER_TASKS = Phrase("其他任务", "other tasks")
OTHER_RUNS = Phrase("更早的运行", "earlier runs")


def _older(window: Window) -> Phrase:
    return Phrase(window.before(Reader("zh")), window.before(Reader("en")))


def _owner(row: Content, names: Mapping[int, str]) -> str:
    task_id = id_of(row.get("task_id"))
    name = row.get("task_name") or (names.get(task_id) if task_id is not None else None)
    return task_label({"name": name, "id": task_id})


def _error_of(row: Content, reader: Reader, limit: int = LONGEST_QUOTE) -> str:
    known = [part for part in (row.get("error_code"), row.get("error_message")) if one_line(str(part or ""))]
    return ": ".join(code(part, limit) for part in known) or _NO_ERROR_TEXT.said_in(reader.language)


def run_line(row: Content, names: Mapping[int, str], times: Times, reader: Reader) -> str:
    """One run; its error is quoted only when it did not succeed (a success keeps its output there)."""
    status = str(row.get("status"))
    parts = [
        run_label(row.get("id"), reader.language),
        _owner(row, names),
        times.show(row.get("trigger_time")),
        status_word(status, reader.language),
    ]
    if status in HAS_FAILED:
        parts.append(_error_of(row, reader, _GLANCE))
    return "- " + " · ".join(parts)


def own_run_line(row: Content, times: Times, reader: Reader) -> str:
    """A run below its task, which needs no naming again."""
    unnamed = {key: value for key, value in row.items() if key not in ("task_id", "task_name")}
    return run_line(unnamed, {}, times, reader).replace(" · — · ", " · ")


def failures(
    failed: Result, timed_out: Result, names: Mapping[int, str], window: Window, subject: str, reader: Reader
) -> str:
    """Failed and timed-out runs together: people call both failures. `subject`: the task that was asked about, or empty."""
    whole = [result for result in (failed, timed_out) if not result.error]
    errors = [tool_error(result, reader.language) for result in (failed, timed_out) if result.error]
    if not whole:
        return errors[0]
    found = {id(result): _inside(result, window) for result in whole}
    rows = newest_first(row for result in whole for row in found[id(result)])
    about = reader.say(f"任务 {subject}：", f"Task {subject}: ") if subject else ""
    label = window.label(reader)
    if not rows and not errors:
        none = reader.say(f"{label}没有失败或超时的运行。", f"No failed or timed-out runs in {label}.")
        gaps = [note for result in whole if (note := _gap(result, 0, window, reader))]
        return lines(about + none, *dict.fromkeys(gaps))
    times = reader.times(*(row.get("trigger_time") for row in rows))

    def counted(result: Result) -> str:
        if result.error:
            return "?"
        number = len(found[id(result)]) if window.is_exact else total_of(result.content, "instances")
        return f"{number}+" if window.is_exact and is_cut(result.content, "instances") else str(number)

    notes = [_gap(result, len(found[id(result)]), window, reader) for result in whole]
    affected = len({row.get("task_id") for row in rows})
    of_tasks = reader.say(f"，涉及 {affected} 个任务", f", of {affected} tasks") if affected > 1 else ""
    return lines(
        about
        + reader.say(
            f"{label}：失败 {counted(failed)} 次，超时 {counted(timed_out)} 次{of_tasks}（最新的在前）。",
            f"In {label}: {counted(failed)} failed, {counted(timed_out)} timed out{of_tasks} (newest first).",
        ),
        *(run_line(row, names, times, reader) for row in rows),
        *dict.fromkeys(notes),
        *errors,
        not_checked(reader, _older(window), LOGS, *([OTHER_TASKS] if subject else [])),
        times.note(),
    )


def _inside(result: Result, window: Window) -> list[Content]:
    return [row for row in rows_of(result.content, "instances") if window.holds(row.get("trigger_time"))]


def _gap(result: Result, shown: int, window: Window, reader: Reader) -> str:
    """What a result did not give of the window that it was asked for."""
    if not window.is_exact:
        return cut_note(result.content, "instances", len(rows_of(result.content, "instances")), reader)
    if is_cut(result.content, "instances"):
        return reader.say(
            f"只取到了最新的 {len(rows_of(result.content, 'instances'))} 条，其中 {shown} 条在此时段内，可能还有更早的。",
            f"Only the newest {len(rows_of(result.content, 'instances'))} were given, {shown} of them in that time; there may be more.",
        )
    return ""


def runs(content: Content, names: Mapping[int, str], window: Window, status: str, reader: Reader) -> str:
    """Runs of whatever state, or of one `status`."""
    rows = newest_first(row for row in rows_of(content, "instances") if window.holds(row.get("trigger_time")))
    label, word = window.label(reader), status_word(status, reader.language) if status else ""
    what = reader.say(f"{word and word + '的'}运行", f"{word and word + ' '}runs")
    if not rows:
        return reader.say(f"{label}没有{what}。", f"No {what} in {label}.")
    times = reader.times(*(row.get("trigger_time") for row in rows))
    total = len(rows) if window.is_exact else total_of(content, "instances")
    return lines(
        reader.say(f"{label}有 {total} 次{what}：", f"{what.capitalize()} in {label}: {total}."),
        *(run_line(row, names, times, reader) for row in rows),
        cut_note(content, "instances", len(rows_of(content, "instances")), reader),
        not_checked(reader, _older(window), LOGS),
        times.note(),
    )


def no_failed_run(task: str, content: Content, window: Window, reader: Reader) -> str:
    """Nothing failed among the runs looked at; the newest run is named, so that nobody wonders."""
    rows = newest_first(row for row in rows_of(content, "instances") if window.holds(row.get("trigger_time")))
    newest = rows[:1]
    times = reader.times(*(row.get("trigger_time") for row in newest))
    label = window.label(reader)
    said = reader.say(
        f"{label}，任务 {task} 的 {len(rows)} 次运行中没有失败或超时。",
        f"None of the {len(rows)} runs of task {task} in {label} failed or timed out.",
    )
    return lines(
        said,
        *(run_line(row, {}, times, reader) for row in newest),
        cut_note(content, "instances", len(rows_of(content, "instances")), reader),
        times.note(),
    )


def explanation(facts: Content, name: str, rows: Sequence[Content], reader: Reader) -> str:
    """The facts about one run, quoted. `rows`: the runs of its task that are known, of which newer ones are told."""
    configuration = facts.get("task") if isinstance(facts.get("task"), dict) else {}
    newest = next(iter(newest_first(rows)), None)
    later = newest if newest is not None and newest.get("id") != facts.get("instance_id") else None
    times = reader.times(facts.get("trigger_time"), later.get("trigger_time") if later else None)
    language, say = reader.language, reader.say
    status = status_word(facts.get("status"), language)
    known = facts.get("task_name") or name or (configuration or {}).get("name")
    owner = task_label({"name": known, "id": facts.get("task_id")})
    run = run_label(facts.get("instance_id"), language)
    details = (
        (say("错误", "Error"), _error_of(facts, reader)),
        (say("触发时间", "Triggered"), times.show(facts.get("trigger_time"))),
        (say("运行时长", "Ran for"), _duration(facts, configuration or {}, reader)),
        (say("类型", "Type"), fact(facts.get("task_type"))),
        (say("节点", "Worker"), fact(facts.get("worker_id"))),
        (say("重试次数", "Retries"), fact(facts.get("retry_count"))),
        (say("同任务最近的运行", "Runs of the task"), _tally(rows or rows_of(facts, "recent_runs"), reader)),
    )
    log = block(str(facts.get("log_tail") or ""), _LOG_LINES, _LOG_CHARS)
    return lines(
        say(f"任务 {owner} 的{run}：{status}。", f"{run[:1].upper()}{run[1:]} of task {owner}: {status}."),
        *(f"- {label}{reader.say('：', ': ')}{value}" for label, value in details if value != "—"),
        _later_line(later, times, reader) if later else "",
        say("日志末尾：", "End of its log:") if log else "",
        log,
        _NOT_A_CAUSE.said_in(language),
        not_checked(
            reader, LOGS, OTHER_RUNS if rows else OTHER_TASKS, Phrase("节点本身", "the worker itself")
        ),
        times.note(),
    )


def _later_line(later: Content, times: Times, reader: Reader) -> str:
    run, word = run_label(later.get("id"), reader.language), status_word(later.get("status"), reader.language)
    at = times.show(later.get("trigger_time"))
    return "- " + reader.say(f"之后最新的一次：{run}，{word}，{at}", f"Newest run since: {run}, {word}, {at}")


def _duration(facts: Content, configuration: Content, reader: Reader) -> str:
    started, finished = parse_time(facts.get("started_at")), parse_time(facts.get("finished_at"))
    if started is None or finished is None or finished < started:
        return "—"
    seconds = (finished - started).total_seconds()
    limit = id_of(configuration.get("timeout_seconds"))
    of_limit = reader.say(f"（上限 {limit} 秒）", f" (limit {limit} s)") if limit else ""
    return reader.say(f"{seconds:.0f} 秒", f"{seconds:.0f} s") + of_limit


def _tally(rows: Sequence[Content], reader: Reader) -> str:
    failed = sum(row.get("status") in HAS_FAILED for row in rows)
    if not rows:
        return "—"
    return reader.say(
        f"{len(rows)} 次中失败或超时 {failed} 次", f"{failed} of {len(rows)} failed or timed out"
    )
