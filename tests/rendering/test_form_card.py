"""A form's message shows what is asked while it is open, and afterwards what was said; its dialog asks for everything."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chatops_bot.domain.form import OWN, Candidates, Choice, Form, FormField, FormState
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.view import Buttons, Heading, Notice, Select, TextInput, View
from chatops_bot.rendering.form_card import form_card, form_modal, is_large
from chatops_bot.tools.form_answers import answers, with_values
from chatops_bot.tools.form_fields import fields_of
from chatops_bot.toolsets.scheduler.arguments import CreateTaskArguments, PauseTaskArguments

AT = datetime(2026, 3, 2, 14, 32, tzinfo=UTC)
TASKS = Candidates(
    (
        Choice(1, Phrase("nightly-report (#1)", "nightly-report (#1)"), Phrase("0 2 * * *", "0 2 * * *")),
        Choice(2, Phrase("db-backup (#2)", "db-backup (#2)")),
    )
)
SCHEDULES = Candidates(
    (Choice("0 2 * * *", Phrase("每天 02:00", "Every night at 02:00"), Phrase("0 2 * * *", "0 2 * * *")),),
    is_complete=False,
)
PAUSE = fields_of(PauseTaskArguments, {"action": "pause"}, frozenset({"task_id"}), {"task_id": TASKS})
CREATE = fields_of(
    CreateTaskArguments,
    {"name": "archive-logs", "cron_expr": "0 2 * * *"},
    frozenset({"type", "payload"}),
    {"cron_expr": SCHEDULES},
)


def a_form(fields: tuple[FormField, ...] | None, language: str = "en") -> Form:
    assert fields is not None
    return Form(
        id="form_1",
        session=SessionKey("slack", "T1", "C1", "1.1"),
        turn_id="turn_1",
        call_id="c1",
        tool="create_task",
        effect=Effect.WRITE,
        title=Phrase("创建任务", "Create a task"),
        requester_id="U1",
        requester_name="Han Meimei",
        language=language,
        known={"name": "archive-logs", "cron_expr": "0 2 * * *"},
        fields=fields,
        created_at=AT,
        expires_at=AT + timedelta(hours=1),
    )


def changed(form: Form, name: str, **changes: object) -> Form:
    fields = (replace(field, **changes) if field.name == name else field for field in form.fields)  # type: ignore[arg-type]  # tests name fields freely
    return replace(form, fields=tuple(fields))


def controls(view: View) -> list[str]:
    return [button.control for block in view.blocks if isinstance(block, Buttons) for button in block.buttons]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_small_form_is_filled_in_in_its_message(golden, language: str):
    form = a_form(PAUSE, language)
    assert not is_large(form)
    wrong = changed(
        replace(form, revision=1, problem=Phrase("调度服务没有应答。", "The scheduler does not answer.")),
        "task_id", problem=Phrase("请填写此项。", "Please fill this in."),
    )  # fmt: skip
    golden(f"form_small_{language}", form_card(form), form_card(wrong))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_large_form_is_filled_in_in_a_dialog(golden, language: str):
    form = a_form(CREATE, language)
    assert is_large(form)
    modal = form_modal(form)
    golden(f"form_large_{language}", form_card(form), View(modal.blocks, f"{modal.title} {modal.submit}"))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_closed_form_says_how_it_ended_and_asks_nothing(golden, language: str):
    form = changed(a_form(CREATE, language), "payload", text="#!/bin/sh\ntar czf logs.tgz /var/log")
    form = replace(changed(form, "type", chosen=(0,)), closed_at=AT + timedelta(minutes=3))
    closed = [form_card(replace(form, state=state)) for state in FormState if state is not FormState.OPEN]
    for view in closed:
        assert controls(view) == []
        assert not any(isinstance(block, Select | TextInput) for block in view.blocks)
    golden(f"form_closed_{language}", *closed)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_value_that_is_needed_is_never_marked_optional(language: str):
    modal = form_modal(a_form(CREATE, language))
    schedule = next(b for b in modal.blocks if isinstance(b, Select) and b.name == "cron_expr")
    assert not schedule.is_optional
    assert (
        schedule.options[-1].label == {"zh": "其他（在下面填写）", "en": "Another, written below"}[language]
    )
    assert schedule.chosen == ("0",)
    typed = form_modal(changed(a_form(CREATE, language), "cron_expr", chosen=(), text="5 4 * * *"))
    schedule = next(b for b in typed.blocks if isinstance(b, Select) and b.name == "cron_expr")
    assert schedule.chosen == (schedule.options[-1].value,)


def test_another_value_is_the_typed_one_and_none_when_nothing_is_typed():
    fields = with_values(a_form(CREATE).fields, {"cron_expr": (OWN,), f"cron_expr{OWN}": ("5 4 * * *",)})
    assert answers(replace(a_form(CREATE), fields=fields))["cron_expr"] == "5 4 * * *"
    fields = with_values(a_form(CREATE).fields, {"cron_expr": (OWN,), f"cron_expr{OWN}": ("",)})
    assert "cron_expr" not in answers(replace(a_form(CREATE), fields=fields))


@pytest.mark.parametrize(("language", "said"), [("zh", "名称：已被使用。"), ("en", "Name: It is taken.")])
def test_the_message_of_a_large_form_says_what_is_wrong_so_far(language: str, said: str):
    form = changed(a_form(CREATE, language), "name", problem=Phrase("已被使用。", "It is taken."))
    assert [block.text for block in form_card(form).blocks if isinstance(block, Notice)][-1] == said


def test_a_form_is_large_for_its_many_fields_or_for_one_of_several_lines():
    [short, *_] = a_form(PAUSE).fields

    def asks(count: int, **changes: object) -> Form:
        fields = tuple(replace(short, name=f"f{number}") for number in range(count))
        return changed(a_form(fields), "f0", **changes)

    assert not is_large(asks(5))
    assert is_large(asks(6))
    assert is_large(asks(1, is_multiline=True))
    assert is_large(asks(1, kind="secret"))
    assert controls(form_card(asks(6))) == ["form_open", "form_cancel"]
    assert controls(form_card(asks(5))) == ["form_submit", "form_cancel"]


def test_inputs_begin_anew_after_a_wrong_answer():
    """A platform keeps what was typed under a key, so a corrected form has others."""
    form = a_form(PAUSE)
    keys = [{block.key for block in form_card(each).blocks if isinstance(block, Select | TextInput)}
            for each in (form, replace(form, revision=1))]  # fmt: skip
    assert keys[0].isdisjoint(keys[1])
    assert all(len(each) == 2 for each in keys)


def test_secrets_and_odd_characters_are_shown_as_such(draw):
    form = changed(a_form(CREATE), "name", text="hunter2-and-more \u202eevil")
    drawn = draw(form_card(form, Redactor(["hunter2-and-more"]).text))
    assert "hunter2" not in drawn
    assert "⟨U+202E⟩" in drawn


def test_a_heading_fits_whatever_the_title():
    form = replace(a_form(PAUSE), title=Phrase("长" * 300, "long " * 80))
    (heading,) = (block for block in form_card(form).blocks if isinstance(block, Heading))
    assert len(heading.text) <= 150
    assert len(form_modal(form).title) <= 24


def test_nothing_that_came_from_outside_is_drawn_with_a_secret_in_it():
    """What a tool or its service says of a value may quote one."""
    secret = "Bearer abcdefghijklmnop1234"
    said = Phrase(f"坏了 {secret}", f"broken {secret}")
    choice = Choice(1, Phrase("a task", "a task"), said)
    form = replace(a_form(PAUSE), problem=said)
    form = changed(form, form.fields[0].name, problem=said, hint=said, choices=(choice,), takes_text=True)
    redact = Redactor(()).text
    drawn = f"{form_card(form, redact)} {form_modal(form, redact)}"
    assert "broken" in drawn
    assert "abcdefghijklmnop1234" not in drawn
