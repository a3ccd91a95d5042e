"""What can go wrong, each with the HTTP status that tells the caller.

An `ApiError` is an answer, not an accident: the message is one sentence for the person who called. Everything that
stops the whole process is a `StartRefused`.
"""

from __future__ import annotations


class ApiError(Exception):
    """A refused request; `status` is the HTTP status and `str(error)` the text under `error`."""

    status = 500


class Invalid(ApiError):
    """A field is wrong; the text opens with the field's name."""

    status = 400


class Unauthenticated(ApiError):
    """No token, or one that isn't valid any more."""

    status = 401


class Forbidden(ApiError):
    """The token's role may not do this."""

    status = 403


class NotFound(ApiError):
    """The named thing isn't stored."""

    status = 404


class Conflict(ApiError):
    """The thing is in a state that doesn't allow the request."""

    status = 409


class StartRefused(Exception):
    """The service can't start; the text says what to change."""
