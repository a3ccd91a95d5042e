"""Follow-up buttons: an opaque token on the button, the question in the store, a new turn in the same session on a click."""

from collections.abc import Sequence

from chatops_bot.domain.language import Phrase, language_of
from chatops_bot.domain.people import Person
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.view import Lines, View
from chatops_bot.ports import Controls, Ids, Place, Platform
from chatops_bot.rendering.notices import whisper_view

_GONE = Phrase(
    "这个按钮已失效，请直接输入问题。", "This button is no longer valid; type your question instead."
)
_ASKED = Phrase("这个问题已经问过，回答在下面。", "This was asked already; the answer is below.")


def claim_of(token: str) -> str:
    """The inbox key that makes a button ask once."""
    return f"followup:{token}"


class Followups:
    def __init__(self, controls: Controls, platform: Platform, ids: Ids) -> None:
        self._controls = controls
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

    async def question(self, token: str, person: Person, session: SessionKey) -> str | None:
        """The question behind a pressed button; the person is told when there is none any more."""
        question = await self._controls.get(token)
        if question is None:
            place = Place(session.channel, session.thread)
            await self._platform.whisper(place, person.id, whisper_view(_GONE, None))
        return question

    async def announce(self, question: str, person: Person, session: SessionKey) -> None:
        """Show in the thread who asked what. Raises PlatformError."""
        line = Phrase(f"{person.name} 问：{question}", f"{person.name} asked: {question}").said_in(
            language_of(question)
        )
        await self._platform.post(
            Place(session.channel, session.thread), View((Lines((line,)),), fallback=line)
        )

    async def tell_asked(self, question: str, person: Person, session: SessionKey) -> None:
        """Tell a person that somebody pressed the button before them."""
        place = Place(session.channel, session.thread)
        await self._platform.whisper(place, person.id, whisper_view(_ASKED, language_of(question)))
