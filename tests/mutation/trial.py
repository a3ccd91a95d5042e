"""What the tests say of a mutant: each is tried in a fork of a process that has imported and collected everything.

A fault inside a function is put into the living functions, and only those tests run that reach its statement, the quickest
first, until one fails. One in a module's own body (a table, a default) needs all modules that use it anew: a fork of a
process that has none of them yet.
"""

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import os
import pickle
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

from tests.mutation.mutants import Mutant
from tests.tracked import ROOT

SURVIVED, KILLED, TIMED_OUT = "survived", "killed", "timed out"
UNREACHED, UNTRIED = "no test gets there", "could not be tried"
ANSWERS = {0: SURVIVED, 1: KILLED, -signal.SIGALRM: TIMED_OUT}
"""By the exit code of a fork; any other says nothing of the tests."""
SLOWER = 20
"""A test that takes so many times longer than without the fault, and `PATIENCE` seconds on top, hangs."""
PATIENCE = 8.0
WHOLE_RUN = 240
"""Seconds that all test files may take with a fault in a module's body."""
ARGUMENTS = ["-q", "-x", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", "not redis", "-W", "ignore::pytest.PytestAssertRewriteWarning", "--hypothesis-profile", "mutation"]  # fmt: skip
settings.register_profile(
    "mutation", max_examples=15, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate]
)


def module_name(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


# -- a fork ------------------------------------------------------------------------------------------------------------


@dataclass
class Forks:
    """At most `most` children at a time; `on_end` is told each one's answer."""

    most: int
    on_end: Callable[[Mutant, str], None]
    _running: dict[int, tuple[Mutant, Path]] = field(default_factory=dict)

    def start(self, mutant: Mutant, work: Callable[[], int]) -> None:
        while len(self._running) >= self.most:
            self._reap()
        folder = Path(tempfile.mkdtemp(prefix="mutant-"))
        child = os.fork()
        if child == 0:
            _in_child(work, folder)
        self._running[child] = (mutant, folder)

    def finish(self) -> None:
        while self._running:
            self._reap()

    def _reap(self) -> None:
        child, status = os.wait()
        mutant, folder = self._running.pop(child)
        shutil.rmtree(folder, ignore_errors=True)
        self.on_end(mutant, ANSWERS.get(os.waitstatus_to_exitcode(status), UNTRIED))


def _in_child(work: Callable[[], int], folder: Path) -> None:
    """Never returns. What the child prints is nobody's business."""
    code = 2
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)
        tempfile.tempdir = str(folder)
        code = work()
    finally:
        os._exit(code)


# -- faults inside functions ----------------------------------------------------------------------------------------------


def functions_of(module: ModuleType) -> dict[str, FunctionType]:
    """The functions and methods that a module defines, by qualified name."""
    found: dict[str, FunctionType] = {}
    for value in vars(module).values():
        members = (
            vars(value).values() if inspect.isclass(value) and value.__module__ == module.__name__ else ()
        )
        for one in (value, *members):
            for held in (one, *(getattr(one, name, None) for name in ("fget", "__func__"))):
                bare = inspect.unwrap(held) if callable(held) else None
                if isinstance(bare, FunctionType) and bare.__module__ == module.__name__:
                    found[bare.__qualname__] = bare
    return found


def codes_of(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_of(constant)


def graft(mutant: Mutant) -> bool:
    """Put the fault into the living module. False when it is not inside one of its functions."""
    module = sys.modules[module_name(mutant.path)]
    outermost = mutant.function.partition(".<locals>")[0]
    living = functions_of(module).get(outermost)
    compiled = compile(mutant.tree(), mutant.path, "exec")
    faulty = next((code for code in codes_of(compiled) if code.co_qualname == outermost), None)
    if living is None or faulty is None or faulty.co_freevars != living.__code__.co_freevars:
        return False
    living.__code__ = faulty
    return True


class Tracer:
    """Which lines of `files` a test reaches."""

    def __init__(self, files: Iterable[str]) -> None:
        self._files = {str(Path(file).resolve()): file for file in files}
        self.reached: set[tuple[str, int]] = set()

    def __call__(self, frame: FrameType, event: str, argument: object) -> Any:
        file = self._files.get(frame.f_code.co_filename)
        if file is None:
            return None

        def lines(inner: FrameType, event: str, argument: object) -> Any:
            self.reached.add((file, inner.f_lineno))
            return lines

        return lines


@dataclass
class Inside:
    """A plugin that tries `mutants` in place of a test run. `also` collects those that have to be tried the other way."""

    mutants: Sequence[Mutant]
    forks: Forks
    reached: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._learn(session)
        if self.failed:
            return True
        for mutant in self.mutants:
            items = self._reaching(session, mutant)
            if items:
                self.forks.start(mutant, lambda mutant=mutant, items=items: self._try(mutant, items))  # type: ignore[misc]
            else:
                self.forks.on_end(mutant, UNREACHED)
        self.forks.finish()
        return True

    def _learn(self, session: pytest.Session) -> None:
        """Run every test once, without a fault, in a fork: this process stays as it is."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            folder = Path(tempfile.mkdtemp(prefix="mutant-"))
            _in_child(lambda: self._run_all(session, writing), folder)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        self.reached, self.seconds, self.failed = pickle.loads(said) if said else ({}, {}, ["the run itself"])

    def _run_all(self, session: pytest.Session, writing: int) -> int:
        files = {mutant.path for mutant in self.mutants}
        for item in session.items:
            tracer, started = Tracer(files), time.monotonic()
            sys.settrace(tracer)
            threading.settrace(tracer)
            is_failed = _fails(item)
            sys.settrace(None)
            threading.settrace(None)
            self.reached[item.nodeid], self.seconds[item.nodeid] = tracer.reached, time.monotonic() - started
            if is_failed:
                self.failed.append(item.nodeid)
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump((self.reached, self.seconds, self.failed), pipe)
        return 0

    def _reaching(self, session: pytest.Session, mutant: Mutant) -> list[pytest.Item]:
        lines = {(mutant.path, line) for line in range(mutant.first, mutant.last + 1)}
        items = [item for item in session.items if lines & self.reached[item.nodeid]]
        return sorted(items, key=lambda item: self.seconds[item.nodeid])

    def _try(self, mutant: Mutant, items: Sequence[pytest.Item]) -> int:
        if not graft(mutant):
            return 4
        for item in items:
            signal.setitimer(signal.ITIMER_REAL, PATIENCE + SLOWER * self.seconds[item.nodeid])
            if _fails(item):
                return 1
        return 0


def _fails(item: pytest.Item) -> bool:
    return any(report.failed for report in runtestprotocol(item, nextitem=None, log=False))


# -- faults in a module's body --------------------------------------------------------------------------------------------


class _Faulty(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self._tree = tree

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._tree, self.path, "exec")


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the mutant in place of the module."""

    def __init__(self, path: str, tree: ast.Module) -> None:
        self._path = str(ROOT / path)
        self._name = module_name(path)
        self._tree = tree

    def find_spec(
        self, fullname: str, path: object, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        loader = _Faulty(fullname, self._path, self._tree)
        return importlib.util.spec_from_file_location(fullname, self._path, loader=loader)


def try_outside(path: str, tree: ast.Module, tests: Sequence[str]) -> int:
    """Run whole test files with `tree` in place of the module, in a process that has not imported the program."""
    sys.meta_path.insert(0, _Finder(path, tree))
    signal.setitimer(signal.ITIMER_REAL, WHOLE_RUN)
    return 0 if pytest.main([*ARGUMENTS, *tests]) == pytest.ExitCode.OK else 1


def warmed() -> None:
    """Import what every trial needs and no mutant is in."""
    for name in ("aiohttp", "httpx", "hypothesis", "msgspec", "pydantic", "pytest_asyncio", "redis.asyncio", "slack_sdk", "yaml", "croniter", "markdown_it", "prometheus_client"):  # fmt: skip
        importlib.import_module(name)


def separately(work: Callable[[], None]) -> bool:
    """Whether `work` came to its end in a process of its own, which leaves this one as it was."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            sys.stdout.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
