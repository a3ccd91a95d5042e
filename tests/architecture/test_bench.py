"""The bench runs, and what it compares does the same work."""

import subprocess
import sys

from bench.answers import DELTAS, call_stream, stream, texts
from bench.parsing import bare_json, bare_msgspec, ours
from bench.showing import folded, joined
from chatops_bot.domain.model import TextDelta, ToolCallDelta
from tests.tracked import ROOT


def test_the_contenders_read_the_same_answer():
    said = [delta.text for delta in ours(stream()) if isinstance(delta, TextDelta)]
    assert said == texts()
    assert len(said) == DELTAS
    assert "".join(bare_json(stream())) == "".join(bare_msgspec(stream())) == "".join(said) == joined()
    arguments = [delta.arguments for delta in ours(call_stream()) if isinstance(delta, ToolCallDelta)]
    assert "".join(bare_json(call_stream())) == "".join(bare_msgspec(call_stream())) == "".join(arguments)


def test_paging_while_it_streams_changes_nothing():
    assert folded(per_edit=50, redactor=None).pages() == folded(per_edit=None, redactor=None).pages()


def test_it_prints_a_table_of_ratios():
    ran = subprocess.run(
        [sys.executable, "-m", "bench", "--rounds", "1"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.count(" 1.00 x") >= 4
    assert "ours" in ran.stdout
