"""Imported once by the server that forks the bots: what a process learns when it opens its first bot, none of them has to."""

import asyncio
import tempfile
from pathlib import Path

from chatops_bot.app.config import AccountConfig, AccountsConfig, Config, SchedulerConfig, Secrets
from tests.kills import clicking_bot, dying_bot
from tests.kills.light_bot import open_light_bot
from tests.kills.taps import Taps

__all__ = ["clicking_bot", "dying_bot"]


async def _open_one(folder: Path) -> None:
    nobody = AccountConfig(username="nobody", password_env="NOBODY")
    accounts = AccountsConfig(viewer=nobody, operator=nobody, admin=nobody)
    config = Config(
        data=folder,
        scheduler=SchedulerConfig.model_validate({"url": "http://127.0.0.1:9", "accounts": accounts}),
    )
    secrets = Secrets(
        slack_bot_token="", slack_app_token="", scheduler_passwords={}, model=None, webhook_token=""
    )  # fmt: skip
    async with open_light_bot(config, secrets, folder / "wall.db", Taps(("warm",))):
        pass


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(_open_one(Path(folder)))
