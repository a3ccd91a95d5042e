"""Slack's limits in numbers, from its Block Kit and Web API reference.

Where Slack is known to be stricter than its own papers, the working figure stands here with the reason.
"""

BLOCKS = 50
BLOCK_TEXT_TOTAL = 13_000
"""Characters over all blocks of a message; above about 13,200 Slack answers `msg_blocks_too_long`."""

MARKDOWN_TOTAL = 10_000
"""Slack allows 12,000 over all markdown blocks; the rest is room for what it counts differently."""

FALLBACK_BYTES = 3_800
"""`text` of chat.update is cut off at 4,000 UTF-8 bytes, though the papers say characters."""

TEXT = 3_000
HEADER = 150
ACTIONS = 25
BUTTON_LABEL = 75
BUTTON_VALUE = 2_000
ACTION_ID = 255
CONFIRM_TITLE = 100
CONFIRM_TEXT = 300
CONFIRM_BUTTON = 30

CODE_CHUNK = 3_000
"""Characters of one preformatted box; a longer text continues in the next box."""

INPUT_LABEL = 2_000
INPUT_TEXT = 3_000
OPTIONS = 100
OPTION_LABEL = 75
OPTION_VALUE = 150
PLACEHOLDER = 150
BLOCK_ID = 255
MODAL_TITLE = 24
MODAL_BLOCKS = 100
