"""`itinera build` end to end."""

from __future__ import annotations

import json

import pytest

from itinera.formats import r2r


def test_r4r_is_written_in_the_official_form(itinera, files, tmp_path):
    out = tmp_path / "r4r.json"
    done = itinera("build", "r4r", "--tasks", files.tasks, "--worlds", files.worlds, "--out", out, "--json")
    assert done.code == 0
    records = json.loads(out.read_text())
    # abc then cde: they meet on c; hut's only path cannot follow itself (4 m from its end to its start).
    assert [(r["first_path_id"], r["second_path_id"], "".join(r["path"])) for r in records] == [(1, 2, "abcde")]
    only = records[0]
    assert only["path_id"] == 0
    assert only["distance"] == pytest.approx(8.0)
    assert (only["shortest_path"], only["shortest_path_distance"]) == (list("abcde"), pytest.approx(8.0))
    assert only["instructions"] == ["go to c go to e "] * 2
    assert only["heading"] == pytest.approx(1.0)
    assert done.json == {"file": str(out), "scenes": 2, "paths": 1, "instructions": 2}
    assert [e.id for e in r2r.read_split(out).episodes] == ["0_0", "0_1"]
    assert itinera("check", out, "--worlds", files.worlds).code == 0


def test_a_build_that_was_interrupted_leaves_no_file_and_goes_on(itinera, files, tmp_path, monkeypatch):
    out = tmp_path / "r4r.json"
    asked = ("build", "r4r", "--tasks", files.tasks, "--worlds", files.worlds, "--out", out)
    asked += ("--threshold", 100)  # so that every path joins every other of its scene
    from itinera.runs import build_tasks

    whole = build_tasks._encode_chunk

    def breaks_at_hut(joiner, chunk):
        if chunk.world_id == "hut":
            raise KeyboardInterrupt
        return whole(joiner, chunk)

    monkeypatch.setattr(build_tasks, "_encode_chunk", breaks_at_hut)
    assert itinera(*asked).code != 0
    assert not out.exists()
    calls = []
    monkeypatch.setattr(build_tasks, "_encode_chunk", lambda j, c: calls.append(c.world_id) or whole(j, c))
    assert itinera(*asked).code == 0
    assert calls == ["hut"]
    assert len(json.loads(out.read_text())) == 5
    assert not list(tmp_path.glob("r4r.json.partial*"))


def test_the_size_is_announced_before_anything_is_written(itinera, files, tmp_path, monkeypatch):
    from itinera.runs import build_tasks

    written = []
    whole = build_tasks._encode_chunk
    monkeypatch.setattr(build_tasks, "_encode_chunk", lambda *args: written.append(args[1]) or whole(*args))
    out = tmp_path / "r4r.json"
    asked = ("build", "r4r", "--tasks", files.tasks, "--worlds", files.worlds, "--out", out)
    monkeypatch.setattr(build_tasks, "MAX_BYTES", 100.0)
    refused = itinera(*asked)
    assert refused.code == 2
    assert "r4r.json: 1 joined paths, about 0.0 MB." in refused.err
    assert "--max-paths" in refused.err
    assert "--all" in refused.err
    assert written == []
    assert not list(tmp_path.glob("r4r.json*"))
    done = itinera(*asked, "--all")
    assert done.code == 0
    assert done.err.splitlines()[0] == f"{out}: 1 joined paths, about 0.0 MB."
    assert len(json.loads(out.read_text())) == 1


@pytest.mark.parametrize("name", ["r4r", "r6r", "r8r"])
def test_the_help_says_that_the_limit_is_per_scene(itinera, name):
    assert "each scene" in " ".join(itinera("build", name, "--help").out.replace("│", " ").split())


@pytest.mark.parametrize(
    ("option", "code", "said"),
    [
        (("--positions", "floor"), 2, "positions must be one of"),
        (("--threshold", "-1"), 2, "threshold must be ≥ 0 metres (got -1.0)"),
        (("--max-paths", "0"), 2, "max_paths must be ≥ 1 (got 0)"),
    ],
)
def test_wrong_options_are_told(itinera, files, tmp_path, option, code, said):
    done = itinera(
        "build", "r6r", "--tasks", files.tasks, "--worlds", files.worlds, "--out", tmp_path / "x.json", *option
    )
    assert done.code == code
    assert said in done.err


@pytest.mark.parametrize("what", ["r4r", "tours"])
def test_a_finished_build_is_kept_and_another_plan_is_refused(itinera, files, tmp_path, what):
    out = tmp_path / "built.json"
    asked = ("build", what, "--tasks", files.tasks, "--worlds", files.worlds, "--out", out, "--json")
    first = itinera(*asked)
    assert first.code == 0, first.err
    content, written = out.read_bytes(), out.stat().st_mtime_ns
    again = itinera(*asked)
    assert (again.code, again.json) == (0, first.json)
    assert out.stat().st_mtime_ns == written
    other = itinera(*asked, "--seed", 3)
    assert (other.code, "comes from another run" in other.err) == (2, True)
    assert itinera(*asked, "--overwrite").code == 0
    assert out.read_bytes() == content
