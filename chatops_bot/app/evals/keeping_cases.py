"""`chatops-bot eval record` and `import`: cases made of what is there already, and a line for each that could not be."""

import os
import sys
from pathlib import Path

from chatops_bot.app.config import secrets_as_set
from chatops_bot.app.evals.case import CaseInvalid
from chatops_bot.app.evals.holmes import import_holmes
from chatops_bot.app.evals.imported import ImportRefused
from chatops_bot.app.evals.opensre import import_opensre
from chatops_bot.app.evals.recording import NotRecorded, record
from chatops_bot.app.evals.writing import write_case
from chatops_bot.app.where import Where
from chatops_bot.domain.redaction import Redactor
from chatops_bot.rendering.escapes import shown

DONE, NOT_ALL = 0, 1
_SETS = {"holmes": import_holmes, "opensre": import_opensre}


def record_thread(where: Where, named: str, out: Path, turn: int) -> int:
    """Write the case and say how it is run. Raises NotRecorded, ConfigInvalid or StoreError."""
    folder, config = where.find()
    if config is not None and config.store.redis_url_env:
        raise NotRecorded(
            "Threads are recorded from a SQLite store only; this bot keeps its threads in Redis."
        )
    if out.exists():
        raise NotRecorded(f"{out} is there already; name another file.")
    redactor = Redactor(secrets_as_set(config, os.environ).values() if config else ())
    case = record(
        config.store_path if config else folder / "bot.db", named, out, turn=turn, redactor=redactor
    )
    _say(
        f"{out}: {len(case.thread)} messages before, {len(case.recordings)} recorded results; secrets and people replaced"
    )
    _say("Read it, correct what is expected, then: chatops-bot eval run --model scripted FILE")
    return DONE


def import_set(name: str, checkout: Path, out: Path) -> int:
    """Write every case, and say what could not be used. Raises ImportRefused when there is nothing to import."""
    if not checkout.is_dir():
        raise ImportRefused(f"{checkout} is no folder; name a checkout of the set, or a folder in one.")
    found = _SETS[name](checkout)
    problems = list(found.problems)
    written: set[str] = set()
    for case in found.cases:
        file = out / f"{case.id}.yaml"
        if case.id in written:
            problems.append(f"{case.source}: another case is called {case.id}; the first one is kept.")
            continue
        try:
            write_case(file, case, f"Imported from {case.source}.")
        except CaseInvalid as error:
            file.unlink(missing_ok=True)
            problems.append(f"{case.source}: does not fit into a case: {error}")
        else:
            written.add(case.id)
    for problem in problems:
        _say(problem)
    for reason, names in found.left_out.items():
        _say(f"left out, {reason}: {', '.join(names)}")
    _say(f"{len(written)} cases are in {out}; {len(problems)} problems")
    return NOT_ALL if problems else DONE


def _say(line: str) -> None:
    sys.stdout.write(shown(f"{line}\n"))
