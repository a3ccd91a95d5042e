"""Which bot a command on this machine means, by the same rule for every command.

What was named with --config or --data; else the configuration in this folder; else the demo in this folder.
"""

import shlex
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from chatops_bot.app.config import Config, load_config
from chatops_bot.domain.errors import ConfigInvalid
from chatops_bot.rendering.escapes import shown

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
        """The bot's data folder, and its configuration where that was named or lies here: all that a command needs which looks into
        the store or speaks to the bot that runs. Raises ConfigInvalid."""
        found = self.or_here()
        if found.config is not None:
            config = load_config(found.config)
            return config.data, config
        folder = found.data or DEMO
        try:
            is_folder, inside_demo = stat.S_ISDIR(folder.stat().st_mode), (folder / "bot" / "bot.db").exists()
        except (FileNotFoundError, NotADirectoryError):
            is_folder = inside_demo = False
        except OSError as error:
            raise ConfigInvalid(
                f"{folder} cannot be looked into ({error.strerror}); run this as the bot's user."
            ) from error
        if not is_folder:
            raise ConfigInvalid(
                f"{folder} is no folder; name the data folder of a bot, or that of a demo, with --data."
            )
        return (folder / "bot" if inside_demo else folder).resolve(), None

    def settings(self) -> tuple[Path, Config | None]:
        """As `find`, for a command that tells what is configured: where a data folder was named, the configuration that lies in it.
        Without one it is told on standard error that what follows is not the bot's."""
        folder, config = self.find()
        if config is None and (folder / CONFIG).exists():
            config = load_config(folder / CONFIG)
        if config is None:
            tell_of_defaults(f"No {CONFIG} lies in {folder}")
        return (folder if config is None else config.data), config


def tell_of_defaults(why: str) -> None:
    """On standard error, so that what is printed stays the same for whoever reads it by machine."""
    sys.stderr.write(
        shown(
            f"chatops-bot: {why}: this is what ships, with the default settings; name a configuration with --config.\n"
        )
    )
