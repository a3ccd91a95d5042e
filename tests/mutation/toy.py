"""A module to try the trials on: of its faults, some are noticed and some are not."""

TABLE = {"a": 1}


def found(key: str) -> int | None:
    """What the table has, while the key is short."""
    while len(key) > 3:
        key = key[1:]
    return TABLE.get(key)


def unused() -> int:
    """Nobody asks."""
    return 5
