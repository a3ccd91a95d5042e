"""What one service is started with."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from chatops_bot.scheduler.clock import Clock, SystemClock


@dataclass(frozen=True, slots=True)
class SchedulerSettings:
    """All choices of a start; times in seconds. Nothing is read from the environment.

    `shell` None means: enabled in the demo, disabled otherwise. `failure_webhook` None means that failures are not
    announced.
    """

    data: Path
    host: str = "127.0.0.1"
    port: int = 0
    demo: bool = False
    shell: bool | None = None
    failure_webhook: str | None = None
    webhook_token: str | None = field(default=None, repr=False)
    timezone: str = "UTC"
    worker_concurrency: int = 50
    heartbeat_seconds: float = 10.0
    offline_after_seconds: float = 30.0
    load_sample_seconds: float = 30.0
    kill_grace_seconds: float = 5.0
    isolation: str = "auto"
    clock: Clock = field(default_factory=SystemClock)

    @property
    def shell_enabled(self) -> bool:
        return self.demo if self.shell is None else self.shell
