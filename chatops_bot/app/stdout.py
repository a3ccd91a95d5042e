"""Standard output whose reader has gone."""

import os
import sys
from collections.abc import Callable


def forget_stdout() -> None:
    """Whoever read us has enough; the interpreter must not find that out once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def while_read(work: Callable[[], int]) -> int:
    """What `work` returns that prints; 0 when whoever reads us has enough before its end."""
    try:
        code = work()
        sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()
        return 0
    return code
