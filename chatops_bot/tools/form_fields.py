"""A form's fields, derived from any tool's argument model: pure, and with nothing in it that knows a tool.

    Literal, enum, bool             one of a list
    list of those, or of candidates several of a list
    a text with a SecretArgument     typed in a dialog, and held by reference only
    str, int, float                 typed; chosen where a candidate provider offers values
    anything else                   cannot be asked; if such a required argument is missing, there is no form

What is missing comes first, then what is known, then the rest with its defaults, each in the model's order.
"""

import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from chatops_bot.domain.form import AskedAs, Candidates, Choice, FieldKind, FormField
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.secret_argument import SecretArgument

MOST_CHOICES = 99
"""Slack's limit for a list is 100, one of which stands for a value that is typed. What is beyond it can still be typed."""
MOST_CHARS = 3000
"""Slack's limit for a typed text."""
NUMBER_CHARS = 24
MULTILINE_CHARS = 1000
"""A text that may be longer than this gets a field of several lines."""

_TYPED = (str, int, float)
_LISTS = (list, tuple, set, frozenset)
_YES, _NO = Phrase("是", "Yes"), Phrase("否", "No")
_LONGER = Phrase(
    f"超过 {MOST_CHARS:,} 个字符的内容此处放不下：请取消，并在请求里用 ``` 括起来给出。",
    f"More than {MOST_CHARS:,} characters do not fit here: cancel, and give them in the request, between ``` and ```.",
)
_FIRST_OF = Phrase(
    "列表只含前 {shown} 项，共 {count} 项；其余请直接输入。",
    "The list holds the first {shown} of {count}; type any other.",
)


def fields_of(
    arguments: type[BaseModel], known: Mapping[str, Any], missing: frozenset[str], candidates: Mapping[str, Candidates],
    *, hints: Mapping[str, Phrase] = MappingProxyType({}),
) -> tuple[FormField, ...] | None:  # fmt: skip
    """The fields that ask for the arguments of a call; None when one of `missing` cannot be asked for.

    `known` are values that fit the model; `candidates` what providers offer, by argument; `hints` what is said of one that has
    no `AskedAs`.
    """
    fields: list[tuple[int, FormField]] = []
    for name, info in arguments.model_fields.items():
        made = _field(name, info, known, candidates.get(name), hints.get(name))
        if made is None and name in missing:
            return None
        if made is not None:
            fields.append((0 if name in missing else 1 if name in known else 2, made))
    return tuple(made for _, made in sorted(fields, key=lambda each: each[0]))


@dataclass(frozen=True, slots=True)
class _Shape:
    """What an annotation comes to: one or several of `values`, or of anything typed when there are none."""

    is_list: bool
    values: tuple[Any, ...]


def _field(
    name: str,
    info: FieldInfo,
    known: Mapping[str, Any],
    candidates: Candidates | None,
    hint: Phrase | None,
) -> FormField | None:
    shape = _shape(info.annotation)
    if shape is None:
        return None
    asked = next((each for each in info.metadata if isinstance(each, AskedAs)), None)
    label = asked.label if asked else _both(info.title or name.replace("_", " ").capitalize())
    hint = asked.hint if asked else hint
    choices = tuple(
        Choice(value, (asked.choices.get(value) if asked else None) or _label(value))
        for value in shape.values
    )
    secret = next((each for each in info.metadata if isinstance(each, SecretArgument)), None)
    if secret is not None:
        return FormField(
            name=name, label=label, kind="secret", is_required=info.is_required(), hint=hint, takes_text=True,
            is_multiline=secret.is_multiline, max_chars=min(secret.max_chars, MOST_CHARS),
        )  # fmt: skip
    takes_text = not choices
    if candidates is not None and candidates.choices and not choices:
        choices = candidates.choices[:MOST_CHOICES]
        is_cut = len(candidates.choices) > MOST_CHOICES
        takes_text = is_cut or not candidates.is_complete
        hint = candidates.hint or hint
        if is_cut:
            hint = _FIRST_OF.filled(shown=MOST_CHOICES, count=len(candidates.choices))
    kind: FieldKind = "text" if not choices else "multi" if shape.is_list else "single"
    value = known.get(name, _default(info))
    values = () if _is_blank(value) else tuple(value) if isinstance(value, _LISTS) else (value,)
    chosen = tuple(place for place, choice in enumerate(choices) if _is_any(choice.value, values))
    typed = [_text(each) for each in values if not any(_is_any(choice.value, (each,)) for choice in choices)]
    text = (", " if shape.is_list else "").join(typed) if takes_text else ""
    if len(text) > MOST_CHARS:
        return None
    longest = next((each.max_length for each in info.metadata if hasattr(each, "max_length")), None)
    is_typed = _bare(info.annotation) is str
    if is_typed and not choices and longest is not None and longest > MOST_CHARS:
        hint = Phrase(f"{hint.zh} {_LONGER.zh}", f"{hint.en} {_LONGER.en}") if hint else _LONGER
    return FormField(
        name=name,
        label=label,
        kind=kind,
        is_required=info.is_required(),
        hint=hint,
        example=asked.example if asked else _text(info.examples[0]) if info.examples else "",
        choices=choices,
        chosen=chosen if kind == "multi" else chosen[:1],
        text=text,
        takes_text=takes_text,
        is_list=shape.is_list,
        is_multiline=is_typed and not choices and longest is not None and longest > MULTILINE_CHARS,
        max_chars=min(longest or (MOST_CHARS if is_typed or shape.is_list else NUMBER_CHARS), MOST_CHARS),
    )


def _shape(annotation: Any) -> _Shape | None:
    bare = _bare(annotation)
    origin = typing.get_origin(bare)
    if origin in _LISTS:
        item = _shape(next(iter(typing.get_args(bare)), str))
        return None if item is None or item.is_list else _Shape(True, item.values)
    if origin is Literal:
        return _Shape(False, typing.get_args(bare))
    if bare is bool:
        return _Shape(False, (True, False))
    if isinstance(bare, type) and issubclass(bare, Enum):
        return _Shape(False, tuple(member.value for member in bare))
    return _Shape(False, ()) if bare in _TYPED else None


def _bare(annotation: Any) -> Any:
    """An annotation without its metadata and without `| None`."""
    if typing.get_origin(annotation) is typing.Annotated:
        return _bare(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        others = [each for each in typing.get_args(annotation) if each is not type(None)]
        return _bare(others[0]) if len(others) == 1 else annotation
    return annotation


def _default(info: FieldInfo) -> Any:
    return None if info.is_required() else info.get_default(call_default_factory=True, validated_data={})


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str | list | tuple | set | frozenset) and not value)


def _is_any(value: Any, given: tuple[Any, ...]) -> bool:
    """Models write "42" for 42 and "true" for true."""
    return _text(value).casefold() in (_text(each).casefold() for each in given)


def _text(value: Any) -> str:
    plain = value.value if isinstance(value, Enum) else value
    return str(plain).lower() if isinstance(plain, bool) else str(plain)


def _label(value: Any) -> Phrase:
    return (_YES if value else _NO) if isinstance(value, bool) else _both(_text(value))


def _both(text: str) -> Phrase:
    return Phrase(text, text)
