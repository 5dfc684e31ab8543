"""What errors say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.errors import (
    INVISIBLE,
    BadArgument,
    BadFile,
    Fault,
    GoalsWithheld,
    ItineraError,
    MissingExtra,
    NoRoute,
    escape_controls,
)


def test_a_fault_says_where_what_and_what_to_do():
    assert str(Fault("record 4", "is empty.", "Fill it.", "path")) == "record 4, field path: is empty.\n  Fill it."
    assert str(Fault("record 4", "is empty.")) == "record 4: is empty."
    assert str(Fault("", "is empty.", field="path")) == "path: is empty."
    assert str(Fault("", "is empty.")) == "is empty."


def test_a_file_tells_all_its_faults_each_with_its_name():
    error = BadFile("walks.json", [Fault("record 1", "is odd.", "Even it."), Fault("record 2", "is bad.", "Mend it.")])
    assert str(error) == ("walks.json: record 1: is odd.\n  Even it.\nwalks.json: record 2: is bad.\n  Mend it.")
    assert [fault.where for fault in error.faults] == ["record 1", "record 2"]


def test_a_remedy_shared_by_neighbours_is_said_once_after_the_last():
    faults = [Fault("record 1", "is odd.", "Even it."), Fault("record 2", "is odd.", "Even it."), Fault("", "No.")]
    assert str(BadFile("f", faults)) == "f: record 1: is odd.\nf: record 2: is odd.\n  Even it.\nf: No."


def test_of_very_many_faults_the_first_are_shown_and_the_rest_counted():
    error = BadFile("f", (Fault(f"record {i}", "is odd.", "Even it.") for i in range(23)))
    lines = str(error).splitlines()
    assert lines[19] == "f: record 19: is odd."
    assert lines[-1] == "f: and 3 more faults of this file."
    assert len(error.faults) == 23


def test_a_missing_extra_says_how_to_install_it():
    message = str(MissingExtra("Figures", "matplotlib", "figures"))
    assert message == 'Figures need matplotlib. Install it with: pip install "itinera[figures]"'


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BadArgument("no"), 2),
        (BadFile("f", []), 1),
        (GoalsWithheld("f", []), 1),
        (MissingExtra("a", "b", "c"), 1),
        (NoRoute("no"), 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_exit_codes_tell_bad_input_from_bad_usage(error, code):
    assert isinstance(error, ItineraError)
    assert error.exit_code == code


@given(st.text())
def test_no_text_hides_anything_once_it_is_escaped(text):
    escaped = escape_controls(text)
    assert not INVISIBLE.search(escaped)
    assert escape_controls(escaped) == escaped
    assert not set("\t\n") & set(escape_controls(text, one_line=True))


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain – text, ü, 日本, 🤖", "plain – text, ü, 日本, 🤖"),
        ("\x1b[2J\x1b]0;title\x07", r"\x1b[2J\x1b]0;title\x07"),
        ("\x9b31m\x7f\r", r"\x9b31m\x7f\r"),
        ("a\u202eb\u2066c\u200bd\ufeff", r"a\u202eb\u2066c\u200bd\ufeff"),
        ("\udcff\U000e0041", r"\udcff\U000e0041"),
        ("two\n\tlines", "two\n\tlines"),
    ],
)
def test_invisible_characters_are_shown_as_escapes(text, escaped):
    assert escape_controls(text) == escaped
    assert str(ItineraError(text)) == escaped


def test_names_in_a_fault_stay_in_their_line_and_are_bounded():
    error = BadFile("f\ng", [Fault('episode "\nitinera: fine"', "is\nodd.", field="x" * 10_000)])
    assert str(error).startswith('f\\ng: episode "\\nitinera: fine", field xxx')
    assert str(error).endswith(r"xxx: is\nodd.")
    assert len(str(error)) < 500
    assert len(str(ItineraError("x" * 1_000_000))) < 21_000


def test_a_fault_of_a_megabyte_is_cut_in_the_message():
    error = BadFile("f", [Fault("line 1", "a" * 1_000_000 + " is odd.", "Even it."), Fault("line 2", "is odd.")])
    assert len(str(error)) < 3000
    assert " characters more) … " in str(error).splitlines()[0]
    assert str(error).splitlines()[-1] == "f: line 2: is odd."
