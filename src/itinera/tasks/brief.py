"""What a person would be told, and nothing more: all of a task an agent may see."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Brief:
    """The words of a task."""

    text: str
    language: str = "en"
