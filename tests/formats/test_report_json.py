"""What verbs print as JSON is read back, and anything else is refused."""

from __future__ import annotations

import json

import pytest

from itinera.errors import BadFile
from itinera.formats.report_json import StudyResults, read_report_json

FINDINGS = {"designed": {}, "table": {}, "agents": {"a": {"stop": {"verdicts": ["v"], "score": None, "effects": []}}}}
DESCRIBED = [{"name": "x", "scenes": 1, "coverage": {"visited": {"tour": [
    {"episodes_done": 0, "mean": 0, "low": None, "high": None, "tours": 3}]}}}]  # fmt: skip


def test_findings_and_descriptions_are_told_apart(tmp_path):
    file = tmp_path / "printed.json"
    file.write_text(json.dumps(FINDINGS))
    found = read_report_json(file)
    assert isinstance(found, StudyResults)
    assert found.agents["a"]["stop"].verdicts == ["v"]
    file.write_text(json.dumps(DESCRIBED))
    (described,) = read_report_json(file)
    assert described.coverage["visited"]["tour"][0].mean == 0.0


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"agents": 3}', "walks"])
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(BadFile):
        read_report_json(tmp_path / "x.json")
