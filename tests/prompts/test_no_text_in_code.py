"""What a model reads stands in `prompts/`, or exists in both languages: no sentence in one language alone stands in the code
that makes prompts, messages and results (docs/decisions/0020)."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from chatops_bot.app.bundled import bundled
from chatops_bot.app.prompt_config import AgentsConfig
from chatops_bot.app.prompt_files import configured_texts

CODE = Path(bundled("chatops_bot"))
ROOMS = ("agent", "context", "sessions", "tools", "toolsets")
BESIDE = (
    "domain/cutting.py",
    "domain/secret_argument.py",
    "domain/tool.py",
    "llm/openai_request.py",
    "ports/tools.py",
)
"""Modules of other rooms that make something which a model reads."""
PROTOCOL = {"context/fence.py"}
"""The marks around what comes from outside: the prompt says in both languages what they mean, and code knows them again."""
FOR_EDITORS = {
    f"context/{name}.py"
    for name in ("arm_guard", "hardening", "prompt_budget", "prompt_factory", "prompt_lint")
}
"""What is said here is said of texts, to whoever wrote them: in errors at the start, in the log, by the linter."""
FOR_READING = {"context/entities.py"}
"""Words and patterns by which a text is read; none of them is ever told."""
IN_BOTH = {"Phrase", "Suggestion", "BadCron"}
"""Calls that take a sentence in both languages."""
NO_TEXT = {"compile", "sub", "regex", "fullmatch"}
SENTENCE = re.compile(r"[A-Za-z][\w'’]*(?:[,;:.]? [\w'’]+){3}|[\u4e00-\u9fff，；：、]{8}")


def sentences(code: str) -> Iterator[tuple[int, str]]:
    """Line and text of every string with a sentence in it, but for docstrings, patterns, errors, logs, and names of sources."""
    yield from _in(ast.parse(code))


def _in(node: ast.AST) -> Iterator[tuple[int, str]]:
    match node:
        case ast.Raise() | ast.Expr(value=ast.Constant()):
            return
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)) if called in IN_BOTH | NO_TEXT:
            return
        case ast.Call(func=ast.Attribute(value=ast.Name(id="_log"))):
            return
        case ast.keyword(arg="source" | "name"):  # of a fence, of a task of asyncio
            return
        case ast.Constant(value=str(text)) if SENTENCE.search(text):
            yield node.lineno, text
        case ast.JoinedStr(values=values):
            text = "".join(str(each.value) if isinstance(each, ast.Constant) else "7" for each in values)
            if SENTENCE.search(text):
                yield node.lineno, text
            return
        case _:
            pass
    for child in ast.iter_child_nodes(node):
        yield from _in(child)


@pytest.mark.case("prompt-R41")
def test_no_sentence_that_a_model_may_read_stands_in_code_in_one_language():
    files = [
        *(path for room in ROOMS for path in (CODE / room).rglob("*.py")),
        *(CODE / name for name in BESIDE),
    ]
    found = [
        f"{path.relative_to(CODE)}:{line}: {text}"
        for path in sorted(files)
        if str(path.relative_to(CODE)) not in FOR_EDITORS | PROTOCOL | FOR_READING
        for line, text in sentences(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        'result = ToolResult("ok", {"note": "it was not repeated this time"}, Phrase("没有", "none"))',
        'said = f"the first {count} of all rows"',
        "class A:\n    spec = ToolSpec(name='look', description='Look for what was asked for.')",
        'limit = Field(description="Most rows to return.")',
        'messages.append(SystemMessage("不要调用工具，请直接回答。"))',
    ],
)
def test_a_sentence_is_found_wherever_it_stands(code: str):
    assert len(list(sentences(code))) == 1


@pytest.mark.parametrize(
    "code",
    [
        'def f():\n    """It says what it does."""',
        'SAID = Phrase("什么都没有改变", "nothing has changed at all")',
        '_log.warning("this was not read again: %s", error)',
        'raise ValueError("give it another name, please")',
        'LIMIT = re.compile(r"(?:this|that is a pattern)")',
        'key = "get_worker_load_history"',
    ],
)
def test_what_is_no_text_for_a_model_is_let_be(code: str):
    assert not list(sentences(code))


@pytest.mark.case("prompt-R42")
def test_no_sentence_of_an_agent_or_of_a_tool_stands_in_code():
    code = "".join(path.read_text(encoding="utf-8") for path in CODE.rglob("*.py"))
    texts = configured_texts(AgentsConfig())
    said = [
        rule
        for agent in texts.agents.values()
        for rule in (agent.role_description, *agent.capabilities, *agent.constraints.must)
    ]
    said += [
        each for words in texts.tools.values() for text in words.values() for each in (text.when, text.what)
    ]
    assert [each for each in said if each in code] == []
