from __future__ import annotations

import pytest
import torch

from drawn import episode, world
from itinera.errors import BadArgument
from itinera.policies.checkpoint import card_of, encode, new_model, read_model
from itinera.policies.speaker import PAPER, Sizes, Speaker
from itinera.policies.tokenizer import END, FIRST, PAD, UNKNOWN, Vocabulary
from itinera.tasks import Instruction
from itinera.training.back_translation import along_batch
from training.pupils import COLUMNS, WORDS, school

PATHS = {"abcd": "go left to the sofa . stop .", "ebc": "stop", "d": "", "fcba": "go to the purple kitchen"}
PLACE = school(
    {"house": world("a-b-c-d\n  | |\n  e-f")},
    [episode(path, path, instruction=Instruction(text)) for path, text in PATHS.items()],
    around=True,
)
BATCH = PLACE.lessons.batch(range(4))


def speaker(*, around: bool = False) -> Speaker:
    torch.manual_seed(2)
    return Speaker(COLUMNS, Vocabulary(WORDS), Sizes(word=8, sight=12, path=10, state=14, around=around)).eval()


def of_path(k: int):
    n, words = BATCH.path_lengths[k : k + 1], BATCH.lengths[k : k + 1]
    alone = PLACE.lessons.batch([k])
    assert (alone.path_lengths, alone.lengths) == (n, words)
    return alone


@pytest.mark.parametrize("around", [False, True])
def test_a_path_is_told_alike_whatever_is_told_beside(around):
    made = speaker(around=around)
    together = made.surprise(made.remember(along_batch(PLACE.atlas, BATCH)), BATCH.words, BATCH.lengths)
    for k in range(4):
        batch = of_path(k)
        alone = made.surprise(made.remember(along_batch(PLACE.atlas, batch)), batch.words, batch.lengths)
        n = int(batch.lengths) + 1
        torch.testing.assert_close(together[k, :n], alone[0])
        assert (together[k, n:] == 0).all()
        assert (together[k, :n] > 0).all()


def test_surprise_is_what_telling_word_by_word_makes_of_each():
    made = speaker()
    memory = made.remember(along_batch(PLACE.atlas, BATCH))
    expected = made.surprise(memory, BATCH.words, BATCH.lengths)
    before = torch.full((4, 1), END)
    for n in range(BATCH.words.shape[1] + 1):
        memory, logits = made.tell_on(memory, before)
        for k in range(4):
            length = int(BATCH.lengths[k])
            if n <= length:
                word = int(BATCH.words[k, n]) if n < length else END
                torch.testing.assert_close(expected[k, n], -logits[k, 0].log_softmax(dim=0)[word])
        before = BATCH.words[:, n : n + 1]


def test_only_words_that_are_known_are_said():
    made = speaker()
    with torch.no_grad():
        made.say.bias[[PAD, UNKNOWN]] = 50.0
        made.say.bias[END] = -50.0
    words, lengths = made.describe(made.remember(along_batch(PLACE.atlas, BATCH)), most=7)
    assert lengths.tolist() == [7] * 4
    assert (words >= FIRST).all()


def test_who_says_nothing_says_the_end():
    made = speaker()
    with torch.no_grad():
        made.say.bias[END] = 50.0
    words, lengths = made.describe(made.remember(along_batch(PLACE.atlas, BATCH)))
    assert (words.tolist(), lengths.tolist()) == ([[END]] * 4, [1] * 4)


def test_words_drawn_by_chance_depend_on_the_stream_alone():
    made = speaker()
    memory = made.remember(along_batch(PLACE.atlas, BATCH))
    drawn = [made.describe(memory, most=20, rng=torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)]
    assert torch.equal(drawn[0][0], drawn[1][0])
    assert drawn[0][0].tolist() != drawn[2][0].tolist()
    for words, lengths in drawn:
        for row, n in zip(words, lengths, strict=True):
            assert (row[n:] == PAD).all()
            assert END not in row[:n].tolist() or n == 1


def test_texts_are_learned_by_heart_and_told_again():
    made = speaker()
    optimiser = torch.optim.Adam(made.parameters(), 0.02)
    route = along_batch(PLACE.atlas, BATCH)
    for _ in range(120):
        loss = made.surprise(made.remember(route), BATCH.words, BATCH.lengths).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    words, _ = made.describe(made.remember(route))
    told = [Vocabulary(WORDS).decode(row) for row in words.tolist()]
    assert told[:2] == ["go left to the sofa. stop.", "stop"]
    assert told[2] == ""


def test_a_speaker_is_the_same_after_it_was_written(tmp_path):
    torch.manual_seed(0)
    model = new_model(card_of("speaker", Sizes(word=8, sight=12, path=10, state=14), COLUMNS, Vocabulary(WORDS)))
    (tmp_path / "s.safetensors").write_bytes(encode(model))
    found = read_model(tmp_path / "s.safetensors").model.policy
    for name, value in model.policy.state_dict().items():
        assert torch.equal(found.state_dict()[name], value)


def test_a_speaker_does_not_walk():
    model = new_model(card_of("speaker", Sizes(word=8, sight=12, path=10, state=14), COLUMNS, Vocabulary(WORDS)))
    with pytest.raises(BadArgument, match="kind speaker does not walk"):
        model.walker()


def test_the_sizes_of_the_paper_can_be_made():
    assert sum(value.numel() for value in Speaker(COLUMNS, Vocabulary(WORDS), PAPER).parameters()) > 5e6
