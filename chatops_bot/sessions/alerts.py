"""An alert that comes in from outside becomes a message in the incident channel; its thread is a session like any other."""

import asyncio
from dataclasses import replace

from chatops_bot.domain.alert import TaskFailed
from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.redaction import Redactor
from chatops_bot.ports import Place, Platform
from chatops_bot.rendering.alert_card import alert_card
from chatops_bot.sessions.followups import Followups

_WHY = Phrase("运行 #{run} 为什么失败？", "Why did run #{run} fail?")
"""By number only: a name is text from outside, and a click would make it the asker's own words."""


class Alerts:
    """`channel` is where alerts go; `language` is what their fixed texts are written in."""

    def __init__(
        self, platform: Platform, followups: Followups, redactor: Redactor, channel: str, language: Language
    ) -> None:
        self._platform = platform
        self._followups = followups
        self._redactor = redactor
        self._channel = channel
        self._language = language
        self._one_at_a_time = asyncio.Lock()

    async def raise_failure(self, alert: TaskFailed) -> None:
        """Post the alert, once however often it is delivered: the message itself is the record that it was posted.

        Raises PlatformError when it could not be posted; the sender then delivers it again.
        """
        key = f"alert:{alert.schedule_instance_id}"
        place = Place(self._channel)
        async with self._one_at_a_time:
            if await self._platform.find(place, key) is not None:
                return
            safe = replace(
                alert,
                task_name=self._redactor.text(alert.task_name),
                error_code=self._redactor.text(alert.error_code),
                error_message=self._redactor.text(alert.error_message),
            )
            question = _WHY.filled(run=safe.instance_id).said_in(self._language)
            offered = await self._followups.offered([question])
            await self._platform.post(place, alert_card(safe, self._language, offered), key=key)
