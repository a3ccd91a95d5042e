"""Whether a message that calls nobody is one for the rules: people who talk with each other are left alone.

The rules understand words that people also say to each other. So more is asked of a message that does not mention the bot:
a name alone is enough only where nothing else is said, and "I'll look into it" is no request.
"""

import re
from collections.abc import Sequence

from chatops_bot.domain.model import Message
from chatops_bot.domain.regex import regex
from chatops_bot.llm.offline.arguments import mask, plain_name_in
from chatops_bot.llm.offline.asked_back import understand_reply
from chatops_bot.llm.offline.cues import Hold, Kind
from chatops_bot.llm.offline.open_form import open_form_of
from chatops_bot.llm.offline.understanding import Intent

_SPOKEN_OF_ONESELF = regex(
    r"^\W*(?:(?:ok(?:ay)?|yes|sure|thanks|thx|right|alright)\b\W*)*"
    r"(?:(?:i|we)(?:'(?:ll|m|ve|re))?(?!'d)(?! (?:want|need|would like)\b)|let me|on it)\b"
    r"|^\W*(?:(?:好的?|行|嗯|收到)\W*)*(?:我们?+(?!想|要|需要|的))",
    re.IGNORECASE,
)
_GREETING = regex(
    r"\W*(?:hi|hello|hey|hello there|good (?:morning|evening)|你好|您好|嗨|早上好|晚上好)\W*", re.IGNORECASE
)


def is_for_the_rules(text: str, history: Sequence[Message], author: str = "") -> bool:
    """Whether the rules answer `text`, said by `author` (their id) in a thread of the bot to nobody in particular."""
    is_told = _SPOKEN_OF_ONESELF.search(text) and not re.search(r"[?？]", text)
    if is_told or _GREETING.fullmatch(text):
        return False
    if open_form_of(author, history) is not None:
        return True
    return any(not _is_aside(intent, text) for intent in understand_reply(text, history))


def _is_aside(intent: Intent, text: str) -> bool:
    if intent.kind in (Kind.CONSULT, Kind.THANKS):
        return True  # "ask the operator" and "thanks" are said among people as well
    if intent.is_bare:
        return plain_name_in(mask(text).text) != ""
    return intent.hold is Hold.NEGATED and intent.target.is_empty
