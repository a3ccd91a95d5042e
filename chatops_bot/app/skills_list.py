"""`chatops-bot skills list`: what was read from where, who sees it, and what is broken."""

import json
import sys
from collections.abc import Iterator
from typing import Any

from chatops_bot.app.skills import borrowed_library, unknown_tools
from chatops_bot.app.skills_config import SkillsConfig
from chatops_bot.app.where import Where
from chatops_bot.context.worked_example import why_unreadable
from chatops_bot.domain.skill import Audience, Skill
from chatops_bot.rendering.escapes import one_line
from chatops_bot.skillpacks.library import described


def list_skills(where: Where, *, as_json: bool) -> int:
    """Print every skill of the bot; 1 when one is broken or names a tool that there is not, else 0. Raises ConfigInvalid."""
    data, config = where.settings()
    with borrowed_library(SkillsConfig() if config is None else config.skills, data) as library:
        skills, broken = library.read()
    unknown = unknown_tools(skills)
    if as_json:
        told = {
            "skills": [_told(skill) for skill in skills],
            "broken": [
                {"name": each.name, "path": each.path, "line": each.line, "problem": each.problem.en}
                for each in broken
            ],
            "unknown_tools": unknown,
        }
        sys.stdout.write(json.dumps(told, ensure_ascii=False) + "\n")
    else:
        lines = [line for skill in skills for line in _lines(skill)]
        lines += [f"BROKEN {described(each)}" for each in broken]
        lines += [f"UNKNOWN TOOL {each}" for each in unknown]
        sys.stdout.write("".join(f"{one_line(line)}\n" for line in lines or ["There are no skills."]))
    return 1 if broken or unknown else 0


def _told(skill: Skill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "source": skill.source,
        "description": skill.description,
        "tools": skill.tools,
        "max_iterations": skill.rounds,
        "scripts": skill.scripts,
        "visible_to": _audience(skill.audience),
        "remarks": list(_remarks(skill)),
    }


def _lines(skill: Skill) -> Iterator[str]:
    yield f"{skill.name} ({skill.source}; {_audience(skill.audience)})"
    yield from (f"{skill.name}: {remark}" for remark in _remarks(skill))


def _remarks(skill: Skill) -> Iterator[str]:
    yield from (remark.en for remark in skill.remarks)
    if wrong := why_unreadable(skill.body):
        yield f"its worked example cannot be read, so without a model none of its lookups is made; in its text, {wrong}"


def _audience(audience: Audience) -> str:
    limits = {
        "roles": audience.roles, "people": audience.people, "groups": audience.groups, "channels": audience.channels,
    }  # fmt: skip
    named = [f"{key} {', '.join(sorted(names))}" for key, names in limits.items() if names]
    return "; ".join(named) or "everybody"
