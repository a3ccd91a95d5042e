"""`chatops-bot run`: the bot against Slack, or against anything that speaks Slack's API."""

import asyncio
import json
import os
import signal
import sys
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from chatops_bot.app.bootstrap import open_bot
from chatops_bot.app.clock import RandomIds, SystemClock
from chatops_bot.app.config import load_config, load_secrets
from chatops_bot.app.keys import open_keys
from chatops_bot.app.logs import set_up_logs
from chatops_bot.app.process import END_SECONDS, stop_wishes, unless
from chatops_bot.domain.withheld import Withheld


async def run(config_path: Path, *, ready_json: bool, with_parent: bool) -> int:
    """Run until told to stop. Raises ChatopsError with one sentence when the bot cannot start."""
    config = load_config(config_path)
    config = config.model_copy(update={"agents": config.agents.as_ordered(os.environ)})
    secrets = replace(load_secrets(config, os.environ), keys=open_keys(os.environ, config.key_folder))
    logs = Withheld(secrets.values())
    set_up_logs(logs, config.logging.format, config.logging.level)
    stop = stop_wishes(with_parent=with_parent, limit=END_SECONDS)
    hung_up, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, hung_up.set)
    async with AsyncExitStack() as stack:
        opening = asyncio.ensure_future(
            stack.enter_async_context(
                open_bot(config, secrets, clock=SystemClock(), ids=RandomIds(), hurry=stop.hurried, logs=logs)
            )
        )
        if not await unless(stop.asked, opening):
            return 0
        bot = opening.result()
        loop.add_signal_handler(signal.SIGHUP, bot.read_again)
        if hung_up.is_set():  # while it started
            bot.read_again()
        if ready_json:
            ready = {
                "ready": "bot",
                "url": bot.web_url,
                "bot_user_id": bot.bot_user_id,
                "model": bot.model_name,
            }
            sys.stdout.write(json.dumps(ready) + "\n")
            sys.stdout.flush()
        if await unless(stop.asked, asyncio.ensure_future(bot.failed.wait())):
            stop.ask()
            return 1
    return 0
