"""Answers on disk: the first counts, damaged ones do not, and no image is kept twice."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from itinera.agents.services.answers import Answer, AnswerStore, Usage, request_key, without_images
from itinera.errors import BadFile


def answer(text: str = "stop") -> Answer:
    return Answer(text, "m", Usage(10, 2), "stop", {"model": "m"})


def test_an_answer_is_found_again(tmp_path):
    store = AnswerStore(tmp_path / "answers")
    assert store.find("ab12") is None
    assert store.keep("ab12", answer()) == answer()
    assert AnswerStore(tmp_path / "answers").find("ab12") == answer()
    assert [path.name for path in (tmp_path / "answers" / "ab").iterdir()] == ["ab12.json"]


def test_the_first_answer_counts(tmp_path):
    store = AnswerStore(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(lambda k: store.keep("ab", answer(str(k))).text, range(50)))
    assert len(set(kept)) == 1
    assert store.find("ab").text == kept[0]


@pytest.mark.parametrize(
    "damage", [b"", b"{", b'{"itinera":"answer"}', b"\xff\xfe", b'{"itinera":"other"}', b"\0" * 100]
)
def test_a_damaged_answer_is_replaced(tmp_path, damage):
    store = AnswerStore(tmp_path)
    store.keep("ab", answer("old"))
    (tmp_path / "ab" / "ab.json").write_bytes(damage)
    assert store.find("ab") is None
    assert store.keep("ab", answer("new")).text == "new"
    assert store.find("ab").text == "new"


def test_file_systems_without_links_will_do(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    store = AnswerStore(tmp_path)
    store.keep("ab", answer())
    assert store.find("ab") == answer()


def test_a_folder_that_cannot_be_written_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadFile, match="--answers"):
        AnswerStore(tmp_path / "file").keep("ab", answer())


REQUEST = {
    "model": "m",
    "messages": [{"role": "user", "content": "go"}],
    "temperature": 0.0,
    "seed": 1,
    "max_tokens": 9,
}


@pytest.mark.parametrize("name", REQUEST)
def test_the_key_depends_on_every_part_of_a_request(name):
    assert request_key(REQUEST) == request_key(dict(reversed(REQUEST.items())))
    assert request_key(REQUEST) != request_key(REQUEST | {name: "other"})
    assert request_key(REQUEST) != request_key({key: value for key, value in REQUEST.items() if key != name})


def test_images_are_kept_as_digests():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}
    kept = without_images({"messages": [{"content": [{"type": "text", "text": "t"}, image]}], "seed": 1})
    assert "AAAA" not in json.dumps(kept)
    assert kept["messages"][0]["content"][0] == {"type": "text", "text": "t"}
    assert "image/png" in kept["messages"][0]["content"][1]["image_url"]["url"]
