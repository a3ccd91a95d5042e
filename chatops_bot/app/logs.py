"""Log lines go to stderr, one a line, for people or for machines, with secrets taken out of every part of them.

What people write is in no log line: the program logs ids, names of things and errors. Libraries whose debug and info lines
would repeat payloads speak from `warning` on.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Literal

from chatops_bot.domain.redaction import Redactor
from chatops_bot.rendering.escapes import one_line, shown
from chatops_bot.sessions.log_ids import log_ids

LogFormat = Literal["auto", "json", "text"]
_NOISY = ("httpx", "httpcore", "slack_bolt", "slack_sdk", "asyncio")


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON: time (UTC), level, logger, message, the ids that are known, and the exception."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **log_ids(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        if record.stack_info:
            line["stack"] = record.stack_info
        # Before it becomes JSON: an escape inside a secret would hide it.
        return shown(json.dumps(self._redactor.value(line), ensure_ascii=False))


class TextFormatter(logging.Formatter):
    """A record for people, with its ids in brackets behind it and a traceback below.

    A record is one line, and only a record begins at the margin, so no text from outside can look like another one.
    """

    def __init__(self, redactor: Redactor) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._redactor = redactor

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # the name that logging calls
        ids = " ".join(f"{name}={value}" for name, value in log_ids().items())
        # Redacted before it is one line: a key that spans lines would no longer be recognised.
        return one_line(self._redactor.text(super().formatMessage(record) + (f" [{ids}]" if ids else "")))

    def format(self, record: logging.LogRecord) -> str:
        return shown(self._redactor.text(super().format(record))).replace("\n", "\n    ")


def set_up_logs(redactor: Redactor, log_format: LogFormat = "auto", level: str = "info") -> None:
    """Replace the root handlers by one that redacts. `auto` is text on a terminal and JSON anywhere else."""
    as_text = log_format == "text" or (log_format == "auto" and sys.stderr.isatty())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(TextFormatter(redactor) if as_text else JsonFormatter(redactor))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.captureWarnings(capture=True)
    for noisy in _NOISY:
        logging.getLogger(noisy).setLevel(max(logging.WARNING, logging.getLogger().level))
