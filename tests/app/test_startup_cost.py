"""What a start costs, as ratios to what its two large libraries cost by themselves on the same machine at the same time."""

import asyncio
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from chatops_bot.simulators.slack import Workspace
from tests.app.conftest import DEADLINE, REPOSITORY
from tests.app.test_cli import config_file, run_bot, tokens
from tests.app.test_metrics import parsed, value

LIBRARIES = "import aiohttp, slack_bolt.app.async_app, slack_bolt.adapter.socket_mode.aiohttp"
RUN = "from chatops_bot.app.cli import imported_run; imported_run()"
HELP = "import sys; sys.argv = ['chatops-bot', '--help']; from chatops_bot.app.cli import main; main()"
TOOLS_OF_DEVELOPERS = "import sys\nfor name in ('click', 'rich', 'pygments'): sys.modules[name] = None\n"
"""httpx imports them where they are; no bot in production has them."""
IMPORT_RATIO = 2.4
"""Measured: 1.7 to 1.8. Two large libraries take about 0.25 s on a quiet machine, so this is about 0.6 s."""
HELP_RATIO = 0.5
"""Measured: 0.15."""
OF_OTHERS = {
    "croniter", "cryptography", "markdown_it", "httpcore", "chatops_bot.scheduler", "chatops_bot.simulators", "chatops_bot.stores.redis",
    "chatops_bot.llm.offline", "chatops_bot.app.ask", "chatops_bot.app.demo", "chatops_bot.app.doctor", "chatops_bot.app.evals",
}  # fmt: skip
"""What a start needs nothing of: it belongs to other commands, to another store, or to work that not every day has."""
MEMORY_RATIO = 2.1
"""Measured: 1.7. The two libraries come to about 43 MB, so this is 90 MB."""
FEWEST_ROUNDS = 2
MOST_ROUNDS = 8
"""More only as long as a ratio is too high: load makes single rounds slower, and none quicker than it is."""


def cpu_seconds(code: str) -> float:
    """User and system time of a fresh interpreter that runs `code`, compiled before; the machine's other load hardly counts."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", TOOLS_OF_DEVELOPERS + code], cwd=REPOSITORY, env=env, stdout=subprocess.DEVNULL, check=True
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_imports_cost_little_beside_the_libraries():
    best = {LIBRARIES: 99.0, RUN: 99.0, HELP: 99.0}
    for number in range(1, MOST_ROUNDS + 1):
        for code in best:
            best[code] = min(best[code], cpu_seconds(code))
        libraries, run, helped = best.values()
        if number >= FEWEST_ROUNDS and run / libraries < IMPORT_RATIO and helped / libraries < HELP_RATIO:
            break
    print(f"\n[measured] CPU: libraries {libraries:.3f} s, run {run:.3f} s, --help {helped:.3f} s")
    print(f"[measured] ratios: run {run / libraries:.2f}, --help {helped / libraries:.2f}")
    assert run / libraries < IMPORT_RATIO
    assert helped / libraries < HELP_RATIO


def test_a_start_imports_nothing_that_others_need():
    code = TOOLS_OF_DEVELOPERS + RUN + "; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=REPOSITORY).split()
    assert OF_OTHERS.isdisjoint(loaded)


def resident_bytes(code: str) -> int:
    read = "; print(open('/proc/self/statm').read().split()[1])"
    done = subprocess.run(
        [sys.executable, "-c", TOOLS_OF_DEVELOPERS + code + read], cwd=REPOSITORY, capture_output=True, check=True
    )  # fmt: skip
    return int(done.stdout) * resource.getpagesize()


@pytest.mark.processes
async def test_a_bot_at_rest_holds_little_beside_the_libraries(tmp_path: Path):
    libraries = await asyncio.to_thread(resident_bytes, LIBRARIES)
    async with Workspace.start(tmp_path / "workspace") as workspace:
        path = config_file(tmp_path, slack={"api_url": workspace.api_url})
        process = await run_bot(path, **tokens(workspace))
        assert process.stdout is not None
        try:
            ready = json.loads(await asyncio.wait_for(process.stdout.readline(), DEADLINE))
            reader, writer = await asyncio.open_connection("127.0.0.1", int(ready["url"].rpartition(":")[2]))
            writer.write(b"GET /metrics HTTP/1.0\r\n\r\n")
            answer = (await asyncio.wait_for(reader.read(), DEADLINE)).decode()
            writer.close()
            await writer.wait_closed()
        finally:
            process.terminate()
            await asyncio.wait_for(process.communicate(), DEADLINE)
    held = value(parsed(answer.partition("\r\n\r\n")[2]), "process_resident_memory_bytes")
    print(f"\n[measured] RSS: libraries {libraries / 1e6:.0f} MB, a bot at rest {held / 1e6:.0f} MB")
    assert held / libraries < MEMORY_RATIO
