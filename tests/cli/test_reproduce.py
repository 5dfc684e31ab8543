"""`itinera reproduce`: results repeated from their provenance."""

from __future__ import annotations

import json

import pytest

from itinera.runs.reproduce import runs_foreign_code, strip_options


@pytest.fixture
def walks(itinera, files, tmp_path):
    out = tmp_path / "predictions.jsonl"
    command = ["--agent", "scripted_agents:Wanderer", *files.options, "--workers", 0]
    assert itinera("run", *command, "--out", out).code == 0
    return out


def test_a_score_is_made_again(itinera, files, tmp_path):
    bundle = tmp_path / "scores.jsonl"
    rows = tmp_path / "rows.jsonl"
    assert itinera("score", files.predictions, *files.options, "--out", bundle, f"--rows={rows}").code == 0
    rows.unlink()
    done = itinera("reproduce", bundle)
    assert (done.code, done.out) == (0, f"{bundle}: reproduced; all 5 rows are identical.\n")
    assert not rows.exists()


def test_a_run_is_made_again_if_its_agent_is_trusted(itinera, walks):
    refused = itinera("reproduce", walks)
    assert refused.code == 2
    assert "runs code that is not part of itinera. Add --trust" in refused.err
    done = itinera("reproduce", walks, "--trust", "--workers", 1, "--json")
    assert (done.code, done.json) == (0, {"file": str(walks), "rows": 5, "different": []})


def test_a_row_that_differs_is_named(itinera, walks):
    lines = walks.read_text().splitlines()
    record = json.loads(lines[3])
    record["trajectories"][0]["notes"] = {"remark": "added later"}
    lines[3] = json.dumps(record, separators=(",", ":"))
    walks.write_text("\n".join(lines) + "\n")
    done = itinera("reproduce", walks, "--trust")
    assert (done.code, done.out) == (1, f"{walks}: reproduced; 1 of 5 rows differ, in lines 4.\n")


def test_changed_and_missing_inputs_are_named_first(itinera, files, walks):
    files.tasks.write_text(files.tasks.read_text() + " ")
    refused = itinera("reproduce", walks, "--trust")
    assert refused.code == 1
    assert f"{files.tasks} (tasks) has changed since." in refused.err
    files.tasks.unlink()
    assert f"{files.tasks} (tasks) is not here." in itinera("reproduce", walks, "--trust").err


def test_files_that_do_not_tell_how_they_were_made_are_refused(itinera, files, tmp_path):
    out = tmp_path / "converted.jsonl"
    assert itinera("convert", files.predictions, out, "--to", "native-predictions").code == 0
    assert itinera("reproduce", out).code == 1


def test_a_command_that_is_no_run_and_no_score_is_not_repeated(itinera, walks):
    header, *rest = walks.read_text().splitlines()
    told = json.loads(header)
    told["provenance"]["command"] = ["rm", "-rf", "somewhere"]
    walks.write_text("\n".join([json.dumps(told), *rest]) + "\n")
    refused = itinera("reproduce", walks, "--trust")
    assert refused.code == 1
    assert "was made by rm -rf, which cannot be repeated" in refused.err


@pytest.mark.parametrize(
    "command",
    [
        ["run", "--agent", "evil:Agent"],
        ["run", "--agent=evil:Agent"],
        ["run", "--agent", "still", "--agent=evil:Agent"],
        ["run", "--agent-command", "evil"],
        ["run", "--agent-command=evil"],
        ["run"],
    ],
)
def test_code_of_others_is_found_however_it_is_named(command):
    assert runs_foreign_code(command)


def test_where_to_write_and_how_to_print_is_left_out():
    command = ["run", "--out", "a", "--rows=b", "--seed", "3", "--json", "--workers", "4", "--tasks=t"]
    assert strip_options(command) == ["run", "--seed", "3", "--tasks=t"]


@pytest.mark.parametrize("name", ["typer.py", "msgspec.py", "json.py", "multiprocessing.py", "itinera.py", "signal.py"])
def test_modules_of_the_current_folder_do_not_run_without_trust(itinera, files, tmp_path, monkeypatch, name):
    bundle = tmp_path / "predictions.jsonl"
    command = ["--agent", "uniform", *files.options, "--workers", 1 if name == "signal.py" else 0]
    assert itinera("run", *command, "--out", bundle).code == 0
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / name).write_text(f"open({str(tmp_path / 'executed')!r}, 'w')\n")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    workers = ["--workers", 1] if name == "signal.py" else ["--workers", 0]
    done = itinera("reproduce", bundle, *workers)
    assert not (tmp_path / "executed").exists()
    assert done.code == 0, done.err
