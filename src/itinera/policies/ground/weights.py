"""Weights from elsewhere: image encoders of published checkpoints, and word vectors such as GloVe's.

They are given as tensors or numbers, so that nothing is unpickled here: read safetensors files with
`safetensors.torch.load_file`, and checkpoints that you trust with `torch.load(…, weights_only=True)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from itinera.errors import BadArgument
from itinera.policies.ground.image_encoders import FrozenEncoder
from itinera.policies.tokenizer import FIRST_WORD, PAD, UNKNOWN, Tokenizer

COUNTER = "num_batches_tracked"  # of batch normalization, which only training uses


def load_encoder(encoder: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Load an image encoder from a checkpoint that contains it, under any prefix and beside other tensors.

    `policy.depth_encoder` takes DD-PPO's checkpoints of ResNet-50, `policy.image_encoder` those of ResNet-50 that name
    their layers as torchvision does.
    """
    module = encoder.encoder if isinstance(encoder, FrozenEncoder) else encoder
    expected = {name: value for name, value in module.state_dict().items() if not name.endswith(COUNTER)}
    first = next(iter(expected))
    prefixes = [name.removesuffix(first) for name in weights if name.endswith(first)]
    prefixes = [prefix for prefix in prefixes if not prefix or prefix.endswith(".")]
    if not prefixes:
        raise BadArgument(f"These weights are not those of a {type(module).__name__}: there is no {first}.")
    found: dict[str, Tensor] = {}
    missing = list(expected)
    for prefix in prefixes:
        inside = {name: weights[prefix + name] for name in expected if prefix + name in weights}
        if len(inside) >= len(found):
            found, missing = inside, [name for name in expected if name not in inside]
    wrong = [name for name in found if found[name].shape != expected[name].shape]
    if missing or wrong:
        name, what = (missing[0], "is missing") if missing else (wrong[0], "has another shape")
        count = len(missing) + len(wrong)
        more = f", and {count - 1} more do not fit" if count > 1 else ""
        raise BadArgument(f"These weights are not those of a {type(module).__name__}: {name} {what}{more}.")
    unfit = [name for name, value in found.items() if not bool(torch.isfinite(value.float()).all())]
    if unfit:
        raise BadArgument(f"These weights contain values that are not finite, in {unfit[0]}.")
    module.load_state_dict(found, strict=False)


def load_word_vectors(policy: Any, tokenizer: Tokenizer, vectors: Mapping[str, Sequence[float]]) -> int:
    """Set the word vectors of a policy; the number of words of its vocabulary that have one.

    As in VLN-CE, padding is 0 and unknown words are the mean of all vectors. Words without a vector keep theirs.
    """
    embedding: nn.Embedding = policy.text_encoder.embedding
    rows = {FIRST_WORD + k: vectors[word] for k, word in enumerate(tokenizer.words) if word in vectors}
    if not rows:
        raise BadArgument("None of these word vectors is of a word of the policy's vocabulary.")
    values = torch.tensor(list(rows.values()), dtype=torch.float32, device=embedding.weight.device)
    if values.shape[1] != embedding.embedding_dim:
        raise BadArgument(f"The word vectors have {values.shape[1]} numbers; the policy's {embedding.embedding_dim}.")
    with torch.no_grad():
        embedding.weight[list(rows)] = values
        embedding.weight[PAD] = 0
        embedding.weight[UNKNOWN] = values.mean(dim=0)
    return len(rows)
