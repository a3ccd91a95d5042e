"""The scheduler's data as a report: the shortest true statement first, then the facts, then what was not looked at."""

from collections.abc import Mapping, Sequence
from typing import Any

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.llm.offline.conversation import Content, Result, rows_of
from chatops_bot.llm.offline.quoting import LONGEST_QUOTE, Times, code, fact, one_line
from chatops_bot.llm.offline.report import run_label, status_word, task_label, tool_error

Row = Mapping[str, Any]
_GLANCE = 140
"""Characters of an error in a list of runs: enough for what went wrong; asking about the run shows more."""

_WINDOW = Phrase("最近 {hours} 小时", "the last {hours} hours")
_CUT = Phrase("只列出了 {total} 条中最新的 {count} 条。", "Only the newest {count} of {total} are listed.")
_CUT_UNKNOWN = Phrase(
    "只列出了最新的 {count} 条，可能还有更早的。", "Only the newest {count} are listed; there may be more."
)
_NONE = Phrase("{window}内没有{what}。", "No {what} in {window}.")
_FAILED_WHAT = Phrase("失败或超时的运行", "failed or timed-out runs")
_RUNS_WHAT = Phrase("运行记录", "runs")
_COUNTS = Phrase(
    "{window}内：失败 {failed} 次，超时 {timeout} 次（最新的在前）。",
    "In {window}: {failed} failed, {timeout} timed out (newest first).",
)
_OF_TASK = Phrase("任务 {task}：", "Task {task}: ")
_NO_ERROR_TEXT = Phrase("没有记录错误文本", "no error text recorded")
_NOT_A_CAUSE = Phrase(
    "以上是调度器记录的事实；规则不推断原因。",
    "These are the facts that the scheduler recorded; rules infer no cause.",
)


def _lines(*lines: str) -> str:
    return "\n".join(line for line in lines if line)


def _say(language: Language, zh: str, en: str) -> str:
    return zh if language == "zh" else en


def total_of(content: Content, key: str) -> int:
    """How many rows matched, as the result says: `total_matched`, else `count`, else the rows themselves."""
    for field in ("total_matched", "count"):
        number = content.get(field)
        if isinstance(number, int) and not isinstance(number, bool):
            return max(number, len(rows_of(content, key)))
    return len(rows_of(content, key))


def cut_note(content: Content, key: str, shown: int, language: Language) -> str:
    total = total_of(content, key)
    if total > shown:
        return _CUT.filled(total=total, count=shown).said_in(language)
    if content.get("truncated"):
        return _CUT_UNKNOWN.filled(count=shown).said_in(language)
    return ""


def _newest_first(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row["id"] if isinstance(row.get("id"), int) else -1, reverse=True)


def _owner(row: Row, names: Mapping[int, str]) -> str:
    task_id = row.get("task_id")
    name = row.get("task_name") or (names.get(task_id) if isinstance(task_id, int) else None)
    return task_label({"name": name, "id": task_id})


def _error_of(row: Row, language: Language, limit: int = LONGEST_QUOTE) -> str:
    known = [part for part in (row.get("error_code"), row.get("error_message")) if one_line(str(part or ""))]
    return ": ".join(code(part, limit) for part in known) or _NO_ERROR_TEXT.said_in(language)


def run_line(row: Row, names: Mapping[int, str], times: Times, language: Language) -> str:
    """One run; its error is quoted only when it did not succeed (a success keeps its output there)."""
    status = str(row.get("status"))
    parts = [
        run_label(row.get("id"), language),
        _owner(row, names),
        times.show(row.get("trigger_time")),
        status_word(status, language),
    ]
    if status in ("failed", "timeout"):
        parts.append(_error_of(row, language, _GLANCE))
    return "- " + " · ".join(parts)


def failures(
    failed: Result, timed_out: Result, names: Mapping[int, str], hours: int, subject: str, language: Language
) -> str:
    """Failed and timed-out runs together: people call both failures."""
    whole = [result for result in (failed, timed_out) if not result.error]
    errors = [tool_error(result, language) for result in (failed, timed_out) if result.error]
    if not whole:
        return errors[0]
    rows = _newest_first([row for result in whole for row in rows_of(result.content, "instances")])
    window = _WINDOW.filled(hours=hours)
    about = _OF_TASK.filled(task=subject).said_in(language) if subject else ""
    if not rows and not errors:
        what = _FAILED_WHAT.said_in(language)
        return about + _NONE.said_in(language).format(window=window.said_in(language), what=what)
    times = Times(row.get("trigger_time") for row in rows)
    counts = {
        "failed": _count(failed),
        "timeout": _count(timed_out),
        "window": window.said_in(language),
    }
    cuts = [
        cut_note(result.content, "instances", len(rows_of(result.content, "instances")), language)
        for result in whole
    ]
    return _lines(
        about + _COUNTS.said_in(language).format(**counts),
        *(run_line(row, names, times, language) for row in rows),
        *dict.fromkeys(cuts),
        *errors,
        times.note(language),
    )


def _count(result: Result) -> object:
    return "?" if result.error else total_of(result.content, "instances")


def runs(content: Content, names: Mapping[int, str], hours: int, status: str, language: Language) -> str:
    rows = _newest_first(rows_of(content, "instances"))
    window = _WINDOW.filled(hours=hours).said_in(language)
    what = _RUNS_WHAT.said_in(language)
    if status:
        word = status_word(status, language)
        what = _say(language, f"“{word}”的运行", f"{word} runs")
    if not rows:
        return _NONE.said_in(language).format(window=window, what=what)
    times = Times(row.get("trigger_time") for row in rows)
    total = total_of(content, "instances")
    return _lines(
        _say(language, f"{window}内有 {total} 次{what}：", f"{what.capitalize()} in {window}: {total}."),
        *(run_line(row, names, times, language) for row in rows),
        cut_note(content, "instances", len(rows), language),
        times.note(language),
    )


def no_failed_run(task: str, rows: Sequence[Row], hours: int, content: Content, language: Language) -> str:
    """Nothing failed among the runs looked at; the newest run is named, so that nobody wonders."""
    window = _WINDOW.filled(hours=hours).said_in(language)
    newest = _newest_first(rows)[:1]
    times = Times(row.get("trigger_time") for row in newest)
    said = _say(
        language,
        f"{window}内，任务 {task} 的 {len(rows)} 次运行中没有失败或超时。",
        f"None of the {len(rows)} runs of task {task} in {window} failed or timed out.",
    )
    return _lines(
        said,
        *(run_line(row, {}, times, language) for row in newest),
        cut_note(content, "instances", len(rows), language),
        times.note(language),
    )


def explanation(facts: Content, name: str, newest: Row | None, language: Language) -> str:
    """The facts about one run, quoted. `newest` is the task's newest run where that is another one."""
    stamps = [facts.get("trigger_time"), newest.get("trigger_time") if newest else None]
    times = Times(stamps)
    status = status_word(facts.get("status"), language)
    owner = task_label({"name": facts.get("task_name") or name, "id": facts.get("task_id")})
    run = run_label(facts.get("instance_id"), language)
    detail = (
        (_say(language, "错误", "Error"), _error_of(facts, language)),
        (_say(language, "触发时间", "Triggered"), times.show(facts.get("trigger_time"))),
        (_say(language, "类型", "Type"), fact(facts.get("task_type"))),
        (_say(language, "节点", "Worker"), fact(facts.get("worker_id"))),
        (_say(language, "重试次数", "Retries"), fact(facts.get("retry_count"))),
    )
    later = ""
    if newest is not None and newest.get("id") != facts.get("instance_id"):
        word, at = status_word(newest.get("status"), language), times.show(newest.get("trigger_time"))
        later = "- " + _say(
            language,
            f"之后最新的一次：{run_label(newest.get('id'), language)}，{word}，{at}",
            f"Newest run since: {run_label(newest.get('id'), language)}, {word}, {at}",
        )
    return _lines(
        _say(
            language,
            f"任务 {owner} 的{run}：{status}。",
            f"{run[:1].upper()}{run[1:]} of task {owner}: {status}.",
        ),
        *(f"- {label}: {value}" for label, value in detail if value != "—"),
        later,
        _NOT_A_CAUSE.said_in(language),
        times.note(language),
    )


def tasks(content: Content, status: str, language: Language) -> str:
    rows = rows_of(content, "tasks")
    kind = status_word(status, language) if status else ""
    if not rows:
        return _say(
            language, f"没有{kind and kind + '的'}任务。", f"There are no {kind and kind + ' '}tasks."
        )
    times = Times(row.get("next_trigger_time") for row in rows)
    total = total_of(content, "tasks")
    lines = []
    for row in rows:
        parts = [task_label(row), fact(row.get("type")), fact(row.get("cron_expr"))]
        parts.append(status_word(row.get("status"), language))
        if row.get("status") != "disabled":
            parts.append(_say(language, "下次 ", "next ") + times.show(row.get("next_trigger_time")))
        lines.append("- " + " · ".join(part for part in parts if part != "—"))
    noun = "task" if total == 1 else "tasks"
    return _lines(
        _say(language, f"共 {total} 个{kind and kind + '的'}任务：", f"{total} {kind and kind + ' '}{noun}:"),
        *lines,
        cut_note(content, "tasks", len(rows), language),
        times.note(language),
    )


def success_rate(rows: Sequence[Row], language: Language) -> str:
    """The share of finished runs that succeeded, counted from the rows; says how many rows that rests on."""
    ended = [row for row in rows if row.get("status") in ("success", "failed", "timeout")]
    good = sum(row.get("status") == "success" for row in ended)
    if not ended:
        return _say(language, "最近没有已结束的运行", "no finished run among the recent ones")
    share = f"{100 * good / len(ended):.0f}%"
    return _say(
        language,
        f"最近 {len(ended)} 次中成功 {good} 次（{share}）",
        f"{good} of the last {len(ended)} runs ({share})",
    )


def detail(content: Content, count: int | None, language: Language) -> str:
    """One task: state first, then schedule, limits, dependencies, success rate, newest runs, payload."""
    recent = _newest_first(rows_of(content, "recent_instances"))[: count or None]
    times = Times([content.get("next_trigger_time"), *(row.get("trigger_time") for row in recent)])
    is_disabled = content.get("status") == "disabled"
    upcoming = "—" if is_disabled else times.show(content.get("next_trigger_time"))
    facts = (
        (_say(language, "类型", "Type"), fact(content.get("type"))),
        ("Cron", fact(content.get("cron_expr"))),
        (_say(language, "下次运行", "Next run"), upcoming),
        (_say(language, "超时（秒）", "Timeout (s)"), fact(content.get("timeout_seconds"))),
        (_say(language, "最多重试", "Max retries"), fact(content.get("max_retry"))),
        (_say(language, "重试策略", "Retry policy"), fact(content.get("retry_policy"))),
        (_say(language, "路由策略", "Routing"), fact(content.get("route_strategy"))),
        (_say(language, "上游依赖", "Depends on"), _dependencies(content.get("upstream_deps"), language)),
        (_say(language, "下游", "Needed by"), _dependencies(content.get("downstream_deps"), language)),
        (_say(language, "成功率", "Success"), success_rate(recent, language)),
        (_say(language, "内容", "Payload"), code(content.get("payload") or "")),
    )
    owner, state = task_label(content), status_word(content.get("status"), language)
    plain = [
        {key: value for key, value in row.items() if key not in ("task_id", "task_name")} for row in recent
    ]
    return _lines(
        _say(language, f"任务 {owner}：{state}。", f"Task {owner} is {state}."),
        *(f"- {label}: {value}" for label, value in facts if value != "—"),
        *(run_line(row, {}, times, language).replace(" · — · ", " · ") for row in plain[:5]),
        times.note(language),
    )


def _dependencies(value: object, language: Language) -> str:
    if not isinstance(value, list):
        return "—"
    if not value:
        return _say(language, "无", "none")
    shown = [
        task_label(item) if isinstance(item, dict) else f"#{item}" if isinstance(item, int) else code(item)
        for item in value[:10]
    ]
    return ", ".join(shown) + (", …" if len(value) > 10 else "")


def _part(content: Content, key: str) -> Row:
    part = content.get(key)
    return part if isinstance(part, dict) else {}


_HEALTH_LABELS: dict[str, Phrase] = {
    "total": Phrase("共 {v}", "{v} in all"),
    "enabled": Phrase("启用 {v}", "{v} enabled"),
    "disabled": Phrase("停用 {v}", "{v} disabled"),
    "online": Phrase("在线 {v}", "{v} online"),
    "avg_load_pct": Phrase("平均负载 {v}%", "mean load {v}%"),
    "success": Phrase("成功 {v}", "{v} succeeded"),
    "failed": Phrase("失败（含超时） {v}", "{v} failed (timeouts included)"),
    "running": Phrase("运行中 {v}", "{v} running"),
}


def _counts_of(part: Row, language: Language) -> str:
    """The counts of one part of the overview; a key without a label (the rate that follows from the others) is left out."""
    labelled = [(label, part[key]) for key, label in _HEALTH_LABELS.items() if key in part]
    shown = [label.filled(v=fact(value)).said_in(language) for label, value in labelled]
    return _say(language, "，", ", ").join(shown)


def health(content: Content, language: Language) -> str:
    """The three lines of the overview, the worst first in the first sentence."""
    workers, runs_24h, tasks_part = (
        _part(content, "workers"),
        _part(content, "instances_24h"),
        _part(content, "tasks"),
    )
    online, total = workers.get("online"), workers.get("total")
    failed = runs_24h.get("failed")
    if total == 0:
        head = _say(language, "没有注册的节点。", "No worker is registered.")
    elif isinstance(online, int) and isinstance(total, int) and online < total:
        head = _say(
            language,
            f"有节点离线：{online}/{total} 在线。",
            f"Not all workers are up: {online} of {total} online.",
        )
    elif failed:
        head = _say(
            language,
            f"节点全部在线；24 小时内有 {fact(failed)} 次失败（含超时）。",
            f"All workers are online; {fact(failed)} runs failed in 24 hours (timeouts included).",
        )
    else:
        head = _say(
            language,
            "节点全部在线，24 小时内没有失败。",
            "All workers are online and nothing failed in 24 hours.",
        )
    if not workers or not runs_24h:
        head = _say(language, "概览不完整。", "The overview is incomplete.")
    return _lines(
        head,
        *(
            f"- {label}: {_counts_of(part, language)}"
            for label, part in (
                (_say(language, "任务", "Tasks"), tasks_part),
                (_say(language, "节点", "Workers"), workers),
                (_say(language, "24 小时运行", "Runs in 24 h"), runs_24h),
            )
            if part
        ),
    )


def workers(content: Content, language: Language) -> str:
    rows = rows_of(content, "workers")
    times = Times(row.get("last_heartbeat_at") for row in rows)
    online, total = fact(content.get("online")), fact(content.get("total"))
    if not rows:
        return _say(language, "没有注册的节点。", "No worker is registered.")
    lines = []
    for row in rows:
        load = f"{fact(row.get('current_load'))}/{fact(row.get('max_concurrency'))}"
        parts = [
            code(row.get("id"), 64),
            status_word(row.get("status"), language),
            _say(language, "负载 ", "load ") + load,
            _say(language, "心跳 ", "heartbeat ") + times.show(row.get("last_heartbeat_at")),
        ]
        lines.append("- " + " · ".join(parts))
    return _lines(
        _say(language, f"节点 {online}/{total} 在线。", f"{online} of {total} workers are online."),
        *lines,
        times.note(language),
    )


def load_history(content: Content, worker_id: str, hours: int, language: Language) -> str:
    """First, highest and newest load of one worker over the samples given."""
    rows = [row for row in rows_of(content, "snapshots") if isinstance(row.get("current_load"), int)]
    name = code(worker_id, 64)
    if not rows:
        return _say(language, f"节点 {name} 没有负载采样。", f"There are no load samples of worker {name}.")
    rows = sorted(rows, key=lambda row: str(row.get("recorded_at")))
    times = Times(row.get("recorded_at") for row in rows)
    highest = max(rows, key=lambda row: int(row["current_load"]))
    mean = sum(int(row["current_load"]) for row in rows) / len(rows)

    def at(row: Row) -> str:
        return f"{row['current_load']} ({times.show(row.get('recorded_at'))})"

    return _lines(
        _say(
            language,
            f"节点 {name} 的负载：最新 {at(rows[-1])}，最高 {at(highest)}，平均 {mean:.1f}；"
            f"共 {len(rows)} 个采样，从 {times.show(rows[0].get('recorded_at'))} 起（查询范围 {hours} 小时）。",
            f"Load of worker {name}: newest {at(rows[-1])}, highest {at(highest)}, mean {mean:.1f}, over {len(rows)} samples "
            f"since {times.show(rows[0].get('recorded_at'))} (asked for {hours} hours).",
        ),
        times.note(language),
    )
