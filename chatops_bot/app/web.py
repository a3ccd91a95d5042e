"""The bot's own small web server: health, metrics, and the hook that the scheduler calls when a run failed for good."""

import asyncio
import hmac
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime

from aiohttp import web
from pydantic import BaseModel, ValidationError

from chatops_bot.app.health import Health
from chatops_bot.app.metrics import CONTENT_TYPE
from chatops_bot.domain.alert import TaskFailed
from chatops_bot.domain.errors import PlatformError
from chatops_bot.sessions.alerts import Alerts

_log = logging.getLogger(__name__)

MAX_BODY_BYTES = 64 * 1024
POST_SECONDS = 4.0
"""How long an alert is tried before its sender is told to deliver it again; shorter than the scheduler waits for us."""


class FailureHook(BaseModel, defer_build=True):
    """The scheduler's failure webhook, as it sends it; unknown keys are ignored, missing texts are empty."""

    task_id: int
    task_name: str = ""
    instance_id: int
    schedule_instance_id: str
    retry_count: int = 0
    max_retry: int = 0
    error_code: str = ""
    error_message: str = ""
    timestamp: datetime

    def alert(self) -> TaskFailed:
        return TaskFailed(
            task_id=self.task_id,
            task_name=self.task_name or f"#{self.task_id}",
            instance_id=self.instance_id,
            schedule_instance_id=self.schedule_instance_id,
            retry_count=self.retry_count,
            max_retry=self.max_retry,
            error_code=self.error_code,
            error_message=self.error_message,
            at=self.timestamp,
        )


def web_app(
    *, alerts: Alerts | None, webhook_token: str, health: Health, metrics: Callable[[], Awaitable[bytes]]
) -> web.Application:
    """`alerts` is None when no alert channel is configured; `metrics` is the text of every series."""

    async def healthz(_: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def readyz(_: web.Request) -> web.Response:
        readiness = await health.readiness()
        return web.json_response(readiness.as_json(), status=200 if readiness.ready else 503)

    async def all_metrics(_: web.Request) -> web.Response:
        return web.Response(body=await metrics(), headers={"Content-Type": CONTENT_TYPE})

    async def scheduler_hook(request: web.Request) -> web.Response:
        given = request.headers.get("Authorization", "")
        if not webhook_token or not hmac.compare_digest(given.encode(), f"Bearer {webhook_token}".encode()):
            return _refusal(
                401, "The bearer token is missing or wrong; set SCHEDULER_WEBHOOK_TOKEN on both sides."
            )
        if alerts is None:
            return _refusal(503, "No alert channel is configured; set alerts.channel in the bot's config.")
        try:
            alert = FailureHook.model_validate_json(await request.read()).alert()
        except ValidationError as error:
            fields = ", ".join(sorted({".".join(map(str, e["loc"])) or "body" for e in error.errors()}))
            return _refusal(400, f"This is not a failure alert; missing or wrong: {fields}.")
        try:
            async with asyncio.timeout(POST_SECONDS):
                await alerts.raise_failure(alert)
        except (PlatformError, TimeoutError) as error:
            reason = str(error) or f"no answer within {POST_SECONDS:g} s"
            _log.warning("the alert of %s could not be posted: %s", alert.schedule_instance_id, reason)
            return _refusal(
                503, "The chat platform does not take messages right now; deliver the alert again."
            )
        return web.json_response({"ok": True})

    app = web.Application(client_max_size=MAX_BODY_BYTES)
    app.add_routes(
        [
            web.get("/healthz", healthz),
            web.get("/readyz", readyz),
            web.get("/metrics", all_metrics),
            web.post("/hooks/scheduler", scheduler_hook),
        ]
    )
    return app


def _refusal(status: int, sentence: str) -> web.Response:
    return web.json_response({"error": sentence}, status=status)
