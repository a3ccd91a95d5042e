"""A real thread becomes a case with one command: its last turn is the question, what came before is the thread, and the
results that its tools gave are the world, so that it replays without the systems that it was about.

Secrets are redacted once more, and people become `person1`, `person2`: a case is kept for years and read by many. What is
expected is what happened; whoever records a thread because it went wrong corrects that part.
"""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pydantic import ValidationError

from chatops_bot.app.evals.aliases import Known, aliases_of
from chatops_bot.app.evals.case import Case
from chatops_bot.app.evals.grounding import ungrounded
from chatops_bot.app.evals.imported import case_id
from chatops_bot.app.evals.writing import write_case
from chatops_bot.domain.errors import ChatopsError, ToolArgumentsInvalid
from chatops_bot.domain.proposal import Proposal
from chatops_bot.domain.redaction import Redactor
from chatops_bot.domain.session import SessionKey
from chatops_bot.domain.transcript import (
    EarlierRead,
    Entry,
    ModelSaid,
    ToolReturned,
    TurnRested,
    UserSaid,
    spoken_in,
)
from chatops_bot.stores.sqlite_threads import read_people, read_threads
from chatops_bot.tools.validation import parse_object

MAX_FACTS = 5
_ROLES = ("viewer", "operator", "approver", "admin")
_PERMALINK = re.compile(r"/archives/(?P<channel>[A-Z0-9]+)/p(?P<seconds>\d+)(?P<fraction>\d{6})$")
_QUOTED = re.compile(r"`([^`\n]{3,80})`")
_HEAD = (
    "Recorded from a thread; secrets and people are replaced.\n"
    "Read it before you keep it: what is expected below is what happened, right or wrong."
)


class NotRecorded(ChatopsError):
    """The thread cannot become a case; the message says why."""


def record(store: Path, named: str, out: Path, *, turn: int = 0, redactor: Redactor | None = None) -> Case:
    """Write the thread that `named` means (a session's key, a thread's id, or a permalink) as a case. `turn` counts its
    questions from 1, 0 means the last. Raises NotRecorded or StoreError."""
    found = read_threads(store, lambda key: _is_meant(key, named))
    if not found:
        raise NotRecorded(
            f"The bot knows no thread {named}; give a permalink, a thread's id, or a session's key."
        )
    if len(found) > 1:
        keys = ", ".join(str(key) for key, _, _ in found)
        raise NotRecorded(f"More than one thread is meant by {named}: {keys}; give one of these.")
    _, entries, proposals = found[0]
    case = case_of(
        entries, proposals, out.stem, turn=turn, redactor=redactor or Redactor(), known=read_people(store)
    )
    write_case(out, case, _HEAD)
    return case


def case_of(
    entries: Sequence[Entry],
    proposals: Sequence[Proposal],
    name: str,
    *,
    turn: int = 0,
    redactor: Redactor,
    known: Iterable[Known] = (),
) -> Case:
    """The case that these entries make; `known` are ids and names of people beside those of the thread. Raises NotRecorded when
    there is no such question, and for a name or a question that no case can have."""
    aliases = aliases_of(entries, proposals, known)
    entries = [aliases.entry(entry) for entry in entries]
    proposals = [aliases.proposal(proposal) for proposal in proposals]
    asked = [entry for entry in entries if isinstance(entry, UserSaid)]
    if not asked or turn > len(asked):
        raise NotRecorded(f"The thread holds {len(asked)} questions; name one of them with --turn.")
    question = asked[turn - 1]
    before = entries[: entries.index(question)]
    own = [entry for entry in entries if entry.turn_id == question.turn_id]
    value = {
        "id": case_id(name),
        "language": spoken_in([question]),
        "role": question.author_role if question.author_role in _ROLES else "viewer",
        "tags": ["recorded"],
        "world": "recorded",
        "recordings": _recordings(own, proposals),
        "thread": list(_thread(before)),
        "ask": question.text,
        "script": _script(own),
        "expected": _expected(own, [p for p in proposals if p.turn_id == question.turn_id], before, question),
    }
    try:
        return Case.model_validate(redactor.value(value))
    except ValidationError as error:
        first = error.errors()[0]
        if first["loc"] == ("id",):
            raise NotRecorded(
                f"A case is named after its file, and {name!r} gives no name; call the file by two or more of a-z, 0-9, . _ -."
            ) from error
        where = ".".join(map(str, first["loc"])) or "the question"
        raise NotRecorded(
            f"This turn makes no case ({where}: {first['msg']}); name another question with --turn."
        ) from error


def _is_meant(key: SessionKey, named: str) -> bool:
    if permalink := _PERMALINK.search(urlsplit(named).path):
        own = f"{permalink['seconds']}.{permalink['fraction']}"
        thread = parse_qs(urlsplit(named).query).get("thread_ts", [own])[0]
        return (key.channel, key.thread) == (permalink["channel"], thread)
    return named in (str(key), key.thread)


def _recordings(own: Sequence[Entry], proposals: Sequence[Proposal]) -> list[dict[str, Any]]:
    """What each call of the turn returned. A change that became a proposal is recorded as its plan."""
    plans = {proposal.call_id: proposal for proposal in proposals}
    recordings = []
    for call, arguments, result in _returned(own):
        one: dict[str, Any] = {"tool": result.tool, "match": arguments}
        if call in plans:
            plan = plans[call].plan
            one["plan"] = {
                "target": plan.target, "summary_zh": plan.summary.zh, "summary_en": plan.summary.en, "risk": plan.risk,
                "changes": [[change.field, change.before, change.after] for change in plan.changes],
            }  # fmt: skip
        elif result.status in ("ok", "error"):
            one |= {"status": result.status, "content": _content(result.content)}
        else:
            continue
        recordings.append(one)
    return recordings


def _returned(entries: Sequence[Entry]) -> Iterable[tuple[str, dict[str, Any], ToolReturned]]:
    results = {entry.call_id: entry for entry in entries if isinstance(entry, ToolReturned)}
    for said in (entry for entry in entries if isinstance(entry, ModelSaid)):
        for call in said.calls:
            if (result := results.get(call.id)) is not None:
                yield call.id, _arguments(call.arguments), result


def _thread(before: Sequence[Entry]) -> Iterable[dict[str, Any]]:
    for entry in before:
        if isinstance(entry, EarlierRead):
            yield from ({"person": message.text} for message in entry.messages if message.text.strip())
        elif isinstance(entry, UserSaid) and entry.text.strip():
            yield {"person": entry.text}
        elif isinstance(entry, TurnRested):
            own = [one for one in before if one.turn_id == entry.turn_id]
            results = [
                {"tool": result.tool, "match": arguments, "content": _content(result.content)}
                for _, arguments, result in _returned(own)
                if result.status == "ok"
            ]
            if entry.body.strip() or results:
                yield {"bot": entry.body, "results": results}


def _script(own: Sequence[Entry]) -> list[dict[str, Any]]:
    """What the model did, so that the turn plays again without one."""
    steps = []
    for said in (entry for entry in own if isinstance(entry, ModelSaid)):
        calls = [{"tool": call.name, "with": _arguments(call.arguments)} for call in said.calls]
        if calls or said.text.strip():
            steps.append({"say": said.text, "call": calls})
    return steps


def _expected(
    own: Sequence[Entry], proposals: Sequence[Proposal], before: Sequence[Entry], question: UserSaid
) -> dict[str, Any]:
    rested = next((entry for entry in own if isinstance(entry, TurnRested)), None)
    answer = rested.body if rested else ""
    returned = list(_returned(own))
    found = " ".join(result.content for _, _, result in returned)
    facts = [text for text in dict.fromkeys(_QUOTED.findall(answer)) if text in found]
    expected: dict[str, Any] = {
        "tools": {"must": list(dict.fromkeys(result.tool for _, _, result in returned))},
        "facts": facts[:MAX_FACTS],
        "proposals": [{"tool": one.tool, "with": dict(one.arguments)} for one in proposals],
    }
    if rested is not None and rested.outcome in ("answered", "waiting", "capped", "failed"):
        expected["outcome"] = rested.outcome.value
    texts = [question.text, *(entry.text for entry in before if isinstance(entry, UserSaid))]
    earlier = [entry.content for entry in before if isinstance(entry, ToolReturned)]
    results = [_content(result.content) for _, _, result in returned]
    arguments = [json.dumps(given, ensure_ascii=False) for _, given, _ in returned]
    if made_up := ungrounded(answer, [*texts, *earlier, *arguments], results):
        expected["derived"] = made_up
    return expected


def _arguments(text: str) -> dict[str, Any]:
    try:
        return parse_object(text)
    except ToolArgumentsInvalid:
        return {}


def _content(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {"text": text}
    return value if isinstance(value, dict) else {"rows": value}
