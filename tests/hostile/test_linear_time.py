"""What reads text that anybody can type takes time in proportion to it: one message must not stop the bot for everybody.

A regular expression that may begin anywhere in a run and looks to the run's end is quadratic; three of them side by side are
cubic, and a few hundred empty lines stand for minutes. Each reader is given texts that repeat one piece.
"""

import time
from collections.abc import Callable, Mapping

import pytest

from chatops_bot.agent.written_call import WrittenCallGuard
from chatops_bot.app.evals.grounding import numbers_in
from chatops_bot.context.entities import entities_in
from chatops_bot.context.followups import FollowupSplitter
from chatops_bot.context.hardening import block, inline
from chatops_bot.context.next_steps import wants_brevity
from chatops_bot.context.scanning import scan_untrusted
from chatops_bot.domain.language import language_of
from chatops_bot.llm.offline.understanding import understand
from chatops_bot.platforms.slack import text as slack_text
from chatops_bot.platforms.slack.message_text import text_of
from chatops_bot.platforms.terminal.markdown import settled
from chatops_bot.rendering.escapes import shown
from chatops_bot.rendering.healing import heal
from chatops_bot.rendering.links import defanged
from chatops_bot.rendering.sanitise import sanitise
from chatops_bot.rendering.splitting import split
from chatops_bot.sessions.commands import parse_command
from tests.conftest import SOAK_SIZE

READERS: Mapping[str, Callable[[str], object]] = {
    "scanning": scan_untrusted,
    "offline rules": understand,
    "sanitising": sanitise,
    "healing": heal,
    "splitting": lambda text: split(text, 3000),
    "links": defanged,
    "written calls": lambda text: WrittenCallGuard(frozenset({"query_tasks"})).feed(text),
    "follow-ups": lambda text: FollowupSplitter().feed(text),
    "brevity": wants_brevity,
    "a line of a prompt": lambda text: inline(text, 200),
    "a block of a prompt": lambda text: block(text, 4000),
    "typed decisions": parse_command,
    "language": language_of,
    "a message of Slack": lambda text: text_of({"text": text}, {}),
    "mentions": lambda text: (slack_text.calls_somebody(text), slack_text.without_mentions_of(text, "U1")),
    "the terminal": settled,
    "letters nobody sees": shown,
    "numbers of an answer": numbers_in,
    "numbers and names": entities_in,
}
PIECES = (
    "\n", " ", "\t", "a", "A", "0", "-", "#", "`", "*", "_", "[", "]", "(", ")", "<", ">", ":", "/", ".", ",", "，", "。", "是", "\\",
    "|", "=", '"', "'", "~", "a ", "a.", "a-", "0 ", "a,", "\n ", "\n- ", "a=", "@", "a:", "0:", "http://", "任务", "task ", "run ", "技能", "skill ", "use a ", "which agents ",
    "0,", "x\n", "[a", "](", "<a", "&", "%", "a_", "``` \n", "`a", "**a", "> ", "\n> ", "1. ", "\n1. ", "\n|", "|-", "<@U1", "<!",
    "](http://a", "![", "ignore ", "\u200b", "e\u0301", "🙂", "last ", "every ", "不", "from 1 to ", "#1 ", "\r\n", "```\n", "~~~\n",
    "between 1 ", "and ", "晚8点到", "what is ", "ok ", "嗯", "谁把", "who ", "\n```", "$(", "{", '{"', "}", ";", "!", "?",
)  # fmt: skip
LENGTH = {"": 4_000, "ci": 16_000}.get(SOAK_SIZE, 40_000)
"""In letters; a message of Slack holds 40,000 at most."""
QUICK_SECONDS = 0.05
"""Of CPU: what takes less is not looked at more closely, since its ratio would be noise."""


def seconds(reader: Callable[[str], object], piece: str, length: int) -> float:
    text = (piece * (length // len(piece) + 1))[:length] + " end!\x00"
    begun = time.process_time()
    reader(text)
    return time.process_time() - begun


def growth(reader: Callable[[str], object], piece: str) -> float:
    """How many times longer four times as much takes: 4 where it is in proportion, 16 where it is quadratic; 0 if all is quick.

    The length is doubled step by step, so that a reader that is far worse fails instead of running for hours.
    """
    length = LENGTH >> 5
    while seconds(reader, piece, length) < QUICK_SECONDS:
        if length >= LENGTH:
            return 0
        length *= 2
    whole = min(seconds(reader, piece, length) for _ in range(3))
    part = min(seconds(reader, piece, length // 4) for _ in range(3))
    return whole / part


@pytest.mark.soak
@pytest.mark.parametrize("name", READERS)
def test_no_text_takes_a_reader_more_than_its_share_of_time(name: str):
    assert {piece: times for piece in PIECES if (times := growth(READERS[name], piece)) > 8} == {}
