"""The text of a configuration file as values and lines. What no configuration needs is refused before it is built."""

import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import yaml
from pydantic import BaseModel, ValidationError

from chatops_bot.domain.errors import ConfigInvalid

KeyPath = tuple[str, ...]
"""Where a value stands: the keys that lead to it, and the numbers of list items."""

MAX_BYTES = 256 * 1024
"""A configuration of ten thousand people is smaller."""
MAX_DEPTH = 16
"""The deepest key that there is has depth 4; the parser of a file without bound would exhaust the stack."""
_Loader = type[yaml.SafeLoader | yaml.CSafeLoader]


def read_config_file(
    path: Path,
    *,
    what: str = "configuration file",
    named_by: str = "with --config",
    max_bytes: int = MAX_BYTES,
    max_depth: int = MAX_DEPTH,
) -> tuple[Any, dict[KeyPath, int]]:
    """The value of a YAML file, and the line of every key in it. Raises ConfigInvalid with file and line.

    `what` the file is, and by what people name it, is for those who named another.
    """
    return _parse(path, _text(path, what, named_by, max_bytes), max_depth)


def _text(path: Path, what: str, named_by: str, max_bytes: int) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise ConfigInvalid(
            f"{path}: cannot be read ({error.strerror}); name the file {named_by}."
        ) from error
    if len(data) > max_bytes:
        raise ConfigInvalid(f"{path}: is larger than {max_bytes // 1024} KiB; this is not a {what}.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigInvalid(f"{path}, line {line}: is not UTF-8 text; save it as UTF-8.") from error


class NamingLoader(yaml.SafeLoader):
    """Plain values, as SafeLoader makes them; what is none is a MarkedYAMLError, which knows its line."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """A date that does not exist is none, and so is text that its tag does not fit."""
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError) as error:
            raise yaml.constructor.ConstructorError(
                problem="a value is not what it looks like to YAML, put it in quotes",
                problem_mark=node.start_mark,
            ) from error

    def scan_flow_scalar_non_spaces(self, double: bool, start_mark: yaml.Mark) -> list[str]:
        """An escape may name what is no character: nothing at all, or half of one, which no text can hold."""
        try:
            chunks: list[str] = super().scan_flow_scalar_non_spaces(double, start_mark)
            "".join(chunks).encode()
        except (ValueError, OverflowError) as error:
            raise yaml.scanner.ScannerError(
                problem="an escape stands for no character", problem_mark=self.get_mark()
            ) from error
        return chunks


_QUICK: _Loader = yaml.CSafeLoader if yaml.__with_libyaml__ else NamingLoader
"""libyaml reads twelve times as fast, and takes a tab for a blank. Where it is missing, the same is read in Python."""


def _parse(path: Path, text: str, max_depth: int) -> tuple[Any, dict[KeyPath, int]]:
    """The YAML value, and the line of every key in it."""
    try:
        try:
            return _read(path, text, max_depth, _QUICK)
        except (yaml.YAMLError, ValueError, LookupError, AttributeError):
            # What is wrong is asked of the one that names it: libyaml knows no character, and of an open bracket no line.
            return _read(path, text, max_depth, NamingLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigInvalid(
            f"{path}, line {line}: this is not valid YAML: {error.problem}; correct it."
        ) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigInvalid(
            f"{path}, line {line}: holds a control character; write the line again."
        ) from error


def _read(path: Path, text: str, max_depth: int, by: _Loader) -> tuple[Any, dict[KeyPath, int]]:
    _refuse_what_config_never_needs(path, text, max_depth, by)
    loader = by(text)
    try:
        node = loader.get_single_node()
        lines = dict(_lines(path, node, ())) if node is not None else {}
        return (loader.construct_document(node) if node is not None else None), lines
    finally:
        loader.dispose()


def _refuse_what_config_never_needs(path: Path, text: str, max_depth: int, by: _Loader) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=by):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise ConfigInvalid(
                f"{path}, line {line}: anchors and aliases (& and *) are not supported; write the value out."
            )
        if getattr(event, "tag", None) is not None:  # the two loaders take some of them for different values
            raise ConfigInvalid(f"{path}, line {line}: tags (!) are not supported; write the plain value.")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > max_depth:
            raise ConfigInvalid(
                f"{path}, line {line}: is nested deeper than {max_depth} levels; no key here is."
            )


def _lines(path: Path, node: yaml.Node, at: KeyPath) -> Iterator[tuple[KeyPath, int]]:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in seen:
                raise ConfigInvalid(f"{path}, line {line}: {'.'.join((*at, name))} is given twice; keep one.")
            seen.add(name)
            yield (*at, name), line
            yield from _lines(path, value, (*at, name))
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield (*at, str(number)), item.start_mark.line + 1
            yield from _lines(path, item, (*at, str(number)))


def problems_of(
    path: Path, error: ValidationError, lines: Mapping[KeyPath, int], model: type[BaseModel]
) -> Iterator[str]:
    """A sentence for each thing that is wrong in the file at `path`, whose value was to be a `model`."""
    for problem in error.errors():
        at = tuple(map(str, problem["loc"]))
        name = ".".join(at) or "the file"
        known = next((lines[at[:length]] for length in range(len(at), 0, -1) if at[:length] in lines), 1)
        match problem["type"]:
            case "extra_forbidden":
                near = difflib.get_close_matches(at[-1], _keys_at(model, at[:-1]), n=1)
                hint = f"did you mean {near[0]}?" if near else "remove it."
                yield f"{path}, line {known}: {name} is not a known key; {hint}"
            case "missing":
                yield f"{path}, line {known}: {name} is missing; add it."
            case "model_type":
                yield f"{path}, line {known}: {name}: it holds keys of its own; write them below it, indented."
            case _:
                message = problem["msg"].removeprefix("Value error, ").rstrip(".")
                yield f"{path}, line {known}: {name}: {message[0].lower()}{message[1:]}; correct it."


def _keys_at(model: type[BaseModel], at: KeyPath) -> list[str]:
    for name in at:
        field = model.model_fields.get(name)
        sections = _sections_in(field.annotation) if field else [model] if name.isdecimal() else []
        if not sections:
            return []
        model = sections[0]
    return [field.alias or name for name, field in model.model_fields.items()]


def _sections_in(annotation: Any) -> list[type[BaseModel]]:
    """The section that a field holds, alone or in a list."""
    held = get_args(annotation) or (annotation,)
    return [one for one in held if isinstance(one, type) and issubclass(one, BaseModel)]
