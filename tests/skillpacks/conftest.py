"""A repository of skills, and what writes skills into folders."""

import subprocess
from pathlib import Path

import pytest


def text_of(name: str, front: str = "") -> str:
    return f"---\nname: {name}\ndescription: What {name} does.\n{front}---\nDo it.\n"


def put(root: Path, name: str, front: str = "") -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text_of(name, front), encoding="utf-8")
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    put(root / "team", "alpha")
    (root / "team" / "alpha" / ".gitattributes").write_text("* filter=evil diff=evil\n", encoding="utf-8")
    run(root, "init", "--quiet", "--initial-branch=main")
    commit(root)
    return root


def run(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=Ana", "-c", "user.email=ana@example.com", "-c", "protocol.file.allow=always", *arguments],
        cwd=root, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout.strip()


def commit(root: Path) -> str:
    run(root, "add", "--all")
    run(root, "commit", "--quiet", "--message=A step")
    return run(root, "rev-parse", "HEAD")
