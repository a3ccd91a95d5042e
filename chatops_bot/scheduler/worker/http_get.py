"""Running one http payload: a GET of a URL; a status of 300 or more is a failure.

Redirects are followed by hand, five at most. Each hop is resolved, checked and connected to the checked address, so a
name can't point elsewhere between check and connection. Loopback and link-local addresses (cloud metadata) are refused,
except for the scheduler's own address; private networks are where the targets live and stay reachable.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from urllib.parse import urljoin, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from chatops_bot.scheduler.states import RunStatus
from chatops_bot.scheduler.worker.capture import MESSAGE_CHARS, Capture
from chatops_bot.scheduler.worker.outcome import Outcome

BODY_BYTES = 1024 * 1024
_HOPS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class _Refused(Exception):
    """The address may not be fetched."""


class HttpGetter:
    """Fetches URLs; `own_url` is the one loopback address that is allowed. Close it after use."""

    def __init__(self, own_url: str) -> None:
        self._own = _origin(own_url)
        connector = aiohttp.TCPConnector(resolver=_CheckingResolver(), use_dns_cache=False, limit=50)
        self._guarded = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        self._open = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())

    async def close(self) -> None:
        await self._guarded.close()
        await self._open.close()

    async def run(self, url: str, timeout_seconds: float, stop: asyncio.Event) -> Outcome:
        """GET the URL until it answers, the time is up, or `stop` is set."""
        fetch = asyncio.create_task(self._fetch(url.strip()))
        stopped = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({fetch, stopped}, timeout=timeout_seconds, return_when=asyncio.FIRST_COMPLETED)
            if fetch.done():
                return fetch.result()
            if stopped.done():
                return _outcome(RunStatus.CANCELLED, "cancelled", "cancelled by hand")
            return _outcome(RunStatus.TIMEOUT, "timeout", f"timed out after {timeout_seconds:g} s")
        finally:
            fetch.cancel()
            stopped.cancel()
            await asyncio.gather(fetch, stopped, return_exceptions=True)

    async def _fetch(self, url: str) -> Outcome:
        try:
            for _ in range(_HOPS + 1):
                session = self._open if _origin(url) == self._own else self._guarded
                _check_literal(url, exempt=session is self._open)
                async with session.get(
                    url, allow_redirects=False, timeout=aiohttp.ClientTimeout()
                ) as response:
                    target = response.headers.get("Location")
                    if response.status in _REDIRECTS and target:
                        url = urljoin(url, target)
                        continue
                    return await _read(response)
            return _outcome(RunStatus.FAILED, "execute_failed", f"more than {_HOPS} redirects")
        except _Refused as error:
            return _outcome(RunStatus.FAILED, "execute_failed", str(error))
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return _outcome(
                RunStatus.FAILED, "execute_failed", f"GET failed: {error or type(error).__name__}"
            )


class _CheckingResolver(AbstractResolver):
    """Resolves names and drops every address that may not be fetched."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, family=family)
        results: list[ResolveResult] = []
        for kind, _, proto, _, address in found:
            _check_address(str(address[0]), host)
            results.append(
                ResolveResult(
                    hostname=host,
                    host=str(address[0]),
                    port=port,
                    family=kind,
                    proto=proto,
                    flags=socket.AI_NUMERICHOST,
                )
            )
        return results

    async def close(self) -> None:
        """Nothing is held."""


def _check_literal(url: str, *, exempt: bool) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _Refused(f"{url!r} is no http or https URL")
    if parts.username is not None:
        raise _Refused("a URL with a user name is not fetched")
    if exempt:
        return
    try:
        ipaddress.ip_address(parts.hostname)
    except ValueError:
        return  # a name: the resolver checks what it stands for
    _check_address(parts.hostname, parts.hostname)


def _check_address(address: str, host: str) -> None:
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    if ip.is_loopback or ip.is_link_local or ip.is_unspecified or ip.is_multicast:
        raise _Refused(f"{host} is an address of this machine ({ip}), which http tasks may not fetch")


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port


async def _read(response: aiohttp.ClientResponse) -> Outcome:
    body = Capture()
    async for chunk in response.content.iter_chunked(65_536):
        body.feed(chunk)
        if body.total > BODY_BYTES:
            return _outcome(
                RunStatus.FAILED, "execute_failed", f"the answer is larger than {BODY_BYTES} bytes"
            )
    if response.status >= 300:
        text = f"HTTP status {response.status}\n{body.first_chars(MESSAGE_CHARS)}".rstrip()
        return Outcome(RunStatus.FAILED, "execute_failed", text, body.text(), body.total)
    return Outcome(RunStatus.SUCCESS, "", body.first_chars(), body.text(), body.total)


def _outcome(status: RunStatus, code: str, message: str) -> Outcome:
    return Outcome(status, code, message, message, len(message.encode()))
