"""The client of an OpenAI-compatible endpoint: one HTTP request a model call, its answer streamed as deltas.

What is tried again, and when: only what may pass by itself (not reached, overloaded, rate limited), and only before the
first byte of an answer, since later the person has already seen something. All tries share the one deadline for the first
delta, so a person never waits longer than that to hear how it went.

Progress is a delta. Comments and empty chunks that keep a connection alive do not count as one. A whole answer is passed on
at once: its usage, which some providers send after it and some never, is waited for only briefly.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from math import inf

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from chatops_bot.domain.errors import ConfigInvalid, ModelUnavailable
from chatops_bot.domain.model import ModelDelta, ModelRequest
from chatops_bot.llm.openai_errors import ProviderErrors, retry_after_of
from chatops_bot.llm.openai_request import encode
from chatops_bot.llm.openai_wire import AnswerParser

_log = logging.getLogger(__name__)

RETRY_PAUSES = (0.5, 1.5)
"""Seconds before the second and the third try. A person is waiting, so there are few tries, soon."""

LONGEST_PAUSE = 10.0
"""A `Retry-After` above this is not waited for: saying so, or asking another model, is quicker."""

ERROR_BYTES = 64 << 10
"""How much of an error answer is read."""

_BAD_REQUEST = (400, 422)
_OF_TURNS = (b"after role", b"last role", b"alternat", b"system")
"""What stands beside the word `role` in such a refusal. It may stand in others too, which the second try then shows."""
_TEMPLATE_FAILED = 500
"""What llama.cpp answers when the template of a model refuses the order of the messages."""


@dataclass(frozen=True, slots=True)
class ModelTimeouts:
    """Seconds. `first_delta` counts from the start of the call, all tries together; `between` from delta to delta.

    `linger` is how long a complete answer waits for its usage figures, `hang_up` how long for the end of the connection,
    without which it could not be used again.
    """

    connect: float = 10.0
    first_delta: float = 60.0
    between: float = 60.0
    linger: float = 0.5
    hang_up: float = 0.1


def completions_url(base_url: str) -> URL:
    """The address to post to, for a base URL given as root, with a version path, with a slash, or in full.

    Raises ConfigInvalid when it is no http(s) URL, or holds a user and password.
    """
    try:
        base = URL(base_url.strip())
    except ValueError as error:
        raise ConfigInvalid(
            "The model's base URL is not a URL. Write one like https://api.example.com/v1."
        ) from error
    if base.scheme not in ("http", "https") or not base.host:
        raise ConfigInvalid("The model's base URL must begin with https:// or http:// and name a host.")
    if base.user is not None or base.password is not None:
        raise ConfigInvalid("The model's base URL must not hold a user or password. Use the API key setting.")
    path = base.path.rstrip("/") or "/v1"
    if not path.endswith("/chat/completions"):
        path += "/chat/completions"
    return base.with_path(path, keep_query=True)


class OpenAIClient:
    """An `LLM` at an OpenAI-compatible endpoint.

    The session is shared and stays open. An empty `api_key` sends none, for servers that want none. `sleep` waits between
    tries. Raises ConfigInvalid for a base URL or key that can never work.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        *,
        base_url: str,
        api_key: str,
        model: str,
        timeouts: ModelTimeouts | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._session = session
        self._url = completions_url(base_url)
        self._model = model
        self._timeouts = timeouts or ModelTimeouts()
        self._connecting = aiohttp.ClientTimeout(
            total=None, connect=self._timeouts.connect, sock_connect=self._timeouts.connect
        )
        self._sleep = sleep
        self._headers = CIMultiDict(_headers(api_key.strip()))
        self._host = self._url.host_port_subcomponent or ""
        self._errors = ProviderErrors(self._host, model, secrets=[api_key.strip()])
        self._include_usage = True
        self._can_forbid = True
        self._takes_turns = False
        self._thinks_first: str | None = None

    @property
    def name(self) -> str:
        return f"{self._model} at {self._host}"

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        """See `ports.LLM.stream`."""
        parser = AnswerParser(self._errors, self.name, thinks_first=self._thinks_first)
        patience = _Patience(self._timeouts)
        response, data = await self._open(request, patience.deadline)
        try:
            while data:
                deltas = parser.feed(data)
                for delta in deltas:
                    yield delta
                if deltas:
                    patience.progressed()
                if parser.ended:
                    break
                if parser.answered:
                    patience.answered()
                data = await self._read(response, patience)
            for delta in parser.close():
                yield delta
            self._thinks_first = parser.thinks_first
            await self._hang_up(response)
        finally:
            patience.close()
            response.close()

    async def _open(self, request: ModelRequest, deadline: float) -> tuple[aiohttp.ClientResponse, bytes]:
        """An answer with status 200 and its first bytes, after as many tries as it takes."""
        pauses = iter(RETRY_PAUSES)
        while True:
            try:
                return await self._post(request, deadline)
            except ModelUnavailable as failure:
                wait = max(next(pauses, inf), failure.retry_after or 0.0)
                if wait > LONGEST_PAUSE or _now() + wait >= deadline:
                    raise
            await self._sleep(wait)

    async def _post(
        self, request: ModelRequest, deadline: float, *, takes_turns: bool = False
    ) -> tuple[aiohttp.ClientResponse, bytes]:
        """One try. With `takes_turns` the provider has just refused the usual order of messages."""
        body = encode(
            request,
            self._model,
            speaker=self.name,
            include_usage=self._include_usage,
            can_forbid=self._can_forbid,
            takes_turns=self._takes_turns or takes_turns,
        )
        try:
            async with asyncio.timeout_at(deadline):
                response = await self._session.post(
                    self._url,
                    data=body,
                    headers=self._headers,
                    timeout=self._connecting,
                    allow_redirects=False,
                )
                if response.status == HTTPStatus.OK:
                    if takes_turns:
                        self._take_turns()
                    return response, await _first_bytes(response)
                complaint = await _beginning(response)
        except aiohttp.ClientSSLError as error:
            raise self._errors.untrusted() from error
        except aiohttp.ClientResponseError:
            # Not HTTP. The cause is dropped because its representation holds the request's headers.
            raise self._errors.rubbish() from None
        except aiohttp.ClientError as error:
            raise self._errors.unreachable() from error
        except TimeoutError as error:
            raise self._errors.silent(self._timeouts.first_delta) from error
        if self._gives_way(request, response.status, complaint):
            return await self._post(request, deadline, takes_turns=takes_turns)
        if not (self._takes_turns or takes_turns) and _speaks_of_turns(response.status, complaint.lower()):
            return await self._post(request, deadline, takes_turns=True)
        raise self._errors.from_answer(response.status, complaint, retry_after_of(response.headers))

    def _gives_way(self, request: ModelRequest, status: int, complaint: bytes) -> bool:
        """Whether the provider complains about something that it need not be sent. From then on it is not."""
        if status not in _BAD_REQUEST:
            return False
        if self._include_usage and b"stream_options" in complaint:
            self._include_usage = False
        elif self._can_forbid and not request.may_call and b"tool_choice" in complaint:
            self._can_forbid = False
        else:
            return False
        return True

    def _take_turns(self) -> None:
        """The other order was taken where the usual one was refused: so it is for all that comes."""
        if not self._takes_turns:
            self._takes_turns = True
            _log.warning(
                "%s refuses the order of messages; from now on person and model take turns", self.name
            )

    async def _read(self, response: aiohttp.ClientResponse, patience: "_Patience") -> bytes:
        """The next bytes; none at the end, or when a whole answer has waited long enough for its usage."""
        patience.watch(response.content)
        try:
            return await response.content.readany()
        except aiohttp.ClientError as error:
            if not patience.whole:
                raise self._errors.broke_off() from error
        except TimeoutError as error:
            if not patience.whole and patience.begun:
                raise self._errors.stalled(self._timeouts.between) from error
            if not patience.whole:
                raise self._errors.silent(self._timeouts.first_delta) from error
        finally:
            patience.reading = None
        return b""

    async def _hang_up(self, response: aiohttp.ClientResponse) -> None:
        """Read up to the end of the answer if that comes at once: only then can the connection be used again."""
        if response.content.at_eof():
            return
        with suppress(aiohttp.ClientError, TimeoutError):
            async with asyncio.timeout(self._timeouts.hang_up):
                while await response.content.readany():
                    pass


class _Patience:
    """Until when the next bytes are waited for. Only progress moves that time; bytes do not.

    One timer serves a whole answer: when it goes off, it looks whether the time has moved on since, which it has with
    nearly every piece. A timer a piece would cost more than parsing it.
    """

    def __init__(self, timeouts: ModelTimeouts) -> None:
        self.deadline = _now() + timeouts.first_delta
        self.begun = False
        self.whole = False
        self._timeouts = timeouts
        self.reading: aiohttp.StreamReader | None = None
        self._timer: asyncio.TimerHandle | None = None

    def progressed(self) -> None:
        """A delta was passed on; the time that its receiver took is not the provider's."""
        self.begun = True
        if not self.whole:
            self.deadline = _now() + self._timeouts.between

    def answered(self) -> None:
        if not self.whole:
            self.whole = True
            self.deadline = _now() + self._timeouts.linger
            self.close()

    def watch(self, content: aiohttp.StreamReader) -> None:
        """From here on a read of `content` ends in TimeoutError when the time is up, until `reading` is None again."""
        self.reading = content
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_at(self.deadline, self._look)

    def _look(self) -> None:
        self._timer = None
        if self.reading is None:
            return  # the receiver takes its time
        if self.deadline > _now():
            self._timer = asyncio.get_running_loop().call_at(self.deadline, self._look)
        else:
            self.reading.set_exception(TimeoutError())

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _speaks_of_turns(status: int, complaint: bytes) -> bool:
    """Whether a refusal, in lower case, may be one of the order of messages."""
    is_refusal = status in _BAD_REQUEST or status == _TEMPLATE_FAILED
    return is_refusal and b"role" in complaint and any(word in complaint for word in _OF_TURNS)


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _first_bytes(response: aiohttp.ClientResponse) -> bytes:
    """The first bytes of an answer's body. Failing here, nothing of it was seen yet, so it may be asked for again."""
    try:
        return await response.content.readany()
    except BaseException:
        response.close()
        raise


def _headers(api_key: str) -> dict[str, str]:
    headers = {
        "Content-Type": "application/json",
        "Accept": "text/event-stream, application/json",
        "Accept-Encoding": "identity",  # compression makes proxies hold a stream back
    }
    if not api_key:
        return headers
    if not (api_key.isascii() and api_key.isprintable()):
        raise ConfigInvalid(
            "The model's API key holds a line break or a character outside ASCII. Copy it again."
        )
    return {**headers, "Authorization": f"Bearer {api_key}"}


async def _beginning(response: aiohttp.ClientResponse) -> bytes:
    """The first bytes of an error answer; the connection is given back."""
    body = bytearray()
    try:
        while len(body) < ERROR_BYTES and (piece := await response.content.readany()):
            body += piece
    finally:
        response.close()
    return bytes(body[:ERROR_BYTES])
