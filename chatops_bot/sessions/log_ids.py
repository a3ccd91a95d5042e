"""Which session, turn and proposal a log line is about: known from the task that writes it, never passed along.

A task inherits what was bound where it was made, so whatever a turn starts speaks with the turn's ids.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_bound: ContextVar[Mapping[str, str]] = ContextVar("log_ids", default={})  # noqa: B039  # read only; `bound` makes new ones


@contextmanager
def bound(**ids: object) -> Iterator[None]:
    """Bind ids (`session`, `turn`, `proposal`) beside those that are bound already, for the block."""
    token = _bound.set({**_bound.get(), **{name: str(value) for name, value in ids.items()}})
    try:
        yield
    finally:
        _bound.reset(token)


def log_ids() -> Mapping[str, str]:
    """What is bound in this task."""
    return _bound.get()
