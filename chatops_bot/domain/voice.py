"""Whose voice a person's word is: where two ids cannot be told apart, two approvals of theirs prove one person."""

LOCAL_PREFIX = "local:"
"""Begins the id of somebody who reaches the bot on its own machine."""


def voice(person_id: str) -> str:
    """Whose voice an approval is. Everybody at this machine is one voice: whoever may use its data folder can act as any of them."""
    return LOCAL_PREFIX if person_id.startswith(LOCAL_PREFIX) else person_id
