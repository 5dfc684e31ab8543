"""`itinera run --agent openai:MODEL`, as a person types it, with a server on loopback."""

from __future__ import annotations

import pytest

import tiny
from chat_runs import choose
from chat_server import Raw, serving
from itinera.formats.native import read_header

KEY = "sk-secret-0123456789"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    return tiny.on_graphs(tmp_path)


def words(files, server, out="a.jsonl", *more):
    where = "--base-url", server.url, *files.options, "--workers", "0", "--out", out
    fast = "--agent-option", "retries=1", "--agent-option", "retry_seconds=0.01"
    return "run", "--agent", "openai:my/model", *where, *fast, *more


def test_a_run_and_its_rerun(itinera, files):
    with serving(choose) as server:
        first = itinera(*words(files, server, "a.jsonl", "--price", "2.5,10"))
        calls = server.calls
        again = itinera(*words(files, server, "b.jsonl", "--price", "2.5,10"))
    assert (first.code, again.code) == (0, 0)
    assert first.out.startswith("a.jsonl: 5 rollouts, 5 episodes; 5 stopped, 0 out of steps, 0 failed.")
    assert "Estimate: 5 episodes, 15 calls" in first.err
    assert server.calls == calls == 12
    assert (files.folder / "itinera-answers").is_dir()  # in the current folder
    rows = [(files.folder / name).read_bytes().splitlines()[1:] for name in ("a.jsonl", "b.jsonl")]
    assert rows[0] == rows[1]
    command = read_header(files.folder / "a.jsonl").provenance.command
    assert command[:4] == ("itinera", "run", "--agent", "openai:my/model")


def test_scores_have_columns_of_usage(itinera, files):
    with serving(choose) as server:
        itinera(*words(files, server, "a.jsonl", "--price", "2.5,10"))
    found = itinera("score", "a.jsonl", *files.options, "--suite", "usage", "--json").json
    # Four calls of 100 and 10 tokens in each episode.
    means = [
        found["metrics"][name]["mean"] for name in ("calls", "prompt_tokens", "completion_tokens", "cost", "unparsable")
    ]
    assert means == pytest.approx([4, 400, 40, 0.0014, 0])
    table = itinera("score", "a.jsonl", *files.options, "--suite", "usage").out
    assert "cost USD ↓" in table
    assert "0.0014" in table


def test_the_limit_of_cost_is_one_sentence(itinera, files):
    options = "--price", "0,1000", "--agent-option", "max_tokens=20"
    with serving(choose) as server:
        stopped = itinera(*words(files, server, "a.jsonl", *options, "--max-cost", "0.1"))
        assert stopped.code == 1
        assert stopped.err.splitlines()[-1] == (
            "itinera: The run stopped at its limit: its calls have cost 0.09 US dollars, and the next one could exceed "
            "--max-cost 0.1 (max_cost=). 3 of 5 rollouts are finished. Run the same again to resume."
        )
        assert server.calls == 9
        assert itinera(*words(files, server, "a.jsonl", *options, "--max-cost", "1")).code == 0
        assert server.calls == 12


def test_a_server_that_fails_is_one_sentence(itinera, files):
    with serving(lambda request: Raw(f"<html>\x1b[31m {KEY}".encode(), 503)) as server:
        stopped = itinera(*words(files, server))
    assert stopped.code == 1
    assert "answered with status 503: <html>" in stopped.err.splitlines()[-1]
    assert "Traceback" not in stopped.err
    assert KEY not in stopped.err + stopped.out
    assert "\x1b" not in stopped.err


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (("--price", "2.5"), "--price is INPUT,OUTPUT"),
        (("--prompt", "poems"), "prompt must be one of"),
        (("--max-cost", "1"), "needs the price"),
        (("--agent-option", "tempratur=1"), "Did you mean temperature"),
    ],
)
def test_other_options_are_refused(itinera, files, more, problem):
    with serving(choose) as server:
        refused = itinera(*words(files, server, "a.jsonl", *more))
    assert refused.code == 2
    assert problem in refused.err
    assert server.calls == 0


def test_a_model_is_checked(itinera, files):
    with serving(lambda request: '{"action": "B"}') as server:
        found = itinera("check", "agent", "openai:my/model", "--base-url", server.url)
    assert (found.code, found.out) == (0, "openai:my/model: an agent. It keeps the contract.\n")
