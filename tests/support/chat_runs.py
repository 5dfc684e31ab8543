"""Runs of a language model that answers by rule, on the tasks of a folder."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import itinera
from chat_server import Server, last_text


class House:
    """The tasks of a small season."""

    def __init__(self, season: Path, tasks: str) -> None:
        self.tasks, self.worlds = season / tasks, season


def choose(request: dict[str, Any]) -> str:
    """An answer that depends on the question alone: three moves to the last option, then stop."""
    text = last_text(request)
    letters = re.findall(r"^([A-Z]{1,2})\. ", text, flags=re.MULTILINE)
    return json.dumps({"thought": "t", "plan": "go on", "action": "A" if "Step 4." in text else letters[-1]})


def run(files, server: Server | str, folder: Path, **options: Any):
    url = server if isinstance(server, str) else server.url
    settings = {"workers": 0, "answers": folder / "answers", **options}
    settings["agent_options"] = {"retries": 1, "retry_seconds": 0.01, **options.get("agent_options", {})}
    return itinera.run("openai:my/model", files.tasks, files.worlds, base_url=url, **settings)
