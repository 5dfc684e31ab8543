"""`itinera first-faults`, as a person runs it."""

from __future__ import annotations

import itinera as it


def test_a_table_by_kind_of_clause_and_a_section_of_the_report(itinera, season, tmp_path):
    tasks, preds = season / "rxr" / "rxr_val_unseen_guide.jsonl.gz", tmp_path / "uniform.jsonl"
    it.run("uniform", tasks, season, seed=1, workers=0, out=preds)
    faults, page = tmp_path / "faults.json", tmp_path / "report.html"
    printed = itinera("first-faults", preds, "--tasks", tasks, "--worlds", season, "--out", faults, "--verbose")
    assert printed.code == 0, printed.err
    assert "share of faults" in printed.out
    assert "at clause 1 of" in printed.out
    as_json = itinera("first-faults", preds, "--tasks", tasks, "--worlds", season, "--json").json
    assert as_json["first_faults"] == "uniform"
    assert as_json["episodes"] == as_json["succeeded"] + len(as_json["faults"])
    assert itinera("report", faults, "--out", page).code == 0
    for title in ("First faults.", "Shares of first faults.", "First faults, %", "Shares of first faults, %"):
        assert title in page.read_text()


def test_failures_are_listed_with_the_clause_they_depart_at(itinera, season, tmp_path):
    tasks, preds = season / "rxr" / "rxr_val_unseen_guide.jsonl.gz", tmp_path / "uniform.jsonl"
    it.run("uniform", tasks, season, seed=1, workers=0, out=preds)
    printed = itinera("show", preds, "--tasks", tasks, "--worlds", season, "--failures", "3")
    assert printed.code == 0, printed.err
    assert printed.out.count("at clause") == 3


def test_tasks_without_aligned_words_are_refused(itinera, files):
    printed = itinera("first-faults", files.predictions, "--tasks", files.tasks, "--worlds", files.worlds)
    assert printed.code == 2
    assert "not aligned with places" in printed.err
