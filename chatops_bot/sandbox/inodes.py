"""How many files a sandbox holds. The size of its folders counts their content alone, and an empty file takes the kernel some
900 bytes all the same: without an end to their number a script could fill the memory of the machine with nothing."""

import os
from collections.abc import Iterable
from pathlib import Path


def files_in(first: int, folders: Iterable[str]) -> int:
    """Files, folders and links in the `folders` of the sandbox whose first process is `first`, each folder a file system of its
    own; 0 while it is not laid out yet and once it is gone."""
    try:
        root = os.open(f"/proc/{first}/root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        if os.path.samestat(os.fstat(root), Path("/").stat()):
            return 0
        looks = [os.statvfs(f"/proc/self/fd/{root}{folder}") for folder in folders]
    except OSError:
        return 0
    finally:
        os.close(root)
    return sum(look.f_files - look.f_ffree for look in looks)
