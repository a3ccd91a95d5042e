"""What a text speaks of by number or name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.context.entities import MOST, entities_in


@pytest.mark.case("prompt-P9")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("why did task 12 fail? run 345", {"task": ("12",), "run": ("345",)}),
        ("任务 12 的实例 345 为什么失败", {"task": ("12",), "run": ("345",)}),
        ("pause nightly-report and db_backup", {"name": ("db_backup",), "word": ("nightly-report",)}),
        ("暂停 etl-daily，编号 #7", {"number": ("7",), "word": ("etl-daily",)}),
        ("what became of K7QFAB?", {"code": ("K7QFAB",)}),
        ("the on-call re-run at 14:30 on 2025-03-02, run 2025-03-02", {}),
        ("task 12 and task #12", {"task": ("12",)}),
        ("what did run 10 minutes ago? run 2h, job 12%, run 3 times a day, run 5 tasks", {}),
        ("每天执行 3 次；任务运行 30 分钟就超时，task 5 分钟后触发，运行 5 周", {}),
        ("5号任务和任务7 分析一下，12月6号任务失败，任务 8 周报", {"task": ("5", "7", "8")}),
        (
            "Is the read-only follow-up high-priority, in-progress or up-to-date? A long-lived, built-in sub-task, utf-8",
            {},
        ),
        ("a real-world, day-to-day, end-to-end re-run", {}),
        (
            "暂停任务 etl-daily 和 `big-import`, gpt-4, job-0003",
            {"name": ("etl-daily", "big-import", "gpt-4", "job-0003")},
        ),
        ("see https://x.example/foo-bar or a@b-c.de", {}),
    ],
)
def test_numbers_and_names_are_found_by_their_shape(text: str, found: dict[str, tuple[str, ...]]):
    assert entities_in(text) == found


@given(st.text(max_size=400))
def test_any_text_is_read_and_no_value_is_told_twice(text: str):
    values = [value for kind in entities_in(text).values() for value in kind]
    assert len(set(values)) == len(values)
    assert all(value in text for value in values)
    assert all(len(kind) <= MOST for kind in entities_in(text).values())
