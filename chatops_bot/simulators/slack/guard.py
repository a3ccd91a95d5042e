"""Who may talk to the workspace: programs on this machine, and the page that the workspace itself served.

A web page from elsewhere must not be able to drive the workspace through its reader's browser, so the Host must name
this machine (DNS rebinding), a browser's Origin must be our own, and bodies must be JSON (no simple-form requests).
"""

import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from aiohttp import web

DEEPEST = 60
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class NotJson(ValueError):
    """A body that is not usable JSON."""


def refuse(status: int, code: str, sentence: str) -> web.Response:
    return web.json_response({"ok": False, "error": code, "message": sentence}, status=status)


@web.middleware
async def only_this_machine(request: web.Request, handler: Handler) -> web.StreamResponse:
    host = request.headers.get("Host", "")
    name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
    if (name if port.isdecimal() else host).lower() not in LOOPBACK:
        return refuse(
            403, "host_not_allowed", "The workspace answers only to a loopback Host such as 127.0.0.1."
        )
    driven = not request.path.startswith(("/api/", "/response/"))
    origin = request.headers.get("Origin")
    if driven and origin is not None and origin.lower() != f"http://{host.lower()}":
        return refuse(403, "origin_not_allowed", "Only the workspace's own page may drive it from a browser.")
    if driven and request.method == "POST" and request.content_type != "application/json":
        return refuse(
            403, "content_type_not_allowed", "Send the request with Content-Type: application/json."
        )
    return await handler(request)


def parse_json(raw: bytes) -> Any:
    """JSON that can be stored and shown: UTF-8, no NaN, no lone surrogates, nested sanely. Raises NotJson."""
    try:
        value = json.loads(raw.decode())
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise NotJson("not usable JSON") from error
    level, depth = [value], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise NotJson("nested too deeply")
        level = [item for holder in level for item in _children(holder)]
    return value


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
