"""Model files: the weights of a policy (safetensors) with a model card in the header. Nothing is unpickled."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from itinera.policies.agent import PolicyAgent
from itinera.policies.base import Policy
from itinera.policies.pretrained import ModelRequirements
from itinera.policies.tokenizer import Tokenizer

VERSION = 1  # of the architectures: raised when the same weights would compute something else
CARD_KEY = "itinera"  # of the card in the header
MAX_BYTES = 1 << 30  # of a file
MAX_DIM = 1 << 13  # of a layer


class ModelCard(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model is: enough to build it again, and to give it the observations it was trained with."""

    kind: str  # a key of POLICIES
    config: dict[str, Any]  # fields of the configuration class of its kind
    columns: tuple[str, ...]  # names of the view features it was trained with
    words: tuple[str, ...]  # vocabulary of its tokenizer
    max_words: int = 80  # of an instruction; the rest is cut off
    views: str = ""  # source of the views: annotations, rendered, or a description of a feature file
    reach: float = 0.0  # metres, of annotated views
    version: int = VERSION
    metadata: dict[str, Any] = {}  # data, seed, steps, scores and other plain values


POLICIES: Mapping[str, tuple[Callable[..., nn.Module], Callable[..., Any]]] = {
    "rcm": (rcm.RCM, rcm.RCMConfig),
    "follower": (follower.Follower, follower.FollowerConfig),
    "envdrop": (envdrop.EnvDrop, envdrop.EnvDropConfig),
    "speaker": (speaker.Speaker, speaker.SpeakerConfig),
    "hamt": (hamt.HAMT, hamt.HAMTConfig),
    "hamt-pretraining": (hamt_pretraining.HAMTForPretraining, hamt.HAMTConfig),
    "tour-hamt": (tour_hamt.TourHAMT, tour_hamt.TourHAMTConfig),
}
"""The class of each kind of model, and that of its configuration."""


@dataclass(frozen=True, eq=False)
class Model:
    """A network with its card."""

    policy: Any  # a `Policy` if it can act
    card: ModelCard

    @property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer(self.card.words)

    def agent(self, view_columns: Sequence[str] = ()) -> PolicyAgent:
        """An agent that acts by this policy, on views with these columns."""
        card = self.card
        if not isinstance(self.policy, Policy):
            kinds = ", ".join(kind for kind, (make, _) in POLICIES.items() if _can_act(make))
            raise BadArgument(f"A model of kind {card.kind} cannot act as an agent. Use one of: {kinds}.")
        self.policy.eval()
        return PolicyAgent(
            self.policy,
            self.tokenizer,
            card.columns,
            view_columns=view_columns,
            max_words=card.max_words,
            requirements=ModelRequirements(card.views, card.columns, card.reach),
            fingerprint=self.fingerprint,
        )

    @property
    def fingerprint(self) -> str:
        """The digest of the card and the weights."""
        digest = hashlib.blake2b(msgspec.json.encode(self.card), digest_size=16)
        for value in self.policy.state_dict().values():
            digest.update(value.contiguous().numpy().tobytes())
        return digest.hexdigest()


def _can_act(make: object) -> bool:
    return isinstance(make, type) and issubclass(make, Policy)


def make_card(kind: str, config: Any, columns: Sequence[str], tokenizer: Tokenizer, **more: Any) -> ModelCard:
    """The card of a model; `config` is an instance of the configuration class of its kind."""
    return ModelCard(kind, asdict(config), tuple(columns), tokenizer.words, **more)


def build_model(card: ModelCard) -> Model:
    """An untrained model; its weights are drawn from torch's global generator."""
    make, make_config = POLICIES[card.kind]
    return Model(make(card.columns, Tokenizer(card.words), make_config(**card.config)), card)


def encode_model(
    model: Model, extra: Mapping[str, torch.Tensor] | None = None, notes: str = "", *, half: bool = False
) -> bytes:
    """The bytes of a model file; `extra` tensors and `notes` hold the state of training.

    `half` stores weights in half precision, which is enough for inference.
    """
    tensors = {f"policy.{name}": value.contiguous() for name, value in model.policy.state_dict().items()}
    if half:
        tensors = {name: value.half() if value.is_floating_point() else value for name, value in tensors.items()}
    tensors |= {f"extra.{name}": value.contiguous() for name, value in (extra or {}).items()}
    header = {CARD_KEY: msgspec.json.encode(model.card).decode()}
    # safetensors writes two entries in arbitrary order; without notes the bytes are the same every time.
    return safetensors.torch.save(tensors, {**header, "notes": notes} if notes else header)


@dataclass(frozen=True, eq=False)
class ModelFile:
    """The contents of a model file."""

    model: Model
    extra: dict[str, torch.Tensor]
    notes: str


def read_model(path: str | Path) -> ModelFile:
    """The contents of a model file; raises BadFile for another format or version, or weights of the wrong shape."""
    path = Path(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            problem = f"is larger than {MAX_BYTES >> 20} MiB."
            raise BadFile(str(path), [Fault("", problem, "Check that it is a model file of Itinera.")])
        with safetensors.safe_open(str(path), framework="pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise BadFile(str(path), [Fault("", "there is no such file.", "Check the path.")]) from None
    except (OSError, safetensors.SafetensorError) as error:
        remedy = "Give a safetensors file written by Itinera."
        raise BadFile(str(path), [Fault("", f"is not a safetensors file ({error}).", remedy)]) from None
    model = build_model(_decode_card(path, header))
    weights = {name.removeprefix("policy."): value for name, value in tensors.items() if name.startswith("policy.")}
    _load_weights(path, model, weights)
    extra = {name.removeprefix("extra."): value for name, value in tensors.items() if name.startswith("extra.")}
    return ModelFile(model, extra, header.get("notes", ""))


def read_card(path: str | Path) -> ModelCard:
    """The card of a model file whose model can act; raises BadFile for any other."""
    model = read_model(path).model
    if not isinstance(model.policy, Policy):
        problem = f"is a model of kind {model.card.kind}, which cannot act as an agent."
        raise BadFile(str(path), [Fault("", problem, "Give a model that follows instructions.")])
    return model.card


def load_agent(path: str | Path, view_columns: Sequence[str] = ()) -> PolicyAgent:
    """The agent of a model file, for views with these columns."""
    # A batch of one gains nothing from threads, and with one thread results do not depend on other processes.
    torch.set_num_threads(1)
    return read_model(path).model.agent(view_columns)


def _decode_card(path: Path, header: Mapping[str, str]) -> ModelCard:
    try:
        card = msgspec.json.decode(header.get(CARD_KEY, ""), type=ModelCard)
    except msgspec.DecodeError as error:
        problem = f"has no model card of Itinera ({error})."
        raise BadFile(str(path), [Fault("header", problem, "Give a file written by Itinera.")]) from None
    faults = []
    if card.version != VERSION:
        faults.append(Fault("version", f"is {card.version}, expected {VERSION}.", "Train the model again."))
    if card.kind not in POLICIES:
        faults.append(Fault("kind", f"is {card.kind!r}.", f"Known kinds: {', '.join(POLICIES)}."))
    else:
        faults += _check_config(card)
    if faults:
        raise BadFile(str(path), faults)
    return card


def _check_config(card: ModelCard) -> Iterator[Fault]:
    """The faults of a card's configuration, found before memory is allocated for it."""
    config_class = POLICIES[card.kind][1]
    known = {field.name for field in fields(config_class)}  # type: ignore[arg-type]
    for name in sorted(card.config.keys() - known):
        yield Fault(f"config.{name}", "is unknown.", f"Known fields: {', '.join(sorted(known))}.")
    for name, value in card.config.items():
        if isinstance(value, int) and not 0 <= value <= MAX_DIM:
            yield Fault(f"config.{name}", f"is {value}.", f"Sizes must be from 0 to {MAX_DIM}.")
    try:
        msgspec.convert(card.config, config_class)
    except msgspec.ValidationError as error:
        yield Fault("config", f"is not a configuration of {card.kind}: {error}.")


def _load_weights(path: Path, model: Model, tensors: Mapping[str, torch.Tensor]) -> None:
    """Load weights into a model; raises BadFile with every tensor that is missing, unknown or of another shape."""
    expected = model.policy.state_dict()
    faults = [Fault(name, "is missing.") for name in sorted(expected.keys() - tensors.keys())]
    faults += [Fault(name, "is not a parameter of this model.") for name in sorted(tensors.keys() - expected.keys())]
    for name in sorted(expected.keys() & tensors.keys()):
        found, wanted = tensors[name], expected[name]
        halved = found.dtype is torch.float16 and wanted.dtype is torch.float32
        if found.shape != wanted.shape or not (halved or found.dtype is wanted.dtype):
            faults.append(Fault(name, f"is {_shape(found)}; its card requires {_shape(wanted)}."))
        elif not bool(torch.isfinite(found.float()).all()):
            faults.append(Fault(name, "contains values that are not finite."))
    if faults:
        raise BadFile(str(path), faults)
    model.policy.load_state_dict(dict(tensors))


def _shape(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}"
