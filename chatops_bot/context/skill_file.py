"""A SKILL.md as a Skill, or as what is wrong with it and on which line.

The open format (name, description, license, compatibility, metadata, allowed-tools, scripts), so that existing skills load, and
four keys of ours: `builtin_tools` and `allowed-tools` name tools that loading brings, `max_iterations` how many steps the
work takes, `visibility` who may see it. A key that nobody here reads is remarked on and harmless; but what limits who may
see a skill must be understood whole, since half understood it would show more.
"""

import difflib
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from chatops_bot.context.skill_yaml import FrontMatterBroken, Value, front_matter
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Role
from chatops_bot.domain.regex import regex
from chatops_bot.domain.skill import Audience, BrokenSkill, Skill

FILE_BYTES = 64 * 1024
"""Largest SKILL.md (the first seed system's number): about 16,000 tokens, a sixth of what a conversation may hold."""
DESCRIPTION_CHARS = 1024
"""Longest description in the open format."""
MAX_ROUNDS = 50
"""The most steps with tools that a turn can have, whoever asks for them."""
MAX_TOOLS = 64

NAME = regex(r"[a-z0-9][a-z0-9-]{0,63}")
_TOOL = regex(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_SCRIPT = regex(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]*/)*[A-Za-z0-9_][A-Za-z0-9_.-]*\.(?:py|sh)")
_UNSEEN = regex(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    "|(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d|\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])"
    "|(?<![\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2934\u2935\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff])(?<![0-9#*](?=.\u20e3))[\ufe0e\ufe0f]"
)
"""Controls, overrides of the writing direction, and what Unicode calls ignorable (its `Default_Ignorable_Code_Point`): what a
reviewer does not see, a model still reads. A joiner between two emoji is a part of one; so is a single one of the last two
variation selectors behind an emoji or in a keycap. Anywhere else, which of the two stands there could spell out a message."""
_READ = {
    "name",
    "description",
    "description_zh",
    "allowed-tools",
    "builtin_tools",
    "max_iterations",
    "visibility",
    "scripts",
}
_KNOWN = _READ | {"license", "compatibility", "metadata"}
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a SKILL.md was found: its folder as it lies on the disk, how people know the file, the source that it came
    with, the files below the folder, and the name that it must bear (None where its folder had to be named by us)."""

    folder: Path
    path: str
    source: str
    files: Collection[str] = ()
    name: str | None = None


def parse_skill(data: bytes, place: Place) -> Skill | BrokenSkill:
    """The skill that `data`, the bytes of a SKILL.md, holds. Never raises."""
    try:
        return _Reader(data, place).skill()
    except FrontMatterBroken as broken:
        name = place.name or place.folder.name
        return BrokenSkill(name, place.path, broken.line, broken.problem)


def _wrong(line: int, zh: str, en: str) -> FrontMatterBroken:
    return FrontMatterBroken(line, Phrase(zh, en))


def _text_of(data: bytes) -> str:
    if len(data) > FILE_BYTES:
        raise _wrong(
            0,
            f"SKILL.md 超过 {FILE_BYTES // 1024} KB；请拆成几个技能，或把资料移到其他文件。",
            f"SKILL.md is larger than {FILE_BYTES // 1024} KB; split the skill, or move reference text to other files.",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _wrong(line, "不是 UTF-8 文本。", "is not UTF-8 text; save it as UTF-8.") from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if unseen := _UNSEEN.search(text):
        raise _wrong(
            text.count("\n", 0, unseen.start()) + 1,
            f"含有看不见的控制字符（U+{ord(unseen.group()):04X}）。",
            f"holds a character that nobody sees (U+{ord(unseen.group()):04X}); remove it.",
        )
    return text


def _parted(text: str) -> tuple[str, str]:
    """Front matter and body. Only the first two lines of `---` part anything; those further down are the body's own."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        raise _wrong(
            1, "第一行必须是 ---，其后是文件头。", "the first line must be ---; the front matter follows it."
        )
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == "---":
            return "\n".join(lines[1:number]), "\n".join(lines[number + 1 :])
    raise _wrong(1, "文件头没有结束的 --- 行。", "the front matter has no end; close it with a line of ---.")


class _Reader:
    def __init__(self, data: bytes, place: Place) -> None:
        self._place = place
        front, self._body = _parted(_text_of(data))
        self._front_lines = front.count("\n") + 1
        try:
            self._values = front_matter(front)
        except FrontMatterBroken as broken:
            raise FrontMatterBroken(broken.line + 1, broken.problem) from broken

    def skill(self) -> Skill:
        values = self._values
        remarks = tuple(self._unknown(key, value) for key, value in values.items() if key not in _KNOWN)
        name = self._needed("name", self._name)
        description = self._needed("description", self._description)
        if not any(character.isalnum() for character in self._body):
            raise _wrong(
                self._front_lines + 2,
                "正文是空的：技能必须写明怎么做。",
                "the body is empty; a skill must say how the work is done.",
            )
        no_tools: dict[str, int] = {}
        tools = self._allowed_tools() | self._given("builtin_tools", self._tools, no_tools)
        return Skill(
            name=name,
            description=description,
            body=self._body,
            folder=self._place.folder,
            source=self._place.source,
            tools=tuple(tools),
            tool_lines=tuple(line + 1 for line in tools.values()),
            rounds=self._given("max_iterations", self._rounds, 0),
            scripts=self._given("scripts", self._scripts, self._found_scripts()),
            audience=self._given("visibility", self._audience, Audience()),
            remarks=remarks,
            description_zh=self._given(
                "description_zh", partial(self._description, key="description_zh"), ""
            ),
        )

    def _given(self, key: str, read: Callable[[Value], _T], default: _T) -> _T:
        """What `key` says. The front matter begins on the second line of the file."""
        if key not in self._values:
            return default
        try:
            return read(self._values[key])
        except FrontMatterBroken as broken:
            raise FrontMatterBroken(broken.line + 1, broken.problem) from broken

    def _needed(self, key: str, read: Callable[[Value], str]) -> str:
        if key not in self._values:
            raise _wrong(1, f"缺少 {key}。", f"{key} is missing; add it to the front matter.")
        return self._given(key, read, "")

    def _unknown(self, key: str, value: Value) -> Phrase:
        if difflib.get_close_matches(key.casefold(), ["visibility"], cutoff=0.8):
            raise _wrong(
                value.line + 1,
                f"未知的键 {key}；是否想写 visibility？",
                f"{key} is not a known key; did you mean visibility?",
            )
        shown = key if key.isprintable() and len(key) <= 60 else "…"
        return Phrase(
            f"第 {value.line + 1} 行：未知的键 {shown}，已忽略。",
            f"line {value.line + 1}: {shown} is not a known key and is ignored.",
        )

    def _name(self, value: Value) -> str:
        name = _text(value, "name")
        if not NAME.fullmatch(name):
            raise _wrong(
                value.line,
                "name 只能由小写字母、数字和连字符组成，最长 64 个字符。",
                "name must be of small letters, digits and hyphens, at most 64, and begin with a letter or digit.",
            )
        if self._place.name is not None and name != self._place.name:
            raise _wrong(
                value.line,
                "name 与所在文件夹的名称不一致。",
                f"name is {name}, but its folder is not named so; make them equal.",
            )
        return name

    def _description(self, value: Value, key: str = "description") -> str:
        text = _text(value, key).strip()
        if not any(character.isalnum() for character in text):
            raise _wrong(value.line, f"{key} 是空的。", f"{key} is empty; say when to use the skill.")
        if len(text) > DESCRIPTION_CHARS:
            raise _wrong(
                value.line,
                f"{key} 超过 {DESCRIPTION_CHARS} 个字符。",
                f"{key} is longer than {DESCRIPTION_CHARS} characters; shorten it.",
            )
        return text

    def _tools(self, value: Value) -> dict[str, int]:
        names = _texts(value, "builtin_tools")
        for name, line in names.items():
            if not _TOOL.fullmatch(name):
                raise _wrong(
                    line, "builtin_tools 里有无效的工具名。", "builtin_tools holds what is no name of a tool."
                )
        return names

    def _allowed_tools(self) -> dict[str, int]:
        """Names out of the open format's list; patterns of other products, such as `Bash(git:*)`, mean nothing here."""
        value = self._values.get("allowed-tools")
        if value is None:
            return {}
        if isinstance(value.plain, str):
            written = [name for name in re.split(r"[\s,]+", value.plain) if _TOOL.fullmatch(name)]
            return dict.fromkeys(written[:MAX_TOOLS], value.line)
        no_names: dict[str, int] = {}
        names = self._given("allowed-tools", lambda each: _texts(each, "allowed-tools"), no_names)
        return {name: line for name, line in names.items() if _TOOL.fullmatch(name)}

    def _rounds(self, value: Value) -> int:
        text = _text(value, "max_iterations")
        if not (re.fullmatch("[0-9]{1,3}", text) and 1 <= int(text) <= MAX_ROUNDS):
            raise _wrong(
                value.line,
                f"max_iterations 必须是 1 到 {MAX_ROUNDS} 的整数。",
                f"max_iterations must be a whole number from 1 to {MAX_ROUNDS}.",
            )
        return int(text)

    def _found_scripts(self) -> tuple[str, ...]:
        """Without a list of its own, what lies in `scripts/` as the open format has it."""
        found = (
            path for path in self._place.files if path.startswith("scripts/") and _SCRIPT.fullmatch(path)
        )
        return tuple(sorted(found))

    def _scripts(self, value: Value) -> tuple[str, ...]:
        paths = _texts(value, "scripts")
        for path, line in paths.items():
            if not _SCRIPT.fullmatch(path) or path not in self._place.files:
                raise _wrong(
                    line,
                    "scripts 里的文件不存在，或不是技能文件夹内的 .py、.sh 文件。",
                    "scripts names what is no .py or .sh file below the skill's folder; correct the path.",
                )
        return tuple(paths)

    def _audience(self, value: Value) -> Audience:
        if not isinstance(value.plain, dict) or not value.plain:
            raise _wrong(
                value.line,
                "visibility 下必须写 roles、people、groups 或 channels。",
                "visibility must hold roles, people, groups or channels; take it away if everybody may see the skill.",
            )
        read: dict[str, frozenset[str]] = {}
        for key, given in value.plain.items():
            if key not in ("roles", "people", "groups", "channels"):
                raise _wrong(
                    given.line,
                    "visibility 下只能写 roles、people、groups、channels。",
                    "visibility knows roles, people, groups and channels only.",
                )
            read[key] = frozenset(_texts(given, f"visibility.{key}"))
        return Audience(
            _roles(read.get("roles", frozenset()), value.line),
            read.get("people", frozenset()),
            read.get("groups", frozenset()),
            read.get("channels", frozenset()),
        )


def _roles(names: frozenset[str], line: int) -> frozenset[Role]:
    known: Mapping[str, Role] = {role.value: role for role in Role if role is not Role.GUEST}
    if names - known.keys():
        raise _wrong(
            line, f"角色只有：{', '.join(known)}。", f"visibility.roles must be of {', '.join(known)}."
        )
    return frozenset(known[name] for name in names)


def _text(value: Value, key: str) -> str:
    if not isinstance(value.plain, str):
        raise _wrong(value.line, f"{key} 必须是文字。", f"{key} must be text.")
    return value.plain


def _texts(value: Value, key: str) -> dict[str, int]:
    """The texts of a list, each with its line. An empty list is refused: where it limits something it would limit nothing."""
    items = value.plain
    if not isinstance(items, list) or not items or len(items) > MAX_TOOLS:
        raise _wrong(
            value.line,
            f"{key} 必须是 1 到 {MAX_TOOLS} 项的列表。",
            f"{key} must be a list of 1 to {MAX_TOOLS}; take it away if it names nothing.",
        )
    texts = {_text(item, key).strip(): item.line for item in items}
    if "" in texts:
        raise _wrong(texts[""], f"{key} 里有空项。", f"{key} holds an empty item; remove it.")
    return texts
