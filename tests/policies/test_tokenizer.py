from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from itinera.policies.tokenizer import END, FIRST_WORD, PAD, UNKNOWN, Tokenizer, tokenize


def test_words_and_marks_are_tokens():
    assert tokenize("Walk-in closet, it's NOT 2nd!") == ["walk", "in", "closet", ",", "it's", "not", "2nd", "!"]
    assert tokenize(" … — ") == []


def test_frequent_words_are_known_the_most_frequent_first():
    tokenizer = Tokenizer.fit(["b b a", "a c", "b a d"], min_count=2)
    assert tokenizer.words == ("a", "b")
    assert len(tokenizer) == FIRST_WORD + 2
    assert Tokenizer.fit(["c b a"], min_count=1).words == ("a", "b", "c")


def test_texts_become_numbers_and_back():
    tokenizer = Tokenizer(("go", "left", ".", ","))
    assert tokenizer.encode("Go left, now.").tolist() == [
        FIRST_WORD,
        FIRST_WORD + 1,
        FIRST_WORD + 3,
        UNKNOWN,
        FIRST_WORD + 2,
    ]
    assert tokenizer.encode("go left .", max_length=2).tolist() == [FIRST_WORD, FIRST_WORD + 1]
    assert tokenizer.encode("").tolist() == [END]
    assert tokenizer.decode([FIRST_WORD, FIRST_WORD + 1, FIRST_WORD + 2, END, FIRST_WORD]) == "go left."
    assert tokenizer.decode([PAD, UNKNOWN]) == ""


@given(st.lists(st.sampled_from(["go", "left", "door", "."]), min_size=1))
def test_known_words_survive_the_way(words):
    tokenizer = Tokenizer(("go", "left", "door", "."))
    assert tokenize(tokenizer.decode(tokenizer.encode(" ".join(words)).tolist())) == words
