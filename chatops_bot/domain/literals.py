"""Where one of many fixed texts begins, told by one regular expression that is quick because it is a tree of characters."""

import re
from collections.abc import Mapping


def beginnings(texts: Mapping[str, str]) -> re.Pattern[str]:
    """Finds each place where one of `texts` stands and the pattern that it is mapped to matches behind it, overlapping or not.

    A match is the first character only; beginning with one character each is what lets the search skip quickly.
    """
    by_first: dict[str, dict[str, str]] = {}
    for text, follows in texts.items():
        by_first.setdefault(text[0], {})[text[1:]] = follows
    return re.compile(
        "|".join(f"{re.escape(first)}(?={tree(rests)})" for first, rests in sorted(by_first.items()))
    )


def tree(texts: Mapping[str, str]) -> str:
    """Any of `texts` with what follows it. A tree deepens only where texts part, however long they are."""
    shared = _common(min(texts), max(texts))
    rests = {text[len(shared) :]: follows for text, follows in texts.items()}
    own = rests.pop("", None)
    firsts = sorted({text[0] for text in rests})
    ways = [tree({text: follows for text, follows in rests.items() if text[0] == first}) for first in firsts]
    if own is not None:
        ways.append(f"(?:{own})" if own else "")
    return re.escape(shared) + (ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})")


def _common(one: str, other: str) -> str:
    size = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one))
    return one[:size]
