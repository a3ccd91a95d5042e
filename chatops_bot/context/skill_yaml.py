"""The front matter of a skill as plain values and lines: the small part of YAML that a package from outside may use.

Everything is text, a list or a mapping: no tag is obeyed, so no value is ever built that YAML guesses at (`no`, `1e3`, a
date). Anchors and aliases are refused, since a few hundred bytes of them can stand for gigabytes; so is deep nesting,
which exhausts the parser's stack.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from chatops_bot.domain.language import Phrase

FRONT_BYTES = 16 * 1024
"""Longest front matter: the open format's longest description is 1,024 characters, and the parser reads 100 KB a second."""
MAX_DEPTH = 8


class FrontMatterBroken(Exception):
    """The front matter cannot be used; `line` counts from the first line of what was given."""

    def __init__(self, line: int, problem: Phrase) -> None:
        super().__init__(problem.en)
        self.line = line
        self.problem = problem


Plain = str | list["Value"] | dict[str, "Value"]


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the front matter and the line that it stands on."""

    plain: Plain
    line: int


def front_matter(text: str) -> dict[str, Value]:
    """The mapping that `text` holds. Raises FrontMatterBroken for anything else."""
    if len(text.encode()) > FRONT_BYTES:
        raise FrontMatterBroken(
            1,
            Phrase(
                f"文件头超过 {FRONT_BYTES // 1024} KB；请把说明移到正文。",
                f"the front matter is larger than {FRONT_BYTES // 1024} KB; move its prose into the body.",
            ),
        )
    try:
        refuse_what_no_skill_needs(text)
        loader = yaml.BaseLoader(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise FrontMatterBroken(
            line, Phrase(f"不是有效的 YAML（{error.problem}）。", f"this is not valid YAML: {error.problem}.")
        ) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise FrontMatterBroken(
            line, Phrase("含有控制字符。", "holds a control character; write the line again.")
        ) from error
    except (ValueError, OverflowError) as error:  # an escape such as "\UFFFFFFFF", which is no character
        raise FrontMatterBroken(
            1, Phrase("含有无效的转义字符。", "holds an escape that is no character; write the value out.")
        ) from error
    if not isinstance(node, yaml.MappingNode):
        raise FrontMatterBroken(
            1,
            Phrase(
                "文件头必须是键值，例如 `name: ...`。",
                "the front matter must hold keys, such as `name: ...`.",
            ),
        )
    return dict(_items(node))


def refuse_what_no_skill_needs(text: str) -> None:
    """Raises FrontMatterBroken for anchors, aliases, tags and deep nesting, wherever YAML comes from outside."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.BaseLoader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise FrontMatterBroken(
                line,
                Phrase(
                    "不支持锚点和别名（& 和 *）。",
                    "anchors and aliases (& and *) are not supported; write the value out.",
                ),
            )
        if isinstance(event, yaml.ScalarEvent):
            event.value.encode()  # "\ud800" is half a character, which nothing could send or store
        if getattr(event, "tag", None):
            raise FrontMatterBroken(
                line,
                Phrase("不支持 YAML 标签（!）。", "YAML tags (!) are not supported; write the plain value."),
            )
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise FrontMatterBroken(
                line,
                Phrase(
                    f"嵌套超过 {MAX_DEPTH} 层。", f"is nested deeper than {MAX_DEPTH} levels; no key here is."
                ),
            )


def _items(node: yaml.MappingNode) -> Iterator[tuple[str, Value]]:
    seen: set[str] = set()
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise FrontMatterBroken(
                line, Phrase("键必须是文字。", "a key must be text; this one is a list or a mapping.")
            )
        if key.value in seen:
            raise FrontMatterBroken(
                line, Phrase(f"{key.value} 出现了两次。", f"{key.value} is given twice; keep one.")
            )
        seen.add(key.value)
        yield key.value, Value(_plain(value), line)


def _plain(node: yaml.Node) -> Plain:
    if isinstance(node, yaml.MappingNode):
        return dict(_items(node))
    if isinstance(node, yaml.SequenceNode):
        return [Value(_plain(item), item.start_mark.line + 1) for item in node.value]
    return str(node.value)
