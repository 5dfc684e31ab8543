"""An extension of mkdocstrings: docstrings as Markdown. Doctests become code blocks, and `a[i][j]` is no link."""

from __future__ import annotations

import re
from typing import Any

import griffe

# A prompt and everything up to the next blank line.
DOCTEST = re.compile(r"^( *)>>> .*(?:\n(?! *$).*)*", re.MULTILINE)


def as_markdown(docstring: str) -> str:
    """The docstring with doctests in fenced blocks, without their options, and with `][` escaped."""
    readable = re.sub(r"(\n *\.\.\.)? +# doctest: \+\w+$", "", docstring, flags=re.MULTILINE)
    fenced = DOCTEST.sub(lambda found: f"{found[1]}```pycon\n{found[0]}\n{found[1]}```", readable)
    parts = re.split(r"(```.*?```|`[^`\n]*`)", fenced, flags=re.DOTALL)
    return "".join(part if part.startswith("`") else part.replace("][", r"]\[") for part in parts)


class FenceDoctests(griffe.Extension):
    """Applies `as_markdown` to every docstring of the package."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)
