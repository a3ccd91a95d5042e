"""The one way to a Redis server, built around what its client does by itself and must not.

The client's own retries send a command again whose reply was lost, and so do things twice; they are off. Here every write is
a script that carries an operation id of its own and keeps its answer under it, in the same atomic step. So a write whose
reply was lost is simply sent again: the server answers what it answered the first time. Reads are sent again as they are.

No caller's cancellation reaches a command that is under way: it runs to its end on its connection, as a commit to a file
would, and the caller then does not learn how it ended.
"""

import asyncio
import itertools
import os
import socket
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    ConnectionError,  # Redis's own, not the built-in
    NoPermissionError,
    NoScriptError,
    RedisError,
    ResponseError,
    TimeoutError,
)

from chatops_bot.domain.errors import StoreError, StoreUnavailable

PREFIX = "chatops"
REPLY_SECONDS = 5.0
"""A command without an answer for this long counts as lost, and its connection is closed."""
PATIENCE_SECONDS = 8.0
"""How long a command is sent again while the server cannot be reached: a restart of Redis takes a second or two."""
CANCELLED_AGAIN_SECONDS = 0.05
"""After which a blocking read that goes on is cancelled once more; by then it has given its connection back."""
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.05, 1.0
CONNECTIONS = 16
HEALTH_SECONDS = 15
ANSWER_KEPT_MILLISECONDS = 600_000
"""An answer is kept far longer than a lost write is sent again, and than a packet can be under way."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Script:
    """A Lua script as text. `script` makes one that writes."""

    text: str


def script(body: str) -> Script:
    """A script around `body`, the inside of a function that returns a string and is run once for each operation id.

    `P` is the prefix of all keys; `A` are the arguments from 1.
    """
    return Script(
        f"""local P, A = KEYS[1], ARGV
local answer_key = P .. 'op:' .. table.remove(A)
local known = redis.call('GET', answer_key)
if known then return known end
local function run()
{body}
end
local answer = run()
redis.call('SET', answer_key, answer, 'PX', {ANSWER_KEPT_MILLISECONDS})
return answer"""
    )


class RedisLink:
    """Open with `RedisLink.to`, close with `aclose`. Every method raises StoreUnavailable, and nothing else."""

    def __init__(self, client: "Redis", where: str, name: str, prefix: str, patience: float) -> None:
        self._client = client
        self._execute: Callable[..., Coroutine[Any, Any, Any]] = client.execute_command
        self.where = where
        # The braces keep all keys together where a proxy spreads keys over servers.
        self.prefix = f"{{{prefix}}}:"
        self.name = name
        self._patience = patience
        self._operations = itertools.count(1)
        self._under_way: set[asyncio.Task[Any]] = set()
        self._digests: dict[Script, str] = {}

    @classmethod
    def to(
        cls,
        url: str,
        name: str,
        *,
        prefix: str = PREFIX,
        reply_seconds: float = REPLY_SECONDS,
        patience: float = PATIENCE_SECONDS,
    ) -> "RedisLink":
        """A link that connects with its first command.

        `name` must be this process's alone, since it begins the operation ids. `prefix` begins every key.
        """
        options = _options(url)
        pool = BlockingConnectionPool(
            max_connections=CONNECTIONS,
            timeout=patience,
            protocol=2,
            decode_responses=True,
            client_name=name,
            socket_timeout=reply_seconds,
            socket_connect_timeout=reply_seconds,
            health_check_interval=HEALTH_SECONDS,
            retry=Retry(NoBackoff(), 0),
            **options,
        )
        return cls(Redis.from_pool(pool), _where(options), name, prefix, patience)

    async def read(self, *command: Any) -> Any:
        """The answer to a command that changes nothing, sent again while the server cannot be reached."""
        return await self._to_its_end(lambda: self._execute(*command))

    async def look(self, seeing: Script, *arguments: str | int | float) -> Any:
        """The answer of a script that may run twice without harm."""
        return await self._to_its_end(lambda: self._run(seeing, arguments))

    async def wait(self, *command: Any) -> Any:
        """The answer to a read that blocks; unlike all others it ends with its caller, and its connection with it."""
        task = asyncio.create_task(
            self._patiently(lambda: self._execute(*command)), name="blocking redis read"
        )
        self._under_way.add(task)
        task.add_done_callback(self._is_over)
        try:
            return await asyncio.shield(task)
        finally:
            # redis-py sends through asyncio.wait_for, which before Python 3.12 may lose a cancellation; so it is repeated.
            while not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=CANCELLED_AGAIN_SECONDS)

    async def write(self, change: Script, *arguments: str | int | float) -> str:
        """Run a `script` once, however often it has to be sent; returns what it returned."""
        operation = f"{self.name}:{next(self._operations)}"
        answer: str = await self._to_its_end(lambda: self._run(change, (*arguments, operation)))
        return answer

    async def _run(self, what: Script, arguments: tuple[str | int | float, ...]) -> Any:
        try:
            if (digest := self._digests.get(what)) is not None:
                return await self._execute("EVALSHA", digest, 1, self.prefix, *arguments)
        except NoScriptError:
            pass  # the server was restarted, and forgot it
        self._digests[what] = await self._execute("SCRIPT LOAD", what.text)
        return await self._execute("EVAL", what.text, 1, self.prefix, *arguments)

    async def _to_its_end(self, send: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        task = asyncio.create_task(self._patiently(send), name="redis command")
        self._under_way.add(task)
        task.add_done_callback(self._is_over)
        return await asyncio.shield(task)

    def _is_over(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # the caller may have been cancelled and ask no more

    async def _patiently(self, send: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        loop = asyncio.get_running_loop()
        deadline, pause = loop.time() + self._patience, FIRST_PAUSE_SECONDS
        while True:
            try:
                return await send()
            except (AuthenticationError, ResponseError) as error:
                raise self._refused(error) from error
            except (ConnectionError, TimeoutError, OSError) as error:
                if loop.time() + pause > deadline:
                    raise StoreUnavailable(
                        f"Redis at {self.where} cannot be reached ({_reason(error)}); check that it runs and that the address is right."
                    ) from error
            except RedisError as error:
                raise self._refused(error) from error
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _refused(self, error: RedisError) -> StoreUnavailable:
        if isinstance(error, AuthenticationError) or str(error).startswith(("NOAUTH", "WRONGPASS")):
            return StoreUnavailable(
                f"Redis at {self.where} does not accept the user or the password; correct the URL."
            )
        if isinstance(error, NoPermissionError):
            return StoreUnavailable(
                f"Redis at {self.where} does not allow its user what the bot needs ({error}); extend its permissions."
            )
        return StoreUnavailable(f"Redis at {self.where} refused a command ({error}); check the server.")

    async def aclose(self) -> None:
        """Let commands that are under way come to their end, then close."""
        if self._under_way:
            await asyncio.wait(self._under_way)
        await self._client.aclose()


def _options(url: str) -> dict[str, Any]:
    """What the URL says of the connection; its words never stand in an error, since one of them is the password."""
    try:
        options = dict(parse_url(url))
        urlsplit(url)
    except ValueError as error:
        raise StoreError(
            "The Redis URL cannot be read; write redis://user:password@host:6379/0, rediss://… for TLS, or unix:///path."
        ) from error
    unwanted = sorted(
        key
        for key in options
        if key not in {"host", "port", "db", "username", "password", "path", "connection_class"}
        and not key.startswith("ssl_")
    )
    if unwanted:
        raise StoreError(
            f"The Redis URL sets {', '.join(unwanted)}, which the bot sets itself; remove it from the URL."
        )
    return options


def _where(options: dict[str, Any]) -> str:
    if "path" in options:
        return str(options["path"])
    return f"{options.get('host', 'localhost')}:{options.get('port', 6379)}"


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    cause = error.__cause__ or error.__context__
    if isinstance(cause, socket.gaierror):
        return "its name has no address"
    if isinstance(cause, OSError) and cause.errno:
        return os.strerror(cause.errno)
    return type(error).__name__
