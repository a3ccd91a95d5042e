"""Every inbound event comes through here once: is it ours, was it seen, what is it: a question, a click, a decision?"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from chatops_bot.domain.event import ControlUsed, InboundEvent, MessageReceived
from chatops_bot.domain.language import Phrase, language_of
from chatops_bot.domain.people import Effect, Person, may_ask
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.view import Notice, View
from chatops_bot.ports import Place, Platform, Store
from chatops_bot.rendering.notices import whisper_view
from chatops_bot.sessions.approvals import Approvals
from chatops_bot.sessions.commands import DecideByCode, parse_command
from chatops_bot.sessions.conductor import Conductor
from chatops_bot.sessions.followups import Followups
from chatops_bot.sessions.log_ids import bound
from chatops_bot.sessions.mailbox import Mailboxes

_log = logging.getLogger(__name__)

MESSAGE_CHARS = 12_000
"""Longest question, about 4,000 tokens; a longer one is a log dump that belongs in a snippet, or a mistake."""

DECISION_GRACE_SECONDS = 10.0
"""What takes longer is settled by recovery at the next start."""

_EMPTY = Phrase(
    "您好，我在。可以问我例如：“最近有哪些任务失败了？”、“暂停 nightly-report”、“整体健康状况如何？”。",
    "I am here. Ask me, for example: “What failed recently?”, “pause nightly-report”, “How healthy is the scheduler?”.",
)
_ONLY_ATTACHMENT = Phrase(
    "我读不了附件；请把关键的几行文字贴到消息里再问一次。",
    "I cannot read attachments; paste the lines that matter into a message and ask again.",
)
_TOO_LONG = Phrase(
    "消息有 {length} 个字符，超过 {limit} 个字符的上限，没有处理；请只贴关键的几行再问一次。",
    "The message has {length} characters, over the limit of {limit}, so it was not read; paste the lines that matter and ask again.",
)
_NOT_KNOWN = Phrase("此控件已失效，未执行任何操作。", "This control is no longer valid; nothing was done.")
_STOP_GONE = Phrase("这一轮已经结束。", "This turn is over already.")


class Router:
    def __init__(
        self,
        *,
        store: Store,
        platform: Platform,
        approvals: Approvals,
        followups: Followups,
        conductor: Conductor,
    ) -> None:
        self._store = store
        self._platform = platform
        self._approvals = approvals
        self._followups = followups
        self._conductor = conductor
        self._mailboxes = Mailboxes(conductor.conduct)
        self._deciding: set[asyncio.Task[None]] = set()

    async def handle(self, event: InboundEvent) -> None:
        """Take one event. Returns when it is decided; a turn that it starts runs on."""
        with bound(session=event.session):
            match event:
                case MessageReceived():
                    await self._message(event)
                case ControlUsed():
                    await self._control(event)

    async def aclose(self) -> None:
        """Bring turns to rest, and give decisions that are being carried out a while to come to their end."""
        await self._mailboxes.aclose()
        if self._deciding:
            await asyncio.wait(self._deciding, timeout=DECISION_GRACE_SECONDS)

    def _beside(self, decision: Coroutine[Any, Any, None]) -> None:
        """Carry out a typed decision without holding up the messages behind it."""
        task = asyncio.create_task(decision, name="typed decision")
        self._deciding.add(task)
        task.add_done_callback(self._decided)

    def _decided(self, task: asyncio.Task[None]) -> None:
        self._deciding.discard(task)
        if not task.cancelled() and (failure := task.exception()) is not None:
            _log.error("a typed decision was not carried out to its end", exc_info=failure)

    async def _message(self, event: MessageReceived) -> None:
        ours = event.mentions_bot or event.is_direct or await self._store.transcripts.known(event.session)
        if not ours or not await self._store.inbox.claim(event.dedupe_key):
            return
        if await self._refused(event.author, event.session, event.text):
            return
        command = parse_command(event.text)
        if isinstance(command, DecideByCode):
            language = language_of(event.text)
            self._beside(
                self._approvals.decide_by_code(
                    event.session, command.code, event.author, command.verdict, language
                )
            )
            return
        text = event.text.strip()
        problem = _problem(text, event)
        if problem is not None:
            view = whisper_view(problem, language_of(text)) if text else _in_both(problem)
            await self._platform.post(Place(event.session.channel, event.session.thread), view)
            return
        self._mailboxes.put(await self._conductor.accept(event.session, event.author, text))

    async def _control(self, event: ControlUsed) -> None:
        match event.control:
            case "approve" | "reject" as verdict:
                await self._approvals.decide(event.session, event.value, event.person, verdict)
            case "followup":
                await self._followup(event)
            case "stop":
                await self._stop(event)
            case _:
                _log.warning("control %r is not known", event.control)
                place = Place(event.session.channel, event.session.thread)
                await self._platform.whisper(place, event.person.id, whisper_view(_NOT_KNOWN, "en"))

    async def _followup(self, event: ControlUsed) -> None:
        if await self._refused(event.person, event.session, ""):
            return
        question = await self._followups.taken(event.value, event.person, event.session)
        if question is not None:
            self._mailboxes.put(await self._conductor.accept(event.session, event.person, question))

    async def _stop(self, event: ControlUsed) -> None:
        if await self._refused(event.person, event.session, ""):
            return
        if not self._conductor.stop(event.value):
            place = Place(event.session.channel, event.session.thread)
            await self._platform.whisper(place, event.person.id, whisper_view(_STOP_GONE, "en"))

    async def _refused(self, person: Person, session: SessionKey, text: str) -> bool:
        """Whether the person may not use the bot at all; they alone are told."""
        refusal = may_ask(person, Effect.READ)
        if refusal is None:
            return False
        view = whisper_view(refusal, language_of(text))
        await self._platform.whisper(Place(session.channel, session.thread), person.id, view)
        return True


def _in_both(phrase: Phrase) -> View:
    """A sentence for somebody whose language is not known, since they wrote no word."""
    return View((Notice(phrase.zh), Notice(phrase.en)), f"{phrase.zh} {phrase.en}")


def _problem(text: str, event: MessageReceived) -> Phrase | None:
    if not text:
        return _ONLY_ATTACHMENT if event.has_attachments else _EMPTY
    if len(text) > MESSAGE_CHARS:
        return _TOO_LONG.filled(length=f"{len(text):,}", limit=f"{MESSAGE_CHARS:,}")
    return None
