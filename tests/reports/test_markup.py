"""What cannot be broken by names: escaping, control characters, direction, length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from itinera.reports.markup import Markup, display_name, display_names, join, security_policy, tag


def test_text_is_escaped_and_markup_is_not():
    assert tag("p", "<b> & ", tag("i", "x")) == "<p>&lt;b&gt; &amp; <i>x</i></p>"
    assert tag("a", "x", href='" onclick="y') == '<a href="&quot; onclick=&quot;y">x</a>'
    assert tag("p", class_="note", aria_label="a", id=None) == '<p class="note" aria-label="a"></p>'
    assert tag("meta", name="viewport", content="x") == '<meta name="viewport" content="x">'


@given(st.text())
def test_no_text_leaves_its_element(text):
    inside = tag("p", text)[len("<p>") : -len("</p>")]
    assert "<" not in inside
    assert isinstance(join(text), Markup)
    join(text).encode()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("reader", "reader"),
        ("  two\n words ", "two words"),
        ("", "(no name)"),
        ("x" * 10_000, "x" * 19 + "…" + "x" * 19),
        ("a\u202eb", "ab"),  # an override would turn the rest of the sentence around
        ("קורא", "\u2068קורא\u2069"),
        ("a\x00b\ud800", "a\ufffdb\ufffd"),
    ],
)
def test_names_are_made_fit_for_a_sentence(name, shown):
    assert display_name(name) == shown


def test_names_that_are_cut_alike_stay_different():
    first, second, third = display_names(["x" * 50 + "1" + "x" * 50, "x" * 50 + "2" + "x" * 50, "y"])
    assert first != second
    assert third == "y"


def test_a_policy_allows_one_script_and_one_style_sheet():
    policy = security_policy("h1 {}", "f()")
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script-src 'sha256-" in policy
    assert security_policy("h1 {}", "g()") != policy
