"""Settings that every test shares."""

import gc
import logging
import os
import socket
from collections.abc import Generator, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import settings

from chatops_bot.app.clock import CountingIds, ManualClock
from tests.dealing import dealt
from tests.in_memory import FOLDER, settle_in
from tests.redis_server import RedisServer

SOAK_SIZES = {"": 1, "ci": 3, "full": 30}
SOAK_SIZE = os.environ.get("SOAK_SIZE", "")

# The same examples every time where a red run must mean a change of ours; fresh ones in the full soak, to find new cases.
settings.register_profile("", max_examples=50, deadline=None, derandomize=True)
settings.register_profile("ci", max_examples=300, deadline=None, derandomize=True)
settings.register_profile("full", max_examples=10_000, deadline=None)
settings.load_profile(SOAK_SIZE)
settle_in(FOLDER, os.environ)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """What is imported and collected stays to the end, so the collector of garbage need not go over it again and again."""
    gc.disable()
    found = yield
    gc.freeze()
    gc.enable()
    return found


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every property test is a soak test: `make soak` gives it more examples. Several workers get their tests dealt."""
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.soak)
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers > 1:
        items[:] = dealt(items, workers, lambda item: item.nodeid.partition("::")[0])


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where nothing may be skipped (the build server), a skipped test fails the run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    if skipped and os.environ.get("CHATOPS_NO_SKIPS"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(autouse=True)
def log_level() -> Iterator[None]:
    """A command that sets the level of the log sets it for its own test only."""
    root = logging.getLogger()
    before = root.level
    yield
    root.setLevel(before)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 3, 2, 14, 32, tzinfo=UTC))


@pytest.fixture
def ids() -> CountingIds:
    return CountingIds()


@pytest.fixture(scope="session")
def soak() -> int:
    """How many times the small size a soak test runs: 1 in `make test`, 3 in `make soak SIZE=ci`, 30 in full."""
    return SOAK_SIZES[SOAK_SIZE]


@pytest.fixture(scope="session")
def redis_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One server for all tests of this worker; see `redis` for an empty one."""
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def redis(redis_process: RedisServer) -> RedisServer:
    """The worker's server, emptied."""
    redis_process.flush()
    return redis_process


@pytest.fixture
def unused_port() -> int:
    """A port of this machine at which nothing answers."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
