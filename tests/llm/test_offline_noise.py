"""What must not change a plan, and what must always stop one: greetings and emoji around it, and a negation before it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.llm.offline.arguments import Target
from chatops_bot.llm.offline.cues import WRITES, Kind
from chatops_bot.llm.offline.understanding import Intent, understand

ENGLISH = {
    Kind.PAUSE: [
        "pause {}",
        "put {} on hold",
        "turn {} off",
        "turn off {}",
        "disable {}",
        "stop running {}",
        "suspend {}",
    ],
    Kind.RESUME: [
        "resume {}",
        "turn {} back on",
        "unpause {}",
        "enable {}",
        "take {} off hold",
        "let {} run again",
    ],
    Kind.TRIGGER: ["trigger {}", "run {} now", "kick off {}", "execute {}", "give {} a run"],
    Kind.RETRY: ["retry {}", "rerun {}", "try {} again", "give {} another try"],
    Kind.DELETE: ["delete {}", "remove {}", "get rid of {}", "drop {}"],
}
CHINESE = {
    Kind.PAUSE: ["暂停 {}", "把 {} 停掉", "停用 {}", "把 {} 关掉", "让 {} 停下来"],
    Kind.RESUME: ["恢复 {}", "打开 {}", "让 {} 继续跑", "启用 {}", "把 {} 重新打开"],
    Kind.TRIGGER: ["触发 {}", "执行一下 {}", "立即运行 {}", "把 {} 跑起来", "运行 {}"],
    Kind.RETRY: ["重试 {}", "重跑 {}", "把 {} 重试一下", "再试一次 {}"],
    Kind.DELETE: ["删除 {}", "把 {} 删掉", "移除 {}", "把 {} 删了"],
}
NAMES = [
    "nightly-report",
    "`delete-old-logs`",
    "pause-worker",
    "db.backup_v2",
    '"retry-queue"',
    "「数据备份」",
    "don-t-stop",
]


def _wishes(table: dict[Kind, list[str]]) -> st.SearchStrategy[tuple[Kind, str, str]]:
    frames = [(kind, frame) for kind, frames in table.items() for frame in frames]
    return st.tuples(st.sampled_from(frames), st.sampled_from(NAMES)).map(lambda one: (*one[0], one[1]))


def expected(kind: Kind, name: str) -> tuple[Intent, ...]:
    return (Intent(kind, Target((name.strip('`"「」'),))),)


BEFORE_ENGLISH = [
    "",
    "hi ",
    "hey bot, ",
    "Hello! ",
    "please ",
    "pls ",
    "ok, ",
    "can you ",
    "could you please ",
    "😀 ",
    "  ",
    "so, ",
]
AFTER_ENGLISH = ["", "!", "!!!", " please", " pls", ".", " 🙏", " thanks", "…", "\n", " :)", " now", "，谢谢"]
BEFORE_CHINESE = ["", "你好，", "麻烦", "请", "帮我", "麻烦帮我", "那个，", "😀 ", "hi，", "在吗？", "  "]
AFTER_CHINESE = ["", "！", "！！", "吧", "，谢谢", "。", " 🙏", "~", "\n", "，辛苦了", " thx"]


@given(
    _wishes(ENGLISH),
    st.sampled_from(BEFORE_ENGLISH),
    st.sampled_from(AFTER_ENGLISH),
    st.sampled_from([str, str.upper, str.title]),
)
def test_noise_around_an_english_wish_changes_nothing(wish, before, after, cased):
    kind, frame, name = wish
    text = cased(before) + "{}".join(cased(part) for part in frame.split("{}")).format(name) + after
    assert understand(text) == expected(kind, name)


@given(
    _wishes(CHINESE),
    st.sampled_from(BEFORE_CHINESE),
    st.sampled_from(AFTER_CHINESE),
    st.sampled_from([" ", "", "\u3000"]),
)
def test_noise_around_a_chinese_wish_changes_nothing(wish, before, after, gap):
    kind, frame, name = wish
    text = before + frame.replace(" ", gap).format(name) + after
    assert understand(text) == expected(kind, name)


FULL_WIDTH = str.maketrans({code: code + 0xFEE0 for code in range(0x21, 0x7F)})


@given(_wishes(ENGLISH).filter(lambda wish: wish[2][0].isascii() and wish[2][0].isalpha()))
def test_full_width_letters_change_nothing(wish):
    kind, frame, name = wish
    assert understand(frame.format(name).translate(FULL_WIDTH)) == expected(kind, name)


@given(
    _wishes(ENGLISH),
    st.sampled_from(
        [
            "don't ",
            "do not ",
            "dont ",
            "please don't ",
            "never ",
            "you should not ",
            "no need to ",
            "DO NOT ",
            "let's not ",
            "better not ",
        ]
    ),
)
def test_an_english_negation_in_front_stops_every_wish(wish, negation):
    _, frame, name = wish
    assert not WRITES & {intent.kind for intent in understand(negation + frame.format(name))}


@given(
    _wishes(CHINESE),
    st.sampled_from(
        [
            "不要",
            "别",
            "先别",
            "先不要",
            "千万别",
            "请勿",
            "不用",
            "没必要",
            "请不要",
            "暂时不要",
            "不能",
            "禁止",
            "我没说要",
            "不准",
        ]
    ),
)
def test_a_chinese_negation_in_front_stops_every_wish(wish, negation):
    _, frame, name = wish
    assert not WRITES & {intent.kind for intent in understand(negation + frame.format(name))}


@given(
    _wishes(ENGLISH),
    st.sampled_from(
        [
            "Bob said ",
            "bob said, ",
            "should I ",
            "should we ",
            "what if I ",
            "what would happen if we ",
            "is it ok to ",
            "why did you ",
            "the doc says: ",
            "he told me to ",
            "> ",
            "&gt; ",
            "who asked to ",
            "how do I ",
        ]
    ),
)
def test_reported_or_pondered_english_changes_nothing(wish, before):
    _, frame, name = wish
    assert not WRITES & {intent.kind for intent in understand(before + frame.format(name))}


@given(
    _wishes(CHINESE),
    st.sampled_from(
        [
            "老王说",
            "老王说：",
            "老王说，",
            "要不要",
            "该不该",
            "为什么要",
            "谁让你",
            "如果",
            "小李让我",
            "日志里写着",
            "> ",
            "怎么",
        ]
    ),
)
def test_reported_or_pondered_chinese_changes_nothing(wish, before):
    _, frame, name = wish
    assert not WRITES & {intent.kind for intent in understand(before + frame.format(name))}


@given(
    st.one_of(_wishes(ENGLISH), _wishes(CHINESE)),
    st.sampled_from([", no wait", ", never mind", ". cancel that", "，算了", "，不要了", "。算了"]),
)
def test_a_retraction_behind_stops_every_wish(wish, retraction):
    _, frame, name = wish
    assert not WRITES & {intent.kind for intent in understand(frame.format(name) + retraction)}


LONG = [
    "麻烦你",
    "那就",
    "please  ",
    "please , ",
    "帮我 ",
    "put x ",
    "on hold ",
    "re-run ",
    "can you ",
    "a",
    "`",
    " ",
    "#1 ",
    "1 ",
    "* ",
    "每周一",
    "didn't ",
    "说",
    "12:",
    "mon,",
    "了",
    "if ",
    "how to ",
    "nightly-report ",
    "\ue000",
    "1-1/1,",
]


@pytest.mark.parametrize("piece", LONG)
def test_a_long_message_is_read_in_time(piece: str):
    started = time.process_time()
    understand(piece * (8000 // len(piece)))
    assert time.process_time() - started < 2.0


def test_an_ordinary_message_is_read_in_a_few_milliseconds():
    texts = [
        "pause nightly-report",
        "最近有哪些任务失败了？",
        "create shell task x-y every night at 2 running `ls`",
    ] * 10
    best = min(_seconds(text) for text in texts)
    assert best < 0.005


def _seconds(text: str) -> float:
    started = time.process_time()
    understand(text)
    return time.process_time() - started


@pytest.mark.parametrize(
    "text",
    [
        "delete the logs of nightly-report",
        "remove the timeout of nightly-report",
        "disable retries of nightly-report",
        "enable debug logs for nightly-report",
        "turn alerts for nightly-report off",
        "resume work on nightly-report",
        "delete nightly-report's history",
        "delete nightly-report logs",
        "drop the records from #3",
        "删除 nightly-report 的日志",
        "把 nightly-report 的告警关掉",
        "停止 nightly-report 的告警",
        "暂停 nightly-report 的通知",
        "删除任务 3 的记录",
        "删除 nightly-report 日志",
    ],
)
def test_a_part_of_a_task_is_not_the_task(text: str):
    assert not WRITES & {intent.kind for intent in understand(text)}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("retry the last failed run of nightly-report", Kind.RETRY),
        ("pause the schedule of nightly-report", Kind.PAUSE),
        ("pause nightly-report for now", Kind.PAUSE),
        ("暂停 nightly-report 的调度", Kind.PAUSE),
        ("重试 nightly-report 的最近一次失败", Kind.RETRY),
        ("恢复 nightly-report 的运行", Kind.RESUME),
    ],
)
def test_its_schedule_and_its_newest_run_stand_for_the_task(text: str, kind: Kind):
    assert [intent.kind for intent in understand(text)] == [kind]


@pytest.mark.parametrize("text", ["stop", "Stop!", "please stop", "停", "停止", "停下吧", "stop it", "nightly-report 跑一次要多久",
    "start by looking at nightly-report", "create a ticket for nightly-report", "add worker-2", "put it back"])  # fmt: skip
def test_words_that_only_look_like_a_wish(text: str):
    assert not WRITES & {intent.kind for intent in understand(text)}
