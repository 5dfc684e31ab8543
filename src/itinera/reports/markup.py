"""HTML and SVG elements; text is escaped unless it is already `Markup`, so names cannot break a page."""

from __future__ import annotations

import base64
import hashlib
import html
import re
import unicodedata

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")  # not allowed in HTML
BIDI_CONTROLS = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")  # change text direction
VOID = {"meta", "br"}


class Markup(str):
    """Text that is escaped markup already."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: object) -> Markup:
    """An element; plain text children are escaped, attributes that are None are left out.

    Underscores in attribute names become hyphens, a trailing one is dropped: `class_`, `aria_label`.

    >>> tag("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    opened = name + "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(strip_control(str(value)))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f"<{opened}>")
    return Markup(f"<{opened}>{join(*children)}</{name}>")


def join(*children: str) -> Markup:
    """The children concatenated, plain text escaped."""
    return Markup("".join(c if isinstance(c, Markup) else html.escape(strip_control(c), quote=False) for c in children))


def security_policy(style: str, script: str, *, images: str = "'none'") -> str:
    """The Content-Security-Policy of a page with one style sheet and one script: no network, and no other script.

    Both are allowed by the hash of their content, so that no markup in a name or text can run or restyle anything,
    should it ever be inserted. `images` is the source of images, such as "data:".
    """
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; img-src {images}; "
        "base-uri 'none'; form-action 'none'"
    )


def strip_control(text: str) -> str:
    """The text without control characters, which HTML does not allow."""
    return CONTROL.sub("\ufffd", text)


def display_name(name: str, *, max_chars: int = 40) -> str:
    """A name as a page can print it within a sentence: one line, not too long, its direction isolated.

    >>> display_name("a" * 50, max_chars=9)
    'aaaa…aaaa'
    """
    plain = " ".join(strip_control(BIDI_CONTROLS.sub("", name)).split()) or "(no name)"
    if len(plain) > max_chars:
        half = (max_chars - 1) // 2
        plain = f"{plain[:half]}…{plain[-half:]}"
    right_to_left = any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in plain)
    return f"\u2068{plain}\u2069" if right_to_left else plain


def display_names(names: list[str], *, max_chars: int = 40) -> list[str]:
    """The names as a page can print them; names that become equal are numbered."""
    short = [display_name(name, max_chars=max_chars) for name in names]
    return [f"{name} ({i + 1})" if short.count(name) > 1 else name for i, name in enumerate(short)]
