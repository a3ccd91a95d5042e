"""HTTP to the scheduler: who speaks, what is tried again, and what a failure means.

A person's role picks the account, so the server enforces the same rights once more. A read is tried up to three times
within ten seconds. A write is sent once: when its reply is lost, nobody may guess, and the error says so.
"""

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Any

import httpx
from pydantic import ValidationError

from chatops_bot.domain.people import Role
from chatops_bot.toolsets.scheduler import errors
from chatops_bot.toolsets.scheduler.login import Account, Logins
from chatops_bot.toolsets.scheduler.wire import Login

_TRIES = 3
_CONNECT_SECONDS = 3.0

WRITE_TIMEOUT = 60.0
"""Seconds for a whole write tool: readings before, one write, reading back. Above the sum of their own limits, so that
no outer clock cuts off a write whose fate is about to be known."""

# Nothing of the request can have reached the service.
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)

_ACCOUNT_OF = {Role.APPROVER: Role.OPERATOR}


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply below 400. `body` is None when it is empty."""

    status: int
    headers: Mapping[str, str]
    body: Any


class SchedulerClient:
    """The scheduler's API at `base_url`, spoken with one account per role. The caller owns and closes `http`.

    `accounts` holds an account for viewer, operator and admin; approvers use the operator's. `worker_loads_url` is the
    address of the Go service's scheduler process, the only one there that keeps load history. `zone` is the one in which
    the service reads cron expressions unless it says another itself. `monotonic`, `jitter` (0 to 1) and `pause` (seconds
    before the first repeat) steer time: a read with its repeats takes at most `read_seconds`, a write waits `write_seconds` for its reply. Every method raises only `ToolFailed`s.
    """

    def __init__(
        self,
        http: httpx.AsyncClient,
        base_url: str,
        accounts: Mapping[Role, Account],
        *,
        worker_loads_url: str = "",
        zone: tzinfo = UTC,
        monotonic: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
        pause: float = 0.2,
        read_seconds: float = 10.0,
        write_seconds: float = 15.0,
    ) -> None:
        self._http = http
        self._base_url = base_url.rstrip("/")
        self._accounts = dict(accounts)
        self._jitter = jitter
        self._pause = pause
        self._read_seconds = read_seconds
        self._timeout = httpx.Timeout(write_seconds, connect=min(write_seconds, _CONNECT_SECONDS))
        self._logins = Logins(self._log_in, monotonic)
        self.worker_loads_url = worker_loads_url.rstrip("/")
        self.zone = zone
        self.host = httpx.URL(base_url).netloc.decode() or base_url

    async def get(self, role: Role, path: str, params: Mapping[str, str | int] | None = None) -> Reply:
        """Read, with repeats."""

        async def send() -> httpx.Response:
            return await self._authorised(role, "GET", path, params=params, timeout=self._timeout)

        return await self._repeated(send)

    async def role_of(self, role: Role) -> str:
        """The role that the service itself gives the account for `role`; empty when it says nothing."""
        account = self._accounts.get(_ACCOUNT_OF.get(role, role))
        if account is None:
            raise errors.no_account(self.host, role)
        return await self._logins.role(account)

    async def get_open(self, url: str, params: Mapping[str, str | int]) -> Reply:
        """Read an address that knows no login, with repeats."""

        async def send() -> httpx.Response:
            return await self._http.get(url, params=dict(params), timeout=self._timeout)

        return await self._repeated(send)

    async def write(
        self,
        role: Role,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        idempotency_key: str = "",
    ) -> Reply:
        """Change something, sent once. `outcome_unknown` is set on the error when it may have happened."""
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        try:
            response = await self._authorised(
                role, method, path, json=body, headers=headers, timeout=self._timeout
            )
        except _NEVER_SENT as error:
            raise errors.unreachable(self.host) from error
        except httpx.RequestError as error:
            raise errors.reply_lost(self.host) from error
        return self._read_reply(response, writing=True)

    async def _authorised(
        self, role: Role, method: str, path: str, *, headers: Mapping[str, str] | None = None, **request: Any
    ) -> httpx.Response:
        """Send with the role's token; a refused token is renewed once. A 401 carried nothing out, so a write may repeat."""
        account = self._accounts.get(_ACCOUNT_OF.get(role, role))
        if account is None:
            raise errors.no_account(self.host, role)
        token = await self._logins.token(account)
        response = await self._send(method, path, token, headers, request)
        if response.status_code == httpx.codes.UNAUTHORIZED:
            token = await self._logins.token(account, instead_of=token)
            response = await self._send(method, path, token, headers, request)
        return response

    async def _send(
        self,
        method: str,
        path: str,
        token: str,
        headers: Mapping[str, str] | None,
        request: Mapping[str, Any],
    ) -> httpx.Response:
        sent_headers = {**(headers or {}), "Authorization": f"Bearer {token}"}
        return await self._http.request(method, self._base_url + path, headers=sent_headers, **request)

    async def _log_in(self, account: Account) -> Login:
        async def send() -> httpx.Response:
            return await self._http.post(
                f"{self._base_url}/api/auth/login",
                json={"username": account.username, "password": account.password},
                timeout=self._timeout,
            )

        try:
            reply = await self._repeated(send)
        except errors.LoginRefused as error:
            raise errors.login_refused(self.host, account.username) from error
        try:
            return Login.model_validate(reply.body)
        except ValidationError as error:
            raise errors.protocol_broken(self.host, "login without a token") from error

    async def _repeated(self, send: Callable[[], Any]) -> Reply:
        """What `send` brings, tried again while the service cannot be reached. For what changes nothing."""
        try:
            async with asyncio.timeout(self._read_seconds):
                return await self._tried(send)
        except TimeoutError as error:
            raise errors.unreachable(self.host) from error

    async def _tried(self, send: Callable[[], Any]) -> Reply:
        attempt = 1
        while True:
            try:
                response = await send()
            except httpx.DecodingError as error:
                raise errors.protocol_broken(self.host, "undecodable body") from error
            except httpx.RequestError as error:
                if attempt == _TRIES:
                    raise errors.unreachable(self.host) from error
            else:
                if attempt == _TRIES or response.status_code not in errors.GATEWAY_STATUSES:
                    return self._read_reply(response, writing=False)
            await asyncio.sleep(self._pause * 2 ** (attempt - 1) * (0.5 + self._jitter()))
            attempt += 1

    def _read_reply(self, response: httpx.Response, *, writing: bool) -> Reply:
        status = response.status_code
        try:
            body = response.json() if response.content else None
        except ValueError as error:
            if status >= 400:
                raise errors.refused(status, None, self.host, writing=writing) from error
            raise errors.protocol_broken(self.host, "no JSON", writing=writing) from error
        if status >= 400:
            said = body.get("error") if isinstance(body, dict) else None
            raise errors.refused(status, str(said) if said else None, self.host, writing=writing)
        if status >= 300:
            raise errors.protocol_broken(self.host, f"HTTP {status}", writing=False)
        return Reply(status, response.headers, body)
