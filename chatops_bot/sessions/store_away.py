"""What people are told while the store is away: once for each message, and only who is known without it to speak to the bot."""

import logging
from collections import deque

from chatops_bot.domain.event import MessageReceived
from chatops_bot.domain.language import language_of_words
from chatops_bot.domain.session import SessionKey
from chatops_bot.ports import Place, Platform
from chatops_bot.rendering.notices import NOT_DECIDED, NOT_TAKEN, whisper_view
from chatops_bot.sessions.commands import DecideByCode, parse_command

_log = logging.getLogger(__name__)

_REMEMBERED = 1_000
"""How many threads, and messages, are remembered for the time in which the store does not say."""


class StoreAway:
    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._spoken_in: dict[SessionKey, None] = {}
        self._told: deque[str] = deque(maxlen=_REMEMBERED)

    def remember(self, session: SessionKey) -> None:
        """This process has taken a question in that thread."""
        self._spoken_in[session] = None
        if len(self._spoken_in) > _REMEMBERED:
            del self._spoken_in[next(iter(self._spoken_in))]

    def is_to_be_told(self, event: MessageReceived) -> bool:
        """Whether the author is to be told that the message was not taken; true once, since a mention comes twice."""
        is_for_us = (
            event.mentions_bot
            or event.is_direct
            or isinstance(parse_command(event.text.strip()), DecideByCode)
            or (event.session in self._spoken_in and not event.mentions_others)
        )
        if not is_for_us or event.dedupe_key in self._told:
            return False
        self._told.append(event.dedupe_key)
        return True

    async def tell(self, event: MessageReceived) -> None:
        """Say below the message that the store is away, and what to do."""
        phrase = NOT_TAKEN if parse_command(event.text.strip()) is None else NOT_DECIDED
        view = whisper_view(phrase, language_of_words(event.text, event.names))
        await self._platform.post(Place(event.session.channel, event.session.thread), view)
