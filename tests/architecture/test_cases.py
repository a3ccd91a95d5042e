"""Tests that stand for numbered cases name them in one form, and the table of them is current."""

from tests.architecture.cases import TABLE, WELL_FORMED, marked_cases, table


def test_every_case_id_is_well_formed():
    wrong = [(case, str(path)) for case, path, _ in marked_cases() if not WELL_FORMED.fullmatch(case)]
    assert wrong == []


def test_every_case_marks_a_test_or_a_row_of_a_table_of_tests():
    astray = [
        (case, str(path), test)
        for case, path, test in marked_cases()
        if test != "." and not test.lower().startswith("test")
    ]
    assert astray == []


def test_the_table_of_cases_is_current():
    assert TABLE.read_text(encoding="utf-8") == table(), "run `python -m tests.architecture.cases`"
