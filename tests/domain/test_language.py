"""In which language a message is answered."""

import pytest

from chatops_bot.domain.language import language_of_words


@pytest.mark.parametrize(
    ("text", "names", "spoken", "language"),
    [
        ("@林浩然 asks: what failed recently?", ("@林浩然",), "en", "en"),
        ("what did @林浩然 do in #运维?", ("@林浩然", "#运维"), "en", "en"),
        ("@Oscar 问：最近有什么失败了？", ("@Oscar",), "en", "zh"),
        ("log-archive", (), "zh", "zh"),
        ("log-archive", (), "en", "en"),
        ("log-archive, `etl_sync`", (), "zh", "zh"),
        ("status?", (), "zh", "zh"),
        ("how is log-archive?", (), "zh", "en"),
        ("暂停 log-archive", (), "en", "zh"),
        (":+1:", (), "zh", "zh"),
    ],
)
def test_a_message_is_answered_in_the_language_of_its_own_words(text, names, spoken, language):
    assert (language_of_words(text, names) or spoken) == language
