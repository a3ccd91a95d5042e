"""Sources of skills: folders, archives and git; what each gives, what it leaves alone, and what it reports."""

import gzip
import json
import os
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

from chatops_bot.app.skills_list import list_skills
from chatops_bot.app.where import Where
from chatops_bot.domain.people import Person, Role
from chatops_bot.domain.skill import BrokenSkill, Skill
from chatops_bot.skillpacks.archive import SkillArchive
from chatops_bot.skillpacks.folder import SkillFolder
from chatops_bot.skillpacks.git import SkillRepository
from chatops_bot.skillpacks.library import SkillLibrary, described
from chatops_bot.skillpacks.unpacking import forget_others
from tests.skillpacks.conftest import commit, put, run, text_of
from tests.skillpacks.hostile_packages import tarred, zipped

OSCAR = Person("U1", "Oscar", Role.OPERATOR)


def names(found: Iterable[Skill | BrokenSkill]) -> list[str]:
    return [each.name for each in found if isinstance(each, Skill)]


def problems(found: Iterable[Skill | BrokenSkill]) -> list[str]:
    return [described(each) for each in found if isinstance(each, BrokenSkill)]


def test_a_folder_gives_its_skills_in_order_and_its_other_files_nothing(tmp_path: Path):
    for name in ("gamma", "alpha", "beta"):
        put(tmp_path, name)
    (tmp_path / "README.md").write_text("Skills.", encoding="utf-8")
    (tmp_path / ".git").mkdir()
    found = list(SkillFolder(tmp_path, "team").read())
    assert names(found) == ["alpha", "beta", "gamma"]
    assert problems(found) == []


def test_a_folder_that_is_a_skill_gives_that(tmp_path: Path):
    assert names(SkillFolder(put(tmp_path, "alpha"), "team").read()) == ["alpha"]


def test_what_cannot_be_used_is_named_and_the_rest_is_used(tmp_path: Path):
    put(tmp_path, "alpha")
    put(tmp_path, "beta", "max_iterations: many\n")
    (tmp_path / "empty").mkdir()
    (put(tmp_path, "linked") / "notes.md").symlink_to("/etc/passwd")
    os.mkfifo(put(tmp_path, "piped") / "notes")
    (tmp_path / "elsewhere").symlink_to("/etc")
    (tmp_path / "hidden" / "SKILL.md").parent.mkdir()
    (tmp_path / "hidden" / "SKILL.md").symlink_to("/etc/passwd")
    found = list(SkillFolder(tmp_path, "team").read())
    assert names(found) == ["alpha"]
    assert [problem.split(":")[0] for problem in problems(found)] == [
        "team/beta/SKILL.md, line 4",
        "team/elsewhere",
        "team/empty",
        "team/hidden/SKILL.md",
        "team/linked/SKILL.md",
        "team/piped/SKILL.md",
    ]
    assert not any("root:" in problem for problem in problems(found))


def test_a_source_that_is_not_there_is_reported(tmp_path: Path):
    gone = tmp_path / "gone"
    for source in (SkillFolder(gone, "gone"), SkillArchive(gone, tmp_path / "kept")):
        (problem,) = problems(source.read())
        assert "cannot be read (No such file or directory)" in problem


ZIP = zipped(
    ("__MACOSX/._x", b"x"), ("pack/alpha/.DS_Store", b"x"), ("pack/alpha/SKILL.md", text_of("alpha").encode()), ("pack/alpha/scripts/a.py", b"print(1)"),
)  # fmt: skip
TAR = tarred(("good/scripts/a.py", b"print(1)"), ("._good", b"x"))


@pytest.mark.parametrize("data", [ZIP, TAR, gzip.compress(TAR)])
def test_an_archive_is_unpacked_once_and_found_again(tmp_path: Path, data: bytes):
    package = tmp_path / "skills.bin"
    package.write_bytes(data)
    for _ in range(2):
        (skill,) = SkillArchive(package, tmp_path / "kept").read()
        assert isinstance(skill, Skill)
        assert skill.scripts == ("scripts/a.py",)
    assert len(list((tmp_path / "kept").iterdir())) == 1
    files = [path.name for path in (tmp_path / "kept").rglob("*") if path.is_file()]
    assert sorted(files) == ["SKILL.md", "a.py"]


def test_a_repository_gives_the_commit_that_was_named(repository: Path, tmp_path: Path):
    first = run(repository, "rev-parse", "HEAD")
    put(repository / "team", "beta")
    commit(repository)
    url = f"file://{repository}"
    assert names(SkillRepository(url, first, tmp_path / "kept", "team").read()) == ["alpha"]
    assert names(SkillRepository(url, "main", tmp_path / "kept", "team").read()) == ["alpha", "beta"]


def test_a_repository_that_cannot_be_reached_gives_its_last_copy_and_says_so(
    repository: Path, tmp_path: Path
):
    source = SkillRepository(f"file://{repository}", "main", tmp_path / "kept", "team")
    assert names(source.read()) == ["alpha"]
    repository.rename(tmp_path / "moved")
    found = list(source.read())
    assert names(found) == ["alpha"]
    (problem,) = problems(found)
    assert "git failed" in problem


def test_nothing_of_a_repository_is_run_or_followed(repository: Path, tmp_path: Path):
    mark = tmp_path / "mark"
    for hook in ("post-checkout", "post-merge", "reference-transaction", "pre-auto-gc"):
        (repository / ".git" / "hooks" / hook).write_text(f"#!/bin/sh\ntouch {mark}\n", encoding="utf-8")
        (repository / ".git" / "hooks" / hook).chmod(0o755)
    run(repository, "config", "filter.evil.smudge", f"touch {mark}")
    run(repository, "config", "tar.tar.command", f"touch {mark}")
    run(
        repository,
        "-c",
        "core.hooksPath=/dev/null",
        "submodule",
        "--quiet",
        "add",
        str(repository),
        "team/alpha/inner",
    )
    mark.unlink(missing_ok=True)
    found = list(SkillRepository(f"file://{repository}", "main", tmp_path / "kept", "team").read())
    assert names(found) == ["alpha"]
    assert not mark.exists()
    (repository / "team" / "alpha" / "passwd").symlink_to("/etc/passwd")
    run(repository, "-c", "core.hooksPath=/dev/null", "add", "team/alpha/passwd")
    run(repository, "-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message=A link")
    (problem,) = problems(SkillRepository(f"file://{repository}", "main", tmp_path / "more", "team").read())
    assert "is a link" in problem


async def test_the_first_source_of_a_name_wins_and_the_other_is_reported(tmp_path: Path):
    put(tmp_path / "one", "alpha", "max_iterations: 3\n")
    put(tmp_path / "two", "alpha")
    put(tmp_path / "two", "beta")
    library = SkillLibrary([SkillFolder(tmp_path / "one", "one"), SkillFolder(tmp_path / "two", "two")])
    assert library.visible_to(OSCAR, "C1") == []
    await library.refresh()
    assert [(skill.name, skill.source) for skill in library.visible_to(OSCAR, "C1")] == [
        ("alpha", "one"),
        ("beta", "two"),
    ]
    assert [described(each) for each in library.broken] == [
        "two/alpha: has the name of a skill in one, which is the one that is used."
    ]


async def test_a_refresh_sees_what_changed(tmp_path: Path):
    library = SkillLibrary([SkillFolder(tmp_path, "team")])
    await library.refresh()
    put(tmp_path, "alpha")
    await library.refresh()
    assert [skill.name for skill in library.all] == ["alpha"]


@pytest.mark.parametrize("role", list(Role))
async def test_guests_see_no_skill(tmp_path: Path, role: Role):
    put(tmp_path, "alpha")
    library = SkillLibrary([SkillFolder(tmp_path, "team")])
    await library.refresh()
    assert bool(library.visible_to(Person("U1", "Ana", role), "C1")) is (role is not Role.GUEST)


def test_the_list_names_what_is_broken_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    put(tmp_path / "skills", "mine", "visibility:\n  roles: [admin]\ncolour: red\n")
    put(tmp_path / "skills", "wrong", "max_iterations: many\n")
    config = tmp_path / "chatops-bot.yaml"
    account = "{username: a, password_env: A}"
    config.write_text(
        f"scheduler: {{url: 'http://127.0.0.1:1', accounts: {{viewer: {account}, operator: {account}, admin: {account}}}}}\nskills: {{folders: [skills]}}\n",
        encoding="utf-8",
    )
    assert list_skills(Where(config=config), as_json=False) == 1
    printed = capsys.readouterr().out
    assert f"mine ({tmp_path}/skills; roles admin)" in printed
    assert "mine: line 6: colour is not a known key" in printed
    assert f"BROKEN {tmp_path}/skills/wrong/SKILL.md, line 4: max_iterations must be" in printed
    assert list_skills(Where(config=config), as_json=True) == 1
    told = json.loads(capsys.readouterr().out)
    assert [each["line"] for each in told["broken"]] == [4]
    assert "task-failure-triage" in [skill["name"] for skill in told["skills"]]


@pytest.mark.parametrize(
    "named", ["builtin_tools:\n  - query_tasks\n  - delete_everything\n", "max_iterations: 3\nallowed-tools: query_tasks delete_everything\n"]
)  # fmt: skip
def test_a_tool_that_there_is_not_is_listed_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], named: str
):
    put(tmp_path / "skills", "mine", named)
    config = tmp_path / "chatops-bot.yaml"
    account = "{username: a, password_env: A}"
    config.write_text(
        f"scheduler: {{url: 'http://127.0.0.1:1', accounts: {{viewer: {account}, operator: {account}, admin: {account}}}}}\nskills: {{folders: [skills]}}\n",
        encoding="utf-8",
    )
    line = (tmp_path / "skills" / "mine" / "SKILL.md").read_text().split("delete_everything")[0].count(
        "\n"
    ) + 1
    said = f"{tmp_path}/skills/mine/SKILL.md, line {line}: there is no tool delete_everything; correct"
    assert list_skills(Where(config=config), as_json=False) == 1
    assert f"UNKNOWN TOOL {said}" in capsys.readouterr().out
    assert list_skills(Where(config=config), as_json=True) == 1
    [told] = json.loads(capsys.readouterr().out)["unknown_tools"]
    assert told.startswith(said)


def test_packages_that_are_used_no_more_are_forgotten(tmp_path: Path):
    kept, package = tmp_path / "kept", tmp_path / "skills.zip"
    package.write_bytes(ZIP)
    list(SkillArchive(package, kept).read())
    (kept / ".unpacking-1-left").mkdir()
    package.write_bytes(TAR)
    (skill,) = SkillArchive(package, kept).read()
    assert isinstance(skill, Skill)
    forget_others(kept, [skill.folder, tmp_path])
    assert [path.name for path in kept.iterdir()] == [skill.folder.relative_to(kept).parts[0]]


async def test_sources_that_are_slow_are_waited_for_together(tmp_path: Path):
    """A bot that starts waits for them: two repositories that are away cost it no more than one."""
    both = threading.Barrier(2)

    class Slow:
        def __init__(self, name: str) -> None:
            self.name = name

        def read(self) -> list[Skill]:
            both.wait(timeout=10)
            return [Skill(self.name, "d", "b", tmp_path, self.name)]

    library = SkillLibrary([Slow("beta"), Slow("alpha")])
    await library.refresh()
    assert [skill.name for skill in library.all] == ["alpha", "beta"]
