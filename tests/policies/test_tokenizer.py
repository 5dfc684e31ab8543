from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from itinera.policies.tokenizer import END, FIRST, PAD, UNKNOWN, Vocabulary, tokens


def test_words_and_marks_are_tokens():
    assert tokens("Walk-in closet, it's NOT 2nd!") == ["walk", "in", "closet", ",", "it's", "not", "2nd", "!"]
    assert tokens(" … — ") == []


def test_frequent_words_are_known_the_most_frequent_first():
    known = Vocabulary.of(["b b a", "a c", "b a d"], at_least=2)
    assert known.words == ("a", "b")
    assert len(known) == FIRST + 2
    assert Vocabulary.of(["c b a"], at_least=1).words == ("a", "b", "c")


def test_texts_become_numbers_and_back():
    known = Vocabulary(("go", "left", ".", ","))
    assert known.encode("Go left, now.").tolist() == [FIRST, FIRST + 1, FIRST + 3, UNKNOWN, FIRST + 2]
    assert known.encode("go left .", most=2).tolist() == [FIRST, FIRST + 1]
    assert known.encode("").tolist() == [END]
    assert known.decode([FIRST, FIRST + 1, FIRST + 2, END, FIRST]) == "go left."
    assert known.decode([PAD, UNKNOWN]) == ""


@given(st.lists(st.sampled_from(["go", "left", "door", "."]), min_size=1))
def test_known_words_survive_the_way(words):
    known = Vocabulary(("go", "left", "door", "."))
    assert tokens(known.decode(known.encode(" ".join(words)).tolist())) == words
