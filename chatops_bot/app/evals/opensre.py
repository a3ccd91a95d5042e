"""OpenSRE's synthetic scenarios, from a checkout of it: an alert, the evidence that there is, and what an answer must hold.

Each evidence file is the result of one tool, named as the file is and as the answer key names its sources. The key's
model answer makes a script, so that a scenario also runs without a model; it proves the road, as every script does. An
answer names its category on a line of its own; which ones there are is gathered from all keys, so that the question gives
none away.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from chatops_bot.app.evals.case import Case, Expected, Recording, ScriptedCall, ScriptStep, WantedTools
from chatops_bot.app.evals.imported import Imported, ImportRefused, case_id, read_json, read_mapping, texts

ANSWER, ALERT = "answer.yml", "alert.json"
ABOUT, AVAILABLE, SOURCES = "scenario.yml", "available_evidence", "required_evidence_sources"
FORBIDDEN = ("forbidden_keywords", "forbidden_phrases")
CATEGORY = "ROOT_CAUSE_CATEGORY:"
OTHER_NAMES = {"rds_metrics": "cloudwatch_metrics"}
"""What a source is called that has another name than its file."""
QUESTION = (
    "This alert fired. What is its root cause? Look at the evidence first. End with a line `ROOT_CAUSE_CATEGORY:` and one of: "
    "{categories}.\n\n"
)
SOURCE = "OpenSRE"


def import_opensre(checkout: Path) -> Imported:
    """Every scenario below `checkout`. Raises ImportRefused when there is none."""
    keys = sorted(checkout.rglob(ANSWER))
    if not keys:
        raise ImportRefused(f"{checkout}: holds no {ANSWER}; name a checkout of OpenSRE.")
    cases: list[Case] = []
    problems: list[str] = []
    categories = sorted({category for key in keys for category in _categories(key)})
    for key in keys:
        try:
            cases.append(_case(key, categories, problems))
        except ImportRefused as error:
            problems.append(str(error))
        except ValidationError as error:
            first = error.errors()[0]
            problems.append(f"{key}: {'.'.join(map(str, first['loc']))}: {first['msg']}.")
    return Imported(tuple(cases), tuple(problems))


def _categories(key: Path) -> tuple[str, ...]:
    """What a key calls causes, right and wrong ones, so that a question can name all that there are; none where it is broken,
    which is told when it is read as a case."""
    try:
        answer = read_mapping(key)
        return (
            *texts(answer.get("root_cause_category"), key, "root_cause_category"),
            *texts(answer.get("forbidden_categories"), key, "forbidden_categories"),
        )
    except ImportRefused:
        return ()


def _case(key: Path, categories: Sequence[str], problems: list[str]) -> Case:
    answer, folder = read_mapping(key), key.parent
    lineage = _lineage(folder)
    alert = read_json(next((each / ALERT for each in lineage if (each / ALERT).exists()), folder / ALERT))
    evidence = _evidence(lineage, problems)
    recordings = tuple(
        Recording(tool=name, content=_content(read_json(path))) for name, path in evidence.items()
    )
    required = _known(
        texts(answer.get(SOURCES), key, SOURCES),
        evidence,
        key,
        SOURCES,
        problems,
    )
    category = str(answer.get("root_cause_category") or "").strip()
    says = (
        *texts(answer.get("required_keywords"), key, "required_keywords"),
        *([f"{CATEGORY} {category}"] if category else []),
    )
    never = (
        *(text for name in FORBIDDEN for text in texts(answer.get(name), key, name)),
        *(
            f"{CATEGORY} {each}"
            for each in texts(answer.get("forbidden_categories"), key, "forbidden_categories")
            if not category.startswith(each)  # an answer with the right one holds the beginning of it too
        ),
    )
    loops = str(answer.get("max_investigation_loops", ""))
    gold = _gold(str(answer.get("model_response") or "").strip(), says, never, key, problems)
    script = (
        ScriptStep(call=tuple(ScriptedCall(tool=name) for name in evidence)),
        ScriptStep(say=gold),
    ) if gold and evidence else ()  # fmt: skip
    return Case(
        id=case_id("opensre", folder.parent.name, folder.name), language="en", tags=("opensre", folder.parent.name),
        source=f"{SOURCE} {folder.parent.name}/{folder.name}", world="recorded", recordings=recordings,
        ask=(QUESTION.format(categories=", ".join(categories)) + json.dumps(alert, ensure_ascii=False, indent=1),),
        script=script, models=("scripted", "live"),
        expected=Expected(
            outcome="answered", tools=WantedTools(must=required), says=says, never=never, grounded=False,
            max_rounds=int(loops) + 1 if loops.isdecimal() else None,
            rubric=tuple(f"Rules out: {each}" for each in texts(answer.get("ruling_out_keywords"), key, "ruling_out_keywords")),
        ),
    )  # fmt: skip


def _lineage(folder: Path) -> list[Path]:
    """The folder of a scenario, and those of the scenarios that it is based on: what it lacks stands there."""
    found = [folder]
    while (about := found[-1] / ABOUT).exists() and (base := read_mapping(about).get("base")) is not None:
        parent = folder.parent / str(base)
        if Path(str(base)).name != base or not parent.is_dir() or parent in found:
            raise ImportRefused(f"{about}: base names {base}, which is no other scenario beside it.")
        found.append(parent)
    return found


def _evidence(lineage: Sequence[Path], problems: list[str]) -> dict[str, Path]:
    """The evidence files by the names of their sources: those that the scenario declares, or all that there are."""
    files = {
        path.stem: path
        for each in reversed(lineage)
        for path in sorted(each.glob("*.json"))
        if path.name != ALERT
    }
    for about in (each / ABOUT for each in lineage if (each / ABOUT).exists()):
        if declared := texts(read_mapping(about).get(AVAILABLE), about, AVAILABLE):
            if known := _known(declared, files, about, AVAILABLE, problems):
                return {name: files[name] for name in known}
            return files  # it calls them by other names
    return files


def _gold(answer: str, says: Sequence[str], never: Sequence[str], key: Path, problems: list[str]) -> str:
    """The key's model answer, if it holds what the key asks of an answer; else none, since its script could never pass."""
    flat = " ".join(answer.split()).casefold()
    wrong = [text for text in says if " ".join(text.split()).casefold() not in flat]
    wrong += [text for text in never if " ".join(text.split()).casefold() in flat]
    if answer and wrong:
        problems.append(
            f"{key}: model_response does not fit its own key ({', '.join(wrong)}); the case runs live only."
        )
    return "" if wrong else answer


def _known(
    required: tuple[str, ...], evidence: dict[str, Path], file: Path, key: str, problems: list[str]
) -> tuple[str, ...]:
    """Of the sources that `key` of a file names, those that the scenario has a file for."""
    names = {name: name for name in evidence} | {name.removeprefix("aws_"): name for name in evidence}
    found = []
    for name in required:
        held = names.get(OTHER_NAMES.get(name, name)) or names.get(name.removeprefix("aws_"))
        if held is None:
            problems.append(f"{file}: {key} names {name}, but the folder holds no {name}.json.")
        else:
            found.append(held)
    return tuple(found)


def _content(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"rows": value}
