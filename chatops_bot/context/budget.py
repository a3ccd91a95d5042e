"""How much of a conversation one call of a model may carry, and what models teach about that.

Room is reckoned in estimated tokens. Each answer tells how many tokens its request really had; the ratio of the two is
learned by model, within bounds, and moves in coarse steps: a room that changed a little with each answer would move the
window each time, and no provider could reuse its cached prefix. A request that a model calls too long lowers its room for
as long as the process lives.
"""

from collections import OrderedDict
from dataclasses import dataclass
from math import ceil, floor

from chatops_bot.domain.model import Usage

CONTEXT_TOKENS = 64_000
"""Default size of one request. Today's models take more; beyond this, cost grows faster than what the answer gains."""
ANSWER_TOKENS = 8_000
"""Kept free for the answer with its reasoning."""
PROMPT_TOKENS = 4_000
"""Kept free for the prompt, whose hard budget this is; what skills add to it is counted."""
STEP_TOKENS = 1_024
"""Rooms are whole multiples of this, so that a prompt that grows by a line moves no window."""
SMALLEST_ROOM = 1_024

LEAST_RATIO, MOST_RATIO = 0.5, 2.0
"""An estimate that is further off than this is taken for a report that counts something else."""
RATIO_STEP = 0.125
LEARNED_FROM = 500
"""Estimated tokens below which a request says too little: fixed costs would outweigh the text."""
WEIGHT = 0.25
"""Of the newest report, in the moving average."""
TIGHTER = 0.5
"""What a request that was too long leaves of the room."""
MODELS_REMEMBERED = 64


@dataclass(slots=True)
class _Learned:
    ratio: float = 1.0
    most: int = 0


class Budget:
    """One for the process; models are told apart by their names. Pure: what goes in are estimates and reports."""

    def __init__(self, context_tokens: int = CONTEXT_TOKENS) -> None:
        self._context_tokens = context_tokens
        self._models: OrderedDict[str, _Learned] = OrderedDict()

    def room(self, model: str, beside: int) -> int:
        """Estimated tokens that the conversation may have in a request to `model`, where `beside` go to tools and context."""
        known = self._models.get(model, _Learned())
        free = self._context_tokens - min(ANSWER_TOKENS, self._context_tokens // 4)
        size = free / max(RATIO_STEP, ceil(known.ratio / RATIO_STEP) * RATIO_STEP)
        if known.most:
            size = min(size, known.most)
        room = size - min(PROMPT_TOKENS, self._context_tokens // 4) - ceil(beside / STEP_TOKENS) * STEP_TOKENS
        return max(SMALLEST_ROOM, floor(room / STEP_TOKENS) * STEP_TOKENS)

    def learn(self, model: str, estimated: int, usage: Usage) -> None:
        """A request of `estimated` tokens was answered; `usage` is what the model says of it, all zero if it says nothing."""
        if estimated < LEARNED_FROM or usage.prompt_tokens <= 0:
            return
        known = self._of(model)
        reported = usage.prompt_tokens / estimated
        reported = min(max(reported, LEAST_RATIO), MOST_RATIO)
        known.ratio += WEIGHT * (reported - known.ratio)

    def refused(self, model: str, estimated: int) -> None:
        """A request of `estimated` tokens was too long for `model`."""
        known = self._of(model)
        tighter = int(estimated * TIGHTER)
        known.most = min(known.most, tighter) if known.most else tighter

    def _of(self, model: str) -> _Learned:
        known = self._models.setdefault(model, _Learned())
        self._models.move_to_end(model)
        while len(self._models) > MODELS_REMEMBERED:
            self._models.popitem(last=False)
        return known
