"""How a process is told to end: once, again, by the end of its parent; and that it ends whatever hangs."""

import asyncio
import os
import signal
import subprocess
import sys
import time

from chatops_bot.app.process import ONE_WISH_SECONDS, Stop, stop_wishes

from .conftest import REPOSITORY, plain_env


async def test_signals_close_together_are_one_wish_and_a_later_one_hurries():
    stop = stop_wishes()
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.wait_for(stop.asked.wait(), 5)
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.sleep(ONE_WISH_SECONDS / 5)  # time in which the second signal does arrive
    assert not stop.hurried.is_set()
    await asyncio.sleep(ONE_WISH_SECONDS)  # the span itself is what counts
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.wait_for(stop.hurried.wait(), 5)


async def test_without_a_parent_there_is_no_waiting():
    stop = Stop()
    stop.abandoned()
    assert stop.asked.is_set()
    assert stop.hurried.is_set()


def test_a_process_in_which_everything_hangs_is_gone_in_time():
    code = (
        "import asyncio, os, signal, time\n"
        "from chatops_bot.app.process import stop_wishes\n"
        "async def told_to_end():\n"
        "    stop = stop_wishes(limit=0.2)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    await stop.asked.wait()\n"
        "    time.sleep(60)\n"
        "asyncio.run(told_to_end())"
    )
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code], env=plain_env(), cwd=REPOSITORY, capture_output=True, text=True, timeout=50, check=False
    )  # fmt: skip
    assert done.returncode == 1
    assert time.monotonic() - began < 50
    assert "did not end within 0.2 s" in done.stderr
