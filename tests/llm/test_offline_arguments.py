"""Names and ids as people write them, taken out of a sentence before anything is read as a verb."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.llm.offline.arguments import Ids, ids_in, mask
from chatops_bot.llm.offline.cues import WRITES, Kind
from chatops_bot.llm.offline.understanding import understand
from tests.llm.offline_play import Scheduler, play, task

NAMES = [
    "delete-old-logs",
    "pause-worker",
    "resume_all.v2",
    "retry-dead-letters",
    "create-index",
    "do-not-delete",
    "don-t-stop",
    "stop.the.world",
    "run_nightly",
    "why-failed",
    "all-tasks",
    "every-15-minutes",
    "db.backup_v2",
    "A-B",
    "2024-cleanup",
]
CHINESE_NAMES = ["数据备份", "删除旧日志", "暂停检查", "每天对账"]


QUOTES = [("", ""), ("`", "`"), ('"', '"'), ("“", "”"), ("「", "」"), ("'", "'")]
FRAMES = ["pause {}", "please pause {} now", "暂停 {}", "把 {} 暂停一下", "麻烦暂停{}"]


def written(name: str) -> list[str]:
    """Each way to write a wish for `name`."""
    return [
        frame.format(f"{left}{name}{right}")
        for left, right in QUOTES
        for frame in FRAMES
        # Chinese words without quotes are words, and an apostrophe right behind a letter quotes nothing.
        if not (name in CHINESE_NAMES and not left) and not (frame == FRAMES[-1] and left == "'")
    ]


@pytest.mark.parametrize("name", [*NAMES, *CHINESE_NAMES])
async def test_a_name_is_a_name_whatever_words_it_holds(name: str):
    for text in written(name):
        played = await play(text, Scheduler(tasks=[task(9, name), task(10, "other-task")]))
        assert played.writes == [("pause_task", {"task_id": 9, "action": "pause"})], text


@pytest.mark.parametrize(
    "text", ["暂停数据备份任务", "暂停数据备份", "把数据备份暂停", "恢复数据备份", "pause 数据备份"]
)
async def test_a_chinese_name_needs_no_quotes_where_nothing_else_stands(text: str):
    tasks = [task(9, "数据备份", status="disabled" if "恢复" in text else "enabled")]
    played = await play(text, Scheduler(tasks=tasks))
    assert [arguments["task_id"] for _, arguments in played.writes] == [9]


@pytest.mark.parametrize("name", [*NAMES, "`删除旧日志`", "「暂停检查」"])
def test_a_question_about_a_name_is_no_wish(name: str):
    for frame in ("config of {}", "{} 的配置", "why did {} fail?", "{} 为什么失败", "{}"):
        assert not WRITES & {intent.kind for intent in understand(frame.format(name))}, frame


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("#12", Ids(tasks=(12,))),
        ("task 12", Ids(tasks=(12,))),
        ("task #12", Ids(tasks=(12,))),
        ("job 12", Ids(tasks=(12,))),
        ("任务 12", Ids(tasks=(12,))),
        ("任务12", Ids(tasks=(12,))),
        ("任务 #12", Ids(tasks=(12,))),
        ("12 号任务", Ids(tasks=(12,))),
        ("task id: 12", Ids(tasks=(12,))),
        ("run 88", Ids(runs=(88,))),
        ("run #88", Ids(runs=(88,))),
        ("run: #88", Ids(runs=(88,))),
        ("instance 88", Ids(runs=(88,))),
        ("运行 88", Ids(runs=(88,))),
        ("运行 #88", Ids(runs=(88,))),
        ("实例 id 88", Ids(runs=(88,))),
        ("12", Ids(bare=(12,))),
        ("last 3 hours", Ids()),
        ("最近 10 次", Ids()),
        ("#0", Ids()),
        ("2.5", Ids()),
    ],
)
def test_ids(text: str, ids: Ids):
    assert ids_in(mask(text).text) == ids


@given(
    st.integers(1, 10**9),
    st.sampled_from(
        [
            "pause #{}",
            "pause task {}",
            "暂停任务 {}",
            "暂停 #{}",
            "put task {} on hold",
            "任务 {} 先别跑了",
            "把任务 {} 关掉",
        ]
    ),
)
def test_an_id_is_kept_whole(number: int, frame: str):
    assert [(intent.kind, intent.target.task_ids) for intent in understand(frame.format(number))] == [
        (Kind.PAUSE, (number,))
    ]


@given(st.text(max_size=300))
def test_masking_hides_no_more_than_it_keeps(text: str):
    masked = mask(text)
    places = [character for character in masked.text if "\ue000" <= character <= "\uefff"]
    assert len(places) == len(set(places)) == len(masked.spans)


@pytest.mark.parametrize("lines", [1, 3, 300])
def test_a_fenced_script_is_one_text_however_long_it_is(lines: int):
    script = "\n".join(f"echo {number} `date` | tee -a log" for number in range(lines))
    (intent,) = understand(f"create a shell task named bigone that runs ```{script}``` at 2:30 every day")
    assert intent.new_task is not None
    assert intent.new_task.payload == script


def test_a_fence_without_an_end_is_no_script():
    (intent,) = understand("create a shell task named bigone that runs ```\necho `date`\necho `id`")
    assert intent.new_task is not None
    assert intent.new_task.payload == ""


@pytest.mark.parametrize("called", ["@U0ANX5T03H", "<@U12H7DAYS9>", "#C0ANX5T02D", "@S0ANX5T7DAYS"])
def test_the_id_of_somebody_is_no_time_and_no_name(called: str):
    (intent,) = understand(f"{called} asks: what failed recently?")
    assert (intent.window, intent.target.names) == (None, ())
