"""Which of the suggested next steps are offered: those that can really be done, in the asker's language, and that lead on.

A suggestion is the model's word until it has passed here. It names the tool or skill that would answer it, so whether this
person could have it answered is looked up and not believed.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable

from chatops_bot.context.followups import MAX_FOLLOWUPS
from chatops_bot.domain.followup import FollowUp
from chatops_bot.domain.language import Language, language_of
from chatops_bot.domain.regex import regex

ALREADY_ASKED = 0.8
"""The share of a suggestion's words that stand in what was just asked, from which on it is a part of it."""

_BREVITY = regex(
    r"\b(?:brief(?! (?:outage|spike|blip|drop|period|time|pause|moment|interruption|downtime|failure|error|loss)s?\b)"
    r"|briefly(?! (?:before|after|at|around|during|down|up)\b)|in short|concise(?:ly)?|tl;?dr|(?:one|a single)[- ](?:line|word|sentence)r?|in (?:a few|two|three) words"
    r"|yes(?: or |/)no|y/n"
    r"|(?:just|only) (?:tell me |say |give me )?(?:the |a )?(?:\w+ )?(?:number|count|names?|ids?|status|answer|yes|no)"
    r"|no (?:details|suggestions|follow[- ]?ups?|explanations?)|(?:keep it|be|make it|answer|reply) short|short(?:er)? answer)\b"
    r"|简短|简要|简单(?:说|回答|答)|精简|(?:一|两|一两|几)句话|(?:用|就|只)?一行(?:回答|说明|话|内|就|字)|^一行$|[，,]\s*一行[。.!！]?$"
    r"|只(?:说|回答|报(?![错警告]))|只(?:要|给)(?:我|出)?(?:一?个)?(?:数字?|数目|数量|结论|结果|答案|名字|名称|状态|编号|id|是或否|是否)(?:列表)?(?!\w)"
    r"|只(?:要|给)(?:我|出)?(?:一?个)?(?:数字?|数目|数量|结论|结果|答案|名字|名称|状态|编号|id)(?:就|即可|吧|和)"
    r"|不用(?:解释|展开|建议)|别废话|长话短说|是或否|是还是不是",
    re.IGNORECASE,
)
_THIRD = regex(r"[\u0370-\u1fff\u3041-\u30ff\u31f0-\u31ff\ua960-\ua97f\uac00-\ud7ff]")
"""Letters of neither language: Greek to Georgian and the scripts of South Asia, kana, hangul."""
_IN_PAIRS = r"\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff\uf900-\ufaff"
_WORD = regex(rf"[^\W{_IN_PAIRS}]+|[{_IN_PAIRS}]+")
_FILLER = frozenset(
    [
        "a",
        "an",
        "and",
        "any",
        "are",
        "at",
        "be",
        "by",
        "can",
        "could",
        "do",
        "does",
        "for",
        "from",
        "has",
        "have",
        "how",
        "i",
        "in",
        "is",
        "it",
        "its",
        "me",
        "my",
        "of",
        "on",
        "or",
        "our",
        "please",
        "show",
        "tell",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "this",
        "those",
        "to",
        "us",
        "was",
        "we",
        "were",
        "what",
        "when",
        "which",
        "who",
        "why",
        "will",
        "with",
        "you",
        "your",
    ]
)


def wants_brevity(asked: str) -> bool:
    """Whether the asker wanted the bare answer."""
    return _BREVITY.search(unicodedata.normalize("NFKC", asked)) is not None


def worth_offering(
    wanted: Iterable[FollowUp], *, asked: str, language: Language, can: Callable[[str], bool]
) -> tuple[str, ...]:
    """The questions to offer, at most `MAX_FOLLOWUPS`, in their order.

    `can` says whether the tool or skill of this name is there for the asker. Nothing is offered to who asked for brevity.
    """
    if wants_brevity(asked):
        return ()
    known = _words(asked)
    kept: list[str] = []
    seen: list[frozenset[str]] = []
    for step in wanted:
        words = _words(step.question)
        if (
            words
            and can(step.needs)
            and not _is_of_another_language(step.question, asked, language)
            and not _is_part(words, known)
            and words not in seen
        ):
            kept.append(step.question)
            seen.append(words)
    return tuple(kept[:MAX_FOLLOWUPS])


_ID = regex(r"#([0-9]+)")
_NUMBER = regex(r"(?<![A-Za-z0-9_:./-])[0-9]+(?![A-Za-z0-9_:/-])")


def about(answer: str, steps: Iterable[FollowUp]) -> tuple[FollowUp, ...]:
    """Those of a tool's steps whose tasks and runs the answer tells of: a tool looks at more than what is reported."""
    told = frozenset(_NUMBER.findall(answer))
    return tuple(step for step in steps if told.issuperset(_ID.findall(step.question)))


def _is_of_another_language(question: str, asked: str, language: Language) -> bool:
    """Whether a question is in the one of our two languages that the asker does not write. Who writes a third, such as Japanese,
    which shares letters with Chinese, gets what the model wrote: it follows the asker better than letters tell."""
    if _THIRD.search(question) or _THIRD.search(asked):
        return False
    return language_of(question, language) != language


def _is_part(words: frozenset[str], asked: frozenset[str]) -> bool:
    return len(words & asked) >= ALREADY_ASKED * len(words)


def _words(text: str) -> frozenset[str]:
    """What a text is about: its words and numbers, without fillers if more is left, and what is written without spaces in pairs."""
    words: set[str] = set()
    for run in _WORD.findall(unicodedata.normalize("NFKC", text).lower()):
        words |= {run[at : at + 2] for at in range(max(1, len(run) - 1))} if run[0] > "\u2fff" else {run}
    return frozenset(words - _FILLER or words)
