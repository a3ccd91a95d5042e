"""Whether a text tries to talk to the model over people's heads. A hit deletes nothing: it is noted, in the log and to the model.

What keeps a hit from doing harm is elsewhere: whatever changes something is a proposal that people decide on.
"""

import re
import unicodedata

from chatops_bot.domain.regex import regex

_RULES = {
    "override": regex(
        r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruction|prompt|rule|guideline|polic|restriction)"
        r"|\bnew (?:system )?(?:instructions?|prompt)\b|\byou are now\b|\bact as (?:an? )?(?:unrestricted|admin|root|dan)\b"
        r"|(?:忽略|无视|忘记|忘掉|不要遵守|绕过).{0,20}(?:指令|提示词|规则|限制|要求)|从现在起你是",
        re.IGNORECASE | re.DOTALL,
    ),
    "prompt-leak": regex(
        r"\b(?:print|show|reveal|repeat|output|tell me|what (?:is|are)|give me)\b.{0,40}"
        r"\b(?:system prompt|(?:your|the) (?:initial |hidden |internal |system )?(?:prompt|instructions))"
        r"|(?:输出|打印|显示|告诉我|复述|泄露|给我看).{0,20}(?:系统提示词?|内部提示词?|你的(?:提示词|指令))",
        re.IGNORECASE | re.DOTALL,
    ),
    "role-tag": regex(
        r"<\|(?:im_start|im_end|system|assistant|user|endoftext)\|?>|^[^\S\n]*+#{0,3}[^\S\n]*+(?:system|assistant|developer)[^\S\n]*+:"
        r"|</?(?:system|assistant|tool_response|function_results?)>|\[/?(?:INST|SYS)\]",
        re.IGNORECASE | re.MULTILINE,
    ),
    "fence-escape": regex(
        r"END UNTRUSTED DATA|UNTRUSTED DATA nonce|\[END SKILL|\[SKILL nonce"
        r"|^[^\S\n]*+\[(?:AGENT IDENTITY|CAPABILITIES|AVAILABLE TOOLS|SKILLS|CONSTRAINTS|CONTEXT)\]",
        re.IGNORECASE | re.MULTILINE,
    ),
}
SCANNED_CHARS = 20_000
"""As much of a text as is looked at; a message that a person types is shorter."""


def scan_untrusted(text: str) -> tuple[str, ...]:
    """The ids of the rules that `text` hits, in a fixed order: override, prompt-leak, role-tag, fence-escape.

    Letters that nobody sees and forms that only look different do not hide a hit.
    """
    normal = unicodedata.normalize("NFKC", text[:SCANNED_CHARS])
    seen = "".join(c for c in normal if unicodedata.category(c) not in {"Cf", "Co", "Cn"})
    return tuple(rule for rule, pattern in _RULES.items() if pattern.search(seen))
