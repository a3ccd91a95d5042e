"""What comes in from Slack: a verified payload becomes an inbound event, or nothing.

Slack wants its acknowledgement within three seconds, so `receive` only starts the work and returns; the socket
acknowledges at once. Messages of one session are worked through one after the other, in the order in which they came,
however long it takes to look up who wrote them. Clicks wait for nothing: an approval may take a minute, and a stop must
overtake what it stops. A message that mentions the bot comes twice, as `app_mention` and as `message`: both are handed on
with the same `dedupe_key`, and the router claims one.
"""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from chatops_bot.domain.errors import PlatformError, StoreUnavailable
from chatops_bot.domain.event import ControlUsed, DialogUsed, InboundEvent, MessageReceived, ModalSubmitted
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.session import MessageRef, SessionKey
from chatops_bot.domain.view import Notice, View
from chatops_bot.platforms.slack.api import Identity
from chatops_bot.platforms.slack.directory import SlackDirectory
from chatops_bot.platforms.slack.payloads import (
    AnyDialog,
    BlockActions,
    DialogActions,
    Json,
    MessageEvent,
    ViewSubmission,
    Whereabouts,
    inputs_in,
)
from chatops_bot.platforms.slack.text import (
    as_typed,
    calls_somebody,
    mentioned_channels,
    mentioned_users,
    name_on_one_line,
    names_typed,
    without_mentions_of,
)
from chatops_bot.ports import Place
from chatops_bot.rendering.notices import NOT_DECIDED, NOT_SENT

log = logging.getLogger(__name__)

PLATFORM = "slack"
CONTROLS = (
    "approve", "reject", "reason", "show", "page", "read", "again", "look", "undo", "keep", "continue", "stop", "followup", "form",
)  # fmt: skip
"""How the names of controls begin; a button of any other name is not ours or is from another version."""
_NEW_MESSAGES = (None, "thread_broadcast", "file_share")

NO_LONGER_VALID = Phrase(
    "此控件已失效，未执行任何操作。", "This control is no longer valid; nothing was done."
)
NOT_RECOGNISED = Phrase(
    "暂时无法向 Slack 查询您的身份，因此没有处理；请稍后再试。",
    "Slack cannot say who you are at the moment, so nothing was done; please try again.",
)
CLICK_FAILED = Phrase(
    "机器人内部出错；除卡片上显示的以外，没有做出任何决定。请查看卡片。",
    "Something inside the bot failed; nothing was decided that the card does not show. Look at the card.",
)

MODAL_FAILED = Phrase(
    "机器人内部出错，没有提交；请再试一次。",
    "Something inside the bot failed and nothing was sent; please try again.",
)

MODAL_UNREADABLE = Phrase(
    "机器人读不懂 Slack 发来的内容，没有提交；请再试一次。",
    "The bot cannot read what Slack sent, so nothing was sent; please try again.",
)
NOT_CHECKED_YET = Phrase(
    "还没有检查完，填写的内容都在；请再提交一次。",
    "Not checked yet; what you typed is kept. Please submit it once more.",
)

T = TypeVar("T")
OnEvent = Callable[[InboundEvent], Awaitable[None]]
OnModal = Callable[[ModalSubmitted], Awaitable[Mapping[str, str]]]
"""Takes a dialog that was sent off; returns what is wrong with it by input."""
MODAL_SECONDS = 2.5
"""Slack waits three seconds for the answer to a dialog."""


async def no_problems(_: ModalSubmitted) -> Mapping[str, str]:
    """For those who open no dialogs."""
    return {}


Whisper = Callable[[Place, str, View], Awaitable[None]]


class SlackInbound:
    """Turns payloads of one workspace into calls of `on_event`; `whisper` tells a person what cannot be handed on."""

    def __init__(
        self, identity: Identity, directory: SlackDirectory, whisper: Whisper, on_event: OnEvent,
        on_modal: OnModal = no_problems, *, modal_seconds: float = MODAL_SECONDS,
    ) -> None:  # fmt: skip
        self._identity = identity
        self._directory = directory
        self._whisper = whisper
        self._on_event = on_event
        self._on_modal = on_modal
        self._modal_seconds = modal_seconds
        self._tasks: set[asyncio.Task[Any]] = set()
        self._last_message: dict[SessionKey, asyncio.Task[None]] = {}

    def receive(self, body: Json) -> Awaitable[Json] | None:
        """Start work on a verified payload: an Events API body or an interaction. Never raises.

        Returns what the acknowledgement has to wait for, which is the answer to a dialog that was sent off.
        """
        if body.get("type") == "event_callback":
            self._receive_event(body.get("event"))
        elif body.get("type") == "block_actions":
            self._receive_press(body) if body.get("view") else self._receive_action(body)
        elif body.get("type") == "view_submission":
            return self._run(self._acknowledge_modal(body))
        return None

    async def drain(self, grace: float = 10.0) -> None:
        """Return when what was received has been worked through; what takes longer than `grace` seconds is cancelled."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + grace
        while self._tasks and (left := deadline - loop.time()) > 0:
            await asyncio.wait(self._tasks, timeout=left)
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _receive_event(self, raw: Any) -> None:
        if not isinstance(raw, dict) or raw.get("type") not in ("message", "app_mention"):
            return
        if raw.get("subtype") not in _NEW_MESSAGES:
            return
        try:
            event = MessageEvent.model_validate(raw)
        except ValidationError as error:
            log.warning("A message from Slack cannot be read: %s", _reasons(error))
            return
        if event.bot_id or event.app_id or event.user in (None, "USLACKBOT", self._identity.user_id):
            return
        session = self._session(event.channel, event.thread_ts or event.ts)
        user = event.user
        self._run_in_order(
            session, lambda: self._hand_on(session, user, lambda: self._message(session, event))
        )

    def _receive_action(self, body: Json) -> None:
        try:
            action = BlockActions.model_validate(body)
        except ValidationError as error:
            log.warning("An interaction from Slack cannot be read: %s", _reasons(error))
            self._refuse(body)
            return
        control = action.actions[0].action_id.partition(":")[0]
        if not control.startswith(CONTROLS):
            log.info("A control %r that nobody knows was used.", control)
            self._refuse(body)
            return
        session, user = self._session(action.container.channel_id, action.thread), action.user.id

        def tell_of_failure(task: asyncio.Task[None]) -> None:
            if not task.cancelled() and (failure := task.exception()) is not None:
                why = NOT_DECIDED if isinstance(failure, StoreUnavailable) else CLICK_FAILED
                self._run(self._tell(Place(session.channel, session.thread), user, why))

        click = self._run(self._hand_on(session, user, lambda: self._control(session, control, action)))
        click.add_done_callback(tell_of_failure)

    def _receive_press(self, body: Json) -> None:
        """A press inside a dialog. It stands in no channel, so there is nowhere to say that one was not understood."""
        try:
            press = DialogActions.model_validate(body)
        except ValidationError as error:
            log.warning("A press in a dialog of Slack's cannot be read: %s", _reasons(error))
            return
        self._run(self._pressed(press))

    async def _pressed(self, press: DialogActions) -> None:
        action = press.actions[0]
        try:
            person = await self._directory.person(press.user.id)
        except PlatformError as error:
            log.error("A press in dialog %s was not handled: %s", press.view.id, error)
            return
        control = action.action_id.partition(":")[0]
        await self._on_event(DialogUsed(person, control, action.value, press.view.id))

    async def _acknowledge_modal(self, body: Json) -> Json:
        """How to acknowledge a dialog: with what is wrong at its fields, or with nothing, which closes it.

        Whatever is not known to be taken keeps the dialog open, with all that was typed in it. What is taken only after
        the answer is taken once: the form has moved on when it is sent off again.
        """
        try:
            submission = ViewSubmission.model_validate(body)
        except ValidationError as error:
            log.warning("A dialog from Slack cannot be read: %s", _reasons(error))
            return _kept_open(_blocks(body), MODAL_UNREADABLE)
        asked = self._run(self._modal(submission))
        await asyncio.wait({asked}, timeout=self._modal_seconds)
        blocks = submission.view.block_of
        if not asked.done() or asked.cancelled():
            return _kept_open(blocks.values(), NOT_CHECKED_YET)
        if (failure := asked.exception()) is not None:
            return _kept_open(blocks.values(), _why_not_sent(failure))
        return _errors({blocks[name]: said for name, said in asked.result().items() if name in blocks})

    async def _modal(self, submission: ViewSubmission) -> Mapping[str, str]:
        person = await self._directory.person(submission.user.id)
        view = submission.view
        return await self._on_modal(
            ModalSubmitted(person, view.private_metadata, inputs_in(view.state.values))
        )

    async def _message(self, session: SessionKey, event: MessageEvent) -> MessageReceived:
        raw = event.text or ""
        bot = self._identity.user_id
        users = mentioned_users(raw) - {bot}
        names = {user: await self._directory.user_name(user) for user in sorted(users)}
        names |= {each: await self._directory.channel_name(each) for each in sorted(mentioned_channels(raw))}
        said, ids = without_mentions_of(raw, bot), {each: each for each in names}
        return MessageReceived(
            dedupe_key=f"{PLATFORM}:{session.workspace}:{event.channel}:{event.ts}",
            session=session,
            message_id=event.ts,
            author=await self._directory.person(event.user or "", session.channel),
            text=as_typed(said, ids),
            mentions_bot=event.type == "app_mention" or bot in mentioned_users(raw),
            is_direct=event.channel_type == "im" or event.channel.startswith("D"),
            has_attachments=bool(event.files or event.attachments),
            mentions_others=calls_somebody(said),
            names=names_typed(said, ids),
            mentioned={each: name_on_one_line(name) for each, name in names.items()},
        )

    async def _control(self, session: SessionKey, control: str, action: BlockActions) -> ControlUsed:
        return ControlUsed(
            session=session,
            person=await self._directory.person(action.user.id, session.channel),
            control=control,
            value=action.actions[0].value,
            message=MessageRef(session.channel, action.container.message_ts),
            inputs=inputs_in(action.state.values),
            trigger=action.trigger_id,
        )

    def _session(self, channel: str, thread: str) -> SessionKey:
        return SessionKey(PLATFORM, self._identity.team_id, channel, thread)

    async def _hand_on(
        self, session: SessionKey, user_id: str, parse: Callable[[], Awaitable[InboundEvent]]
    ) -> None:
        try:
            event = await parse()
        except PlatformError as error:
            log.error("An event of %s was not handled: %s", session, error)
            # A task of its own: a whisper that Slack rate-limits must not hold up the session's next message.
            self._run(self._tell(Place(session.channel, session.thread), user_id, NOT_RECOGNISED))
            return
        await self._on_event(event)

    def _refuse(self, body: Json) -> None:
        try:
            where = Whereabouts.model_validate(body)
        except ValidationError:
            return
        place = Place(where.container.channel_id, where.container.thread_ts)
        self._run(self._tell(place, where.user.id, NO_LONGER_VALID))

    async def _tell(self, place: Place, user_id: str, phrase: Phrase) -> None:
        text = f"{phrase.zh} {phrase.en}"
        try:
            await self._whisper(place, user_id, View(blocks=(Notice(text, "warning"),), fallback=text))
        except PlatformError as error:
            log.warning("%s could not be told %r: %s", user_id, phrase.en, error)

    def _run_in_order(self, session: SessionKey, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` when the session's earlier messages are done with, whether they succeeded or not."""
        before = self._last_message.get(session)

        async def in_turn() -> None:
            if before is not None:
                await asyncio.wait({before})
            await work()

        def forget(task: asyncio.Task[None]) -> None:
            if self._last_message.get(session) is task:
                del self._last_message[session]

        task = self._last_message[session] = self._run(in_turn())
        task.add_done_callback(forget)

    def _run(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        if isinstance(error, StoreUnavailable):
            log.error("An event was not handled to its end: %s", error)
        else:
            log.error("An event was not handled to its end.", exc_info=error)


def _errors(at: Mapping[str, str]) -> Json:
    return {"response_action": "errors", "errors": dict(at)} if at else {}


def _kept_open(blocks: Iterable[str], why: Phrase) -> Json:
    """The answer that says `why` at the first input. A dialog without inputs has nothing to lose and closes."""
    return _errors(dict.fromkeys(itertools.islice(blocks, 1), f"{why.zh} {why.en}"))


def _why_not_sent(failure: BaseException) -> Phrase:
    match failure:
        case PlatformError():
            return NOT_RECOGNISED
        case StoreUnavailable():
            return NOT_SENT
    return MODAL_FAILED


def _blocks(body: Json) -> list[str]:
    try:
        return AnyDialog.model_validate(body).blocks
    except ValidationError:
        return []


def _reasons(error: ValidationError) -> str:
    """Which fields were wrong, without their contents."""
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
