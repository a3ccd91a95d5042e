"""What importing a public set gives: its cases, and a sentence for each file that could not be used."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from chatops_bot.app.config_file import NamingLoader
from chatops_bot.app.evals.case import Case
from chatops_bot.domain.errors import ChatopsError


class ImportRefused(ChatopsError):
    """A file of a public set that does not look as it should; the message names it."""


@dataclass(frozen=True, slots=True)
class Imported:
    """`left_out` are the names of those that could not be played here, by the reason."""

    cases: tuple[Case, ...]
    problems: tuple[str, ...]
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)


def read_text(path: Path) -> str:
    """Raises ImportRefused."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ImportRefused(f"{path}: cannot be read as text ({error}).") from error


def read_json(path: Path) -> Any:
    """Raises ImportRefused with the line."""
    try:
        return json_value(read_text(path))
    except json.JSONDecodeError as error:
        raise ImportRefused(f"{path}, line {error.lineno}: is not valid JSON ({error.msg}).") from error
    except (ValueError, RecursionError) as error:
        raise ImportRefused(f"{path}: is not JSON that can be read ({error}).") from error


def json_value(text: str) -> Any:
    """The value of a JSON text. Raises ValueError, also for one with half a character in it, which no file could hold, or
    RecursionError."""
    value = json.loads(text)
    json.dumps(value, ensure_ascii=False).encode()
    return value


def read_mapping(path: Path) -> Mapping[str, Any]:
    """The keys of a YAML file. Raises ImportRefused with the line where there is one."""
    try:
        value = yaml.load(read_text(path), Loader=NamingLoader)  # noqa: S506  # it is a SafeLoader
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ImportRefused(f"{path}, line {line}: is not valid YAML ({error.problem}).") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ImportRefused(f"{path}: is not YAML that can be read ({error}).") from error
    if not isinstance(value, dict):
        raise ImportRefused(f"{path}: holds no keys.")
    return value


def texts(value: Any, path: Path, key: str) -> tuple[str, ...]:
    """One text or a list of them; none when the key is absent. Raises ImportRefused for anything else."""
    if value is None:
        return ()
    listed = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str | int | float) for one in listed):
        raise ImportRefused(f"{path}: {key} is no text and no list of texts.")
    return tuple(stripped for one in listed if (stripped := str(one).strip()))


def case_id(*parts: str) -> str:
    """An id of these words, as ids may look."""
    return re.sub(r"[^a-z0-9._-]+", "-", "-".join(parts).lower()).strip("-._")[:80]
