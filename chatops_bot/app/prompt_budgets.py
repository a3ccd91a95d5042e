"""What each prompt may measure: `prompts/budgets.json` holds the sizes that somebody approved, and growth beyond them fails.

An entry is brought up to date with `chatops-bot prompt budgets --approver NAME --reason WHY`, in the change that makes the text grow.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from chatops_bot.app.prompt_sizes import Reviewed
from chatops_bot.domain.errors import ConfigInvalid

GROWTH = 1.05
"""A text may be this much longer than what was approved, so that a better word needs no approval."""


class Budget(BaseModel):
    """The size that was approved, the hash of that text, who approved it and why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    chars: int
    tokens: int
    hash: str
    soft_breach: bool = False
    approver: str
    reason: str


_FILE = TypeAdapter(dict[str, Budget])


def read_budgets(path: Path) -> dict[str, Budget]:
    """By the names of prompts. Raises ConfigInvalid when the file cannot be used."""
    try:
        return _FILE.validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise ConfigInvalid(f"{path}: there is no such file; make it with `prompt budgets`.") from error
    except OSError as error:
        raise ConfigInvalid(
            f"{path}: cannot be read ({error.strerror}); name another file with --file."
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        at = f"{'.'.join(map(str, first['loc']))}: " if first["loc"] else ""
        raise ConfigInvalid(
            f"{path}: is no file of budgets ({at}{first['msg'].lower()}); correct it, or delete it and run `prompt budgets` again."
        ) from error


def problems_of_budgets(budgets: Mapping[str, Budget], prompts: Iterable[Reviewed]) -> list[str]:
    """A sentence for each prompt that nobody approved as it is."""
    built = {each.name: each for each in prompts}
    problems = [
        f"{name}: there is no such prompt any more; remove its budget" for name in budgets.keys() - built
    ]
    for name, each in built.items():
        budget, chars, tokens = budgets.get(name), len(each.prompt), each.prompt.tokens
        if budget is None:
            problems.append(f"{name}: has no budget")
        elif chars > budget.chars * GROWTH or tokens > budget.tokens * GROWTH:
            problems.append(
                f"{name}: {chars} characters, about {tokens} tokens; approved {budget.chars}, {budget.tokens}"
            )
        elif _is_over(each) and not budget.soft_breach:
            problems.append(f"{name}: is over its soft limit, which nobody approved")
    return problems


def approver_of(prompt: Reviewed, budgets: Mapping[str, Budget]) -> str:
    """Who approved that a prompt is over its soft limit, by as much as it is; empty when nobody did."""
    budget = budgets.get(prompt.name)
    if budget is None or not budget.soft_breach or problems_of_budgets({prompt.name: budget}, [prompt]):
        return ""
    return budget.approver


def write_budgets(path: Path, prompts: list[Reviewed], *, approver: str, reason: str) -> list[str]:
    """Bring up to date what has a problem, in the name of `approver`; all other entries stay. Returns the names of what changed.
    Raises ConfigInvalid when the file cannot be read or written."""
    budgets = read_budgets(path) if path.exists() else {}
    wrong = {problem.partition(":")[0] for problem in problems_of_budgets(budgets, prompts)}
    kept = {
        each.name: Budget(
            chars=len(each.prompt), tokens=each.prompt.tokens, hash=each.prompt.prompt_hash, soft_breach=_is_over(each),
            approver=approver, reason=reason,
        )
        if each.name in wrong
        else budgets[each.name]
        for each in prompts
    }  # fmt: skip
    entries = {name: kept[name].model_dump() for name in sorted(kept)}
    try:
        path.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigInvalid(
            f"{path}: cannot be written ({error.strerror}); name another file with --file."
        ) from error
    return sorted(wrong)


def _is_over(each: Reviewed) -> bool:
    return any("soft limit" in warning for warning in each.prompt.warnings)
