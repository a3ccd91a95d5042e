"""One call of Slack's Web API, made once.

Nothing here retries: a lost reply to a write is a question that only `outbound` can answer, and an SDK that repeats the
request on a reset connection posts twice. Arguments travel form-encoded, the one encoding that every method takes.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp

from chatops_bot.domain.errors import PlatformError, PlatformUnavailable
from chatops_bot.platforms.slack.errors import Unanswered, from_answer

Json = dict[str, Any]
OnCall = Callable[[str, float, PlatformError | None], None]
"""Told of each call once it is over: its method, the seconds that it took, and the error if it failed."""
DEFAULT_BASE_URL = "https://slack.com/api/"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the bot is in its workspace."""

    team_id: str
    user_id: str
    bot_id: str


class SlackApi:
    """Calls with one token. The session is shared and stays its owner's; `timeout` is for a whole call, in seconds.

    `on_call` is for whoever counts.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        token: str,
        base_url: str = DEFAULT_BASE_URL,
        *,
        timeout: float = 30.0,
        on_call: OnCall | None = None,
    ) -> None:
        self._session = session
        self._token = token
        self._base_url = base_url.rstrip("/") + "/"
        self._timeout = aiohttp.ClientTimeout(total=timeout)
        self._on_call = on_call
        self._identity: Identity | None = None

    async def call(self, method: str, **arguments: Any) -> Json:
        """The answer to one call; arguments that are None are left out.

        Raises RateLimited, MessageGone, BlocksRefused, Unanswered (may have happened), PlatformUnavailable (did not
        happen) or, for any other refusal, PlatformError.
        """
        answer, _ = await self._called(method, arguments)
        return answer

    async def _called(self, method: str, arguments: Mapping[str, Any]) -> tuple[Json, Mapping[str, str]]:
        tell, began = self._on_call or _nobody, time.monotonic()
        try:
            answer = await self._sent(method, arguments)
        except PlatformError as error:
            tell(method, time.monotonic() - began, error)
            raise
        tell(method, time.monotonic() - began, None)
        return answer

    async def _sent(self, method: str, arguments: Mapping[str, Any]) -> tuple[Json, Mapping[str, str]]:
        form = {name: _encoded(value) for name, value in arguments.items() if value is not None}
        try:
            async with self._session.post(
                self._base_url + method,
                data=form,
                headers={"Authorization": f"Bearer {self._token}"},
                timeout=self._timeout,
            ) as response:
                body = _decoded(await response.read())
                if response.status == 200 and isinstance(body, dict) and body.get("ok") is True:
                    return body, response.headers
                raise from_answer(method, response.status, response.headers, body)
        except aiohttp.ClientConnectorError as error:
            raise PlatformUnavailable(f"Slack could not be reached for {method}.", "unreachable") from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Unanswered(f"Slack did not answer {method}.", "unanswered") from error

    async def read(self, method: str, **arguments: Any) -> Json:
        """As `call`, for methods that change nothing: asked once more when no answer came."""
        try:
            return await self.call(method, **arguments)
        except Unanswered:
            await asyncio.sleep(0.2)
            return await self.call(method, **arguments)

    async def scopes(self) -> frozenset[str]:
        """What the token may do, as Slack's header says it; empty when it says nothing. Errors as for `call`."""
        _, headers = await self._called("auth.test", {})
        said = headers.get("X-OAuth-Scopes", "")
        return frozenset(scope.strip() for scope in said.split(",") if scope.strip())

    async def identity(self) -> Identity:
        """The bot behind the token, asked once."""
        if self._identity is None:
            answer = await self.read("auth.test")
            try:
                self._identity = Identity(answer["team_id"], answer["user_id"], answer["bot_id"])
            except KeyError as error:
                raise PlatformError(
                    "The Slack token is not a bot token; use the one that starts with xoxb-."
                ) from error
        return self._identity


def _nobody(_method: str, _seconds: float, _error: PlatformError | None) -> None:
    """Nobody counts."""


def _encoded(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _decoded(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None
