"""The offline model's regular expressions: compiled at their first use, and every one of them without a mistake."""

import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import chatops_bot.llm.offline
from chatops_bot.llm.offline.regex import regex
from tests.tracked import ROOT


def patterns_in(value: Any) -> Iterator[re.Pattern[str]]:
    if type(value) is type(regex("")):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from patterns_in(item)
    elif isinstance(value, dict):
        yield from patterns_in(tuple(value.values()))


def test_every_one_compiles():
    found = [
        pattern
        for info in pkgutil.iter_modules(chatops_bot.llm.offline.__path__, "chatops_bot.llm.offline.")
        for pattern in patterns_in(tuple(vars(importlib.import_module(info.name)).values()))
    ]
    assert len(found) > 100
    for pattern in found:
        assert pattern.pattern


def test_it_is_the_pattern_at_its_first_use_and_a_mistake_shows_only_then():
    one = regex("(A)b", re.IGNORECASE)
    for _ in range(2):
        assert one.fullmatch("ab").group(1) == "a"  # type: ignore[union-attr]  # it matches
        assert one.sub("x", "cab ab") == "cx x"
    broken = regex("(")
    with pytest.raises(re.error):
        broken.search("")


def test_an_import_of_the_offline_model_compiles_none_of_its_own():
    code = (
        "import re, pydantic, croniter, chatops_bot.domain.redaction\n"
        "compiled, compile = [], re.compile\n"
        "def counted(source, flags=0):\n"
        "    compiled.append(sys._getframe(1).f_globals['__name__'])\n"
        "    return compile(source, flags)\n"
        "import sys; re.compile = counted\n"
        "import chatops_bot.llm.offline\n"
        "print([name for name in compiled if name.startswith('chatops_bot.llm.offline')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"
