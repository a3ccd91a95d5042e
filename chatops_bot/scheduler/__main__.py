"""The process: arguments in, one ready line out, logs on stderr, and a clean end in well under two seconds."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

from chatops_bot.domain.redaction import Redactor
from chatops_bot.scheduler.errors import StartRefused
from chatops_bot.scheduler.service import SchedulerService
from chatops_bot.scheduler.settings import SchedulerSettings

logger = logging.getLogger("chatops_bot.scheduler")

_LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_REFUSED = 2
_FAILED = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the service until it is told to stop; the exit code."""
    options = _parser().parse_args(arguments)
    token = os.environ.get("SCHEDULER_WEBHOOK_TOKEN")
    log_to_stderr([token] if token else [])
    settings = SchedulerSettings(
        data=options.data,
        host=options.host,
        port=options.port,
        demo=options.demo,
        shell=None if options.shell is None else options.shell == "enabled",
        failure_webhook=options.failure_webhook,
        webhook_token=token,
        timezone=options.timezone,
    )
    try:
        return asyncio.run(
            _serve(settings, ready_json=options.ready_json, with_parent=options.exit_with_parent)
        )
    except StartRefused as error:
        logger.error("%s", error)  # the sentence is the whole story
        return _REFUSED


class _Redacted(logging.Formatter):
    """A record with its traceback, without secrets: a task's name or an error may quote one."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__(_LOG_FORMAT)
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.text(super().format(record))


def log_to_stderr(secrets: Iterable[str]) -> None:
    """Every logger of this process speaks on stderr, and says none of `secrets`, nor what looks like one."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Redacted(Redactor(secrets)))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


async def _serve(settings: SchedulerSettings, *, ready_json: bool, with_parent: bool) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if with_parent:
        _watch_stdin(loop, stop)
    async with SchedulerService.start(settings) as service:
        if ready_json:
            ready = {"ready": "scheduler", "url": service.url, "accounts": service.accounts}
            sys.stdout.write(json.dumps(ready) + "\n")
            sys.stdout.flush()
        stopped = asyncio.create_task(stop.wait())
        fault = asyncio.create_task(service.wait_for_fault())
        await asyncio.wait({stopped, fault}, return_when=asyncio.FIRST_COMPLETED)
        if fault.done():
            stopped.cancel()
            logger.error("a background loop failed", exc_info=fault.exception())
            return _FAILED
        fault.cancel()
        logger.info("stopping")
    return 0


def _watch_stdin(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """Set `stop` when stdin ends. A thread, since stdin may be anything; it dies with the process."""

    def watch() -> None:
        try:
            while os.read(0, 4_096):
                pass
        except OSError:
            pass
        loop.call_soon_threadsafe(stop.set)

    threading.Thread(target=watch, name="stdin-watch", daemon=True).start()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m chatops_bot.scheduler", description="Embedded task scheduler."
    )
    parser.add_argument(
        "--data", type=Path, required=True, metavar="DIR", help="folder for the data file and secrets"
    )
    parser.add_argument("--port", type=int, default=8082, metavar="N", help="0 takes any free port")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--demo", action="store_true", help="demo accounts, eight demo tasks, shell enabled")
    parser.add_argument("--shell", choices=("enabled", "disabled"), help="default: enabled with --demo only")
    parser.add_argument(
        "--timezone", default="UTC", metavar="ZONE", help="IANA zone of cron times, default UTC"
    )
    parser.add_argument("--failure-webhook", metavar="URL", help="where to POST task_failure alerts")
    parser.add_argument("--ready-json", action="store_true", help="print one JSON line on stdout when ready")
    parser.add_argument("--exit-with-parent", action="store_true", help="stop when stdin ends")
    return parser


if __name__ == "__main__":
    sys.exit(main())
