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

ID_CHARS = 80
NULLS = ("", "~", "null", "Null", "NULL")


class ImportRefused(ChatopsError):
    """A file of a public set that does not look as it should; the message names it."""


class _AsWritten(NamingLoader):
    """Every plain value is the text that it is written as: `12:30` is no number, `no` is no answer, and no date is impossible."""

    yaml_implicit_resolvers = {"<": NamingLoader.yaml_implicit_resolvers["<"]}  # noqa: RUF012  # as in its base


@dataclass(frozen=True, slots=True)
class Imported:
    """`left_out` are the names of those that could not be played here, by the reason."""

    cases: tuple[Case, ...]
    problems: tuple[str, ...]
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)


def read_text(path: Path, errors: str = "strict") -> str:
    """Raises ImportRefused. `errors` as `str.decode` takes it: what a tool printed may hold any bytes."""
    try:
        return path.read_text(encoding="utf-8-sig", errors=errors)
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
    """The keys of a YAML file, all values as they are written. Raises ImportRefused with the line where there is one."""
    try:
        value = yaml.load(read_text(path), Loader=_AsWritten)  # noqa: S506  # it is a SafeLoader
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ImportRefused(f"{path}, line {line}: is not valid YAML ({error.problem}).") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise ImportRefused(f"{path}: is not YAML that can be read ({error}).") from error
    if not isinstance(value, dict):
        raise ImportRefused(f"{path}: holds no keys.")
    return value


def texts(value: Any, path: Path, key: str) -> tuple[str, ...]:
    """One text or a list of them; none when the key is absent or null. Of a list, `- it says: so` is a text too, though to YAML
    it is a key. Raises ImportRefused for anything else."""
    if value is None or value in NULLS:
        return ()
    listed = [
        ": ".join(next(iter(one.items()))) if _is_text_to_people(one) else one
        for one in (value if isinstance(value, list) else [value])
    ]
    if isinstance(value, dict) or not all(isinstance(one, str) for one in listed):
        raise ImportRefused(f"{path}: {key} is no text and no list of texts.")
    return tuple(stripped for one in listed if (stripped := one.strip()))


def _is_text_to_people(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and len(value) == 1
        and all(isinstance(part, str) for part in (*value, *value.values()))
    )


def is_set(value: Any) -> bool:
    """Whether a key says yes."""
    return isinstance(value, str) and value.lower() in ("true", "yes", "on")


def case_id(*parts: str) -> str:
    """An id of these words, as ids may look; of what is too long, the last word stays, which tells cases of one folder apart."""
    *rest, last = (re.sub(r"[^a-z0-9._-]+", "-", part.lower()).strip("-._") for part in parts)
    return "-".join(("-".join(rest)[: ID_CHARS - 1 - len(last)], last))[:ID_CHARS].strip("-._")
