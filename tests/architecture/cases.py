"""The table of cases: which test stands for which numbered case. `python -m tests.architecture.cases` writes docs/cases.md."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.tracked import ROOT, tracked_files

TABLE = ROOT / "docs" / "cases.md"
WELL_FORMED = re.compile(r"(?:slack|sched|hitl|peer|nightingale|feishu|prompt|security)-[A-Z]?[0-9]+[a-z]?")
_HEAD = """\
# Cases

Which tests stand for which numbered case of the papers and public issues behind this project. Written by
`python -m tests.architecture.cases`; a test fails when it is not current.

| case | tests |
|---|---|
"""


@cache
def marked_cases() -> list[tuple[str, Path, str]]:
    """(case id, file, test) of every `pytest.mark.case` in the tests; a mark in a table of the module has the test ``.``"""
    found = []
    for path in tracked_files():
        if path.parts[0] == "tests" and path.suffix == ".py":
            source = (ROOT / path).read_text(encoding="utf-8")
            tree = ast.parse(source if "mark.case" in source else "")
            found += [(case, path, test) for case, test in _in(tree, ".")]
    return found


def _in(node: ast.AST, test: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        test = node.name if test == "." else f"{test}.{node.name}"
    if isinstance(node, ast.Call) and _is_mark(node.func):
        yield ", ".join(str(ast.literal_eval(argument)) for argument in node.args), test
    for child in ast.iter_child_nodes(node):
        yield from _in(child, test)


def _is_mark(called: ast.expr) -> bool:
    # Writing out every call of every test takes a second, so only what may be it is written out.
    return (
        isinstance(called, ast.Attribute)
        and called.attr == "case"
        and ast.unparse(called) == "pytest.mark.case"
    )


def _order(case: str) -> tuple[str, str, int, str]:
    paper, _, number = case.partition("-")
    letter, digits, rest = re.fullmatch(r"(\D*)(\d*)(.*)", number).groups()  # type: ignore[union-attr]  # matches any text
    return paper, letter, int(digits or 0), rest


def table() -> str:
    """The text of docs/cases.md as it should be."""
    tests: dict[str, set[str]] = {}
    for case, path, test in marked_cases():
        sentence = "a row of its table" if test == "." else test.removeprefix("test_").replace("_", " ")
        tests.setdefault(case, set()).add(f"{sentence} (`{path.as_posix()}`)")
    rows = (f"| {case} | {'; '.join(sorted(tests[case]))} |\n" for case in sorted(tests, key=_order))
    return _HEAD + "".join(rows)


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
    print(f"wrote {TABLE.relative_to(ROOT)}")
