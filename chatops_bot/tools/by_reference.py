"""Secret arguments are never taken from a model except by reference.

A reference is good for one call: the one that its form asked for, in the same conversation, with every argument as it was
filled in. So a model that was talked into it can send the value to no other tool and no other target.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.errors import Told, ToolArgumentsInvalid
from chatops_bot.domain.form import Form, FormState
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.secret_argument import form_of, holds_reference, may_spell_reference
from chatops_bot.ports import Clock, Forms
from chatops_bot.tools.argument_model import secret_arguments
from chatops_bot.tools.invocation import Dispatched, Handler, Invocation
from chatops_bot.tools.sealed_secrets import GIVEN_FOR, SealedSecrets
from chatops_bot.tools.validation import parse_object

_LITERAL = Phrase(
    "{name} 是机密，只由人在表单里填写，未执行。",
    "{name} is a secret that a person gives in a form; nothing ran.",
)
_NOT_THIS_CALL = Phrase(
    "{name} 的机密是为另一次调用填写的，未执行。",
    "What was given for {name} was given for another call; nothing ran.",
)
_NO_SECRET = Phrase("{name} 不是机密参数，未执行。", "{name} takes no secret; nothing ran.")
_GONE = Phrase(
    "{name} 的机密已被使用或已过期，未执行。",
    "What was given for {name} was used or has expired; nothing ran.",
)


def by_reference(forms: Forms, secrets: SealedSecrets | None, clock: Clock, inner: Handler) -> Handler:
    """Let a call through whose secret arguments are missing, or the references that its own form was given."""

    async def check(invocation: Invocation) -> Dispatched:
        names = secret_arguments(invocation.tool.spec.arguments)
        if not names and not may_spell_reference(invocation.call.arguments):
            return await inner(invocation)
        given = parse_object(invocation.call.arguments)
        for name, value in given.items():
            if name not in names and holds_reference({name: value}):
                raise ToolArgumentsInvalid(
                    _NO_SECRET.filled(name=name), told=Told("secret_misplaced", {"name": name})
                )
        if not names:
            return await inner(invocation)
        held = {name: given[name] for name in names if not _is_blank(given.get(name))}
        for name, value in held.items():
            form_id = form_of(value)
            if form_id is None:
                raise ToolArgumentsInvalid(
                    _LITERAL.filled(name=name), told=Told("secret_given", {"name": name})
                )
            form = await forms.get(form_id)
            if form is None or not _is_for(form, invocation, given):
                raise ToolArgumentsInvalid(
                    _NOT_THIS_CALL.filled(name=name), told=Told("secret_elsewhere", {"name": name})
                )
            if secrets is None or not _is_recent(form, clock.now()) or not await secrets.is_kept(value):
                raise ToolArgumentsInvalid(_GONE.filled(name=name), told=Told("secret_gone", {"name": name}))
        # Models that must send every argument send "" for what they do not know.
        told = {name: value for name, value in given.items() if name not in names or name in held}
        call = invocation.call
        if told != given:
            call = replace(call, arguments=canonical_json(told))
        return await inner(replace(invocation, call=call))

    return check


def _is_for(form: Form, invocation: Invocation, given: Mapping[str, Any]) -> bool:
    """Whether a call is the one that `form` was filled in for, to the letter."""
    if form.state is not FormState.SUBMITTED or form.tool != invocation.tool.spec.name:
        return False
    try:
        called = invocation.tool.spec.arguments.model_validate(dict(given)).model_dump(mode="json")
    except ValidationError:
        return False
    return form.session == invocation.context.session and canonical_json(called) == canonical_json(
        dict(form.arguments or {})
    )


def _is_recent(form: Form, now: datetime) -> bool:
    """Whether a proposal that is made now ends before what was typed is deleted."""
    return form.closed_at is not None and now - form.closed_at < GIVEN_FOR


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())
