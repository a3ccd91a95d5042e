"""What is kept of packages, for how long, and what a fault in it costs: never the skills that were in use."""

import asyncio
import os
import shutil
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from chatops_bot.app.config import load_config
from chatops_bot.app.doctor.skills import check_skills
from chatops_bot.app.skills import read_skills
from chatops_bot.app.skills_list import list_skills
from chatops_bot.app.where import Where
from chatops_bot.domain.skill import BrokenSkill, Skill
from chatops_bot.skillpacks.archive import SkillArchive
from chatops_bot.skillpacks.folder import SkillFolder
from chatops_bot.skillpacks.git import SkillRepository
from chatops_bot.skillpacks.library import SkillLibrary
from chatops_bot.skillpacks.unpacking import forget_others
from tests.app.test_config import GOOD, written
from tests.forked import processes
from tests.skillpacks.conftest import commit, put, text_of
from tests.skillpacks.hostile_packages import zipped
from tests.skillpacks.other_process import NOBODY, die_while_unpacking, read_as_ordinary_user
from tests.skillpacks.test_sources import names, problems


def packed(name: str, *files: tuple[str, bytes]) -> bytes:
    return zipped((f"{name}/SKILL.md", text_of(name).encode()), *files)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may look into."""
    folder = Path(tempfile.mkdtemp(prefix="skills-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def barred(folder: Path) -> Path:
    """What root unpacked beside a bot of an ordinary user: a folder that nobody else may open."""
    folder.mkdir(parents=True)
    folder.chmod(0o700 if os.geteuid() == 0 else 0)
    return folder


@pytest.fixture
def foreign(open_folder: Path) -> tuple[Path, Path]:
    """An archive, and the folder for its files, in which another user has unpacked it already."""
    package, kept = open_folder / "skills.zip", open_folder / "kept"
    package.write_bytes(packed("alpha"))
    package.chmod(0o644)
    list(SkillArchive(package, kept).read())
    if os.geteuid() == 0:
        os.chown(kept, NOBODY, NOBODY)
    else:
        next(kept.iterdir()).chmod(0)
    return package, kept


def test_what_another_user_unpacked_is_unpacked_again(foreign: tuple[Path, Path]):
    with processes.Pool(1) as pool:
        found, broken = pool.apply(read_as_ordinary_user, foreign)
    assert found == ["alpha"]
    assert broken == []


@pytest.mark.parametrize("number", range(5))
def test_sources_of_one_content_are_unpacked_side_by_side_without_harm(tmp_path: Path, number: int):
    packages = [tmp_path / f"{name}.zip" for name in "abcdef"]
    for package in packages:
        package.write_bytes(packed("alpha"))
    skills, broken = SkillLibrary([SkillArchive(package, tmp_path / "kept") for package in packages]).read()
    assert [skill.source for skill in skills] == [str(packages[0])]
    assert ["has the name of a skill in" in problem for problem in problems(broken)] == [True] * 5
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_a_folder_that_is_not_the_bots_is_named_as_what_is_wrong(open_folder: Path):
    package = open_folder / "skills.zip"
    package.write_bytes(packed("alpha"))
    package.chmod(0o644)
    with processes.Pool(1) as pool:
        found, (broken,) = pool.apply(read_as_ordinary_user, (package, barred(open_folder / "kept")))
    (open_folder / "kept").chmod(0o700)
    assert found == []
    assert f"cannot be unpacked into {open_folder}/kept (Permission denied)" in broken


def test_what_a_process_left_half_unpacked_is_never_taken_for_whole(tmp_path: Path):
    package, kept = tmp_path / "skills.zip", tmp_path / "kept"
    package.write_bytes(packed("alpha"))
    (whole,) = SkillArchive(package, kept).read()
    assert isinstance(whole, Skill)
    into = kept / whole.folder.relative_to(kept).parts[0]
    shutil.rmtree(into)
    dying = processes.Process(target=die_while_unpacking, args=(into,))
    dying.start()
    dying.join()
    assert dying.exitcode == 9
    (left,) = kept.iterdir()
    assert (left / "SKILL.md").exists()
    assert left != into
    assert names(SkillArchive(package, kept).read()) == ["alpha"]
    forget_others(kept, [into])
    assert list(kept.iterdir()) == [into]


def test_commands_beside_the_bot_leave_its_folder_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "skills.zip").write_bytes(packed("alpha"))
    config = written(tmp_path, GOOD + f"data: {tmp_path}/data\nskills: {{archives: [skills.zip]}}\n")
    (tmp_path / "data").mkdir()
    assert list_skills(Where(config=config), as_json=False) == 0
    assert f"alpha ({tmp_path}/skills.zip; everybody)" in capsys.readouterr().out
    loaded = load_config(config)
    (found,) = asyncio.run(check_skills(loaded))
    assert "9 skills can be used" in found.says
    assert list((tmp_path / "data").iterdir()) == []


class Faulty:
    """A source that breaks its word and raises."""

    name = "faulty"

    def __init__(self, *skills: Skill) -> None:
        self.skills = skills
        self.is_broken = False

    def read(self) -> Iterable[Skill | BrokenSkill]:
        if self.is_broken:
            raise PermissionError(13, "Permission denied")
        return self.skills


async def test_a_reading_that_fails_whole_leaves_the_skills_in_use(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    source = Faulty(Skill("alpha", "d", "b", tmp_path, "faulty"))
    library = SkillLibrary([source])
    await library.refresh()
    source.is_broken = True
    await library.refresh()
    assert names(library.all) == ["alpha"]
    assert "those before stay in use: [Errno 13] Permission denied" in caplog.text


async def test_a_skill_that_an_edit_broke_stays_as_it_was_until_it_is_mended_or_taken_away(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    file = put(mine, "alpha", "max_iterations: 3\n") / "SKILL.md"
    put(theirs, "alpha")
    library = SkillLibrary([SkillFolder(mine, "mine"), SkillFolder(theirs, "theirs")])
    await library.refresh()
    file.write_text(text_of("alpha", "max_iterations: many\n"), encoding="utf-8")
    await library.refresh()
    assert [(skill.source, skill.rounds) for skill in library.all] == [("mine", 3)]
    assert any("mine/alpha/SKILL.md, line 4" in problem for problem in problems(library.broken))
    assert library.as_before == {"alpha"}
    assert "these skills stay as they were read before: alpha" in caplog.text
    file.write_text(text_of("alpha", "max_iterations: 4\n"), encoding="utf-8")
    await library.refresh()
    assert [(skill.source, skill.rounds) for skill in library.all] == [("mine", 4)]
    assert not library.as_before
    shutil.rmtree(mine / "alpha")
    await library.refresh()
    assert [skill.source for skill in library.all] == ["theirs"]


async def test_an_archive_that_cannot_be_read_any_more_stays_as_it_was(tmp_path: Path):
    package = tmp_path / "skills.zip"
    package.write_bytes(packed("alpha", ("alpha/scripts/a.py", b"print(1)")))
    config = written(
        tmp_path, GOOD + f"data: {tmp_path}/data\nskills: {{archives: [skills.zip], scripts: off}}\n"
    )
    skills = await read_skills(load_config(config))
    package.write_bytes(b"PK half of an upload")
    await skills.refresh()
    await skills.refresh()
    (alpha,) = [skill for skill in skills.library.all if skill.name == "alpha"]
    assert (alpha.folder / "scripts" / "a.py").read_bytes() == b"print(1)"
    assert len(skills.library.broken) == 1


async def test_a_branch_that_moves_on_leaves_no_more_than_two_copies(repository: Path, tmp_path: Path):
    git = f"git: [{{url: 'file://{repository}', ref: main, subdir: team}}]"
    config = written(tmp_path, GOOD + f"data: {tmp_path}/data\nskills: {{{git}, scripts: off}}\n")
    skills = await read_skills(load_config(config))
    for number in range(4):
        put(repository / "team", f"more-{number}")
        commit(repository)
        await skills.refresh()
        kept = [path for path in (tmp_path / "data" / "skills").iterdir() if path.is_dir()]
        assert len(kept) <= 2
    assert {f"more-{number}" for number in range(4)} <= set(names(skills.library.all))


@asynccontextmanager
async def silent_server() -> AsyncIterator[tuple[str, asyncio.Event]]:
    """Takes connections and says nothing."""
    asked, over = asyncio.Event(), asyncio.Event()

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await over.wait()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/skills.git", asked
        over.set()


async def test_a_bot_that_starts_goes_on_with_what_is_at_hand_and_takes_the_rest_over_when_it_comes(
    repository: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    """One repository answers late, and has a copy of the last time; another never answers, and has none."""
    kept, is_let = tmp_path / "kept", threading.Event()
    near = SkillRepository(f"file://{repository}", "main", kept, "team")
    list(near.read())
    put(repository / "team", "newer")
    commit(repository)

    class Late:
        name = near.name

        def read(self) -> Iterator[Skill | BrokenSkill]:
            is_let.wait(20)
            return near.read()

        def at_hand(self) -> Iterator[Skill | BrokenSkill]:
            return near.at_hand()

    put(tmp_path / "mine", "own")
    library = SkillLibrary([Late(), SkillFolder(tmp_path / "mine", "mine")])
    began = time.monotonic()
    assert not await library.begin(0.1)
    assert time.monotonic() - began < 5
    assert names(library.all) == ["alpha", "own"]
    assert "main: is still being fetched; until then the copy of the last time is used" in caplog.text
    is_let.set()
    assert await library.finish()
    assert names(library.all) == ["alpha", "newer", "own"]
    assert not library.broken
    assert not await library.finish(), "there is one first reading"


async def test_the_doctor_names_what_takes_long_to_fetch(tmp_path: Path):
    async with silent_server() as (url, _):
        config = load_config(
            written(
                tmp_path, GOOD + f"data: {tmp_path}/data\nskills: {{git: [{{url: '{url}', ref: main}}]}}\n"
            )
        )
        (found,) = await check_skills(config, patience=0.2)
    assert "skills.git@main: is still being fetched" in found.says


async def test_what_is_read_in_time_is_waited_for_and_what_is_not_is_given_up_at_the_end(tmp_path: Path):
    put(tmp_path / "mine", "own")
    assert await SkillLibrary([SkillFolder(tmp_path / "mine", "mine")]).begin(20)
    async with silent_server() as (url, asked):
        source = SkillRepository(url, "main", tmp_path / "kept")
        library = SkillLibrary([source], source.stop)
        assert not await library.begin(0.2)
        await asked.wait()
        assert [(each.name, "still being fetched" in each.problem.en) for each in library.broken] == [
            (source.name, True)
        ]
        began = time.monotonic()
        await library.give_up()
        await asyncio.get_running_loop().shutdown_default_executor()
        assert time.monotonic() - began < 5


async def test_a_process_that_ends_waits_for_no_silent_repository(tmp_path: Path):
    async with silent_server() as (url, asked):
        source = SkillRepository(url, "main", tmp_path / "kept")
        library = SkillLibrary([source], source.stop)
        reading = asyncio.create_task(library.refresh())
        await asked.wait()
        reading.cancel()
        await asyncio.wait({reading})
        began = time.monotonic()
        await asyncio.get_running_loop().shutdown_default_executor()
        assert time.monotonic() - began < 5, "git itself gives up after ten seconds"
    assert list((tmp_path / "kept").iterdir()) == []


@pytest.mark.parametrize(
    ("ref", "subdir", "why"),
    [
        ("nosuch", "", "git failed: fatal: couldn't find remote ref nosuch"),
        ("main", "nosuch", "git failed: fatal: not a valid object name: refs/skills:nosuch"),
    ],
)
def test_a_repository_that_lacks_what_is_asked_for_says_what(
    repository: Path,
    tmp_path: Path,
    ref: str,
    subdir: str,
    why: str,
):
    (problem,) = problems(SkillRepository(f"file://{repository}", ref, tmp_path / "kept", subdir).read())
    assert why in problem


def test_a_repository_that_is_not_there_is_told_in_the_line_that_says_so(tmp_path: Path):
    (problem,) = problems(SkillRepository(f"file://{tmp_path}/gone", "main", tmp_path / "kept").read())
    assert problem.endswith(f"git failed: fatal: '{tmp_path}/gone' does not appear to be a git repository")
