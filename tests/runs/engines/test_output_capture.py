"""The output of a worker: forwarded in whole lines, section by section, and limited."""

from __future__ import annotations

import os
from multiprocessing import Pipe

import pytest

from itinera.runs.engines.output_capture import SHOWN, CapturedOutput

MARK = b"<mark>"


@pytest.fixture
def printed():
    """What is heard, and a way to print."""
    ours, theirs = Pipe(duplex=False)
    yield CapturedOutput(ours, MARK), lambda text: os.write(theirs.fileno(), text)
    theirs.close()


def test_lines_are_passed_on_when_they_are_whole(printed, capsys):
    heard, say = printed
    say(b"one\ntw")
    assert heard.forward()
    assert capsys.readouterr().err == "one\n"
    say("o ü\n\xff".encode("latin-1"))
    assert heard.forward()
    heard.close()
    assert capsys.readouterr() == ("", "two �\n�")


def test_each_section_is_counted_alone(printed, capsys):
    heard, say = printed
    say(b"12345\n" + MARK + b"678\n" + MARK + b"9")
    assert heard.forward(limit=6)
    assert capsys.readouterr().err == ""  # the section is over, but was not ended
    assert heard.end_section(limit=6)
    assert capsys.readouterr().err == "12345\n"
    assert not heard.end_section(limit=3)


@pytest.mark.parametrize("text", [b"x\n" * 6, b"x" * 12])
def test_too_much_is_told_whether_in_lines_or_in_one(printed, text):
    heard, say = printed
    say(text)
    assert not heard.forward(limit=11)
    assert heard.forward(limit=12)


def test_marks_that_come_in_two_pieces_are_marks(printed, capsys):
    heard, say = printed
    say(b"a\n" + MARK[:3])
    assert heard.forward()
    say(MARK[3:] + b"b\n")
    assert heard.end_section()
    heard.close()
    assert capsys.readouterr().err == "a\nb\n"


def test_the_end_is_noticed(capsys):
    ours, theirs = Pipe(duplex=False)
    heard = CapturedOutput(ours, MARK)
    assert heard.forward()
    assert not heard.ended
    theirs.close()
    assert heard.forward()
    assert heard.ended


def test_control_characters_are_shown_as_escapes(printed, capsys):
    heard, say = printed
    say(b"\x1b[2J50 %\r100 %\r\n" + "\u202e\n".encode())
    assert heard.forward()
    assert capsys.readouterr().err == "\\x1b[2J50 %\n100 %\n\\u202e\n"


def test_of_a_long_section_the_beginning_is_shown(printed, capsys):
    heard, say = printed
    for _ in range(3):
        say(b"x" * 40_000 + b"\n")
        assert heard.forward()
    said = capsys.readouterr().err
    assert said.count("x") == SHOWN - 1  # and a line break
    assert said.endswith("\n… (the rest of this output is not shown)\n")
    say(b"short\n" + MARK)
    assert heard.end_section()
    say(b"next\n" + MARK)
    assert heard.end_section()
    assert capsys.readouterr().err == "next\n"
