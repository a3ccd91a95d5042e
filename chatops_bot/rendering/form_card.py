"""A form as people see it: a message while it waits and after, and a dialog where it is too large for a message.

Both are functions of the stored form, so that drawing it again after a restart gives the same. The key of each input
holds the form's revision: after a wrong answer the inputs begin anew from what was typed, on every platform alike.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime

from chatops_bot.domain.form import OWN, Form, FormField, FormState
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.view import (
    Block,
    Button,
    Buttons,
    Code,
    Fact,
    Facts,
    Heading,
    Lines,
    Modal,
    Notice,
    Option,
    Select,
    TextInput,
    View,
)
from chatops_bot.rendering import form_notices as notices
from chatops_bot.rendering.escapes import exact, exact_block, inert
from chatops_bot.rendering.graphemes import clip

MESSAGE_FIELDS = 5
"""A form with more fields, or with one of several lines or a secret one, is filled in in a dialog. What is typed into a message
would stay in it."""
HEADING_CHARS = 150
MODAL_TITLE_CHARS = 24
FACT_CHARS = 120
"""A longer value gets a box of its own."""
PLACEHOLDER_CHARS = 100


def is_large(form: Form) -> bool:
    return len(form.fields) > MESSAGE_FIELDS or any(
        field.is_multiline or field.kind == "secret" for field in form.fields
    )


def form_card(form: Form, redact: Callable[[str], str] = str) -> View:
    """The form's message in its language, for the state it is in. `redact` takes the secrets out of what it holds."""
    form, language = _redacted(form, redact), _language(form)
    title = exact(form.title.said_in(language))
    heading = clip(notices.HEADINGS[form.state.value].filled(title=title).said_in(language), HEADING_CHARS)
    if form.is_open:
        blocks = [*_open(form, language), Lines((_footer(form, language),))]
    else:
        blocks = [*_values(form, language), Lines((_ending(form, language),))]
    return View((Heading(heading), *blocks), inert(heading))


def form_modal(form: Form, redact: Callable[[str], str] = str) -> Modal:
    """The dialog that asks for all of the form's fields."""
    form, language = _redacted(form, redact), _language(form)
    return Modal(
        value=form.id,
        title=clip(exact(form.title.said_in(language)), MODAL_TITLE_CHARS),
        blocks=tuple(_inputs(form, language)),
        submit=notices.SUBMIT.said_in(language),
        cancel=notices.CLOSE.said_in(language),
    )


def _redacted(form: Form, redact: Callable[[str], str]) -> Form:
    """The form with all that came from outside redacted: names, values, and what a tool or its service says of them."""

    def safe(phrase: Phrase) -> Phrase:
        return Phrase(redact(phrase.zh), redact(phrase.en))

    def maybe(phrase: Phrase | None) -> Phrase | None:
        return phrase and safe(phrase)

    fields = (
        replace(
            field,
            text=redact(field.text),
            hint=maybe(field.hint),
            problem=maybe(field.problem),
            choices=tuple(
                replace(choice, label=safe(choice.label), detail=maybe(choice.detail))
                for choice in field.choices
            ),
        )
        for field in form.fields
    )
    return replace(
        form,
        fields=tuple(fields),
        problem=maybe(form.problem),
        requester_name=redact(form.requester_name),
        closed_by_name=redact(form.closed_by_name),
    )


def _language(form: Form) -> Language:
    return "zh" if form.language == "zh" else "en"


def _open(form: Form, language: Language) -> Iterator[Block]:
    cancel = Button("form_cancel", notices.CANCEL.said_in(language), form.id)
    if is_large(form):
        if form.missing:
            names = notices.COMMA.said_in(language).join(
                exact(field.label.said_in(language)) for field in form.missing
            )
            yield Notice(notices.STILL_NEEDED.filled(names=names).said_in(language))
        known = [field for field in form.fields if field.name in form.known and field.is_filled]
        if known:
            yield Facts(tuple(_fact(field, language) for field in known))
        for field in form.fields:
            if field.problem is not None:
                label, why = (exact(said.said_in(language)) for said in (field.label, field.problem))
                problem = notices.PROBLEM_WITH.filled(label=label, problem=why)
                yield Notice(problem.said_in(language), "danger")
        fill = Button("form_open", notices.FILL_IN.said_in(language), form.id, "primary")
        yield Buttons((fill, cancel))
        return
    if form.problem is not None:
        yield Notice(exact(form.problem.said_in(language)), "danger")
    yield from _inputs(form, language)
    yield Buttons((Button("form_submit", notices.SUBMIT.said_in(language), form.id, "primary"), cancel))


def _inputs(form: Form, language: Language) -> Iterator[Block]:
    for field in form.fields:
        yield from _input(form, field, language)
        if field.problem is not None:
            yield Notice(exact(field.problem.said_in(language)), "danger")


def _input(form: Form, field: FormField, language: Language) -> Iterator[Block]:
    label = exact(field.label.said_in(language))
    hint = exact(field.hint.said_in(language)) if field.hint else ""
    if field.kind == "secret":
        where = notices.SEALED_FOR.filled(tool=exact(form.tool)).said_in(language)
        hint = f"{hint} {where}".strip()
    key = f"{form.id}.{form.revision}.{field.name}"
    if field.choices:
        options = [
            Option(
                str(place),
                exact(choice.label.said_in(language)),
                exact(choice.detail.said_in(language)) if choice.detail else "",
            )
            for place, choice in enumerate(field.choices)
        ]
        chosen = tuple(map(str, field.chosen))
        if field.is_required and field.takes_text:
            # Of a list and a text, one is needed: that makes the list a thing to choose from in any case.
            options.append(Option(OWN, notices.ANOTHER.said_in(language)))
            chosen = chosen or ((OWN,) if field.text.strip() else ())
        yield Select(
            name=field.name,
            key=key,
            label=label,
            options=tuple(options),
            chosen=chosen,
            is_multi=field.kind == "multi",
            is_optional=not field.is_required,
            hint=notices.OR_BELOW.said_in(language) if field.takes_text else hint,
            placeholder=notices.CHOOSE.said_in(language),
        )
        if not field.takes_text:
            return
        label = notices.OWN.filled(label=label).said_in(language)
    example = clip(exact(field.example), PLACEHOLDER_CHARS) if field.example else ""
    yield TextInput(
        name=f"{field.name}{OWN}" if field.choices else field.name,
        key=f"{key}{OWN}" if field.choices else key,
        label=label,
        text="" if field.kind == "secret" else field.text,
        is_multiline=field.is_multiline,
        is_optional=bool(field.choices) or not field.is_required,
        hint=hint,
        placeholder=example,
        max_chars=field.max_chars,
    )


def _values(form: Form, language: Language) -> Iterator[Block]:
    """What the form holds, once it is closed: nothing to fill in any more."""
    filled = [field for field in form.fields if field.is_filled]
    short = [field for field in filled if not _is_long(field)]
    if form.state is FormState.SUBMITTED:
        if short:
            yield Facts(tuple(_fact(field, language) for field in short))
        for field in filled:
            if _is_long(field):
                yield Code(exact_block(field.text), exact(field.label.said_in(language)))


def _fact(field: FormField, language: Language) -> Fact:
    value = clip(exact(_said(field, language)), FACT_CHARS)
    return Fact(
        exact(field.label.said_in(language)), value, is_code=field.kind == "text" and not value.isdecimal()
    )


def _said(field: FormField, language: Language) -> str:
    if field.kind == "secret":
        return notices.SEALED.said_in(language)
    if field.text.strip() and not field.is_list:
        return field.text
    chosen = [field.choices[place].label.said_in(language) for place in field.chosen]
    return notices.COMMA.said_in(language).join([*chosen, *([field.text] if field.text.strip() else [])])


def _is_long(field: FormField) -> bool:
    return field.kind != "secret" and ("\n" in field.text or len(field.text) > FACT_CHARS)


def _footer(form: Form, language: Language) -> str:
    return notices.ONLY.filled(name=exact(form.requester_name), time=_clock(form.expires_at)).said_in(
        language
    )


def _ending(form: Form, language: Language) -> str:
    ended = form.closed_at or form.expires_at
    return (
        notices.ENDINGS[form.state.value]
        .filled(name=exact(form.closed_by_name or form.requester_name), time=_clock(ended))
        .said_in(language)
    )


def _clock(moment: datetime) -> str:
    return f"{moment:%H:%M} UTC"
