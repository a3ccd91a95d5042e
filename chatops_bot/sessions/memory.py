"""What a session remembers from before it began: the thread's earlier messages, read once when the bot is first spoken to.

They are stored as one transcript entry, so that neither a later turn nor a restart reads them again. A failure is stored
too, and the answer says so; the next turns try again, a few times, since an alert storm is just when Slack limits the bot. They are other people's words: redacted here, fenced where they enter the context.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace

from chatops_bot.domain.errors import PlatformError
from chatops_bot.domain.language import Phrase
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.thread import EarlierMessage
from chatops_bot.domain.transcript import EarlierRead, Entry, UserSaid
from chatops_bot.ports import Clock, Place, Platform

_log = logging.getLogger(__name__)

MAX_MESSAGES = 60
MAX_CHARS = 12_000
"""Of all messages together, about 4,000 tokens."""
MESSAGE_CHARS = 2_000

MAX_TRIES = 3
"""Turns of a session that try to read them; what failed so often is no passing limit."""

_ADVICE = {
    "missing_scope": Phrase(
        "请管理员给应用添加 `channels:history`（私有频道用 `groups:history`）权限并重新安装",
        "an administrator has to add the scope `channels:history` (`groups:history` in private channels) and install the app again",
    ),
    "not_in_channel": Phrase("请先把机器人邀请进本频道", "invite the bot to this channel"),
    "channel_not_found": Phrase("请先把机器人邀请进本频道", "invite the bot to this channel"),
    "ratelimited": Phrase(
        "Slack 正在限流；请稍后再问一次", "Slack limits how often the bot may read; ask again shortly"
    ),
}
_PASTE = Phrase("或把关键内容贴到消息里", "or paste what matters into a message")
_ASK_AGAIN = Phrase(
    "Slack 没有给出这些消息（{code}）；请稍后再问一次", "Slack did not give them ({code}); ask again shortly"
)
_NOT_READ = Phrase(
    "没能读取此消息串中更早的消息，回答没有参考它们：{why_zh}，{paste_zh}。",
    "The earlier messages of this thread could not be read, so the answer does not know them: {why_en}, {paste_en}.",
)
_PARTIAL = Phrase(
    "此消息串中更早的消息只读到一部分（{read} 条，另有约 {left} 条没有读到）。",
    "Only a part of this thread's earlier messages could be read ({read}; about {left} more were not).",
)


class ThreadMemory:
    def __init__(self, platform: Platform, redactor: Redactor, clock: Clock) -> None:
        self._platform = platform
        self._redactor = redactor
        self._clock = clock

    async def recall(
        self, session: SessionKey, turn_id: str, message_id: str, entries: Sequence[Entry]
    ) -> tuple[EarlierRead | None, Phrase | None]:
        """What to store of the thread before message `message_id` (empty: all of it), and what the answer must say.

        Nothing of either when they were read before, or too often in vain, or when the message starts its thread. Never raises.
        """
        tried = [entry for entry in entries if isinstance(entry, EarlierRead)]
        if tried:
            message_id = tried[-1].before
            if not tried[-1].problem or not message_id or len(tried) == MAX_TRIES:
                return None, None
        elif message_id == session.thread or any(isinstance(entry, UserSaid) for entry in entries):
            return None, None
        place = Place(session.channel, session.thread)
        try:
            excerpt = await self._platform.earlier(place, message_id, MAX_MESSAGES)
        except PlatformError as error:
            _log.warning("the earlier messages of %s could not be read: %s", session, error)
            failed = EarlierRead(
                turn_id, self._clock.now(), (), problem=error.code or "unknown", before=message_id
            )
            return failed, _not_read(error.code)
        kept, cut = self._bounded(excerpt.messages)
        read = EarlierRead(turn_id, self._clock.now(), kept, excerpt.left_out + cut)
        notice = _PARTIAL.filled(read=len(kept), left=read.left_out) if excerpt.is_partial else None
        return read, notice

    def _bounded(self, messages: Sequence[EarlierMessage]) -> tuple[tuple[EarlierMessage, ...], int]:
        """The newest messages that fit, redacted before they are cut, and how many did not fit.

        The thread's first message always stays: it is what the thread is about.
        """
        safe = [
            replace(
                each, author=self._redactor.text(each.author), text=_clipped(self._redactor.text(each.text))
            )
            for each in messages
        ]
        if not safe:
            return (), 0
        first, rest = safe[0], safe[1:]
        room = MAX_CHARS - len(first.text)
        kept: list[EarlierMessage] = []
        for message in reversed(rest):
            room -= len(message.author) + len(message.text)
            if room < 0:
                break
            kept.append(message)
        return (first, *reversed(kept)), len(rest) - len(kept)


def _clipped(text: str) -> str:
    return text if len(text) <= MESSAGE_CHARS else text[: MESSAGE_CHARS - 1] + "…"


def _not_read(code: str) -> Phrase:
    why = _ADVICE.get(code) or _ASK_AGAIN.filled(code=code or "unknown")
    return _NOT_READ.filled(why_zh=why.zh, why_en=why.en, paste_zh=_PASTE.zh, paste_en=_PASTE.en)
