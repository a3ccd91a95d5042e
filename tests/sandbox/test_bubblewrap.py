"""The command line of a sandbox, as a value."""

from dataclasses import replace
from itertools import pairwise

from chatops_bot.sandbox.bubblewrap import command, interpreter
from chatops_bot.sandbox.host import Host
from chatops_bot.sandbox.limits import Limits

HOST = Host(
    bwrap="/usr/bin/bwrap", prlimit="/usr/bin/prlimit", python="/usr/bin/python3", shell="/bin/bash", read_only=("/usr/bin", "/usr/lib"),
    links=(("usr/bin", "/bin"),), devices=("/dev/null",),
)  # fmt: skip
FILES = {"a.py": 7, "scripts/b.sh": 8}
ARGV = ["/usr/bin/python3", "/skill/a.py", "--bind", "/"]


def built(
    host: Host = HOST, limits: Limits | None = None, seccomp: int | None = 5
) -> tuple[list[str], list[str]]:
    """Options of bubblewrap, and what it starts."""
    line = command(host, limits or Limits(), FILES, ARGV, status=4, seccomp=seccomp)
    at = line.index("--")
    return line[:at], line[at + 1 :]


def test_everything_that_can_be_parted_is():
    options, _ = built()
    assert {
        "--unshare-all",
        "--unshare-user",
        "--disable-userns",
        "--as-pid-1",
        "--die-with-parent",
        "--new-session",
    } <= set(options)
    assert ("--cap-drop", "ALL") in pairwise(options)
    assert "--share-net" not in options
    assert "--proc" not in options


def test_all_that_comes_from_the_host_is_read_only_or_a_harmless_device():
    options, _ = built()
    assert [after for each, after in pairwise(options) if each == "--ro-bind"] == ["/usr/bin", "/usr/lib"]
    assert [after for each, after in pairwise(options) if each == "--dev-bind"] == ["/dev/null"]
    assert not {"--bind", "--dev", "--bind-try", "--bind-fd"} & set(options)


def test_what_can_be_written_has_a_size_and_the_rest_is_read_only():
    options, _ = built(limits=Limits(workspace_bytes=1000, tmp_bytes=2000))
    tmpfs = [options[at - 2 : at + 2] for at, each in enumerate(options) if each == "--tmpfs"]
    assert tmpfs == [["--size", "1000", "--tmpfs", "/workspace"], ["--size", "2000", "--tmpfs", "/tmp"]]
    assert ("--remount-ro", "/") in pairwise(options)
    assert options.index("--remount-ro") > options.index("/skill/a.py")


def test_files_of_the_skill_are_copied_from_open_descriptors():
    options, _ = built()
    files = [options[at - 2 : at + 3] for at, each in enumerate(options) if each == "--file"]
    assert files == [
        ["--perms", "0555", "--file", "7", "/skill/a.py"],
        ["--perms", "0555", "--file", "8", "/skill/scripts/b.sh"],
    ]


def test_the_filter_is_loaded_where_there_is_one():
    assert ("--seccomp", "5") in pairwise(built()[0])
    assert "--seccomp" not in built(seccomp=None)[0]


def test_the_program_starts_under_its_limits_and_its_arguments_are_no_options():
    options, started = built(
        limits=Limits(cpu_seconds=3, memory_bytes=4, processes=5, file_bytes=6, open_files=7)
    )
    assert started == [
        "/usr/bin/prlimit", "--cpu=3", "--as=4", "--nproc=5", "--fsize=6", "--nofile=7", "--core=0", *ARGV,
    ]  # fmt: skip
    assert "/skill/a.py" in options
    assert "--bind" not in options


def test_a_container_that_forbids_it_may_do_without_one_option():
    assert "--disable-userns" not in built(replace(HOST, strict=False))[0]


def test_a_script_is_started_by_what_its_name_says():
    assert interpreter(HOST, "scripts/a.py") == ["/usr/bin/python3", "-E", "-s", "-B", "-u"]
    assert interpreter(HOST, "a.sh") == ["/bin/bash"]
