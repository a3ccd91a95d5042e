"""The section `skills` of the configuration."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from chatops_bot.app.policy_config import Id, Section

SkillName = Annotated[str, StringConstraints(pattern="^[a-z0-9][a-z0-9-]{0,63}$")]


def _repository(value: str) -> str:
    url = urlsplit(value)
    if url.scheme not in ("http", "https", "file") or not (url.netloc or url.scheme == "file"):
        raise PydanticCustomError("repository", "a repository is an http, https or file address")
    if "@" in url.netloc:
        raise PydanticCustomError(
            "repository", "an address with a password in it does not belong in a configuration"
        )
    return value


def _inside(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*", value) or ".." in value.split("/"):
        raise PydanticCustomError("subdir", "a folder of the repository looks like team/skills")
    return value


class GitConfig(Section):
    url: Annotated[str, AfterValidator(_repository)]
    ref: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$")
    """A commit, a tag or a branch. Only a commit is the same for ever."""
    subdir: Annotated[str, AfterValidator(_inside)] | None = None


class PreloadConfig(Section):
    """Skills whose whole text is in the prompt from the start, by agent and by channel."""

    agents: Mapping[str, tuple[SkillName, ...]] = Field(default_factory=dict)
    channels: Mapping[Id, tuple[SkillName, ...]] = Field(default_factory=dict)


def _word(value: object) -> object:
    """YAML reads a bare `off` as false."""
    return "off" if value is False else value


class SkillsConfig(Section):
    enabled: bool = True
    folders: tuple[Path, ...] = ()
    """Folders of skills; resolved against the folder of the config."""
    archives: tuple[Path, ...] = ()
    git: tuple[GitConfig, ...] = ()
    preload: PreloadConfig = Field(default_factory=PreloadConfig)
    refresh_minutes: int = Field(default=10, ge=1, le=24 * 60)
    """How often the sources are read again."""
    scripts: Annotated[Literal["off", "auto"], BeforeValidator(_word)] = "auto"
    """Whether scripts of skills are run: `auto` where the isolation was tried and holds, `off` nowhere."""

    def resolved(self, folder: Path) -> "SkillsConfig":
        """The same with every path made absolute against `folder`."""
        paths = {
            name: tuple((folder / path).resolve() for path in getattr(self, name))
            for name in ("folders", "archives")
        }
        return self.model_copy(update=paths)
