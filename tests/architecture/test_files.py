"""What stands in the project's files: no address of a package index, no path of one machine, and documents that hold."""

import argparse
import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from chatops_bot.app.cli import _parser
from tests.tracked import ROOT, tracked_files

BINARY = {".png", ".ico", ".jpg", ".gif", ".woff2"}
INDEX = re.compile(
    r"pypi\.(?:org|python\.org)|pythonhosted\.org|(?<![\w-])--(?:extra-)?index-url|/simple/?(?=[\s\"'])"
)
MACHINE = re.compile(r"(?<![\w.*)}\]-])/(?:work|root|home)/")
REQUIREMENT_OPTION = re.compile(
    r"\s*(?:-i|-f|--(?:extra-)?index-url|--find-links|--trusted-host|--no-index)\b"
)


def texts() -> Iterator[tuple[Path, str]]:
    for path in tracked_files():
        if path.suffix not in BINARY and path != Path(__file__).relative_to(ROOT):
            yield path, (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("pattern", [INDEX, MACHINE], ids=["package index", "path of a machine"])
def test_no_file_names_a_package_index_or_a_path_of_one_machine(pattern: re.Pattern[str]):
    found = [f"{path}: {match.group()}" for path, text in texts() for match in pattern.finditer(text)]
    assert found == []


def test_requirement_files_leave_the_index_to_pip():
    files = [path for path in tracked_files() if path.parts[0] == "requirements"]
    assert files
    for path in files:
        lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if REQUIREMENT_OPTION.match(line)] == []


def test_pinned_files_pin_everything():
    for name in ("runtime.txt", "dev.txt", "foreign-model.txt"):
        lines = (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines()
        needed = [line for line in lines if line and not line.lstrip().startswith("#")]
        assert needed
        assert [line for line in needed if not re.fullmatch(r"[\w.-]+==[\w.!+-]+", line.strip())] == []


# -- the manifest of the Slack app --------------------------------------------------------------------------------------

ANY_OF_A_CHANNEL = ("channels", "groups")
NEEDS: dict[str, set[str]] = {
    "auth.test": set(),
    "apps.connections.open": set(),  # the app-level token's own scope
    "chat.getPermalink": set(),
    "chat.postMessage": {"chat:write"},
    "chat.postEphemeral": {"chat:write"},
    "chat.update": {"chat:write"},
    "conversations.history": {"channels:history", "groups:history", "im:history"},
    "conversations.replies": {"channels:history", "groups:history", "im:history"},
    "conversations.info": {"channels:read", "groups:read"},
    "usergroups.list": {"usergroups:read"},
    "usergroups.users.list": {"usergroups:read"},
    "users.info": {"users:read"},
    "views.open": set(),
    "views.update": set(),
}
"""What Slack's reference of each method says of scopes, for public and private channels and direct messages."""
EVENT_NEEDS = {
    "app_mention": {"app_mentions:read"},
    "message.channels": {"channels:history"},
    "message.groups": {"groups:history"},
    "message.im": {"im:history"},
}
METHOD = re.compile(
    r"(?:auth|apps|bots|chat|conversations|files|reactions|team|usergroups|users|views|assistant)\.[A-Za-z.]+"
)


def manifest() -> dict[str, dict[str, object]]:
    return dict(yaml.safe_load((ROOT / "manifest.yaml").read_text(encoding="utf-8")))


def methods_used() -> set[str]:
    found = set()
    for path in sorted((ROOT / "chatops_bot" / "platforms" / "slack").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and METHOD.fullmatch(node.value)
            ):
                found.add(node.value)
    return found


def test_the_manifest_asks_for_what_the_adapter_uses_and_nothing_else():
    scopes = set(yaml_path(manifest(), "oauth_config", "scopes", "bot"))
    events = set(yaml_path(manifest(), "settings", "event_subscriptions", "bot_events"))
    used = methods_used()
    assert {"chat.postMessage", "chat.update", "conversations.replies", "users.info"} <= used
    assert used == set(NEEDS), "NEEDS has the scopes of each method that is used"
    assert events == set(EVENT_NEEDS)
    needed = set().union(*(NEEDS[method] for method in used), *(EVENT_NEEDS[event] for event in events))
    assert needed == scopes


def test_the_manifest_switches_on_what_the_adapter_listens_to():
    settings = manifest()["settings"]
    assert settings["socket_mode_enabled"] is True
    assert settings["interactivity"] == {"is_enabled": True}
    home = yaml_path(manifest(), "features", "app_home")
    assert home == {"messages_tab_enabled": True, "messages_tab_read_only_enabled": False}


def yaml_path(value: object, *keys: str) -> "dict[str, object]":
    for key in keys:
        assert isinstance(value, dict), key
        value = value[key]
    return value  # type: ignore[return-value]  # what its callers look for is checked by them


# -- the documents ------------------------------------------------------------------------------------------------------

FENCE = re.compile(r"(?ms)^```(?:sh|bash|console)?\n(.*?)^```")
INLINE = re.compile(r"`([^`\n]+)`")
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "docs")


def documents() -> list[Path]:
    return [path for path in tracked_files() if path.suffix == ".md" and path.parts[0] in DOCUMENTS]


def commands(text: str) -> Iterator[list[str]]:
    """Shell commands in code: lines of fenced blocks, parts of a line, and what stands between single backticks."""
    lines = [line for block in FENCE.findall(text) for line in block.splitlines()]
    for line in [*lines, *INLINE.findall(FENCE.sub("", text))]:
        for part in re.split(r"&&|\|\||[|;]", line):
            try:
                words = shlex.split(part, comments=True)
            except ValueError:  # prose with an apostrophe
                continue
            while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                words.pop(0)
            if words:
                yield words


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands below a parser; a command may have some of its own."""
    below = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return {name: choice for action in below for name, choice in action.choices.items()}


def test_commands_in_the_documents_exist():
    targets = set(re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8")))
    parsers = subcommands(_parser())
    seen = 0
    for path in documents():
        for words in commands((ROOT / path).read_text(encoding="utf-8")):
            if words[0] == "make":
                named = [word for word in words[1:] if re.fullmatch(r"[a-z]+", word)]
                assert set(named) <= targets, f"{path}: {' '.join(words)}"
                seen += len(named)
            if words[0] == "chatops-bot" or words[:3] == ["python", "-m", "chatops_bot"]:
                arguments = words[1:] if words[0] == "chatops-bot" else words[3:]
                if arguments and not arguments[0].startswith("-"):
                    assert arguments[0] in parsers, f"{path}: {' '.join(words)}"
                    parser = parsers[arguments[0]]
                    if inside := subcommands(parser):
                        assert set(arguments[1:2]) <= set(inside), f"{path}: {' '.join(words)}"
                        parser = inside.get(arguments[1], parser) if arguments[1:] else parser
                    known = parser._option_string_actions
                    flags = {word.partition("=")[0] for word in arguments[1:] if word.startswith("--")}
                    assert flags <= set(known), f"{path}: {' '.join(words)}"
                    seen += 1
    assert seen > 5


def test_the_readme_names_every_command():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in subcommands(_parser()) if f"chatops-bot {name}" not in text] == []


def test_links_between_the_documents_lead_somewhere():
    broken = []
    for path in documents():
        text = (ROOT / path).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)\s#]+)[^)]*\)", text):
            if "://" not in target and not (ROOT / path.parent / target).exists():
                broken.append(f"{path}: {target}")
    assert broken == []
