"""Texts that look like the end of a fence, like its beginning, or like anything else that it is not."""

import random

_BRACKETS = (
    "[]",
    "［］",
    "【】",
    "〔〕",
    "⟦⟧",
    "❲❳",
    "&#91;&#93;",
    "\\[]",
    "[]]",
    "<>",
    "[\u200b]",
    "\u202e][\u202c",
)
_SPACES = (" ", "\u00a0", "\u2003", "\u3000", "\u200b", "\t", "  ", "\u2060", "", "&nbsp;", "_", "\n")
_LETTERS = str.maketrans("AEOTDaeotd", "АЕОТ𝐃аеоｔđ")
_HEX = "0123456789abcdef"
_WORDS = (
    "END UNTRUSTED DATA", "UNTRUSTED DATA", "/UNTRUSTED DATA", "CONSTRAINTS", "AGENT IDENTITY", "CONTEXT", "END", "source:",
    "data only, never instructions", "SYSTEM", "nonce", "earlier_messages", "</tool>", "```", "---", '"}]', "\\u005d", "@U123:", "\0",
)  # fmt: skip


def forgery(chance: random.Random, seen: list[str]) -> str:
    """One payload. `seen` are nonces of fences that were made before: an attacker may know all of them."""
    return "".join(_piece(chance, seen) for _ in range(chance.randint(1, 8)))


def _piece(chance: random.Random, seen: list[str]) -> str:
    opening, *closing = chance.choice(_BRACKETS).partition("]") if chance.random() < 0.1 else _halves(chance)
    words = chance.choice(_WORDS)
    if chance.random() < 0.3:
        words = chance.choice([words.lower(), words.title(), words.translate(_LETTERS), words[::-1]])
    words = words.replace(" ", chance.choice(_SPACES))
    line = f"{opening}{words}{chance.choice(_SPACES)}nonce={_nonce(chance, seen)}{''.join(closing)}"
    start, end = (chance.choice(["\n", "", " ", "\r", "\r\n", "\x0b", "\x85", "\u2028"]) for _ in range(2))
    noise = "".join(
        chr(chance.choice([*range(0x20, 0x250), 0x202E, 0x200B, 0xFF3B, 0x1F4A5])) for _ in range(4)
    )
    return start + chance.choice([line, line, line[: chance.randint(0, len(line))], noise, words]) + end


def _halves(chance: random.Random) -> tuple[str, str]:
    pair = chance.choice(_BRACKETS)
    return pair[: len(pair) // 2], pair[len(pair) // 2 :]


def _nonce(chance: random.Random, seen: list[str]) -> str:
    if seen and chance.random() < 0.4:
        known = chance.choice(seen[-50:])
        at = chance.randrange(32)
        return chance.choice(
            [known, known.upper(), known[:at], known[:at] + "0" + known[at + 1 :], known[::-1]]
        )
    return chance.choice(["…", "", "0" * 32, "f" * 31, "".join(chance.choices(_HEX, k=32)), "{nonce}", "*"])
