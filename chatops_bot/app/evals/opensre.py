"""OpenSRE's synthetic scenarios, from a checkout of it: an alert, the evidence that there is, and what an answer must hold.

Each evidence file is the result of one tool, named as the file is and as the answer key names its sources. The key's
model answer makes a script, so that a scenario also runs without a model; it proves the road, as every script does.
"""

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from chatops_bot.app.evals.case import Case, Expected, Recording, ScriptedCall, ScriptStep, WantedTools
from chatops_bot.app.evals.imported import Imported, ImportRefused, case_id, read_json, read_mapping, texts

ANSWER, ALERT = "answer.yml", "alert.json"
QUESTION = "This alert fired. What is its root cause? Look at the evidence first.\n\n"
SOURCE = "OpenSRE"


def import_opensre(checkout: Path) -> Imported:
    """Every scenario below `checkout`. Raises ImportRefused when there is none."""
    keys = sorted(checkout.rglob(ANSWER))
    if not keys:
        raise ImportRefused(f"{checkout}: holds no {ANSWER}; name a checkout of OpenSRE.")
    cases: list[Case] = []
    problems: list[str] = []
    for key in keys:
        try:
            cases.append(_case(key, problems))
        except ImportRefused as error:
            problems.append(str(error))
        except ValidationError as error:
            first = error.errors()[0]
            problems.append(f"{key}: {'.'.join(map(str, first['loc']))}: {first['msg']}.")
    return Imported(tuple(cases), tuple(problems))


def _case(key: Path, problems: list[str]) -> Case:
    answer, folder = read_mapping(key), key.parent
    alert = read_json(folder / ALERT)
    evidence = {path.stem: path for path in sorted(folder.glob("*.json")) if path.name != ALERT}
    recordings = tuple(
        Recording(tool=name, content=_content(read_json(path))) for name, path in evidence.items()
    )
    required = _known(
        texts(answer.get("required_evidence_sources"), key, "required_evidence_sources"),
        evidence,
        key,
        problems,
    )
    forbidden = [
        text
        for name in ("forbidden_categories", "forbidden_phrases", "forbidden_keywords")
        for text in texts(answer.get(name), key, name)
    ]
    loops = answer.get("max_investigation_loops")
    gold = str(answer.get("model_response") or "").strip()
    script = (
        ScriptStep(call=tuple(ScriptedCall(tool=name) for name in evidence)),
        ScriptStep(say=gold),
    ) if gold and evidence else ()  # fmt: skip
    return Case(
        id=case_id("opensre", folder.parent.name, folder.name), language="en", tags=("opensre", folder.parent.name),
        source=f"{SOURCE} {folder.parent.name}/{folder.name}", world="recorded", recordings=recordings,
        ask=(QUESTION + json.dumps(alert, ensure_ascii=False, indent=1),), script=script, models=("scripted", "live"),
        expected=Expected(
            outcome="answered", tools=WantedTools(must=required),
            says=texts(answer.get("required_keywords"), key, "required_keywords"), never=tuple(forbidden),
            grounded=False, max_rounds=int(loops) + 1 if isinstance(loops, int) else None,
            rubric=texts(answer.get("root_cause_category"), key, "root_cause_category"),
        ),
    )  # fmt: skip


def _known(
    required: tuple[str, ...], evidence: dict[str, Path], key: Path, problems: list[str]
) -> tuple[str, ...]:
    """Of the sources that must be looked at, those that the scenario has a file for."""
    names = {name: name for name in evidence} | {name.removeprefix("aws_"): name for name in evidence}
    found = []
    for name in required:
        held = names.get(name) or names.get(name.removeprefix("aws_"))
        if held is None:
            problems.append(
                f"{key}: required_evidence_sources names {name}, but the folder holds no {name}.json."
            )
        else:
            found.append(held)
    return tuple(found)


def _content(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"rows": value}
