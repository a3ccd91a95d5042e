"""HolmesGPT's recorded cases, from a checkout of it: prompts, recorded tool results and histories become cases of ours.

A folder with a `test_case.yaml` is a case, or several where it holds paraphrases. A recorded result is a text file: a line
with the tool and the parameters that it is for (null stands for any), a line with status and error, then the raw output.
A case may hold what was said before, and may ask by an issue instead of a prompt. Its expected facts are prose for a judge,
so they become a rubric. Cases that have nothing recorded ask about a live system that is not there, and are left out.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from chatops_bot.app.evals.case import Case, Expected, Recording, Said
from chatops_bot.app.evals.imported import (
    Imported,
    ImportRefused,
    case_id,
    is_set,
    json_value,
    read_json,
    read_mapping,
    read_text,
    texts,
)
from chatops_bot.domain.language import language_of

HISTORY = "conversation_history.json"
ISSUES = ("issue_data.json", "investigate_request.json")
HEALTH = "workload_health_request.json"
ANY = "*"
"""As a parameter of a recording: any value."""
QUESTION = "What is the cause of this? Look at the evidence first.\n\n"
SOURCE = "HolmesGPT"
SKIPPED = "skipped in the set itself"
ASKS_NOTHING = "a history that ends with an answer, to be summarised, and asks nothing"
LIVE_ONLY = "without recorded results or history, so only a live system could answer"


def import_holmes(checkout: Path) -> Imported:
    """Every case below `checkout`. Raises ImportRefused when there is none."""
    files = sorted(checkout.rglob("test_case.yaml"))
    if not files:
        raise ImportRefused(f"{checkout}: holds no test_case.yaml; name a checkout of HolmesGPT.")
    cases: list[Case] = []
    problems: list[str] = []
    left_out: dict[str, list[str]] = {}
    folders = Counter(file.parent.name for file in files)
    for file in files:
        folder = file.parent
        name = folder.name if folders[folder.name] == 1 else f"{folder.parent.name}-{folder.name}"
        try:
            cases += _cases(file, name, problems, left_out)
        except ImportRefused as error:
            problems.append(str(error))
        except ValidationError as error:
            first = error.errors()[0]
            problems.append(f"{file}: {'.'.join(map(str, first['loc']))}: {first['msg']}.")
    return Imported(tuple(cases), tuple(problems), left_out)


def recording_in(path: Path) -> Recording | None:
    """The recorded result in a text file; None for a text that is none. Raises ImportRefused."""
    first, _, rest = read_text(path, errors="replace").partition("\n")
    head = _object(first)
    if head is None or "tool_name" not in head:
        return None
    second, _, output = rest.partition("\n")
    envelope = _object(second)
    if envelope is None:
        raise ImportRefused(f"{path}, line 2: is no JSON object with the status of the result.")
    match = head.get("match_params") or {}
    if not isinstance(match, dict):
        raise ImportRefused(f"{path}, line 1: match_params is no object.")
    match = {name: None if value == ANY else value for name, value in match.items()}
    output = output or _data(envelope.get("data"))
    status = envelope.get("status", "success")
    if status == "error":
        return Recording(
            tool=str(head["tool_name"]),
            match=match,
            status="error",
            content=str(envelope.get("error") or output),
        )
    content: dict[str, Any] = {"status": status, "output": output}
    return Recording(tool=str(head["tool_name"]), match=match, content=content)


def _cases(file: Path, name: str, problems: list[str], left_out: dict[str, list[str]]) -> Iterator[Case]:
    spec, folder = read_mapping(file), file.parent
    recordings = tuple(_recordings(folder, problems))
    thread = _history(folder)
    prompts = texts(spec.get("user_prompt"), file, "user_prompt") or _asked_by_an_issue(folder)
    if not prompts and thread and thread[-1].person:
        prompts, thread = (thread[-1].person,), thread[:-1]
    if not prompts and thread:
        left_out.setdefault(ASKS_NOTHING, []).append(name)
        return
    if not prompts:
        raise ImportRefused(f"{file}: user_prompt is missing, and no issue or history asks anything.")
    if is_set(spec.get("skip")):
        left_out.setdefault(SKIPPED, []).append(name)
        return
    if not recordings and not thread:
        left_out.setdefault(LIVE_ONLY, []).append(name)
        return
    included = "".join(
        _included(folder, each) for each in texts(spec.get("include_files"), file, "include_files")
    )
    if moment := "".join(texts(spec.get("mocked_date"), file, "mocked_date")):
        included += f"\n\nIt is {moment} now."
    tags = texts(spec.get("tags"), file, "tags")
    rubric = texts(spec.get("expected_output"), file, "expected_output")
    for number, prompt in enumerate(prompts, 1):
        yield Case(
            id=case_id("holmes", name, *([str(number)] if len(prompts) > 1 else [])),
            language=language_of(prompt), tags=("holmes", *tags), source=f"{SOURCE} {folder.name}",
            world="recorded", recordings=recordings, thread=thread, ask=(prompt + included,), models=("live",),
            expected=Expected(rubric=rubric),
        )  # fmt: skip


def _recordings(folder: Path, problems: list[str]) -> Iterator[Recording]:
    for path in sorted(folder.glob("*.txt")):
        try:
            found = recording_in(path)
        except ImportRefused as error:
            problems.append(str(error))
            continue
        if found is not None:
            yield found


def _asked_by_an_issue(folder: Path) -> tuple[str, ...]:
    """The question of a case that is about an issue, or about how a workload is, which stands in a file of its own."""
    if (path := folder / HEALTH).exists():
        request = read_json(path)
        asked = request.get("ask") if isinstance(request, dict) else None
        return (
            (asked,)
            if isinstance(asked, str) and asked.strip()
            else (QUESTION + json.dumps(request, ensure_ascii=False),)
        )
    for name in ISSUES:
        if (path := folder / name).exists():
            return (QUESTION + json.dumps(read_json(path), ensure_ascii=False, indent=1),)
    return ()


def _included(folder: Path, name: str) -> str:
    """A file that goes along with the question, as long as it lies in the case's folder."""
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ImportRefused(f"{folder}: include_files names {name}, which lies outside of the case.")
    return f"\n\n{name}:\n{read_text(path, errors='replace')}"


def _history(folder: Path) -> tuple[Said, ...]:
    """What was said before: a JSON file of messages, or a folder with a file a message, `01_user.md`."""
    if (path := folder / HISTORY).exists():
        return tuple(_thread(read_json(path), path))
    files = sorted((folder / Path(HISTORY).stem).glob("*_*.md"))
    messages = [{"role": file.stem.partition("_")[2], "content": read_text(file)} for file in files]
    return tuple(_thread(messages, folder))


def _thread(messages: Any, path: Path) -> Iterator[Said]:
    """A history of user, assistant and tool messages; results find their calls by id, in whatever order they came."""
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        raise ImportRefused(f"{path}: is no list of messages.")
    results = {one.get("tool_call_id"): _text(one) for one in messages if one.get("role") == "tool"}
    for message in messages:
        text = _text(message)
        if message.get("role") == "user" and text.strip():
            yield Said(person=text)
        elif message.get("role") == "assistant":
            if text.strip():  # it was said before the calls that stand beside it
                yield Said(bot=text)
            if recorded := tuple(_results(message.get("tool_calls"), results, path)):
                yield Said(results=recorded)


def _results(calls: Any, results: Mapping[Any, str], path: Path) -> Iterator[Recording]:
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise ImportRefused(f"{path}: a tool call has no function with a name.")
        arguments = _object(str(function.get("arguments") or "{}")) or {}
        output = results.get(call.get("id"))
        if output is not None:
            yield Recording(tool=function["name"], match=arguments, content={"output": output})


def _data(value: Any) -> str:
    """The output of a result that stands in its envelope."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts: Sequence[Any] = content if isinstance(content, list) else ()
    return "\n".join(str(part["text"]) for part in parts if isinstance(part, dict) and "text" in part)


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json_value(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
