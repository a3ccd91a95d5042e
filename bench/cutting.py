"""A long text into messages: twice the text should cost about twice the time, and cutting little more than looking at it."""

from bench.answers import texts
from bench.measuring import in_turns, table
from chatops_bot.rendering.sanitise import sanitise
from chatops_bot.rendering.splitting import split

LIMIT = 4_000


def slices(text: str) -> list[str]:
    """Cut anywhere, broken fences and all, after one look at each character."""
    whole = "".join([character for character in text if character != "\0"])
    return [whole[at : at + LIMIT] for at in range(0, len(whole), LIMIT)]


def report(rounds: int) -> str:
    text = "".join(texts()) * 5
    doubled = text * 2
    contenders = {
        f"bare slices, {len(text):,} characters": lambda: slices(text),
        f"split, {len(text):,} characters": lambda: split(text, LIMIT),
        f"split, {len(doubled):,} characters": lambda: split(doubled, LIMIT),
        f"sanitise, {len(text):,} characters": lambda: sanitise(text),
        f"sanitise, {len(doubled):,} characters": lambda: sanitise(doubled),
    }
    return table(f"text to messages of {LIMIT:,} characters", in_turns(contenders, rounds))
