"""Run the workspace: `python -m chatops_bot.simulators.slack --data DIR --port N`."""

import argparse
import asyncio
import json
import logging
import os
import signal
import sys
import threading
from pathlib import Path

from chatops_bot.simulators.slack.errors import WorkspaceUnusable
from chatops_bot.simulators.slack.server import Workspace
from chatops_bot.simulators.slack.settings import Settings

log = logging.getLogger("chatops_bot.simulators.slack")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m chatops_bot.simulators.slack", description="A local Slack-compatible workspace."
    )
    parser.add_argument("--data", type=Path, required=True, help="folder that keeps the workspace")
    parser.add_argument("--port", type=int, required=True, help="port to listen on; 0 takes any free one")
    parser.add_argument("--host", default="127.0.0.1", help="a loopback address")
    parser.add_argument("--ready-json", action="store_true", help="print one JSON line when ready")
    parser.add_argument("--exit-with-parent", action="store_true", help="exit when standard input ends")
    parser.add_argument(
        "--rate-limits", choices=("slack", "off"), default="slack", help="how often the bot may call"
    )
    options = parser.parse_args()
    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    try:
        asyncio.run(_serve(options))
    except WorkspaceUnusable as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


async def _serve(options: argparse.Namespace) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, stop.set)
    if options.exit_with_parent:
        threading.Thread(target=_watch_parent, args=(loop, stop), daemon=True, name="parent-watch").start()
    settings = Settings(rate_limits=options.rate_limits)
    async with Workspace.start(
        options.data, port=options.port, host=options.host, settings=settings
    ) as workspace:
        log.info("The workspace is ready at %s", workspace.url)
        if options.ready_json:
            sys.stdout.write(json.dumps(workspace.ready()) + "\n")
            sys.stdout.flush()
        await stop.wait()


def _watch_parent(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """Standard input is a pipe from the parent, which writes nothing: its end is the parent's end."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    loop.call_soon_threadsafe(stop.set)


if __name__ == "__main__":
    sys.exit(main())
