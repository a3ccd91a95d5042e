"""Regular expressions that are compiled at their first use: every one of them without a mistake, and few at an import."""

import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import chatops_bot
from chatops_bot.domain.regex import regex
from tests.tracked import ROOT

MOST_COMPILED = 60
"""Measured: 40 of 260."""


def patterns_in(value: Any) -> Iterator[re.Pattern[str]]:
    if type(value) is type(regex("")):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from patterns_in(item)
    elif isinstance(value, dict):
        yield from patterns_in(tuple(value.values()))


def test_every_one_compiles():
    modules = pkgutil.walk_packages(chatops_bot.__path__, "chatops_bot.")
    found = [
        pattern
        for name in (info.name for info in modules if not info.name.endswith("__main__"))
        for pattern in patterns_in(tuple(vars(importlib.import_module(name)).values()))
    ]
    assert len(found) > 140
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


def test_a_start_compiles_few_of_our_own():
    """Small ones of ASCII are compiled where they stand; each takes some 0.1 ms."""
    code = (
        "import re, sys\n"
        "compiled, compile = [], re.compile\n"
        "def counted(source, flags=0):\n"
        "    compiled.append(sys._getframe(1).f_globals['__name__'])\n"
        "    return compile(source, flags)\n"
        "re.compile = counted\n"
        "from chatops_bot.app.cli import imported_run; imported_run()\n"
        "print(*(name for name in compiled if name.startswith('chatops_bot.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    compiled = done.stdout.split()
    assert [name for name in compiled if name.startswith("chatops_bot.llm.offline.")] == []
    assert len(compiled) <= MOST_COMPILED
