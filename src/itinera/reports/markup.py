"""HTML and SVG that cannot be broken by what they tell: text is escaped unless it was made here."""

from __future__ import annotations

import html
import re
import unicodedata

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")  # no page can hold these
DIRECTING = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")  # turn the words that follow around
VOID = {"meta", "br"}


class Markup(str):
    """Text that is markup already, and safe."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: object) -> Markup:
    """An element; plain text inside is escaped, an attribute that is None is left out.

    Underscores of attribute names stand for hyphens, one at the end for nothing: `class_`, `aria_label`.

    >>> tag("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    opened = name + "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(harmless(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f"<{opened}>")
    return Markup(f"<{opened}>{join(*children)}</{name}>")


def join(*children: str) -> Markup:
    """The children one after another, plain text escaped."""
    return Markup("".join(c if isinstance(c, Markup) else html.escape(harmless(c), quote=False) for c in children))


def harmless(text: str) -> str:
    """The text without characters that a page cannot hold."""
    return CONTROL.sub("\ufffd", text)


def named(name: str, *, longest: int = 40) -> str:
    """Somebody else's name as it can stand within a sentence: one line, not too long, its direction kept to itself.

    >>> named("a" * 50, longest=9)
    'aaaa…aaaa'
    """
    plain = " ".join(harmless(DIRECTING.sub("", name)).split()) or "(no name)"
    if len(plain) > longest:
        half = (longest - 1) // 2
        plain = f"{plain[:half]}…{plain[-half:]}"
    right_to_left = any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in plain)
    return f"\u2068{plain}\u2069" if right_to_left else plain


def each_named(names: list[str], *, longest: int = 40) -> list[str]:
    """The names as they can stand in sentences, still different from one another."""
    short = [named(name, longest=longest) for name in names]
    return [f"{name} ({i + 1})" if short.count(name) > 1 else name for i, name in enumerate(short)]
