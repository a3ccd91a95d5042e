"""Log lines go to stderr, one a line, with secrets taken out of the finished text, tracebacks included."""

import logging
import sys

from chatops_bot.domain.redaction import Redactor


class _RedactedFormatter(logging.Formatter):
    def __init__(self, redactor: Redactor) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.text(super().format(record))


def set_up_logs(redactor: Redactor, level: int = logging.INFO) -> None:
    """Replace the root handlers by one that redacts."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_RedactedFormatter(redactor))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for noisy in ("httpx", "slack_bolt", "slack_sdk"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
