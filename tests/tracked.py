"""The files that belong to the project."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
MADE = frozenset(
    {
        ".venv",
        ".venv-model",
        ".git",
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        "dist",
        "build",
    }
)
"""Folders that tools make; what a tree without git is searched without."""


def tracked_files() -> list[Path]:
    """What git tracks, as paths below `ROOT`; in an exported tree, everything that no tool made."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
        names = [name for name in listed.stdout.decode().split("\0") if name]
        return sorted(Path(name) for name in names if (ROOT / name).is_file())
    found = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return sorted(path for path in found if not MADE & set(path.parts))
