"""Follow-up buttons: an opaque token on the button, the question in the store, a new turn in the same session on a click."""

from collections.abc import Sequence

from chatops_bot.domain.language import Phrase, language_of
from chatops_bot.domain.people import Person
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.view import Lines, View
from chatops_bot.ports import Controls, Ids, Inbox, Place, Platform
from chatops_bot.rendering.notices import whisper_view

_GONE = Phrase(
    "这个按钮已失效，请直接输入问题。", "This button is no longer valid; type your question instead."
)
_ASKED = Phrase("这个问题已经问过，回答在下面。", "This was asked already; the answer is below.")


class Followups:
    def __init__(self, controls: Controls, inbox: Inbox, platform: Platform, ids: Ids) -> None:
        self._controls = controls
        self._inbox = inbox
        self._platform = platform
        self._ids = ids

    async def offered(self, questions: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Questions with the tokens that stand for them: (question, token) in order."""
        offered = []
        for question in questions:
            token = self._ids.new("ask")
            await self._controls.put(token, question)
            offered.append((question, token))
        return tuple(offered)

    async def taken(self, token: str, person: Person, session: SessionKey) -> str | None:
        """The question behind a pressed button, after showing in the thread who asked what; None when there is none to ask."""
        place = Place(session.channel, session.thread)
        question = await self._controls.get(token)
        if question is None:
            await self._platform.whisper(place, person.id, whisper_view(_GONE, "en"))
            return None
        language = language_of(question)
        if not await self._inbox.claim(f"followup:{token}"):
            await self._platform.whisper(place, person.id, whisper_view(_ASKED, language))
            return None
        line = Phrase(f"{person.name} 问：{question}", f"{person.name} asked: {question}").said_in(language)
        await self._platform.post(place, View((Lines((line,)),), fallback=line))
        return question
