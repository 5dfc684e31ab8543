"""The reasons for which the server refuses a request, each with its HTTP status; clients receive the message."""

from __future__ import annotations

from itinera.errors import ItineraError


class RefusedRequest(ItineraError):
    """A request that the server does not carry out; the message says why and what to do."""

    status = 400


class UnknownToken(RefusedRequest):
    """No token, or one that is unknown, expired or revoked."""

    status = 401


class Forbidden(RefusedRequest):
    """The token does not allow this, or the phase is not open."""

    status = 403


class NotFound(RefusedRequest):
    """There is no such entry, phase or upload, or it is not for these eyes."""

    status = 404


class Conflict(RefusedRequest):
    """The request does not fit what has happened meanwhile."""

    status = 409


class TooLarge(RefusedRequest):
    """More bytes than the limit."""

    status = 413


class TooMany(RefusedRequest):
    """No shots left, or too many requests; repeat it later."""

    status = 429
