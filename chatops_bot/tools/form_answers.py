"""What somebody filled in, as arguments: taken into the form's fields, put together, judged by the tool's own model."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError

from chatops_bot.domain.form import OWN, Form, FormField, FormValues
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.secret_argument import TYPED
from chatops_bot.tools.argument_problems import problem_of

SECRET = Phrase(
    "这里像是有密钥或密码，不能写进任务；请改为引用环境变量或文件。",
    "This looks like a secret, which must not be stored here; refer to a variable or a file instead.",
)
_ITEM_END = re.compile(r"[,，、\n]")


def with_values(fields: tuple[FormField, ...], values: FormValues) -> tuple[FormField, ...]:
    """The fields holding `values`, without their old problems. An input that is not among the values keeps what it held."""
    return tuple(_taken(each, values) for each in fields)


def _taken(field: FormField, values: FormValues) -> FormField:
    chosen, text = field.chosen, field.text
    if field.kind == "secret":
        return replace(field, text=TYPED if typed_secret(field, values) else "", problem=None)
    if field.choices and field.name in values:
        places = (int(value) for value in values[field.name] if value.isascii() and value.isdecimal())
        chosen = tuple(place for place in places if place < len(field.choices))
    typed_as = f"{field.name}{OWN}" if field.choices else field.name
    if field.takes_text and typed_as in values:
        text = "".join(values[typed_as])
    return replace(field, chosen=chosen, text=text, problem=None)


def typed_secret(field: FormField, values: FormValues) -> str:
    """What was typed into a secret field, to the letter; empty where that is nothing but blanks."""
    text = "".join(values.get(field.name, ()))
    return text if text.strip() else ""


def answers(form: Form) -> dict[str, Any]:
    """The arguments that the form holds. What is empty is left out, so that the tool's default counts."""
    shown = {each.name for each in form.fields}
    given = {name: value for name, value in form.known.items() if name not in shown}
    for each in form.fields:
        if each.is_filled:
            given[each.name] = _value(each)
    return given


def _value(field: FormField) -> Any:
    chosen = [field.choices[place].value for place in field.chosen]
    if field.is_list:
        typed = (item.strip() for item in _ITEM_END.split(field.text))
        return [*chosen, *(item for item in typed if item)]
    return field.text if field.text.strip() else chosen[0]


def judged(model: type[BaseModel], given: Mapping[str, Any]) -> BaseModel | dict[str, Phrase]:
    """The arguments as the tool takes them, or what is wrong with them by name ("" for the whole)."""
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        problems: dict[str, Phrase] = {}
        for each in error.errors(include_url=False):
            name = str(each["loc"][0]) if each["loc"] else ""
            problems.setdefault(name, problem_of(each))
        return problems
