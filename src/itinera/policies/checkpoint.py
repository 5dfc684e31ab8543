"""Model files: the numbers of a policy (safetensors) with a card that says what they are. Nothing is unpickled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import msgspec
import safetensors
import safetensors.torch
import torch
from torch import nn

from itinera.errors import BadArgument, BadFile, Fault
from itinera.policies import envdrop, follower, hamt, hamt_pretraining, rcm, speaker, tour_hamt
from itinera.policies.agent import Walker
from itinera.policies.tokenizer import Vocabulary

VERSION = 1  # of the parts: raised when the same numbers would no longer mean the same
CARD = "itinera"  # the key of the card in the head of a file
LARGEST = 1 << 30  # bytes of a file
WIDEST = 1 << 13  # the largest size of a part


class Card(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model is: enough to make it again, and to show it what it learned with."""

    kind: str  # of POLICIES
    sizes: dict[str, Any]
    columns: tuple[str, ...]  # of the views it learned with
    words: tuple[str, ...]  # its vocabulary
    most_words: int = 80  # of an instruction, which it reads
    views: str = ""  # the view source: annotations, rendered, or a description of features
    reach: float = 0.0  # metres, of annotated views
    version: int = VERSION
    told: dict[str, Any] = {}  # where it comes from: data, seed, steps, scores, in plain values


POLICIES: Mapping[str, tuple[Callable[..., nn.Module], Callable[..., Any]]] = {
    "rcm": (rcm.RCM, rcm.Sizes),
    "follower": (follower.Follower, follower.Sizes),
    "envdrop": (envdrop.EnvDrop, envdrop.Sizes),
    "speaker": (speaker.Speaker, speaker.Sizes),
    "hamt": (hamt.HAMT, hamt.Sizes),
    "hamt-proxies": (hamt_pretraining.Proxies, hamt.Sizes),  # while it is pre-trained
    "tour-hamt": (tour_hamt.TourHAMT, tour_hamt.Sizes),
}
"""By kind, the class of a policy and that of its sizes."""


@dataclass(frozen=True, eq=False)
class Model:
    """A policy with its card."""

    policy: Any
    card: Card

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.card.words)

    def walker(self, shown: tuple[str, ...] = ()) -> Walker:
        """The agent that walks by it."""
        card = self.card
        if not hasattr(self.policy, "step"):
            raise BadArgument(f"A model of kind {card.kind} does not walk. Give one that does, such as a follower.")
        self.policy.eval()
        return Walker(self.policy, self.vocabulary, card.columns, shown=shown, most_words=card.most_words)


def new_model(card: Card) -> Model:
    """A model that has learned nothing yet; its numbers are drawn from torch's own stream."""
    make, sizes = POLICIES[card.kind]
    return Model(make(card.columns, Vocabulary(card.words), sizes(**card.sizes)), card)


def encode(
    model: Model, more: Mapping[str, torch.Tensor] | None = None, notes: str = "", *, half: bool = False
) -> bytes:
    """The bytes of a model file; `more` tensors and `notes` are for whoever goes on training.

    `half` keeps 16 bits of each number, which is enough to walk by.
    """
    tensors = {f"policy.{name}": value.contiguous() for name, value in model.policy.state_dict().items()}
    if half:
        tensors = {name: value.half() if value.is_floating_point() else value for name, value in tensors.items()}
    tensors |= {f"more.{name}": value.contiguous() for name, value in (more or {}).items()}
    head = {CARD: msgspec.json.encode(model.card).decode()}
    # Two entries stand in either order, by chance; a model without notes is the same bytes every time.
    return safetensors.torch.save(tensors, {**head, "notes": notes} if notes else head)


@dataclass(frozen=True, eq=False)
class Opened:
    """All that a model file holds."""

    model: Model
    more: dict[str, torch.Tensor]
    notes: str


def read_model(path: str | Path) -> Opened:
    """The model of a file; BadFile where it is none, of another version, or its numbers are of another shape."""
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST:
            raise BadFile(str(path), [Fault("", f"is larger than {LARGEST >> 20} MiB.", "Is it a model of ours?")])
        with safetensors.safe_open(str(path), framework="pt") as file:
            told = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise BadFile(str(path), [Fault("", "there is no such file.", "Check the path.")]) from None
    except (OSError, safetensors.SafetensorError) as error:
        remedy = "Give a safetensors file that Itinera wrote."
        raise BadFile(str(path), [Fault("", f"is no safetensors file ({error}).", remedy)]) from None
    model = new_model(_card(path, told))
    _fill(path, model, {name[7:]: value for name, value in tensors.items() if name.startswith("policy.")})
    more = {name[5:]: value for name, value in tensors.items() if name.startswith("more.")}
    return Opened(model, more, told.get("notes", ""))


def _card(path: Path, told: Mapping[str, str]) -> Card:
    try:
        card = msgspec.json.decode(told.get(CARD, ""), type=Card)
    except msgspec.DecodeError as error:
        problem = f"has no card of Itinera in its head ({error})."
        raise BadFile(str(path), [Fault("head", problem, "Give a file that Itinera wrote.")]) from None
    faults = []
    if card.version != VERSION:
        faults.append(Fault("version", f"is {card.version}; this Itinera reads {VERSION}.", "Train the model anew."))
    if card.kind not in POLICIES:
        faults.append(Fault("kind", f"is {card.kind!r}.", f"Known are {', '.join(POLICIES)}."))
    else:
        faults += _wrong_sizes(card)
    if faults:
        raise BadFile(str(path), faults)
    return card


def _wrong_sizes(card: Card) -> Iterator[Fault]:
    """What is wrong with the sizes on a card, found before anything so large is made."""
    kind = POLICIES[card.kind][1]
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    for name in sorted(card.sizes.keys() - known):
        yield Fault(f"sizes.{name}", "is not known.", f"Known are {', '.join(sorted(known))}.")
    for name, size in card.sizes.items():
        if isinstance(size, int) and not 0 <= size <= WIDEST:
            yield Fault(f"sizes.{name}", f"is {size}.", f"Sizes are at most {WIDEST}.")
    try:
        msgspec.convert(card.sizes, kind)
    except msgspec.ValidationError as error:
        yield Fault("sizes", f"are not those of {card.kind}: {error}.")


def _fill(path: Path, model: Model, tensors: Mapping[str, torch.Tensor]) -> None:
    """Give a model its numbers; every one that is missing, unknown, or of another shape is named."""
    wanted = model.policy.state_dict()
    faults = [Fault(name, "is missing.") for name in sorted(wanted.keys() - tensors.keys())]
    faults += [Fault(name, "is not a part of this model.") for name in sorted(tensors.keys() - wanted.keys())]
    for name in sorted(wanted.keys() & tensors.keys()):
        found, expected = tensors[name], wanted[name]
        halved = found.dtype is torch.float16 and expected.dtype is torch.float32
        if found.shape != expected.shape or not (halved or found.dtype is expected.dtype):
            faults.append(Fault(name, f"is {_shape(found)}; its card makes it {_shape(expected)}."))
        elif not bool(torch.isfinite(found.float()).all()):
            faults.append(Fault(name, "holds numbers that are not finite."))
    if faults:
        raise BadFile(str(path), faults)
    model.policy.load_state_dict(dict(tensors))


def _shape(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}"


def card_of(kind: str, sizes: Any, columns: tuple[str, ...], vocabulary: Vocabulary, **more: Any) -> Card:
    """The card of a model to be made; `sizes` is a dataclass of its kind."""
    return Card(kind, asdict(sizes), columns, vocabulary.words, **more)
