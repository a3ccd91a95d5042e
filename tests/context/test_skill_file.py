"""SKILL.md: what loads, what is broken on which line, and what no file can do to its reader."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatops_bot.context.skill_file import FILE_BYTES, Place, parse_skill
from chatops_bot.domain.people import Role
from chatops_bot.domain.skill import Audience, BrokenSkill, Skill

PLACE = Place(
    Path("/skills/triage"),
    "team/triage/SKILL.md",
    "team",
    ("SKILL.md", "scripts/a.py", "scripts/b.sh", "notes.md"),
    "triage",
)
HEAD = "name: triage\ndescription: Find the cause.\n"


def read(text: str | bytes, place: Place = PLACE) -> Skill | BrokenSkill:
    return parse_skill(text if isinstance(text, bytes) else text.encode(), place)


def skill(front: str, body: str = "Look first.\n") -> Skill:
    found = read(f"---\n{front}---\n{body}")
    assert isinstance(found, Skill), found
    return found


def broken(text: str | bytes, place: Place = PLACE) -> BrokenSkill:
    found = read(text, place)
    assert isinstance(found, BrokenSkill), found
    assert found.problem.en
    assert found.problem.zh
    return found


def test_everything_that_a_file_can_say():
    found = skill(
        "name: triage\ndescription: >-\n  Find\n  the cause.\nlicense: MIT\ncompatibility: any\nmetadata:\n  a: {b: [1]}\n"
        "allowed-tools: look, Bash(git:*) search\nbuiltin_tools: [search, query_tasks]\nmax_iterations: 20\nscripts: [scripts/b.sh]\n"
        "visibility:\n  roles: [operator, admin]\n  people: [U1]\n  groups: [S1]\n  channels: [C1, C2]\n"
    )
    assert found == Skill(
        "triage",
        "Find the cause.",
        "Look first.\n",
        PLACE.folder,
        "team",
        tools=("look", "search", "query_tasks"),
        tool_lines=(10, 11, 11),
        rounds=20,
        scripts=("scripts/b.sh",),
        audience=Audience(
            frozenset({Role.OPERATOR, Role.ADMIN}),
            frozenset({"U1"}),
            frozenset({"S1"}),
            frozenset({"C1", "C2"}),
        ),
    )


def test_a_file_of_the_open_format_needs_a_name_and_a_description_only():
    found = skill(HEAD)
    assert (found.tools, found.rounds, found.audience) == ((), 0, Audience())
    assert found.scripts == ("scripts/a.py", "scripts/b.sh")


def test_lines_of_dashes_in_the_body_are_the_body():
    body = "One\n---\nTwo\n\n---\n---\nThree\n"
    assert skill(HEAD, body).body == body


@given(
    st.text(
        st.characters(
            codec="utf-8",
            exclude_categories=("Cc", "Cf", "Cn", "Cs", "Mn", "Zl", "Zp"),
            exclude_characters="\u115f\u1160\u3164\uffa0",  # letters that show nothing
        ),
        max_size=80,
    ).map(lambda t: t + "\n---\nx")
)
def test_a_body_is_kept_to_the_letter(body: str):
    assert skill(HEAD, body).body == body


@given(st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_line_ends_and_a_byte_order_mark_do_not_matter(end: str, marked: bool):
    text = f"---\n{HEAD}---\nOne\n---\nTwo\n".replace("\n", end)
    found = read(("\ufeff" if marked else "") + text)
    assert isinstance(found, Skill)
    assert found.body == "One\n---\nTwo\n"


def test_a_key_that_nobody_reads_is_remarked_on_with_its_line():
    found = skill(HEAD + "tags: [a]\nmodel: large\n")
    assert [remark.en for remark in found.remarks] == [
        "line 4: tags is not a known key and is ignored.",
        "line 5: model is not a known key and is ignored.",
    ]


def deep(opening: str, closing: str) -> str:
    return f"{HEAD}metadata: {opening * 3000}{closing * 3000}\n"


BROKEN: dict[str, tuple[str | bytes, int]] = {
    "empty file": (b"", 1),
    "no front matter": ("# Triage\nLook.", 1),
    "blank before it": (f"\n---\n{HEAD}---\nx", 1),
    "no end of it": (f"---\n{HEAD}", 1),
    "empty front matter": ("---\n---\nLook.", 2),
    "no name": ("---\ndescription: x\n---\nLook.", 1),
    "no description": ("---\nname: triage\n---\nLook.", 1),
    "empty description": ("---\nname: triage\ndescription:\n---\nLook.", 3),
    "description of signs": ("---\nname: triage\ndescription: '...'\n---\nLook.", 3),
    "long description": (f"---\nname: triage\ndescription: {'x' * 1025}\n---\nLook.", 3),
    "description in a list": ("---\nname: triage\ndescription: [a]\n---\nLook.", 3),
    "empty body": (f"---\n{HEAD}---\n", 4),
    "blank body": (f"---\n{HEAD}---\n \n\n\t\n", 4),
    "body of dashes": (f"---\n{HEAD}---\n---\n---\n", 4),
    "capital": ("---\nname: Triage\ndescription: x\n---\nLook.", 2),
    "name of a path": ("---\nname: ../triage\ndescription: x\n---\nLook.", 2),
    "name with a line": ('---\nname: "triage\\nx"\ndescription: x\n---\nLook.', 2),
    "Cyrillic letter": ("---\nname: tri\u0430ge\ndescription: x\n---\nLook.", 2),
    "long name": (f"---\nname: {'a' * 65}\ndescription: x\n---\nLook.", 2),
    "another name": ("---\nname: other\ndescription: x\n---\nLook.", 2),
    "twice": (f"---\n{HEAD}name: triage\n---\nLook.", 4),
    "no YAML": ("---\nname: [triage\ndescription: x\n---\nLook.", 3),
    "tab": (f"---\n{HEAD}metadata:\n\ta: b\n---\nLook.", 5),
    "list": ("---\n- name\n---\nLook.", 2),
    "text": ("---\nname\n---\nLook.", 2),
    "two documents": (f"---\n{HEAD}...\nname: b\n---\nLook.", 5),
    "anchor": (f"---\n{HEAD}metadata: &a b\n---\nLook.", 4),
    "alias": (f"---\n{HEAD}metadata: *a\n---\nLook.", 4),
    "merge key": (f"---\n{HEAD}metadata:\n  <<: *a\n---\nLook.", 5),
    "alias bomb": (
        "---\na: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)) + f"{HEAD}---\nx",
        2,
    ),
    "python object": (f"---\n{HEAD}metadata: !!python/object/apply:os.system ['true']\n---\nLook.", 4),
    "binary": (f"---\n{HEAD}license: !!binary aGk=\n---\nLook.", 4),
    "own tag": (f"---\n{HEAD}license: !x y\n---\nLook.", 4),
    "list as key": (f"---\n{HEAD}? [a]\n: b\n---\nLook.", 4),
    "deep lists": (f"---\n{deep('[', ']')}---\nLook.", 4),
    "deep mappings": (f"---\n{deep('{a: ', '}')}---\nLook.", 4),
    "open lists": (f"---\n{deep('[', '')}---\nLook.", 4),
    "long front matter": (f"---\n{HEAD}license: {'x' * 17_000}\n---\nLook.", 2),
    "no character": (f'---\n{HEAD}license: "\\UFFFFFFFF"\n---\nLook.', 2),
    "half a character": (f'---\n{HEAD}license: "\\ud800"\n---\nLook.', 2),
    "not UTF-8": (b"---\nname: triage\ndescription: caf\xe9\n---\nLook.", 3),
    "UTF-16": (f"---\n{HEAD}---\nLook.".encode("utf-16"), 1),
    "NUL": (f"---\n{HEAD}---\nLook\x00.", 5),
    "escape code": (f"---\n{HEAD}---\nOne\nLook\x1b[2J.", 6),
    "direction": (f"---\n{HEAD}---\nLook \u202eback.", 5),
    "letters that nobody sees": (f"---\n{HEAD}---\nLook.\U000e0041\U000e0042", 5),
    "space without width": (f"---\n{HEAD}---\nLook\u200bback.", 5),
    "byte order mark inside": (f"---\n{HEAD}---\nLook\ufeffback.", 5),
    "soft hyphen": (f"---\n{HEAD}---\nLook\xadback.", 5),
    "filler that is a letter": (f"---\n{HEAD}---\nLook\u3164back.", 5),
    "text in variation selectors": (f"---\n{HEAD}---\nLook\U000e0141\U000e0142.", 5),
    "joiner of nothing": (f"---\n{HEAD}---\nLook\u200dback.", 5),
    "variation of a letter": (f"---\n{HEAD}---\nL\ufe0eo\ufe0fok.", 5),
    "variation of a full stop": (f"---\n{HEAD}---\n看。\ufe0e", 5),
    "variation of a digit": (f"---\n{HEAD}---\nLook at 1\ufe0f of 2\ufe0e.", 5),
    "variations in a row": (f"---\n{HEAD}---\nLook ⚠\ufe0f\ufe0e.", 5),
    "no visibility": (f"---\n{HEAD}visibility:\n---\nLook.", 4),
    "visibility in a word": (f"---\n{HEAD}visibility: private\n---\nLook.", 4),
    "visibility of nobody": (f"---\n{HEAD}visibility: {{}}\n---\nLook.", 4),
    "visibility of an empty list": (f"---\n{HEAD}visibility:\n  people: []\n---\nLook.", 5),
    "visibility of an empty name": (f"---\n{HEAD}visibility:\n  people: ['']\n---\nLook.", 5),
    "visibility of one": (f"---\n{HEAD}visibility:\n  people: U1\n---\nLook.", 5),
    "visibility of teams": (f"---\n{HEAD}visibility:\n  people: [U1]\n  teams: [T1]\n---\nLook.", 6),
    "visibility of kings": (f"---\n{HEAD}visibility:\n  roles: [king]\n---\nLook.", 4),
    "visibility of guests": (f"---\n{HEAD}visibility:\n  roles: [guest]\n---\nLook.", 4),
    "visiblity": (f"---\n{HEAD}visiblity:\n  people: [U1]\n---\nLook.", 4),
    "Visibility": (f"---\n{HEAD}Visibility:\n  people: [U1]\n---\nLook.", 4),
    "no steps": (f"---\n{HEAD}max_iterations: 0\n---\nLook.", 4),
    "steps below zero": (f"---\n{HEAD}max_iterations: -1\n---\nLook.", 4),
    "too many steps": (f"---\n{HEAD}max_iterations: 51\n---\nLook.", 4),
    "endless steps": (f"---\n{HEAD}max_iterations: {'9' * 5000}\n---\nLook.", 4),
    "steps in a word": (f"---\n{HEAD}max_iterations: ten\n---\nLook.", 4),
    "Arabic steps": (f"---\n{HEAD}max_iterations: \u0661\n---\nLook.", 4),
    "tools in a text": (f"---\n{HEAD}builtin_tools: look\n---\nLook.", 4),
    "tool of a path": (f"---\n{HEAD}builtin_tools:\n  - look\n  - ../look\n---\nLook.", 6),
    "many tools": (f"---\n{HEAD}builtin_tools: [{', '.join(f't{n}' for n in range(65))}]\n---\nLook.", 4),
    "script above": (f"---\n{HEAD}scripts: [../a.py]\n---\nLook.", 4),
    "script up and back": (f"---\n{HEAD}scripts: [scripts/../scripts/a.py]\n---\nLook.", 4),
    "script of the system": (f"---\n{HEAD}scripts: [/etc/a.py]\n---\nLook.", 4),
    "script that is not there": (f"---\n{HEAD}scripts: [scripts/c.py]\n---\nLook.", 4),
    "script of text": (f"---\n{HEAD}scripts: [notes.md]\n---\nLook.", 4),
    "large": (f"---\n{HEAD}---\n{'Look. ' * FILE_BYTES}", 0),
}  # fmt: skip


@pytest.mark.parametrize("label", BROKEN)
def test_a_broken_file_is_named_with_its_line_at_once(label: str):
    text, line = BROKEN[label]
    started = time.process_time()
    found = broken(text)
    assert time.process_time() - started < 1.0
    assert (found.name, found.path, found.line) == ("triage", "team/triage/SKILL.md", line)


@pytest.mark.parametrize(
    "emoji",
    ["⚠\ufe0f", "❤\ufe0e", "1\ufe0f\u20e3", "#\ufe0f\u20e3", "↔\ufe0f", "©\ufe0f", "㊗\ufe0f", "ℹ\ufe0f", "👁\ufe0f\u200d🗨\ufe0f", "👩\u200d💻"],
)  # fmt: skip
def test_an_emoji_may_be_made_of_several_letters(emoji: str):
    assert isinstance(read(f"---\n{HEAD}---\nLook {emoji} here.".encode()), Skill)


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: f"---\n{text}\n---\nLook.".encode()))
def test_no_bytes_at_all_make_the_reader_fail(data: bytes):
    assert isinstance(read(data), Skill | BrokenSkill)


@given(
    st.lists(
        st.sampled_from(
            [
                "name: triage",
                "description: x",
                "&a",
                "*a",
                "!!x",
                "- ",
                "{",
                "}",
                "[",
                "]",
                "'",
                '"',
                ": ",
                "? ",
                "| ",
                "> ",
                "#",
                "---",
                "\n",
                "  ",
                "visibility: ",
                "scripts: ",
            ]
        ),
        max_size=40,
    )
)
def test_no_pieces_of_yaml_make_the_reader_fail(pieces: list[str]):
    assert isinstance(read(f"---\n{''.join(pieces)}\n---\nLook."), Skill | BrokenSkill)
