"""Accounts, passwords and tokens.

A token is a JWT signed with HMAC-SHA-256 under a secret that lives in the data folder, so tokens outlive a restart.
Passwords are stored as scrypt hashes; the demo's random passwords are also kept readable, for its own log-in, and so are
hashed at the least cost.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from chatops_bot.scheduler.clock import SECOND
from chatops_bot.scheduler.errors import StartRefused, Unauthenticated

TOKEN_SECONDS = 3_600

COST = 14
"""Of a hash, as a power of two. OWASP's floor for scrypt in interactive log-in is N=2^14, r=8, p=5; 2^14 with p=1 costs 30 ms here
and a log-in an hour."""
LEAST_COST = 4
"""For a password that is random itself: no trying finds it, however quick."""
_COSTS = range(1, COST + 1)
"""A hash of another cost is none: of the 32 MiB that OpenSSL gives scrypt, the last of these takes half."""
_SCRYPT_R, _SCRYPT_P = 8, 1
_HEADER = {"alg": "HS256", "typ": "JWT"}


class Role(IntEnum):
    """A higher role may do everything a lower one may."""

    VIEWER = 1
    OPERATOR = 2
    ADMIN = 3

    @property
    def word(self) -> str:
        return self.name.lower()

    @classmethod
    def of(cls, word: str) -> Role:
        """Raises KeyError for an unknown word."""
        return cls[word.upper()]


@dataclass(frozen=True, slots=True)
class Account:
    """Someone who can log in."""

    username: str
    role: Role
    password_hash: str


@dataclass(frozen=True, slots=True)
class Principal:
    """Who a request comes from."""

    username: str
    role: Role


def hash_password(password: str, cost: int = COST) -> str:
    """`scrypt:<cost>$<salt>$<digest>`, hex."""
    salt = secrets.token_bytes(16)
    return _spelled(cost, salt, _scrypt(password, salt, cost))


def verify_password(password: str, stored: str) -> bool:
    """Whether the password made this hash; in constant time. A hash in another format verifies nothing."""
    try:
        cost, salt, digest = _parts(stored)
        return hmac.compare_digest(_scrypt(password, salt, cost), digest)
    except ValueError:
        return False


def _spelled(cost: int, salt: bytes, digest: bytes) -> str:
    return f"scrypt:{cost}${salt.hex()}${digest.hex()}"


def _parts(stored: str) -> tuple[int, bytes, bytes]:
    """Cost, salt and digest of a hash, which has the usual cost where it says none. Raises ValueError."""
    kind, salt, digest = stored.split("$")
    name, _, cost = kind.partition(":")
    if name != "scrypt" or int(cost or COST) not in _COSTS:
        raise ValueError("not a scrypt hash")
    return int(cost or COST), bytes.fromhex(salt), bytes.fromhex(digest)


class Accounts:
    """The log-in. A name that nobody has costs what the costliest account does, so time tells of no such account."""

    def __init__(self, accounts: Iterable[Account]) -> None:
        self._by_name = {account.username: account for account in accounts}
        cost = max((_cost(account.password_hash) for account in self._by_name.values()), default=COST)
        self._nobody = _spelled(cost, secrets.token_bytes(16), secrets.token_bytes(64))

    def log_in(self, username: str, password: str) -> Principal:
        """Slow on purpose (run it off the loop). Raises Unauthenticated."""
        account = self._by_name.get(username)
        right = verify_password(password, account.password_hash if account else self._nobody)
        if account is None or not right:
            raise Unauthenticated("invalid username or password")
        return Principal(account.username, account.role)


def parse_accounts(text: str, source: str) -> list[Account]:
    """Accounts from a JSON list of {username, role, password_hash}. Raises StartRefused."""
    try:
        return [
            Account(item["username"], Role.of(item["role"]), item["password_hash"])
            for item in json.loads(text)
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StartRefused(
            f"{source} must be a JSON list of objects with username, role (viewer, operator, admin) and password_hash"
        ) from error


class TokenSigner:
    """Makes and reads tokens."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def issue(self, who: Principal, now: int) -> str:
        """A token for an hour from `now` (microseconds)."""
        seconds = now // SECOND
        claims = {"sub": who.username, "role": who.role.word, "iat": seconds, "exp": seconds + TOKEN_SECONDS}
        body = f"{_encode(_HEADER)}.{_encode(claims)}"
        return f"{body}.{_b64(self._sign(body))}"

    def read(self, token: str, now: int) -> Principal:
        """Who the token speaks for. Raises Unauthenticated when it is forged, malformed or too old."""
        body, _, signature = token.rpartition(".")
        try:
            if not hmac.compare_digest(_unb64(signature), self._sign(body)):
                raise Unauthenticated("invalid or expired token")
            header, claims = (json.loads(_unb64(part)) for part in body.split("."))
            if header.get("alg") != "HS256" or claims["exp"] <= now // SECOND:
                raise Unauthenticated("invalid or expired token")
            return Principal(claims["sub"], Role.of(claims["role"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Unauthenticated("invalid or expired token") from error

    def _sign(self, body: str) -> bytes:
        return hmac.digest(self._secret, body.encode(), "sha256")


def _cost(stored: str) -> int:
    try:
        return _parts(stored)[0]
    except ValueError:
        return COST


def _scrypt(password: str, salt: bytes, cost: int) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=1 << cost, r=_SCRYPT_R, p=_SCRYPT_P)


def _encode(value: object) -> str:
    return _b64(json.dumps(value, separators=(",", ":")).encode())


def _b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _unb64(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError("not base64url") from error
