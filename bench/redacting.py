"""What redaction costs on log text, on what an attacker would write, and on a short line, beside one bare regular expression."""

import random
import re
from collections.abc import Callable
from functools import partial

from bench.measuring import in_turns, table
from chatops_bot.domain.redaction import Redactor

CHARS = 100_000
SECRETS = [f"a-configured-secret-{number:02}" for number in range(10)]
BARE = re.compile(r"[A-Za-z0-9_-]{40,}")
"""What the simplest of scanners looks for: long runs. One pattern, no labels, no secrets of ours."""


def logs(chars: int = CHARS) -> str:
    """Lines as services write them, with a token, a password and an address here and there; the same ones each time."""
    dice = random.Random(1)  # sample text
    lines: list[str] = []
    for number in range(chars // 150 + 1):
        lines.append(
            f"2026-03-02T14:32:{number % 60:02}.123Z INFO  [worker-{number % 7}] com.acme.orders.OrderService - request "
            f"id={dice.getrandbits(64):016x} path=/api/v1/orders/{number} status=200 took={number % 900}ms token_count={number % 77}"
        )
        if number % 20 == 0:
            lines.append(f"GET https://shop.example.com/cart?item={number} 200 令牌已刷新")
        if number % 200 == 0:
            lines.append(
                "connecting to postgres://app:hunter2hunter2@db:5432/orders, password=hunter2hunter2"
            )
    return "\n".join(lines)[:chars]


def texts() -> dict[str, str]:
    """By name: the sample of logs, and texts that make the table work as hard as they can."""
    pieces = {
        "a hint again and again": "akia sig= bearer ",
        "a secret again and again": "xoxb-123456789012-abc password=hunter22 ",
        "one long run": "aB3dE6gH9jK2mN5pQ8sT",
        "keys without an end": "-----BEGIN PRIVATE KEY-----\n",
    }
    return {"logs": logs()} | {
        name: (piece * (CHARS // len(piece) + 1))[:CHARS] for name, piece in pieces.items()
    }


def contenders() -> dict[str, dict[str, Callable[[], object]]]:
    """For each text the bare pattern, then the redactor with ten configured secrets."""
    redactor = Redactor(SECRETS)
    return {
        name: {"bare pattern": partial(BARE.findall, text), "redactor": partial(redactor.text, text)}
        for name, text in texts().items()
    }


def report(rounds: int) -> str:
    tables = []
    for name, works in contenders().items():
        found = in_turns(works, rounds)
        speed = len(texts()[name].encode()) / found[-1].seconds / 1e6
        tables.append(table(f"redacting {CHARS:,} characters, {name}: {speed:.1f} MB/s", found))
    return "\n\n".join(tables)
