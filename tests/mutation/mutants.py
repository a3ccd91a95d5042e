"""Every small fault that one could make in a module: an `if` that always holds, a bound that is off by one, an await that is gone.

A mutant is one change to the syntax tree. What people read (docstrings, log lines, the words of a `Phrase`), annotations and
decorators stay as they are: a fault there is a matter of taste, or of another test.
"""

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

Steps = tuple[tuple[str, int | None], ...]
"""The way from the root of a tree to a node: fields, and places in lists."""

SWAPPED: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.Mod: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
}
RENAMED = {"all": "any", "any": "all", "min": "max", "max": "min"}
SILENT = {"_log", "bound", "cast", "Phrase", "TypeVar"}
"""Calls whose arguments are words, are for the log, or are nothing at run time."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault. `first` and `last` are the lines of the statement it is in, `function` the qualified name of what it is in; only
    what is `in_function` is in its code, a default is not."""

    path: str
    line: int
    says: str
    function: str
    in_function: bool
    first: int
    last: int
    source: str
    steps: Steps
    new: ast.AST

    def tree(self) -> ast.Module:
        """The module with the fault in it."""
        tree = ast.parse(self.source)
        _put(tree, self.steps, self.new)
        return ast.fix_missing_locations(tree)

    @property
    def name(self) -> str:
        """The same as long as the code around it is: no line number in it."""
        return f"{self.path} {self.function or 'module'}: {self.says}"


@dataclass(frozen=True, slots=True)
class _Site:
    """A node, how to put another in its place, and where that is."""

    node: ast.AST
    steps: Steps
    function: str
    in_function: bool
    statement: ast.stmt | None


def mutants_of(path: str, source: str) -> list[Mutant]:
    """All mutants of a module, in the order of its text; those of equal name are numbered."""
    tree = ast.parse(source)
    found: list[Mutant] = []
    seen: Counter[str] = Counter()
    for site in _sites(tree, (), "", False, None):
        for new in _changes(site.node):
            says = f"{_short(site.node)} → {_short(new)}"
            key = f"{site.function}: {says}"
            seen[key] += 1
            says += f" ({seen[key]})" if seen[key] > 1 else ""
            first, last = _lines(site)
            line = getattr(site.node, "lineno", first)
            found.append(
                Mutant(
                    path, line, says, site.function, site.in_function, first, last, source, site.steps, new
                )
            )
    return found


def _sites(
    node: ast.AST, steps: Steps, function: str, in_function: bool, statement: ast.stmt | None
) -> Iterator[_Site]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params") or _is_silent(node, name):
            continue
        for index, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or _is_docstring(child):
                continue
            step = (*steps, (name, index if isinstance(value, list) else None))
            inside = child if isinstance(child, ast.stmt) else statement
            is_code = in_function or (_is_function(node) and name == "body")
            yield _Site(child, step, function, is_code, inside)
            within = function
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                within = (
                    f"{function}.<locals>.{child.name}" if _is_function(node) else _joined(function, child)
                )
            elif isinstance(child, ast.ClassDef):
                within = _joined(function, child)
            yield from _sites(child, step, within, is_code, inside)


def _joined(function: str, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    return f"{function}.{node.name}" if function else node.name


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_silent(node: ast.AST, field: str) -> bool:
    if isinstance(node, ast.If) and _only_logs(node):
        return True
    if not isinstance(node, ast.Call):
        return False
    named = ast.unparse(node.func).partition(".")[0]
    return named in SILENT and field in ("args", "keywords")


def _lines(site: _Site) -> tuple[int, int]:
    """The lines of a simple statement; of a compound one only those of the part that changes."""
    simple = site.statement
    if simple is None:
        return 0, 0
    if hasattr(simple, "body") and isinstance(site.node, ast.expr | ast.excepthandler):
        return min(simple.lineno, site.node.lineno), site.node.end_lineno or site.node.lineno
    return simple.lineno, simple.end_lineno or simple.lineno


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """What could stand in this node's place."""
    yield from _expressions(node)
    yield from _statements(node)


def _expressions(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(value + 1)
        case ast.Constant(value=str() as value) if value and " " not in value and value.isascii():
            yield ast.Constant(f"{value}x")
        case ast.Compare(left, ops, comparators):
            for at, op in enumerate(ops):
                for other in SWAPPED.get(type(op), ()):
                    yield ast.Compare(left, [*ops[:at], other(), *ops[at + 1 :]], comparators)  # type: ignore[list-item]
        case ast.BinOp(left, op, right):
            for other in SWAPPED.get(type(op), ()):
                yield ast.BinOp(left, other(), right)  # type: ignore[arg-type]
            if isinstance(op, ast.BitOr):
                yield left
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            for at in range(len(values)):
                rest = [*values[:at], *values[at + 1 :]]
                yield ast.BoolOp(op, rest) if len(rest) > 1 else rest[0]
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.IfExp(_, body, orelse):
            yield body
            yield orelse
        case ast.comprehension(target, iterated, [_, *_], is_async):
            yield ast.comprehension(target, iterated, [], is_async)
        case ast.Name(name, ast.Load()) if name in RENAMED:
            yield ast.Name(RENAMED[name], ast.Load())
        case ast.Call(func, args, keywords) if not _is_silent(node, "args"):
            for at, keyword in enumerate(keywords):
                if not (keyword.arg == "name" and ast.unparse(func).endswith("create_task")):
                    yield ast.Call(func, args, [*keywords[:at], *keywords[at + 1 :]])


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.If(_, body, orelse) if not _only_logs(node):
            yield ast.If(ast.Constant(True), body, orelse)
            yield ast.If(ast.Constant(False), body, orelse)
        case ast.While(ast.expr(), body, orelse) if not isinstance(node.test, ast.Constant):
            yield ast.While(ast.Constant(False), body, orelse)
        case ast.Return(ast.expr() as value) if not (
            isinstance(value, ast.Constant) and value.value in (None, True, False)
        ):
            yield ast.Return(ast.Constant(None))
        case ast.Expr(value) if not _is_logging(value):
            yield ast.Pass()
        case ast.Raise() | ast.AugAssign() | ast.Continue():
            yield ast.Pass()
        case ast.Assign([ast.Attribute()], ast.Name()):
            pass  # a field that is not kept: no test could pass
        case ast.Assign([ast.Attribute() | ast.Subscript()]) | ast.AnnAssign(ast.Attribute(), _, ast.expr()):
            yield ast.Pass()
        case ast.Try(body, handlers, orelse, finalbody):
            for at in range(len(handlers)):
                rest = [*handlers[:at], *handlers[at + 1 :]]
                if rest or finalbody:
                    yield ast.Try(body, rest, orelse, finalbody)
                else:
                    yield ast.If(ast.Constant(True), [*body, *orelse], [])
        case ast.ExceptHandler(ast.Tuple(elts), name, body):
            for at in range(len(elts)):
                yield ast.ExceptHandler(ast.Tuple([*elts[:at], *elts[at + 1 :]], ast.Load()), name, body)


def _only_logs(node: ast.If) -> bool:
    return all(
        isinstance(inner, ast.Expr) and _is_logging(inner.value) for inner in [*node.body, *node.orelse]
    )


def _is_logging(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func).startswith("_log.")


def _put(tree: ast.Module, steps: Steps, new: ast.AST) -> None:
    node: ast.AST = tree
    for name, index in steps[:-1]:
        value = getattr(node, name)
        node = value if index is None else value[index]
    name, index = steps[-1]
    fresh = copy.deepcopy(new)
    if index is None:
        setattr(node, name, fresh)
    else:
        getattr(node, name)[index] = fresh


def _short(node: ast.AST) -> str:
    match node:
        case ast.If(test, body):
            text = f"if {ast.unparse(test)}: {ast.unparse(body[0])}"
        case ast.While(test):
            text = f"while {ast.unparse(test)}"
        case ast.Try(_, handlers):
            text = "try" + "".join(f" except {ast.unparse(h.type)}" for h in handlers if h.type)
        case ast.ExceptHandler(caught):
            text = f"except {ast.unparse(caught)}" if caught else "except"
        case ast.comprehension():
            text = ast.unparse(node).strip()
        case _:
            text = ast.unparse(node)
    text = " ".join(text.split())
    return text if len(text) <= 90 else f"{text[:60]} … {text[-26:]}"
