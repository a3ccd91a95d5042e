"""Regular expressions that are compiled when they are first used.

The offline model alone knows over a hundred, which take some 80 ms to compile, and a start needs none of them. So whatever is
long, or knows letters beyond ASCII, is compiled when text comes that it is for; `re.compile` is for what is small.
"""

import re
from functools import cached_property
from typing import Any, cast


def regex(source: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """What `re.compile` would return, at the first use of it. A mistake in `source` raises re.error only then."""
    return cast(re.Pattern[str], _Uncompiled(source, flags))


class _Uncompiled:
    """Stands for a pattern. Each method is looked up once and then called directly, so use costs nothing more."""

    def __init__(self, source: str, flags: re.RegexFlag) -> None:
        self._source, self._flags = source, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found
