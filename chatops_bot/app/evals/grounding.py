"""Whether the numbers of an answer come from somewhere: a tool's result, the question, or what was said before.

A number counts as the number that it is, however it is spelled: 0.714 grounds "71.4 %" and "71 %", a list of seven rows
grounds "7", 90 seconds ground neither 1.5 nor 2; what an answer derives, its case lists. Dates and times count digit group
by digit group, so a stamp grounds every way to write a part of it.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

_NUMBER = re.compile(r"\d+(?:,\d{3})+(?:\.\d+)?|\d+\.\d+(?![.\d])|\d+")
_ORDINAL = re.compile(r"(?m)^[^\S\n]*+\d+[.)、]\s")


def numbers_in(text: str) -> list[str]:
    """The numbers of a text, as they are spelled, without those that count the items of a list."""
    return _NUMBER.findall(_ORDINAL.sub("", text))


def ungrounded(
    answer: str, sources: Iterable[str], results: Iterable[Any], derived: Iterable[str] = ()
) -> list[str]:
    """The numbers of `answer` that neither the texts nor the JSON values hold, as they are spelled, each once."""
    results = list(results)
    texts = [*sources, *derived, *(json.dumps(result, ensure_ascii=False) for result in results)]
    known = {_value(number) for text in texts for number in _NUMBER.findall(text)}
    groups = {str(int(group)) for text in texts for group in re.findall(r"\d+", text)}
    counts = {float(size) for result in results for size in _sizes(result)}
    missing = []
    for number in dict.fromkeys(numbers_in(answer)):
        value = _value(number)
        is_known = value in known or value in counts or (number.isdecimal() and str(int(number)) in groups)
        if not is_known and not any(_rounds_to(one, number) for one in known):
            missing.append(number)
    return missing


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def _rounds_to(value: float, number: str) -> bool:
    """Whether `number` is `value`, or its percentage, at the precision at which it is spelled."""
    places = len(number.partition(".")[2])
    shown = _value(number)
    as_percentage = 0 < value < 1 and round(value * 100, places) == shown
    return as_percentage or (value != int(value) and round(value, places) == shown)


def _sizes(value: Any) -> Iterator[int]:
    if isinstance(value, list):
        yield len(value)
        for inner in value:
            yield from _sizes(inner)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _sizes(inner)
