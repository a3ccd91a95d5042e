"""Workers and the system as a whole as a report: the worst first."""

from chatops_bot.domain.language import Phrase
from chatops_bot.llm.offline.content import Content, rows_of
from chatops_bot.llm.offline.quoting import Reader, code, fact
from chatops_bot.llm.offline.report import status_word
from chatops_bot.llm.offline.run_findings import lines


def _part(content: Content, key: str) -> Content:
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


def _counts_of(part: Content, reader: Reader) -> str:
    """The counts of one part of the overview; a key without a label (the rate that follows from the others) is left out."""
    labelled = [(label, part[key]) for key, label in _HEALTH_LABELS.items() if key in part]
    shown = [label.filled(v=fact(value)).said_in(reader.language) for label, value in labelled]
    return reader.say("，", ", ").join(shown)


def health(content: Content, reader: Reader) -> str:
    """The three lines of the overview, the worst first in the first sentence."""
    workers, runs_24h, tasks_part = (
        _part(content, "workers"),
        _part(content, "instances_24h"),
        _part(content, "tasks"),
    )
    online, total = workers.get("online"), workers.get("total")
    failed = runs_24h.get("failed")
    if total == 0:
        head = reader.say("没有注册的节点。", "No worker is registered.")
    elif isinstance(online, int) and isinstance(total, int) and online < total:
        head = reader.say(
            f"有节点离线：{online}/{total} 在线。",
            f"Not all workers are up: {online} of {total} online.",
        )
    elif failed:
        head = reader.say(
            f"节点全部在线；24 小时内有 {fact(failed)} 次失败（含超时）。",
            f"All workers are online; {fact(failed)} runs failed in 24 hours (timeouts included).",
        )
    else:
        head = reader.say(
            "节点全部在线，24 小时内没有失败。",
            "All workers are online and nothing failed in 24 hours.",
        )
    if not workers or not runs_24h:
        head = reader.say("概览不完整。", "The overview is incomplete.")
    return lines(
        head,
        *(
            f"- {label}{reader.say('：', ': ')}{_counts_of(part, reader)}"
            for label, part in (
                (reader.say("任务", "Tasks"), tasks_part),
                (reader.say("节点", "Workers"), workers),
                (reader.say("24 小时运行", "Runs in 24 h"), runs_24h),
            )
            if part
        ),
    )


def workers(content: Content, reader: Reader) -> str:
    rows = rows_of(content, "workers")
    times = reader.times(*(row.get("last_heartbeat_at") for row in rows))
    online, total = fact(content.get("online")), fact(content.get("total"))
    if not rows:
        return reader.say("没有注册的节点。", "No worker is registered.")
    shown = []
    for row in rows:
        load = f"{fact(row.get('current_load'))}/{fact(row.get('max_concurrency'))}"
        parts = [
            code(row.get("id"), 64),
            status_word(row.get("status"), reader.language),
            reader.say("负载 ", "load ") + load,
            reader.say("心跳 ", "heartbeat ") + times.show(row.get("last_heartbeat_at")),
        ]
        shown.append("- " + " · ".join(parts))
    return lines(
        reader.say(f"节点 {online}/{total} 在线。", f"{online} of {total} workers are online."),
        *shown,
        times.note(),
    )


def load_history(content: Content, worker_id: str, hours: int, reader: Reader) -> str:
    """First, highest and newest load of one worker over the samples given."""
    rows = [row for row in rows_of(content, "snapshots") if isinstance(row.get("current_load"), int)]
    name = code(worker_id, 64)
    if not rows:
        return reader.say(f"节点 {name} 没有负载采样。", f"There are no load samples of worker {name}.")
    rows = sorted(rows, key=lambda row: str(row.get("recorded_at")))
    times = reader.times(*(row.get("recorded_at") for row in rows))
    highest = max(rows, key=lambda row: int(row["current_load"]))
    mean = sum(int(row["current_load"]) for row in rows) / len(rows)

    def at(row: Content) -> str:
        return f"{row['current_load']} ({times.show(row.get('recorded_at'))})"

    return lines(
        reader.say(
            f"节点 {name} 的负载：最新 {at(rows[-1])}，最高 {at(highest)}，平均 {mean:.1f}；"
            f"共 {len(rows)} 个采样，从 {times.show(rows[0].get('recorded_at'))} 起（查询范围 {hours} 小时）。",
            f"Load of worker {name}: newest {at(rows[-1])}, highest {at(highest)}, mean {mean:.1f}, over {len(rows)} samples "
            f"since {times.show(rows[0].get('recorded_at'))} (asked for {hours} hours).",
        ),
        times.note(),
    )


def load_histories(content: Content, hours: int, reader: Reader) -> str:
    """The load of each worker over the samples given, worker by worker."""
    rows = rows_of(content, "snapshots")
    named = dict.fromkeys(str(row.get("worker_id")) for row in rows)
    if not named:
        return reader.say("没有负载采样。", "There are no load samples.")
    of_each = ({"snapshots": [row for row in rows if str(row.get("worker_id")) == name]} for name in named)
    return "\n".join(
        load_history(samples, name, hours, reader) for name, samples in zip(named, of_each, strict=True)
    )
