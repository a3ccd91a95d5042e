"""The short message that asks once more for a decision: a card that is only edited calls nobody."""

from collections.abc import Callable
from typing import Literal

from chatops_bot.domain.language import Language, Phrase
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.view import Block, Lines, Markdown, Mention, Notice, View
from chatops_bot.rendering.escapes import exact, inert
from chatops_bot.rendering.graphemes import clip
from chatops_bot.rendering.moments import clock_text

SUMMARY_CHARS = 150

Reminder = Literal["asked_again", "escalated"]
"""Asked once more, or asked of the next people; also the decision word of its audit row."""

_SAID: dict[Reminder, Phrase] = {
    "asked_again": Phrase(
        "提案 {code} 仍在等待批准或拒绝：{summary}。它将于 {time} 过期。",
        "Proposal {code} still waits for an approve or a reject: {summary}. It expires at {time}.",
    ),
    "escalated": Phrase(
        "提案 {code} 还没有足够的人批准，现在请您来决定：{summary}。它将于 {time} 过期。",
        "Too few have approved proposal {code}, so you are asked to decide: {summary}. It expires at {time}.",
    ),
}
_LEFT_ALONE = Phrase(
    "{code}（{summary}）没有人保留，也没有自动撤销：{why}。请决定是否撤销。",
    "Nobody kept {code} ({summary}), and it was not taken back: {why}. Please decide whether to undo it.",
)
_NOBODY_YET = Phrase(
    "还没有人决定提案 {code}，现在请您来决定：{summary}。它将于 {time} 过期。",
    "Nobody has decided about proposal {code}, so you are asked to: {summary}. It expires at {time}.",
)
_ANSWERED = Phrase(
    "提案 {code} 曾在此请求决定；现在不再需要，结果见卡片。",
    "A decision about {code} was asked for here; none is needed any more, and its card says what came of it.",
)
_OPEN = Phrase("打开卡片", "Open the card")


def reminder_view(
    proposal: Proposal, kind: Reminder, called: tuple[str, ...], link: str, redact: Callable[[str], str] = str
) -> View:
    """A reminder in the card's language that calls `called` (platform ids) and leads to the card by `link`, if there is one."""
    language: Language = "zh" if proposal.language == "zh" else "en"
    phrase = _NOBODY_YET if kind == "escalated" and not proposal.votes else _SAID[kind]
    summary = clip(exact(redact(proposal.plan.summary.said_in(language))), SUMMARY_CHARS)
    time = clock_text(proposal.expires_at, proposal.created_at)
    said = phrase.filled(code=proposal.code, summary=summary, time=time).said_in(language)
    return _call(said, called, link, language)


def left_alone_view(
    proposal: Proposal, why: Phrase, called: tuple[str, ...], link: str, redact: Callable[[str], str] = str
) -> View:
    """That an applied change was due to be taken back and was not, to those who may decide what becomes of it."""
    language: Language = "zh" if proposal.language == "zh" else "en"
    summary = clip(exact(redact(proposal.plan.summary.said_in(language))), SUMMARY_CHARS)
    reason = clip(exact(redact(why.said_in(language))), SUMMARY_CHARS)
    said = _LEFT_ALONE.filled(code=proposal.code, summary=summary, why=reason).said_in(language)
    return _call(said, called, link, language)


def answered_view(proposal: Proposal) -> View:
    """What a message that called people becomes once nobody is asked any more."""
    said = _ANSWERED.filled(code=proposal.code).said_in("zh" if proposal.language == "zh" else "en")
    return View((Lines((said,)),), inert(said))


def _call(said: str, called: tuple[str, ...], link: str, language: Language) -> View:
    blocks: list[Block] = [Mention(called, said) if called else Notice(said, "warning")]
    if link:
        blocks.append(Markdown(f"[{_OPEN.said_in(language)}]({link})"))
    return View(tuple(blocks), inert(said))
