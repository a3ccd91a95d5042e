"""House rules that no linter knows: broad excepts, sizes, and tests without mocks."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.tracked import ROOT, tracked_files

BORDERS = {"chatops_bot/tools/border.py", "chatops_bot/sessions/conductor.py", "chatops_bot/app/cli.py"}
"""The tool, turn and process border: the only places where whatever fails may be caught."""
BROAD = {"Exception", "BaseException"}
MODULE_LINES = 450
FUNCTION_LINES = 60


@cache
def python_files(*folders: str) -> list[tuple[Path, str]]:
    return [
        (path, (ROOT / path).read_text(encoding="utf-8"))
        for path in tracked_files()
        if path.suffix == ".py" and path.parts[0] in folders
    ]


def is_broad(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(map(is_broad, caught.elts))
    return caught is None or ast.unparse(caught).removeprefix("builtins.") in BROAD


def only_cleans_up(handler: ast.ExceptHandler) -> bool:
    """It ends by raising what it caught and cannot leave otherwise: nothing is hidden."""
    last = handler.body[-1]
    leaves = any(isinstance(node, ast.Return | ast.Break | ast.Continue) for node in ast.walk(handler))
    return isinstance(last, ast.Raise) and last.exc is None and not leaves


def broad_handlers(source: str) -> Iterator[ast.ExceptHandler]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ExceptHandler) and is_broad(node.type) and not only_cleans_up(node):
            yield node


@pytest.mark.parametrize(
    ("handler", "is_hiding"),
    [
        ("except Exception: pass", True),
        ("except: pass", True),
        ("except (KeyError, BaseException) as e: raise Other from e", True),
        ("except Exception:\n  if x: return 1\n  raise", True),
        ("except BaseException:\n  close()\n  raise", False),
        ("except KeyError: pass", False),
    ],
)
def test_the_rule_tells_hiding_from_cleaning_up(handler: str, is_hiding: bool):
    source = f"def f():\n try: work()\n {handler}"
    assert bool(list(broad_handlers(source))) is is_hiding


@cache
def broad_lines() -> list[tuple[str, int, str]]:
    """Where whatever fails is caught: the module, the number of the line, and the line."""
    return [
        (path.as_posix(), handler.lineno, source.splitlines()[handler.lineno - 1])
        for path, source in python_files("chatops_bot") if "except" in source
        for handler in broad_handlers(source)
    ]  # fmt: skip


def test_whatever_fails_is_caught_at_the_three_borders_only():
    assert {path for path, _, _ in broad_lines()} == BORDERS


def test_each_broad_except_carries_its_reason_on_its_line():
    for path, number, line in broad_lines():
        assert "border: " in line.rpartition("#")[2], f"{path}:{number} says no reason"


def test_task_groups_are_opened_where_their_failures_are_unwrapped_and_nowhere_else():
    """An `except` of one of our errors would not know it inside the group that a bare TaskGroup raises."""
    opened = {
        path.as_posix() for path, source in python_files("chatops_bot") if "asyncio.TaskGroup" in source
    }
    assert opened == {"chatops_bot/agent/together.py"}


def test_nothing_broad_is_suppressed():
    for path, source in python_files("chatops_bot"):
        for node in ast.walk(ast.parse(source)) if "suppress" in source else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
                assert not any(map(is_broad, node.args)), f"{path}:{node.lineno} suppresses everything"


@dataclass(frozen=True)
class Outline:
    """What is asked of every module; a tree of it, which takes long to make, is kept by nobody."""

    path: Path
    lines: int
    says: bool
    functions: list[tuple[int, str]]
    names: list[str]


@cache
def outlines() -> list[Outline]:
    return [outline(path, source) for path, source in python_files("chatops_bot", "bench", "tests")]


def outline(path: Path, source: str) -> Outline:
    tree = ast.parse(source)
    functions = [
        ((node.end_lineno or node.lineno) - node.lineno + 1, f"{path}:{node.lineno} {node.name}")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    says = bool(ast.get_docstring(tree))
    return Outline(path, len(source.splitlines()), says, functions, list(top_level_names(tree)))


def ours(*folders: str) -> list[Outline]:
    return [one for one in outlines() if one.path.parts[0] in folders]


def test_no_module_and_no_function_is_too_long():
    modules = [(one.lines, str(one.path)) for one in ours("chatops_bot", "bench")]
    functions = [function for one in ours("chatops_bot", "bench") for function in one.functions]
    print("\n[measured] longest modules:", *sorted(modules)[:-4:-1], sep="\n  ")
    print("[measured] longest functions:", *sorted(functions)[:-4:-1], sep="\n  ")
    assert [module for module in modules if module[0] > MODULE_LINES] == []
    assert [function for function in functions if function[0] >= FUNCTION_LINES] == []


def top_level_names(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (
                name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)
            )


def test_every_name_of_a_module_is_used_somewhere():
    words = Counter(
        word
        for _, source in python_files("chatops_bot", "bench", "tests")
        for word in re.findall(r"\w+", source)
    )
    unused = [f"{one.path}: {name}" for one in ours("chatops_bot") for name in one.names if words[name] == 1]
    assert unused == []


MOCKS = {"mock", "unittest.mock", "pytest_mock"}


def test_tests_use_fakes_and_real_servers_never_mocks():
    for path, source in python_files("tests"):
        for node in ast.walk(ast.parse(source)) if "mock" in source else ():
            if isinstance(node, ast.Import):
                imported = {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported = {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
            else:
                continue
            assert imported & MOCKS == set(), f"{path}:{node.lineno} imports a mock library"


def test_tests_replace_nothing_inside_the_program():
    for path, source in python_files("tests"):
        for node in ast.walk(ast.parse(source)) if "monkeypatch" in source else ():
            if isinstance(node, ast.Attribute) and node.attr in ("setattr", "setitem", "delattr"):
                owner = ast.unparse(node.value)
                assert owner != "monkeypatch", f"{path}:{node.lineno} replaces a part of the program"


def test_every_module_says_what_it_is_for():
    assert [str(one.path) for one in outlines() if not one.says] == []
