"""How much a script may use. Whatever is above is refused to it by the kernel, or ends it."""

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes, times in seconds.

    The kernel counts `memory_bytes`, `cpu_seconds` and `open_files` for each process, so `total_memory_bytes`, of all
    together, is watched from outside; so is the number of `files` in /workspace and /tmp, which bubblewrap cannot limit. `output_bytes` is what is kept of each stream; past `flood_bytes` the script is ended,
    since to read a flood costs the bot as much as to write it costs the script.
    """

    start_seconds: float = 10.0
    wall_seconds: float = 30.0
    cpu_seconds: int = 20
    memory_bytes: int = 256 * MIB
    total_memory_bytes: int = 512 * MIB
    processes: int = 32
    open_files: int = 64
    file_bytes: int = 32 * MIB
    workspace_bytes: int = 64 * MIB
    tmp_bytes: int = 16 * MIB
    files: int = 10_000
    output_bytes: int = 256 * 1024
    flood_bytes: int = 8 * MIB
    at_once: int = 4
