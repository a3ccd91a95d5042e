"""Who said what: several people write in one session, and the model must tell them apart.

Each user message begins with a line that names its author by the platform's id. Ids are given out, not chosen, so no
display name stands where a name could pass for another speaker or for an instruction. Which id bears which name is data:
it travels fenced, in the volatile context. A line further down that looks like a first line is just text.
"""

import re
from collections.abc import Iterable, Sequence

from chatops_bot.domain.canonical import canonical_json
from chatops_bot.domain.people import Person
from chatops_bot.domain.transcript import Entry, UserSaid

MAX_PEOPLE = 50
"""People of a session whose names the model is told, newest first; more than one thread holds on any night."""

_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9._-]")


def attributed(text: str, author: str) -> str:
    """`text` under the line that names its author, unchanged; without an author just the text."""
    return f"@{_NOT_IN_IDS.sub('_', author)}:\n{text}" if author else text


def people_of(entries: Sequence[Entry], asker: Person) -> str:
    """Who is who in a session, as JSON to be fenced: the asker of this turn first, the others newest first, then whoever
    stands in their messages by id."""
    people = {asker.id: _told(asker.id, asker.name, asker.role.value)}
    for said in _newest(entries):
        people.setdefault(said.author_id, _told(said.author_id, said.author_name, said.author_role))
    mentioned: dict[str, str] = {}
    for said in _newest(entries):
        mentioned |= {each: name for each, name in said.mentioned.items() if each not in mentioned}
    named = {"mentioned": dict(list(mentioned.items())[:MAX_PEOPLE])} if mentioned else {}
    return canonical_json({"asker": asker.id, "people": list(people.values())[:MAX_PEOPLE]} | named)


def _newest(entries: Sequence[Entry]) -> Iterable[UserSaid]:
    return (entry for entry in reversed(entries) if isinstance(entry, UserSaid))


def _told(person_id: str, name: str, role: str) -> dict[str, str]:
    return {"id": person_id, "name": name, "role": role}
