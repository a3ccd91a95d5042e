"""Schedules and times in words: what people say, and the cron expression or the window that it means."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.llm.offline.arguments import mask
from chatops_bot.llm.offline.cron import problem_of
from chatops_bot.llm.offline.quoting import Reader
from chatops_bot.llm.offline.schedules import cron_in, wrong_cron_in
from chatops_bot.llm.offline.understanding import understand
from chatops_bot.llm.offline.windows import Window, window_in
from tests.llm.offline_play import play

SCHEDULES = [
    ("at 2am every day", "0 2 * * *"),
    ("02:30 daily", "30 2 * * *"),
    ("at 9 on weekdays", "0 9 * * 1-5"),
    ("9:15 every monday", "15 9 * * 1"),
    ("at 10pm every night", "0 22 * * *"),
    ("every monday and thursday at 7", "0 7 * * 1,4"),
    ("on mon, wed and fri at 18:05", "5 18 * * 1,3,5"),
    ("every weekend at 10am", "0 10 * * 0,6"),
    ("weekends at noon", "0 12 * * 0,6"),
    ("every other hour", "0 */2 * * *"),
    ("every quarter hour", "*/15 * * * *"),
    ("monthly on the 15th at 4am", "0 4 15 * *"),
    ("@daily", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
    ("0 9 * * mon-fri", "0 9 * * 1-5"),
    ("cron: */10 * * * *, shell", "*/10 * * * *"),
    ("每周一三五早上九点", "0 9 * * 1,3,5"),
    ("每周一、三、五 9:30", "30 9 * * 1,3,5"),
    ("每周二和周四下午三点一刻", "15 15 * * 2,4"),
    ("每个周末上午十点", "0 10 * * 0,6"),
    ("工作日早上九点", "0 9 * * 1-5"),
    ("每个工作日 18:30", "30 18 * * 1-5"),
    ("每天零点三十分", "30 0 * * *"),
    ("每天两点零五分", "5 2 * * *"),
    ("每天二十二点十五分", "15 22 * * *"),
    ("每刻钟", "*/15 * * * *"),
    ("每半小时", "*/30 * * * *"),
    ("每天晚上十二点", "0 0 * * *"),
    ("每个月15号凌晨4点", "0 4 15 * *"),
    ("每晚两点", "0 2 * * *"),
    ("每天晚上1点", "0 1 * * *"),
    ("每天晚上八点", "0 20 * * *"),
    ("every day at 2am and 2pm", "0 2,14 * * *"),
    ("every monday at 9:15, 12:15pm and 3:15 pm", "15 9,12,15 * * 1"),
    ("每天九点、十二点和下午三点", "0 9,12,15 * * *"),
    ("at 2am and 2pm every day", None),
    ("每天早上9点和下午3点半", None),
    ("every day at 2 and 3pm", None),
    ("every day at 2am and 3 retries", "0 2 * * *"),
    ("every night", None),
    ("每天两次", None),
    ("每周", None),
    ("0 25 * * *", None),
    ("every 45 minutes", None),
]


@pytest.mark.parametrize(("text", "cron"), SCHEDULES)
def test_a_schedule_in_words(text: str, cron: str | None):
    assert cron_in(mask(text).text) == cron


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("61 2 * * *", "minute 61 is outside 0-59"),
        ("0 25 * * *", "hour 25 is outside 0-23"),
        ("0 2 * *", "4 fields and needs 5"),
        ("0 0 2 * * *", "6 fields and needs 5"),
        ("0/15 * * * *", "write */15"),
        ("*/0 * * * *", "step of zero"),
        ("0 2 ? * *", "is not a number"),
        ("0 2 * * 8", "outside 0-7"),
        ("0 5-2 * * *", "outside 0-23"),
    ],
)
async def test_a_wrong_cron_is_asked_back_at_once_with_the_form(text: str, part: str):
    wrong = wrong_cron_in(text)
    assert wrong is not None
    assert part in wrong[1].en
    for sentence in (
        f"create shell task clean-tmp cron {text} running `ls`",
        f"create shell task clean-tmp `{text}`, running `ls`",
    ):
        played = await play(sentence)
        assert [name for name, _ in played.calls] == ["create_task"]
        assert played.calls[0][1] == {"name": "clean-tmp", "type": "shell"} | (
            {"payload": "ls"} if "`ls`" in sentence else {}
        )
        assert part in played.text
    chinese = await play(f"创建 shell 任务 clean-tmp，cron {text}，执行 `ls`")
    assert "cron_expr" not in chinese.calls[0][1]
    assert "请在表单里选择或填写调度" in chinese.text


@pytest.mark.parametrize("text", ["on 2026-11-29 14:00", "runs 1 2 3 4 5", "5 * 3", "`ls *`", "last 3 hours"])
def test_what_is_no_cron_is_not_called_a_wrong_one(text: str):
    assert wrong_cron_in(text) is None


HOURS, MINUTES = st.integers(0, 23), st.integers(0, 59)
DAYS = st.lists(st.integers(0, 6), min_size=1, max_size=6, unique=True).map(sorted)
ENGLISH_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
CHINESE_DAYS = "日一二三四五六"
CHINESE_PARTS = ("凌晨", "早上", "下午", "晚上")


def chinese_number(number: int) -> str:
    digits = "零一二三四五六七八九"
    tens, ones = divmod(number, 10)
    if not tens:
        return digits[ones]
    return ("" if tens == 1 else digits[tens]) + "十" + (digits[ones] if ones else "")


def english_clock(hour: int, minute: int, style: int) -> str:
    if style == 0:
        return f"{hour:02d}:{minute:02d}"
    half = "am" if hour < 12 else "pm"
    whole = hour % 12 or 12
    return f"{whole}:{minute:02d} {half}" if style == 1 or minute else f"{whole}{half}"


def chinese_clock(hour: int, minute: int, style: int) -> str:
    if style == 0:
        return f"{hour:02d}:{minute:02d}"
    if style == 1:
        return f"{hour}点{minute}分" if minute else f"{hour}点"
    part = CHINESE_PARTS[hour // 6]
    spoken = hour - 12 if hour > 12 else hour
    if hour == 12:
        part, spoken = "中午", 12
    text = f"{part}{'两' if spoken == 2 else chinese_number(spoken)}点"
    if minute == 30:
        return text + "半"
    return text + (("零" if minute < 10 else "") + chinese_number(minute) + "分" if minute else "")


@given(
    HOURS,
    MINUTES,
    st.integers(0, 2),
    st.sampled_from(["every day at {}", "daily at {}", "{} every day", "each day {}"]),
)
def test_an_english_daily_phrase_reads_back(hour: int, minute: int, style: int, frame: str):
    assert cron_in(frame.format(english_clock(hour, minute, style))) == f"{minute} {hour} * * *"


@given(HOURS, MINUTES, st.integers(0, 2), st.sampled_from(["每天{}", "每日 {}", "天天{}", "每天的{}"]))
def test_a_chinese_daily_phrase_reads_back(hour: int, minute: int, style: int, frame: str):
    assert cron_in(frame.format(chinese_clock(hour, minute, style))) == f"{minute} {hour} * * *"


@given(DAYS, HOURS, MINUTES, st.integers(0, 2))
def test_weekdays_read_back_in_both_languages(days: list[int], hour: int, minute: int, style: int):
    cron = f"{minute} {hour} * * {','.join(map(str, days))}"
    english = " and ".join(ENGLISH_DAYS[day] for day in days)
    assert cron_in(f"every {english} at {english_clock(hour, minute, style)}") == cron
    assert (
        cron_in(f"每周{''.join(CHINESE_DAYS[day] for day in days)} {chinese_clock(hour, minute, style)}")
        == cron
    )
    assert (
        cron_in(f"每周{'、'.join(CHINESE_DAYS[day] for day in days)}的{chinese_clock(hour, minute, style)}")
        == cron
    )


@given(st.integers(1, 31), HOURS, MINUTES, st.integers(0, 1))
def test_days_of_the_month_read_back(day: int, hour: int, minute: int, style: int):
    cron = f"{minute} {hour} {day} * *"
    assert cron_in(f"on the {day}th of every month at {english_clock(hour, minute, style)}") == cron
    assert cron_in(f"每月{day}号{chinese_clock(hour, minute, style)}") == cron


@given(st.sampled_from([2, 3, 4, 5, 6, 10, 12, 15, 20, 30]))
def test_steps_read_back(step: int):
    assert (
        cron_in(f"every {step} minutes")
        == cron_in(f"每{step}分钟")
        == cron_in(f"每隔{chinese_number(step)}分钟")
        == f"*/{step} * * * *"
    )


@given(HOURS, MINUTES, st.sampled_from(["*", "1-5", "0,6", "7"]), st.sampled_from(["*", "1", "1-12/3"]))
def test_a_written_cron_is_taken_as_it_is(hour: int, minute: int, weekday: str, month: str):
    cron = f"{minute} {hour} * {month} {weekday}"
    assert problem_of(cron) is None
    assert cron_in(f"with cron {cron}, please") == cron


SHANGHAI = timezone(timedelta(hours=8))
NOW = datetime(2026, 11, 29, 10, 30, tzinfo=SHANGHAI)  # a Sunday


def at(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 11, day, hour, minute, tzinfo=SHANGHAI)


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("what failed since yesterday 14:00", Window(21, at(28, 14))),
        ("failures since 2pm yesterday", Window(21, at(28, 14))),
        ("从昨天 14:00 开始的失败", Window(21, at(28, 14))),
        ("昨天下午两点以来有失败吗", Window(21, at(28, 14))),
        ("since 08:00", Window(3, at(29, 8))),
        ("since 14:00", Window(21, at(28, 14))),
        ("since friday", Window(59, at(27, 0))),
        ("周五以来", Window(59, at(27, 0))),
        ("failed yesterday", Window(35, at(28, 0), at(29, 0))),
        ("昨天失败的", Window(35, at(28, 0), at(29, 0))),
        ("昨晚失败的", Window(17, at(28, 18), at(29, 8))),
        ("what broke last night", Window(17, at(28, 18), at(29, 8))),
        ("今天有失败吗", Window(11, at(29, 0))),
        ("this morning", Window(11, at(29, 0))),
        ("昨天上午", Window(35, at(28, 0), at(28, 12))),
        ("今天凌晨有失败的吗", Window(11, at(29, 0), at(29, 6))),
        ("on 2026-11-27", Window(59, at(27, 0), at(28, 0))),
        ("11月27日的失败", Window(59, at(27, 0), at(28, 0))),
        ("failures on nov 27", Window(59, at(27, 0), at(28, 0))),
        ("yesterday between 14:00 and 16:00", Window(21, at(28, 14), at(28, 16))),
        ("昨天14点到16点", Window(21, at(28, 14), at(28, 16))),
        ("昨晚八点以后有哪些失败", Window(15, at(28, 20))),
        ("昨晚12点以后", Window(11, at(29, 0))),
        ("昨夜两点以后有失败吗", Window(9, at(29, 2))),
        ("昨晚20点以来", Window(15, at(28, 20))),
        ("晚上九点以后有什么报错", Window(14, at(28, 21))),
        ("昨晚十点到今天早上六点有失败吗", Window(13, at(28, 22), at(29, 6))),
        ("昨晚11点到凌晨2点", Window(12, at(28, 23), at(29, 2))),
        ("昨天晚上八点到十点的失败", Window(15, at(28, 20), at(28, 22))),
        ("昨天下午三点到五点", Window(20, at(28, 15), at(28, 17))),
        ("昨天上午十点到两点", Window(25, at(28, 10), at(28, 14))),
        ("08:40 和 09:00 之间有失败吗", Window(2, NOW.replace(hour=8, minute=40), at(29, 9))),
        ("what failed since last night at 8", Window(15, at(28, 20))),
        ("what failed after 2am last night", Window(9, at(29, 2))),
        ("since last night", Window(17, at(28, 18))),
        ("between 2 and 4am", Window(9, at(29, 2), at(29, 4))),
        ("from 10 to 2pm yesterday", Window(25, at(28, 10), at(28, 14))),
        ("between 9pm and 11pm yesterday", Window(14, at(28, 21), at(28, 23))),
        ("from yesterday 22:00 to today 06:00", Window(13, at(28, 22), at(29, 6))),
        ("last 30 min", Window(1, NOW - timedelta(minutes=30))),
        ("过去 90 分钟", Window(2, NOW - timedelta(minutes=90))),
        ("过去 2 小时", Window(2)),
        ("last 2 hours", Window(2)),
        ("最近三天", Window(72)),
        ("what failed", None),
        ("last 10 runs", None),
        ("on 2026-13-45", None),
    ],
)
def test_a_window_is_read_in_the_askers_zone(text: str, window: Window | None):
    assert window_in(mask(text).text, NOW) == window


@pytest.mark.parametrize(
    "text",
    [
        "what failed between 08:00 and 09:00?",
        "between 08:00 and 09:00, what failed?",
        "why did nightly-report fail between 8am and 9am",
        "runs between 08:00 and 09:00",
        "overview between 8 and 9am",
        "今天 8 点和 9 点之间有哪些失败？",
        "今天早上八点到九点，有什么报错？",
    ],
)
def test_a_window_with_two_ends_holds_for_what_is_asked_of_it(text: str):
    (intent,) = understand(text, NOW)
    assert (intent.window, intent.target.run_ids) == (Window(3, at(29, 8), at(29, 9)), ())


@given(st.text(max_size=60))
def test_any_text_has_a_window_or_none(text: str):
    window = window_in(mask(text).text, NOW)
    assert window is None or window.hours >= 1


@given(st.integers(1, 2000))
def test_a_window_covers_what_it_names(minutes: int):
    window = window_in(f"last {minutes} minutes", NOW)
    assert window is not None
    assert window.hours * 60 >= minutes
    assert window.since is None or NOW - window.since == timedelta(minutes=minutes)


def test_a_window_is_said_with_its_zone():
    window = Window(21, at(28, 14))
    assert window.label(Reader("en")) == "the time since 11-28 14:00 (UTC+08:00)"
    assert window.label(Reader("zh")) == "11-28 14:00（UTC+08:00）以来"
    assert Window(3).label(Reader("zh")) == "最近 3 小时内"


def test_rows_outside_a_window_do_not_count():
    window = Window(35, at(28, 0), at(29, 0))
    assert window.holds(at(28, 5).astimezone(UTC).isoformat())
    assert not window.holds(at(29, 0).isoformat())
    assert not window.holds(at(27, 23).isoformat())
    assert window.holds(None)
