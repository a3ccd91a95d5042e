"""A call that only lacks facts becomes a form: nobody guesses, and a model need not ask one question after another.

Wrong values are not lacking ones: they go back to the model, which mends them itself. A blank counts as lacking, since
models that must send every required argument send "".
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from pydantic import BaseModel, ValidationError

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.errors import Told, ToolArgumentsInvalid, ToolError, ToolFailed, Words
from chatops_bot.domain.form import Candidates, Form, with_problems
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.people import Effect
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.tool import ToolResult
from chatops_bot.ports import CandidateProvider, Clock, Forms, Ids, ToolSpec
from chatops_bot.tools.audited import call_record
from chatops_bot.tools.border import guarded
from chatops_bot.tools.by_reference import by_reference
from chatops_bot.tools.checking import problems_found
from chatops_bot.tools.form_fields import fields_of
from chatops_bot.tools.invocation import Dispatched, Handler, Invocation
from chatops_bot.tools.sealed_secrets import SealedSecrets
from chatops_bot.tools.validation import parse_object

PROVIDER_SECONDS = 5.0
"""How long a list of values may take; without it the value is typed."""


def no_hints(tool: str) -> Mapping[str, Phrase]:
    return {}


@dataclass(frozen=True, slots=True)
class Facts:
    """The arguments of a call, parted: what is known, and those that it cannot do without; `problems` as the tool said them."""

    known: Mapping[str, Any]
    missing: frozenset[str]
    problems: Mapping[str, Phrase] = field(default_factory=dict)


class Asker:
    """Turns calls that lack facts into forms, each stored in one step with its audit row. `lifetime` is how long a form may be filled in;
    `secrets` keep what is typed into its secret fields; `hints` says, by tool and argument, what is said to whoever is asked for an
    argument that says nothing itself."""

    def __init__(
        self,
        forms: Forms,
        clock: Clock,
        ids: Ids,
        redactor: Redactor,
        lifetime: timedelta,
        secrets: SealedSecrets | None = None,
        hints: Callable[[str], Mapping[str, Phrase]] = no_hints,
    ) -> None:
        self._forms = forms
        self._clock = clock
        self._ids = ids
        self._redactor = redactor
        self._lifetime = lifetime
        self._secrets = secrets
        self._hints = hints

    def asked(self, words: Words, inner: Handler) -> Handler:
        """`words` is what the model is told of a call that waits for its form."""

        async def ask(invocation: Invocation) -> Dispatched:
            spec = invocation.tool.spec
            if spec.effect is Effect.READ and not spec.asks:
                return await inner(invocation)
            facts = lacking(invocation.call.arguments, spec.arguments)
            asked = await self._form_for(invocation, facts, words) if facts else None
            if asked is not None:
                return asked
            try:
                return await inner(invocation)
            except ToolFailed as error:
                # What the schema lets be blank and the tool does not.
                facts = _blank_after_all(error, invocation.call.arguments)
                asked = await self._form_for(invocation, facts, words) if facts else None
                if asked is None:
                    raise
                return asked

        return by_reference(self._forms, self._secrets, self._clock, ask)

    async def _form_for(self, invocation: Invocation, facts: Facts, words: Words) -> Dispatched | None:
        """The call as a form that waits; None when what is missing is nothing that a form can ask for."""
        key = f"{invocation.tool.spec.name} {canonical_json(dict(facts.known))}"
        first = invocation.memory.forms.get(key)
        if first is not None:
            note = words(Told("same_form"), invocation.language)
            return replace(
                first, form=None, result=replace(first.result, content={**first.result.content, "note": note})
            )
        at, started = self._clock.now(), self._clock.monotonic()
        form = await self._form(invocation, facts)
        if form is None:
            return None
        said = words(Told("waits_for_form"), invocation.language)
        done = Dispatched(_waits(form, sorted(facts.missing), said), "asked_back", form=form)
        milliseconds = round((self._clock.monotonic() - started) * 1000)
        model = invocation.tool.spec.arguments
        record = call_record(invocation, done, at, milliseconds, self._redactor, model)
        await self._forms.add(form, record, by_turn=invocation.context.turn_id)
        invocation.memory.forms[key] = done
        return done

    async def _form(self, invocation: Invocation, facts: Facts) -> Form | None:
        spec, context, now = invocation.tool.spec, invocation.context, self._clock.now()
        candidates = await self._candidates(invocation)
        fields = fields_of(
            spec.arguments, facts.known, facts.missing, candidates, hints=self._hints(spec.name)
        )
        if fields is None:
            return None
        found = await problems_found(invocation.tool, facts.known, context)
        return Form(
            id=self._ids.new("form"),
            session=context.session,
            turn_id=context.turn_id,
            call_id=invocation.call.id,
            tool=spec.name,
            effect=spec.effect,
            title=spec.title or title_of(spec),
            requester_id=context.person.id,
            requester_name=context.person.name,
            language=invocation.language,
            known=facts.known,
            fields=with_problems(fields, {**found, **facts.problems}),
            created_at=now,
            expires_at=now + self._lifetime,
        )

    async def _candidates(self, invocation: Invocation) -> dict[str, Candidates]:
        async def offered(provider: CandidateProvider) -> Candidates:
            try:
                async with asyncio.timeout(PROVIDER_SECONDS):
                    return await guarded(invocation.call.name, provider(invocation.tool, invocation.context))
            except (ToolError, TimeoutError):
                return Candidates(())

        providers = invocation.tool.spec.candidates
        lists = await asyncio.gather(*map(offered, providers.values()))
        return dict(zip(providers, lists, strict=True))


def lacking(text: str, model: type[BaseModel]) -> Facts | None:
    """What a call's arguments lack; None when that is nothing, or not all that is wrong with them."""
    try:
        given = parse_object(text)
    except ToolArgumentsInvalid:
        return None
    try:
        model.model_validate(given)
    except ValidationError as error:
        places = [(each["loc"], each["type"]) for each in error.errors()]
    else:
        return None
    for place, kind in places:
        name = place[0] if len(place) == 1 else None
        if name not in model.model_fields or not model.model_fields[str(name)].is_required():
            return None
        if kind != "missing" and not _is_blank(given.get(str(name))):
            return None
    missing = frozenset(str(place[0]) for place, _ in places)
    return Facts(_known(given, missing), missing)


def title_of(spec: ToolSpec) -> Phrase:
    """What a form of this tool is about, where the tool does not say: its name in words."""
    words = spec.name.replace("_", " ").capitalize()
    return Phrase(words, words)


def _blank_after_all(error: ToolFailed, text: str) -> Facts | None:
    if not error.problems:
        return None
    given = parse_object(text)
    missing = frozenset(name for name in error.problems if _is_blank(given.get(name)))
    return Facts(_known(given, missing), missing, error.problems) if missing else None


def _known(given: Mapping[str, Any], missing: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in missing and not _is_blank(value)}


def _is_blank(value: Any) -> bool:
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def _waits(form: Form, names: list[str], said: str) -> ToolResult:
    return ToolResult(
        status="waits",
        content={
            "status": said,
            "missing": names,
            "expires_at": form.expires_at.isoformat(timespec="seconds"),
        },
        summary=Phrase(f"等待填写表单（缺 {len(names)} 项）", f"waits for a form ({len(names)} missing)"),
    )
