"""Which bot a command on this machine means, by the same rule for every command.

What was named with --config or --data; else the configuration in this folder; else the demo in this folder.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path

from chatops_bot.app.config import Config, load_config
from chatops_bot.domain.errors import ConfigInvalid

DEMO = Path(".chatops-demo")
CONFIG = Path("chatops-bot.yaml")


@dataclass(frozen=True, slots=True)
class Where:
    """The options as they were given, at most one of them."""

    data: Path | None = None
    config: Path | None = None

    @property
    def options(self) -> str:
        """The options that mean this bot from any folder, for a shell; empty when none was given."""
        named = (("--data", self.data), ("--config", self.config))
        return " ".join(f"{option} {shlex.quote(str(path.resolve()))}" for option, path in named if path)

    def or_here(self) -> "Where":
        """What was named, else what lies in this folder. Raises ConfigInvalid when nothing does."""
        if self.data or self.config:
            return self
        if CONFIG.exists():
            return Where(config=CONFIG)
        if DEMO.exists():
            return Where(data=DEMO)
        raise ConfigInvalid(
            f"There is no {CONFIG} here; name a configuration with --config, or a data folder with --data."
        )

    def find(self) -> tuple[Path, Config | None]:
        """The bot's data folder, and its configuration where that was named or lies here. Raises ConfigInvalid."""
        found = self.or_here()
        if found.config is not None:
            config = load_config(found.config)
            return config.data, config
        folder = found.data or DEMO
        if not folder.is_dir():
            raise ConfigInvalid(
                f"{folder} is no folder; name the data folder of a bot, or that of a demo, with --data."
            )
        inside_demo = folder / "bot"
        return (inside_demo if (inside_demo / "bot.db").exists() else folder).resolve(), None
