"""The command line that builds a sandbox and starts a program in it.

Nothing of the host is there but what `Host` names, read-only: no `/home`, `/root`, `/var`, `/sys`, none of its `/etc` but what
the loader reads, and no `/proc` at all, not even an own one: it tells of the host, and some containers forbid it. So
`/dev/stdin` and its like are not there either. Files of a skill are handed in as open descriptors and copied, so their
folder is not mounted, may be readable by the bot alone, and cannot be written to.

bubblewrap must be started with an empty environment: the program could read it in `/proc/1/environ`, whatever
`--clearenv` says, wherever a `/proc` is. The limits are set inside, by the first program, since the kernel counts the
processes of a user namespace by themselves (from Linux 5.14 on): outside, those of the bot's user would count as well.
"""

from collections.abc import Mapping, Sequence

from chatops_bot.sandbox.host import NOBODY, Host
from chatops_bot.sandbox.limits import Limits

SKILL = "/skill"
WORKSPACE = "/workspace"
TMP = "/tmp"  # noqa: S108  # the sandbox's own

ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": WORKSPACE,
    "PWD": WORKSPACE,
    "TMPDIR": TMP,
    "LANG": "C.UTF-8",
    "TZ": "UTC",
}
"""All that a script finds in its environment."""


def command(
    host: Host,
    limits: Limits,
    files: Mapping[str, int],
    argv: Sequence[str],
    *,
    status: int,
    seccomp: int | None,
) -> list[str]:
    """The whole command line. `files` are open descriptors by their path below /skill; bubblewrap tells `status` of the
    program's start and end, and reads the filter from `seccomp`."""
    return [
        *(host.bwrap, "--unshare-all", "--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)),
        *(["--disable-userns"] if host.strict else []),
        *("--hostname", "sandbox", "--as-pid-1", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
        *(part for path in host.read_only for part in ("--ro-bind", path, path)),
        *(part for target, place in host.links for part in ("--symlink", target, place)),
        *(part for path in host.devices for part in ("--dev-bind", path, path)),
        *("--size", str(limits.workspace_bytes), "--tmpfs", WORKSPACE),
        *("--size", str(limits.tmp_bytes), "--tmpfs", TMP),
        *("--dir", SKILL),
        *(
            part
            for path, fd in files.items()
            for part in ("--perms", "0555", "--file", str(fd), f"{SKILL}/{path}")
        ),
        # The root of the sandbox is memory: writable, it would have no bound.
        *("--remount-ro", "/", "--chdir", WORKSPACE),
        *(part for name, value in ENVIRONMENT.items() for part in ("--setenv", name, value)),
        *("--json-status-fd", str(status)),
        *([] if seccomp is None else ["--seccomp", str(seccomp)]),
        *("--", *_limited(host, limits), *argv),
    ]


def interpreter(host: Host, script: str) -> list[str]:
    """How a script of a skill is started. Python keeps to the folder of the script and to the system's own packages."""
    if script.endswith(".py"):
        return [host.python, "-E", "-s", "-B", "-u"]
    return [host.shell]


def _limited(host: Host, limits: Limits) -> list[str]:
    return [
        host.prlimit,
        f"--cpu={limits.cpu_seconds}",
        f"--as={limits.memory_bytes}",
        f"--nproc={limits.processes}",
        f"--fsize={limits.file_bytes}",
        f"--nofile={limits.open_files}",
        "--core=0",
    ]
