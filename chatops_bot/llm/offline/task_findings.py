"""Tasks as a report: lists, one task whole, one task in short."""

from collections.abc import Sequence

from chatops_bot.llm.offline.content import Content, rows_of
from chatops_bot.llm.offline.quoting import Reader, code, fact, schedule, script
from chatops_bot.llm.offline.report import status_word, task_label
from chatops_bot.llm.offline.run_findings import (
    HAS_FAILED,
    cut_note,
    lines,
    newest_first,
    own_run_line,
    total_of,
)

_RUNS_BELOW_A_TASK = 5
_DEPENDENCIES_SHOWN = 10
_PAYLOAD_CHARS = 1_500


def tasks(content: Content, status: str, reader: Reader) -> str:
    rows, language = rows_of(content, "tasks"), reader.language
    kind = status_word(status, language) if status else ""
    if not rows:
        return reader.say(f"没有{kind and kind + '的'}任务。", f"There are no {kind and kind + ' '}tasks.")
    times = reader.times(*(row.get("next_trigger_time") for row in rows))
    total = total_of(content, "tasks")
    shown = []
    for row in rows:
        parts = [task_label(row), fact(row.get("type")), schedule(row, reader)]
        parts.append(status_word(row.get("status"), language))
        if row.get("status") != "disabled":
            parts.append(reader.say("下次 ", "next ") + times.show(row.get("next_trigger_time")))
        shown.append("- " + " · ".join(part for part in parts if part != "—"))
    noun = "task" if total == 1 else "tasks"
    return lines(
        reader.say(f"共 {total} 个{kind and kind + '的'}任务：", f"{total} {kind and kind + ' '}{noun}:"),
        *shown,
        cut_note(content, "tasks", len(rows), reader),
        times.note(),
    )


def success_rate(rows: Sequence[Content], reader: Reader) -> str:
    """The share of finished runs that succeeded, counted from the rows; says how many rows that rests on."""
    ended = [row for row in rows if row.get("status") in ("success", "failed", "timeout")]
    good = sum(row.get("status") == "success" for row in ended)
    if not ended:
        return reader.say("最近没有已结束的运行", "no finished run among the recent ones")
    share = f"{100 * good / len(ended):.0f}%"
    return reader.say(
        f"最近 {len(ended)} 次中成功 {good} 次（{share}）", f"{good} of the last {len(ended)} runs ({share})"
    )


def standing(content: Content, reader: Reader) -> str:
    """How a task stands now, in short: state, next run, newest run."""
    newest = newest_first(rows_of(content, "recent_instances"))[:1]
    times = reader.times(content.get("next_trigger_time"), *(row.get("trigger_time") for row in newest))
    upcoming = "—" if content.get("status") == "disabled" else times.show(content.get("next_trigger_time"))
    return lines(
        _state(content, reader),
        "" if upcoming == "—" else reader.say(f"- 下次运行：{upcoming}", f"- Next run: {upcoming}"),
        *(own_run_line(row, times, reader) for row in newest),
        times.note(),
    )


def condition(content: Content, reader: Reader) -> str:
    """How the newest finished runs of a task ended, before how it stands: an enabled task may fail every time."""
    recent = newest_first(rows_of(content, "recent_instances"))
    ended = [row for row in recent if row.get("status") in ("success", *HAS_FAILED)]
    if not ended:
        return standing(content, reader)
    owner, rate = task_label(content), success_rate(recent, reader)
    status = status_word(ended[0].get("status"), reader.language)
    said = reader.say(
        f"任务 {owner} 最近一次运行{status}；{rate}。",
        f"The newest run of task {owner} {status}; {rate} succeeded.",
    )
    return lines(said, standing(content, reader))


def detail(content: Content, count: int | None, reader: Reader) -> str:
    """One task: state first, then schedule, limits, dependencies, success rate, newest runs, payload."""
    recent = newest_first(rows_of(content, "recent_instances"))[: count or None]
    times = reader.times(content.get("next_trigger_time"), *(row.get("trigger_time") for row in recent))
    upcoming = "—" if content.get("status") == "disabled" else times.show(content.get("next_trigger_time"))
    say, payload = reader.say, str(content.get("payload") or "")
    is_script = "\n" in payload.strip()
    facts = (
        (say("类型", "Type"), fact(content.get("type"))),
        ("Cron", schedule(content, reader)),
        (say("下次运行", "Next run"), upcoming),
        (say("超时（秒）", "Timeout (s)"), fact(content.get("timeout_seconds"))),
        (say("最多重试", "Max retries"), fact(content.get("max_retry"))),
        (say("重试策略", "Retry policy"), fact(content.get("retry_policy"))),
        (say("路由策略", "Routing"), fact(content.get("route_strategy"))),
        (say("上游依赖", "Depends on"), _dependencies(content.get("upstream_deps"), reader)),
        (say("下游", "Needed by"), _dependencies(content.get("downstream_deps"), reader)),
        (say("成功率", "Success"), success_rate(recent, reader)),
        (say("内容", "Payload"), "" if is_script else code(payload)),
    )
    return lines(
        _state(content, reader),
        *(f"- {label}{reader.say('：', ': ')}{value}" for label, value in facts if value not in ("—", "")),
        *(own_run_line(row, times, reader) for row in recent[:_RUNS_BELOW_A_TASK]),
        *((say("内容：", "Payload:"), script(payload, _PAYLOAD_CHARS)) if is_script else ()),
        times.note(),
    )


def _state(content: Content, reader: Reader) -> str:
    owner, state = task_label(content), status_word(content.get("status"), reader.language)
    return reader.say(f"任务 {owner}：{state}。", f"Task {owner} is {state}.")


def _dependencies(value: object, reader: Reader) -> str:
    if not isinstance(value, list):
        return "—"
    if not value:
        return reader.say("无", "none")
    shown = [
        task_label(item) if isinstance(item, dict) else f"#{item}" if isinstance(item, int) else code(item)
        for item in value[:_DEPENDENCIES_SHOWN]
    ]
    return ", ".join(shown) + (", …" if len(value) > _DEPENDENCIES_SHOWN else "")
