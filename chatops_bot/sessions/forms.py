"""Forms: shown, filled in, cancelled, expired. What a person fills in starts a new turn that knows it.

First the state with its audit row, then the turn, then the message. Whoever asked may fill a form in, and others only where a rule says so,
while they may ask for the thing themselves. Their values are judged by the tool's own model and, for a change, by its plan, which only reads; what is wrong is
said at its field, and what was typed stays. Nothing runs here: the turn that begins makes the call, which then becomes a
proposal like any other.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, cast

from pydantic import BaseModel

from chatops_bot.context.filled_form import filled_values
from chatops_bot.domain.errors import PlatformError, ToolError, ToolFailed
from chatops_bot.domain.event import ControlUsed, ModalSubmitted
from chatops_bot.domain.form import OWN, Form, FormField, FormState, FormValues, with_problems
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.people import Effect, Person, Role
from chatops_bot.domain.policy import Policy
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.transcript import FormClosed, FormFilled
from chatops_bot.ports import Clock, Directory, Ids, Place, Platform, Store, ToolContext, WriteTool
from chatops_bot.rendering import form_notices as notices
from chatops_bot.rendering.form_card import form_card, form_modal
from chatops_bot.rendering.notices import whisper_view
from chatops_bot.sessions.mailbox import TurnInput
from chatops_bot.sessions.recording import closed_record, form_refused_record, shown_record
from chatops_bot.sessions.recovery import RESUMED_WITHIN
from chatops_bot.sessions.refusals import Refusals, shown_nowhere
from chatops_bot.tools.argument_model import secret_arguments
from chatops_bot.tools.audited import decision_record
from chatops_bot.tools.border import guarded
from chatops_bot.tools.checking import CHECK_SECONDS, problems_found
from chatops_bot.tools.drafting import refuse_what_nobody_would_read
from chatops_bot.tools.form_answers import SECRET, answers, judged, typed_secret, with_values
from chatops_bot.tools.registry import Registry
from chatops_bot.tools.sealed_secrets import SealedSecrets

_log = logging.getLogger(__name__)

STALE_AFTER = timedelta(seconds=60)
"""As for proposals: a card that is behind for longer was missed."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of an answer: the turn that begins, or the problems by input; neither when its author was told why not.

    A turn with a `refusal` may not begin any more: it ends with that.
    """

    form: Form | None = None
    turn: TurnInput | None = None
    refusal: Phrase | None = None
    problems: Mapping[str, str] | None = None


class Forms:
    def __init__(
        self, *, store: Store, platform: Platform, directory: Directory, registry: Registry, redactor: Redactor, clock: Clock,
        ids: Ids, policy: Policy, secrets: SealedSecrets,
    ) -> None:  # fmt: skip
        self._store = store
        self._platform = platform
        self._directory = directory
        self._registry = registry
        self._redactor = redactor
        self._clock = clock
        self._refusals = Refusals(clock)
        self._ids = ids
        self._policy = policy
        self._secrets = secrets

    async def show(self, form: Form) -> None:
        """Post or update the form's message. A new form takes the place of the open ones that asked the same person the same."""
        if form.revision == 0:
            for older in await self._store.forms.open():
                asks_the_same = (older.session, older.tool, older.requester_id) == (
                    form.session, form.tool, form.requester_id,
                )  # fmt: skip
                if asks_the_same and older.turn_id != form.turn_id and older.created_at <= form.created_at:
                    await self._close(older, FormState.SUPERSEDED)
        place, view = _place(form), form_card(form, self._redactor.text)
        known = form.card
        if known is None and form.revision > 0:
            known = await self._platform.find(place, form.id)
        if known is None:
            card = await self._platform.post(place, view, key=form.id)
        else:
            card = await self._platform.finish(known, view)
        await self._store.audit.record(shown_record(form, card, self._clock.now()))
        await self._store.forms.shown(form.id, card, form.revision)
        latest = await self._store.forms.get(form.id)
        if latest is not None and latest.shown_revision > form.revision:  # as in `ProposalCards.show`
            await self.show(latest)

    async def show_quietly(self, form: Form) -> None:
        """As `show`; when the platform fails, the message stays behind and is caught up by the sweep."""
        try:
            await self.show(form)
        except PlatformError as error:
            _log.warning("the message of form %s could not be updated: %s", form.id, error)
            await self._refused(form, error)
        else:
            self._refusals.forget(form.id)

    async def _refused(self, form: Form, error: PlatformError) -> None:
        if self._refusals.note(form.id, error):
            _log.warning("the message of form %s is given up", form.id)
            await self._store.forms.shown(form.id, shown_nowhere(form.card, form.session), form.revision)

    async def open_dialog(self, event: ControlUsed) -> None:
        """A click on Fill in."""
        form = await self._admitted(event.value, event.person, event.session)
        if form is None:
            return
        try:
            await self._platform.open_modal(event.trigger, form_modal(form, self._redactor.text))
        except PlatformError as error:
            _log.warning("the dialog of form %s could not be opened: %s", form.id, error)
            await self._tell(form, event.person, notices.NOT_OPENED)

    async def cancel(self, event: ControlUsed) -> None:
        """A click on Cancel."""
        form = await self._admitted(event.value, event.person, event.session)
        if form is not None:
            await self._close(form, FormState.CANCELLED, event.person)

    async def open_for(self, person: Person, session: SessionKey) -> list[Form]:
        """The forms in the session that ask this person, oldest first."""
        mine = (form for form in await self._store.forms.open() if form.requester_id == person.id)
        return [form for form in mine if form.session == session]

    async def cancel_by_word(self, person: Person, session: SessionKey) -> None:
        """As a click on Cancel of the newest form that asks this person."""
        newest = (await self.open_for(person, session))[-1:]
        for form in newest:
            await self._close(form, FormState.CANCELLED, person)

    async def filled(self, event: ControlUsed) -> Taken:
        """A click on Submit beside the inputs. What is wrong is shown in the message itself. No message asks for a secret, so
        none is taken from one."""
        form = await self._admitted(event.value, event.person, event.session)
        if form is None:
            return Taken()
        secret = {each.name for each in form.fields if each.kind == "secret"}
        inputs = {name: value for name, value in event.inputs.items() if name not in secret}
        answered = await self._judged(form, inputs, event.person)
        if answered.arguments is not None:
            return await self._submitted(form, answered, event.person, inputs)
        corrected = await self._store.forms.move(
            form, FormState.OPEN, self._clock.now(), fields=answered.fields, problem=answered.problem
        )
        if corrected is None:
            await self._tell_overtaken(form, event.person)
            return Taken()
        return Taken(corrected, problems=_problems(corrected))

    async def filled_in_dialog(self, event: ModalSubmitted) -> Taken:
        """A dialog was sent off, in no channel: its author's role is that in the form's. What is wrong is for the platform to show at the fields; the dialog holds what was typed."""
        asking = await self._store.forms.get(event.value)
        channel = asking.session.channel if asking is not None else ""
        person = await self._directory.person(event.person.id, channel)
        form = await self._admitted(event.value, person)
        if form is None:
            return Taken()
        answered = await self._judged(form, event.inputs, person)
        if answered.arguments is not None:
            return await self._submitted(form, answered, person, event.inputs)
        return Taken(problems=_problems(answered))

    async def sweep(self) -> None:
        """Close what nobody filled in in time, and bring messages up to date that an edit did not reach."""
        now = self._clock.now()
        for form in await self._store.forms.open():
            if now >= form.expires_at:
                await self._close(form, FormState.EXPIRED)
        for form in await self._store.forms.with_stale_card():
            if now - (form.closed_at or form.created_at) > STALE_AFTER:
                await self._catch_up(form)

    async def recover(self) -> None:
        """After a restart: bring messages up to date."""
        for form in await self._store.forms.with_stale_card():
            await self._catch_up(form)

    async def unbegun(self) -> list[Taken]:
        """The submitted forms whose turn was never recorded, each with the refusal where it may not begin any more.

        One whose author cannot be looked up is left for a later call, until it is too old.
        """
        taken = []
        for form in await self._store.forms.unanswered():
            if self._clock.now() - (form.closed_at or form.created_at) > RESUMED_WITHIN:
                somebody = Person(
                    form.closed_by_id or form.requester_id,
                    form.closed_by_name or form.requester_name,
                    Role.GUEST,
                )
                taken.append(Taken(form, _turn(form, somebody), notices.TOO_LATE))
                continue
            try:
                person = await self._directory.person(
                    form.closed_by_id or form.requester_id, form.session.channel
                )
            except PlatformError as error:
                _log.warning("who filled in form %s cannot be asked: %s", form.id, error)
                continue
            refusal = self._may_answer(form, person)
            taken.append(Taken(form, _turn(form, person), refusal))
        return taken

    async def _catch_up(self, form: Form) -> None:
        if self._refusals.rests(form.id):
            return
        try:
            if form.card is None:
                form = replace(form, card=await self._platform.find(_place(form), form.id))
        except PlatformError as error:
            _log.warning("the message of form %s could not be looked for: %s", form.id, error)
            await self._refused(form, error)
            return
        await self.show_quietly(form)

    async def _admitted(self, form_id: str, person: Person, session: SessionKey | None = None) -> Form | None:
        """The open form, if this person may fill it in; otherwise they alone are told why not."""
        form = await self._store.forms.get(form_id)
        if form is None or session not in (None, form.session):
            if session is not None:
                view = whisper_view(notices.UNKNOWN, None)
                await self._platform.whisper(Place(session.channel, session.thread), person.id, view)
            return None
        refusal = self._may_answer(form, person)
        if form.is_open and self._clock.now() >= form.expires_at:
            form = await self._close(form, FormState.EXPIRED) or form
        if refusal is None and not form.is_open:
            refusal = notices.CLOSED[form.state.value]
        if refusal is not None:
            refused = form_refused_record(form, person, refusal, self._clock.now(), self._redactor)
            await self._store.audit.record(refused)
            await self._tell(form, person, refusal)
            return None
        return form

    def _may_answer(self, form: Form, person: Person) -> Phrase | None:
        return self._policy.may_answer(
            person, form.tool, form.effect, form.session.channel,
            asked_id=form.requester_id, asked_name=form.requester_name,
        )  # fmt: skip

    async def _judged(self, form: Form, values: FormValues, person: Person) -> Form:
        """The form with what was filled in: with its complete `arguments`, or with problems. Stores nothing.

        What was typed into secret fields is in none of it; neither the tool's own model nor its plan sees that.
        """
        form = replace(form, fields=with_values(form.fields, values), problem=None)
        given = answers(form)
        secrets = {name: SECRET for name, value in given.items() if self._redactor.value(value) != value}
        problems: dict[str, Phrase] = {}
        arguments: dict[str, Any] = {}
        context = ToolContext(person, form.session, form.turn_id)
        try:
            tool = self._registry.find(form.tool)
            judgement = judged(tool.spec.arguments, given)
            secrets |= _ill_sized(tool.spec.arguments, form.fields, values)
            if secrets or isinstance(judgement, dict):
                unfit = {**(judgement if isinstance(judgement, dict) else {}), **secrets}
                rest = {name: value for name, value in given.items() if name not in unfit}
                problems = {**await problems_found(tool, rest, context), **unfit}
            else:
                arguments = judgement.model_dump(mode="json")
                if form.effect is not Effect.READ:
                    problems = await _planned(cast("WriteTool", tool), judgement, context)
        except ToolError as error:  # a tool that there no longer is
            problems = {"": error.phrase}
        if not problems:
            return replace(form, arguments=arguments)
        problems = {name: self._redactor.phrase(problem) for name, problem in problems.items()}
        at_fields = {each.name: problems[each.name] for each in form.fields if each.name in problems}
        others = [problem for name, problem in problems.items() if name not in at_fields]
        if others and not at_fields and len(form.fields) == 1:
            at_fields, others = {form.fields[0].name: others[0]}, []
        return replace(
            form, fields=with_problems(form.fields, at_fields), problem=others[0] if others else None
        )

    async def _submitted(self, form: Form, answered: Form, person: Person, values: FormValues) -> Taken:
        answered = await self._with_references(answered, values)
        now = self._clock.now()
        turn_id, arguments = self._ids.new("turn"), answered.arguments or {}
        filled = decision_record(
            person=person, proposal_session=str(form.session), turn_id=turn_id, tool=form.tool, arguments=arguments,
            decision="filled", status=FormState.SUBMITTED.value, content={}, proposal_id=form.id, clock=self._clock,
            redactor=self._redactor,
        )  # fmt: skip
        submitted = await self._store.forms.move(
            form, FormState.SUBMITTED, now, filled,
            fields=answered.fields, problem=None, arguments=arguments, answer_turn_id=turn_id,
            closed_at=now, closed_by_id=person.id, closed_by_name=person.name,
        )  # fmt: skip
        if submitted is None:
            await self._secrets.forget(arguments, form.tool, form.session)
            await self._tell_overtaken(form, person)
            return Taken()
        return Taken(submitted, _turn(submitted, person))

    async def _with_references(self, answered: Form, values: FormValues) -> Form:
        """The form with what was typed into its secret fields sealed and stored apart."""
        references = {
            each.name: await self._secrets.keep(answered.id, typed, answered.tool, answered.session)
            for each in answered.fields
            if each.kind == "secret" and (typed := typed_secret(each, values))
        }
        fields = (replace(each, text=references.get(each.name, each.text)) for each in answered.fields)
        return replace(answered, fields=tuple(fields), arguments={**(answered.arguments or {}), **references})

    async def _close(self, form: Form, to: FormState, by: Person | None = None) -> Form | None:
        """Close a form that nobody will fill in; None when somebody else was faster."""
        now = self._clock.now()
        closed = await self._store.forms.move(
            form, to, now, closed_record(form, to, by, now, self._redactor), closed_at=min(now, form.expires_at),
            closed_by_id=by.id if by else "", closed_by_name=by.name if by else "",
        )  # fmt: skip
        if closed is None:
            return None
        entry = FormClosed(form.turn_id, now, form.id, form.tool, to.value, closed.closed_by_name)
        await self._store.transcripts.append(form.session, [entry])
        await self.show_quietly(closed)
        return closed

    async def _tell_overtaken(self, form: Form, person: Person) -> None:
        """The move was lost: to another click, or to the clock."""
        newer = await self._store.forms.get(form.id)
        if newer is not None and newer.is_open:
            newer = await self._close(newer, FormState.EXPIRED)
        if newer is not None and not newer.is_open:
            await self._tell(newer, person, notices.CLOSED[newer.state.value])

    async def _tell(self, form: Form, person: Person, phrase: Phrase) -> None:
        await self._platform.whisper(_place(form), person.id, whisper_view(phrase, _language(form)))


def _ill_sized(
    model: type[BaseModel], fields: tuple[FormField, ...], values: FormValues
) -> dict[str, Phrase]:
    """What is wrong with what was typed into secret fields, as far as anybody but the tool can say."""
    secret = secret_arguments(model)
    problems = {
        each.name: secret[each.name].problem_of(typed)
        for each in fields
        if each.name in secret and (typed := typed_secret(each, values))
    }
    return {name: problem for name, problem in problems.items() if problem is not None}


async def _planned(tool: WriteTool, arguments: Any, context: ToolContext) -> dict[str, Phrase]:
    """What is wrong with arguments that fit the schema, by argument ("" for the whole); planning only reads."""
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            plan = await guarded(tool.spec.name, tool.plan(arguments, context))
        refuse_what_nobody_would_read(plan, arguments.model_dump(mode="json"))
    except TimeoutError:
        return {}
    except ToolFailed as error:
        return dict(error.problems) or {"": error.phrase}
    except ToolError as error:
        return {"": error.phrase}
    return {}


def _turn(form: Form, person: Person) -> TurnInput:
    entry = FormFilled(
        turn_id=form.answer_turn_id,
        at=form.closed_at or form.created_at,
        form_id=form.id,
        tool=form.tool,
        arguments=form.arguments or {},
        language=form.language,
        author_id=person.id,
        author_name=person.name,
        author_role=person.role.value,
    )
    return TurnInput(
        form.answer_turn_id,
        form.session,
        person,
        filled_values(entry),
        at=entry.at,
        filled=entry,
        language=_language(form),
    )


def _problems(form: Form) -> dict[str, str]:
    """What is wrong, by field; what is wrong with the whole stands at the first."""
    language = _language(form)
    problems = {
        f"{each.name}{OWN}" if each.choices and each.text.strip() else each.name: each.problem.said_in(
            language
        )
        for each in form.fields
        if each.problem
    }
    if form.problem is not None:
        problems.setdefault(form.fields[0].name, form.problem.said_in(language))
    return problems


def _place(form: Form) -> Place:
    return Place(form.session.channel, form.session.thread)


def _language(form: Form) -> Language:
    return "zh" if form.language == "zh" else "en"
