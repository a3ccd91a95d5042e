"""The wheel, built from a tree without git, carries all that the program needs, and the program runs from it elsewhere."""

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.conftest import ANY_PORTS, DemoProcess, plain_env
from tests.tracked import ROOT, tracked_files

pytestmark = pytest.mark.processes


def run(*command: str | Path, cwd: Path, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, command)], cwd=cwd, env=plain_env(**env), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's files alone, as an archive of them would be unpacked."""
    tree = tmp_path_factory.mktemp("exported")
    for name in tracked_files():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / name)
    return tree


@pytest.fixture(scope="module")
def wheel(exported: Path) -> Path:
    run("-m", "build", "--wheel", "--no-isolation", "--outdir", exported / "dist", exported, cwd=exported)
    (built,) = (exported / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the wheel alone was installed."""
    target = tmp_path_factory.mktemp("installed")
    install(wheel, target, cwd=target)
    return target


def install(what: Path, target: Path, *flags: str, cwd: Path) -> None:
    command = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index")
    run(*command, *flags, "--target", target, what, cwd=cwd)


@pytest.fixture(scope="module")
def demo(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoProcess]:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    running = DemoProcess(
        elsewhere / "data", *ANY_PORTS, env=plain_env(PYTHONPATH=str(installed)), cwd=elsewhere
    )
    yield running
    running.kill_group()


def test_the_wheel_carries_every_file_of_the_package_and_the_texts(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        carried = set(archive.namelist())
    names = [path.as_posix() for path in tracked_files()]
    expected = {name for name in names if name.startswith("chatops_bot/")}
    expected |= {
        f"chatops_bot/_bundled/{name}" for name in names if name.startswith(("prompts/", "skills/", "evals/"))
    }
    expected.add("chatops_bot/_bundled/manifest.yaml")
    assert expected - carried == set()
    assert {name for name in carried if ".dist-info/" not in name} == expected
    assert {
        "chatops_bot/_bundled/prompts/agents/incident_responder.en.yaml",
        "chatops_bot/_bundled/skills/README.md",
        "chatops_bot/simulators/slack/page/index.html",
        "chatops_bot/py.typed",
    } <= carried


def test_the_demo_runs_from_the_wheel_in_another_folder(installed: Path, demo: DemoProcess):
    where = run(
        "-c", "import chatops_bot; print(chatops_bot.__file__)", cwd=installed, PYTHONPATH=str(installed)
    )
    assert Path(where.strip()).is_relative_to(installed)
    assert demo.wait_ready()["model"] == "offline"
    assert "nightly-report" in demo.asks("oscar", "Which tasks are there?")
    assert demo.end()[:2] == (0, b"")


def test_pip_installs_the_exported_tree_with_its_command(exported: Path, tmp_path: Path):
    install(exported, tmp_path / "target", "--no-build-isolation", cwd=tmp_path)
    command = tmp_path / "target" / "bin" / "chatops-bot"
    assert run(command, "--help", cwd=tmp_path, PYTHONPATH=str(tmp_path / "target")).startswith(
        "usage: chatops-bot"
    )
    bundled = tmp_path / "target" / "chatops_bot" / "_bundled"
    assert sorted(path.name for path in bundled.iterdir()) == [
        "evals",
        "manifest.yaml",
        "prompts",
        "skills",
    ]
