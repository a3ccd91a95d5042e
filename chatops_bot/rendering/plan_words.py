"""What a plan says of its target, its fields and their values, in words of the reader's language.

Tools name things as their service does (`task nightly-report (#1)`, `fixed_interval`), which is what the record and the
digest hold. Above the record stand the words that a form has for the same things; what has no words stays to the letter.
"""

import re

from chatops_bot.domain.language import Language
from chatops_bot.domain.tool import Change
from chatops_bot.rendering import notices
from chatops_bot.rendering.escapes import exact

_TARGETS = (
    (re.compile(r"task (?P<task>.+) \(new\)"), notices.TARGET_NEW_TASK),
    (re.compile(r"task (?P<task>.+)"), notices.TARGET_TASK),
    (re.compile(r"run (?P<run>#\d+) of task (?P<task>.+)"), notices.TARGET_RUN),
)


def target_words(target: str, language: Language) -> str:
    for form, phrase in _TARGETS:
        match = form.fullmatch(target)
        if match is not None:
            parts = {name: exact(part) for name, part in match.groupdict().items()}
            return phrase.filled(**parts).said_in(language)
    return exact(target)


def field_words(change: Change, language: Language) -> str:
    """The name of a changed field; `dependency of x` is a field of another thing."""
    name, of, owner = change.field.partition(" of ")
    known = notices.FIELDS.get(name)
    if known is None:
        return exact(change.field.replace("_", " "))
    if not of:
        return known.said_in(language)
    return notices.FIELD_OF.filled(field=known.said_in(language), owner=exact(owner)).said_in(language)


def value_words(label: str, text: str, language: Language) -> str:
    """A value of the field that people know by `label`; of `#7 failed`, the last word is one."""
    known = (
        words for name, words in notices.VALUES.items() if notices.FIELDS[name].said_in(language) == label
    )
    words = next(known, {})
    if text in words:
        return words[text].said_in(language)
    head, _, last = text.rpartition(" ")
    return f"{exact(head)} {words[last].said_in(language)}" if head and last in words else exact(text)
