"""Which few of many tools a request is offered.

A request is of one or more kinds, by the words it uses; a kind names its tools. A tool that changes something is offered only
when the message really asks for that change, so a question about a deletion brings no tool that deletes. Tools that no kind
names are found by the words of their descriptions. Tools come with their companions; when nothing is recognised there is a
core that only reads. The set of the turn before is kept while it will do, since a new one makes the model's provider read
the whole conversation anew. A miss is not the end: the model can ask for a tool by what it is for.
"""

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from chatops_bot.context.prompt_types import ToolBrief, UserIntent
from chatops_bot.context.routing_data import Routing
from chatops_bot.domain.regex import regex

_READ_CHARS = 2_000
"""Of a longer message the beginning says what is wanted."""
_WISHED, _OF_WISH, _OF_CUE, _LEAST_NEED = 100, 60, 40, 40
_OF_ENTITY, _MOST_LEXICAL = 35, 30
_COMMON = 0.2
"""A word in more than this share of all tools tells none of them apart."""

_WORD = regex(r"[a-z0-9]{3,}")
_CHINESE = regex(r"[\u4e00-\u9fff]+")


def terms_of(text: str) -> frozenset[str]:
    """Words of three letters and more, and the pairs of neighbouring Chinese characters."""
    text = _plain(text)
    pairs = (run[at : at + 2] for run in _CHINESE.findall(text) for at in range(len(run) - 1))
    return frozenset((*_WORD.findall(text), *pairs))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text[:_READ_CHARS]).casefold()


@dataclass(frozen=True, slots=True)
class Routed:
    """`tools` in the order that is suggested. `kept`: the set is that of the turn before."""

    tools: tuple[str, ...]
    kept: bool = False


class RoutableTools:
    """Tools prepared for being chosen among, once for many requests."""

    def __init__(self, briefs: Iterable[ToolBrief], routing: Routing) -> None:
        """Deprecated tools are left out. The order of `briefs` does not matter."""
        self.briefs = {
            brief.name: brief
            for brief in sorted(briefs, key=lambda brief: brief.name)
            if not brief.deprecated
        }
        self.routing = routing
        self.cues = {key: kind.cues.pattern() for key, kind in routing.kinds.items()}
        words_of = {name: _words_of(brief) for name, brief in self.briefs.items()}
        counts = Counter(word for words in words_of.values() for word in words)
        most = max(2, _COMMON * len(self.briefs))
        self._by_word: dict[str, list[str]] = {}
        for name, words in words_of.items():
            for word in words:
                if counts[word] <= most:
                    self._by_word.setdefault(word, []).append(name)

    def matches(self, text: str) -> Counter[str]:
        """How many telling words of each tool a text has; a word of its name counts twice."""
        found: Counter[str] = Counter()
        for term in terms_of(text):
            for name in self._by_word.get(term, ()):
                found[name] += 2 if term in name else 1
        return found

    def kinds_of(self, text: str, wished: frozenset[str]) -> tuple[str, ...]:
        """What a request is about; of a change only if it is one of `wished`."""
        plain = _plain(text)
        return tuple(
            key
            for key, kind in self.routing.kinds.items()
            if (self.cues[key].search(plain) if not kind.changes else not wished.isdisjoint(kind.changes))
        )

    def rank(self, name: str) -> tuple[int, str]:
        """Sorts more useful tools first, then by name."""
        known = self.routing.tools.get(name)
        return -(self.briefs[name].sort_hint or (known.sort_hint if known else 0)), name

    def with_companions(self, name: str) -> tuple[str, ...]:
        """A tool behind all that it requires, as far as they are there."""
        ordered: dict[str, None] = {}
        self._collect(name, ordered, set())
        return tuple(ordered)

    def _collect(self, name: str, ordered: dict[str, None], seen: set[str]) -> None:
        if name in seen or name not in self.briefs:
            return
        seen.add(name)
        known = self.routing.tools.get(name)
        for other in (*self.briefs[name].requires, *(known.requires if known else ())):
            self._collect(other, ordered, seen)
        ordered[name] = None

    def only(self, names: Collection[str], agent_id: str) -> frozenset[str]:
        """Those of `names` that an agent may use."""
        return frozenset(
            name
            for name, brief in self.briefs.items()
            if name in names and (brief.agent_ids is None or agent_id in brief.agent_ids)
        )


def _words_of(brief: ToolBrief) -> frozenset[str]:
    said = (brief.name.replace("_", " "), brief.description, *brief.scenarios.zh, *brief.scenarios.en)
    return frozenset(term for text in said for term in terms_of(text))


def route_tools(
    intent: UserIntent,
    tools: RoutableTools,
    *,
    allowed: Collection[str],
    agent_id: str,
    wished: Collection[str] = (),
    k_min: int = 3,
    k_max: int = 5,
    previous: Sequence[str] = (),
) -> Routed:
    """Choose `k_min` to `k_max` of `tools`, fewer only where there are not more. Pure, and the same for the same inputs.

    `allowed` are the names that the turn's agent may use; `wished` the changes that the message asks for, as `Change` names
    them; `previous` the tools of the turn before.
    """
    usable = tools.only(allowed, agent_id)
    scores = _scored(intent, tools, usable, frozenset(wished))
    ranked = sorted(scores, key=lambda name: (-scores[name], tools.rank(name)))
    needs = [name for name in ranked if scores[name] >= _LEAST_NEED]
    kept = _kept(tools, usable, needs, previous, wished, k_min, k_max)
    if kept:
        return Routed(
            (*[name for name in needs if name in kept], *[each for each in kept if each not in needs]), True
        )
    chosen = _chosen(tools, usable, ranked, k_max)
    return Routed(_padded(chosen, tools, usable, k_min))


def _scored(
    intent: UserIntent, tools: RoutableTools, usable: frozenset[str], wished: frozenset[str]
) -> dict[str, int]:
    """The tools that a request may need, with how much they are needed."""
    plain = _plain(intent.text)
    scores: Counter[str] = Counter()
    for key, kind in tools.routing.kinds.items():
        is_wished = not wished.isdisjoint(kind.changes)
        if not is_wished and not tools.cues[key].search(plain):
            continue
        for name in kind.tools:
            if name in usable and (is_wished or not tools.briefs[name].changes):
                score = _OF_CUE if not is_wished else _WISHED if tools.briefs[name].changes else _OF_WISH
                scores[name] = max(scores[name], score)
    hinted = {
        name for kind, names in tools.routing.entities.items() if kind in intent.entities for name in names
    }
    for name in hinted & usable:
        if not tools.briefs[name].changes:
            scores[name] = max(scores[name], _OF_ENTITY)
    for name, count in tools.matches(intent.text).items():
        if name in usable and name not in scores and count > 1 and not tools.briefs[name].changes:
            scores[name] = min(count, _MOST_LEXICAL)
    return dict(scores)


def _chosen(
    tools: RoutableTools, usable: frozenset[str], ranked: Iterable[str], k_max: int
) -> tuple[str, ...]:
    """The first of `ranked` that fit together with what they require."""
    chosen: dict[str, None] = {}
    for name in ranked:
        more = [each for each in tools.with_companions(name) if each in usable and each not in chosen]
        if len(chosen) + len(more) <= k_max:
            chosen |= dict.fromkeys(more)
    return tuple(chosen)


def _padded(
    chosen: Sequence[str], tools: RoutableTools, usable: frozenset[str], k_min: int
) -> tuple[str, ...]:
    """Fill up with what only reads: the core, then whatever is most useful."""
    reads = sorted((name for name in usable if not tools.briefs[name].changes), key=tools.rank)
    core = [name for name in tools.routing.core if name in reads]
    padded = dict.fromkeys(chosen)
    for name in (*core, *reads):
        if len(padded) >= k_min:
            break
        padded[name] = None
    return tuple(padded)


def _kept(
    tools: RoutableTools,
    usable: frozenset[str],
    needs: Sequence[str],
    previous: Sequence[str],
    wished: Collection[str],
    k_min: int,
    k_max: int,
) -> tuple[str, ...]:
    """The set of the turn before, where it has all that is needed; empty where it has not. A tool that destroys is dropped
    unless it is asked for again."""
    before = [
        name
        for name in dict.fromkeys(previous)
        if name in usable and (tools.briefs[name].permission_level != "destructive" or name in needs)
    ]
    if not before or len(before) > k_max or not set(needs) <= set(before):
        return ()
    return _padded(before, tools, usable, k_min)


def found_by(
    query: str, tools: RoutableTools, allowed: Collection[str], most: int = 5
) -> tuple[ToolBrief, ...]:
    """The tools that a query is about, best first: by exact name, by the kinds that it is of, by words."""
    plain = _plain(query).strip()
    usable = frozenset(tools.briefs) & frozenset(allowed)
    scores = Counter({name: count for name, count in tools.matches(query).items() if name in usable})
    for key, kind in tools.routing.kinds.items():
        if tools.cues[key].search(plain):
            for name in usable.intersection(kind.tools):
                scores[name] += 2
    for name in usable:
        if name in plain:
            scores[name] += _WISHED
    ranked = sorted(scores, key=lambda name: (-scores[name], tools.rank(name)))
    return tuple(tools.briefs[name] for name in ranked[:most])
