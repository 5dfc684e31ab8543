"""Model files: the weights of a policy (safetensors) with a model card in the header. Nothing is unpickled.

The card of a policy outside Itinera names its class as "module:Class". That name is never imported by itself: a card
may come from anybody, so the caller names the class again, as `policy`.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import msgspec
import safetensors
import safetensors.torch
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from itinera.agents.loading import import_class
from itinera.errors import BadArgument, BadFile, Fault
from itinera.policies import envdrop, follower, hamt, hamt_pretraining, rcm, room_classifier, speaker, tour_hamt
from itinera.policies.agent import PolicyAgent
from itinera.policies.base import Policy
from itinera.policies.ground import cma, decision, map_cma, pool_cma, seq2seq, tour_cma
from itinera.policies.ground.agent import GroundPolicyAgent
from itinera.policies.ground.base import GroundPolicy
from itinera.policies.ground.decision_agent import DecisionAgent
from itinera.policies.ground.requirements import GroundContext, GroundRequirements
from itinera.policies.pointnav import policy as pointnav
from itinera.policies.pointnav.agent import PointNavAgent
from itinera.policies.pointnav.requirements import PointNavRequirements
from itinera.policies.pretrained import ModelRequirements
from itinera.policies.segmentation import rednet, rgbd_unet
from itinera.policies.tokenizer import Tokenizer

T = TypeVar("T")
PolicyClass: TypeAlias = str | type[Any]
"""A policy outside Itinera: "module:Class", or the class itself."""

VERSION = 1  # of the architectures: raised when the same weights would compute something else
CARD_KEY = "itinera"  # of the card in the header
MAX_BYTES = 1 << 30  # of a file
MAX_DIM = 1 << 13  # of a layer
MAX_LAYERS = 64  # of a stack
MAX_WORDS = 1 << 17  # of a vocabulary
MAX_COLUMNS = 1 << 14  # view features
_DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
           "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
           "BOOL": torch.bool}  # fmt: skip


class ModelCard(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model is: enough to build it again, and to give it the observations it was trained with."""

    kind: str  # a key of POLICIES, or "module:Class"
    config: dict[str, Any]  # fields of the configuration class of its kind
    columns: tuple[str, ...]  # names of the view features it was trained with
    words: tuple[str, ...]  # vocabulary of its tokenizer
    max_words: int = 80  # of an instruction; the rest is cut off
    views: str = ""  # source of the views: annotations, rendered, or a description of a feature file
    reach: float = 0.0  # metres, of annotated views
    version: int = VERSION
    metadata: dict[str, Any] = {}  # data, seed, steps, scores and other plain values
    ground: GroundRequirements | msgspec.UnsetType = msgspec.UNSET  # camera and maps of a policy on the ground
    pointnav: PointNavRequirements | msgspec.UnsetType = msgspec.UNSET  # sensor of a PointNav policy

    @property
    def requirements(self) -> ModelRequirements | GroundRequirements | PointNavRequirements:
        """What an agent of this model needs to observe."""
        if self.pointnav is not msgspec.UNSET:
            return self.pointnav
        return ModelRequirements(self.views, self.columns, self.reach) if self.ground is msgspec.UNSET else self.ground


POLICIES: Mapping[str, tuple[Callable[..., nn.Module], Callable[..., Any]]] = {
    "rcm": (rcm.RCM, rcm.RCMConfig),
    "follower": (follower.Follower, follower.FollowerConfig),
    "envdrop": (envdrop.EnvDrop, envdrop.EnvDropConfig),
    "room-classifier": (room_classifier.RoomClassifier, room_classifier.RoomClassifierConfig),
    "speaker": (speaker.Speaker, speaker.SpeakerConfig),
    "hamt": (hamt.HAMT, hamt.HAMTConfig),
    "hamt-pretraining": (hamt_pretraining.HAMTForPretraining, hamt.HAMTConfig),
    "tour-hamt": (tour_hamt.TourHAMT, tour_hamt.TourHAMTConfig),
    "seq2seq": (seq2seq.Seq2Seq, seq2seq.Seq2SeqConfig),
    "cma": (cma.CMA, cma.CMAConfig),
    "tour-cma": (tour_cma.TourCMA, tour_cma.TourCMAConfig),
    "pool-cma": (pool_cma.PoolCMA, pool_cma.PoolCMAConfig),
    "pool-end-cma": (pool_cma.PoolEndCMA, pool_cma.PoolCMAConfig),
    "map-cma": (map_cma.MapCMA, map_cma.MapCMAConfig),
    "rednet": (rednet.RedNet, rednet.RedNetConfig),  # of these two, the `columns` of the card are the labels
    "rgbd-unet": (rgbd_unet.RGBDUNet, rgbd_unet.RGBDUNetConfig),
    "decision": (decision.DecisionPolicy, decision.DecisionConfig),
    "pointnav": (pointnav.PointNavPolicy, pointnav.PointNavConfig),
}
"""The class of each kind of model, and that of its configuration."""


@dataclass(frozen=True, eq=False)
class Model:
    """A network with its card."""

    policy: Any  # a `Policy`, `GroundPolicy` or `DecisionPolicy` if it can act
    card: ModelCard

    @property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer(self.card.words)

    def agent(
        self, view_columns: Sequence[str] = (), *, context: GroundContext | None = None
    ) -> PolicyAgent | GroundPolicyAgent | DecisionAgent | PointNavAgent:
        """An agent that acts by this policy: on views with these columns, or on the ground in this context."""
        card, requirements = self.card, self.card.requirements
        if not isinstance(self.policy, _ACTING):
            kinds = ", ".join(kind for kind, (make, _) in POLICIES.items() if _can_act(make))
            raise BadArgument(f"A model of kind {card.kind} cannot act as an agent. Use one of: {kinds}.")
        self.policy.eval()
        if isinstance(self.policy, pointnav.PointNavPolicy):
            return self._pointnav_agent(requirements, context)
        if not isinstance(self.policy, Policy):
            if not isinstance(requirements, GroundRequirements):
                raise BadArgument("The card of a policy on the ground needs its camera: ground=GroundRequirements(…).")
            make: Any = DecisionAgent if isinstance(self.policy, decision.DecisionPolicy) else GroundPolicyAgent
            agent: GroundPolicyAgent | DecisionAgent = make(
                self.policy,
                self.tokenizer,
                requirements,
                context=context,
                max_words=card.max_words,
                fingerprint=self.fingerprint,
                metadata=card.metadata,
            )
            return agent
        assert isinstance(requirements, ModelRequirements)
        return PolicyAgent(
            self.policy,
            self.tokenizer,
            card.columns,
            view_columns=view_columns,
            max_words=card.max_words,
            requirements=requirements,
            fingerprint=self.fingerprint,
            metadata=card.metadata,
        )

    def _pointnav_agent(self, requirements: object, context: GroundContext | None) -> PointNavAgent:
        if not isinstance(requirements, PointNavRequirements):
            raise BadArgument("The card of a PointNav policy needs its sensor: pointnav=PointNavRequirements(…).")
        return PointNavAgent(
            self.policy, requirements, context=context, fingerprint=self.fingerprint, metadata=self.card.metadata
        )

    @property
    def fingerprint(self) -> str:
        """The digest of the card and the weights."""
        digest = hashlib.blake2b(msgspec.json.encode(self.card), digest_size=16)
        for value in self.policy.state_dict().values():
            digest.update(value.cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()


_ACTING = (Policy, GroundPolicy, decision.DecisionPolicy, pointnav.PointNavPolicy)


def _can_act(make: object) -> bool:
    return isinstance(make, type) and issubclass(make, _ACTING)


def make_card(kind: str, config: Any, columns: Sequence[str], tokenizer: Tokenizer, **more: Any) -> ModelCard:
    """The card of a model; `config` is an instance of the configuration class of its kind."""
    values = asdict(config)
    if is_external(kind):
        values = msgspec.json.decode(
            msgspec.json.encode(values)
        )  # as they come back from a file: a card is compared when training resumes
    return ModelCard(kind, values, tuple(columns), tokenizer.words, **more)


def is_external(kind: str) -> bool:
    """Whether a kind of model is a class outside Itinera, "module:Class"."""
    return kind not in POLICIES and ":" in kind


def load_policy_class(policy: PolicyClass) -> type[Policy[Any] | GroundPolicy[Any, Any]]:
    """The class of a policy outside Itinera; imports its module. Raises BadArgument if it is no policy."""
    found = import_class(policy) if isinstance(policy, str) else policy
    name = policy if isinstance(policy, str) else class_name(policy)
    if not (isinstance(found, type) and issubclass(found, Policy | GroundPolicy)):
        raise BadArgument(f"{name} is not a policy: it must be a subclass of itinera.policies.base.Policy.")
    if inspect.isabstract(found):
        raise BadArgument(f"{name} lacks the methods {', '.join(sorted(found.__abstractmethods__))} of a policy.")
    if not (isinstance(found.config_class, type) and is_dataclass(found.config_class)):
        raise BadArgument(f"{name}.config_class must be a dataclass: the configuration of the policy.")
    return found


def class_name(policy: type[Any]) -> str:
    """The name "module:Class" of a class."""
    return f"{policy.__module__}:{policy.__qualname__}"


def build_model(card: ModelCard, policy: PolicyClass | None = None) -> Model:
    """An untrained model; its weights are drawn from torch's global generator.

    `policy` is the class if the card names one outside Itinera.
    """
    if is_external(card.kind) and policy is not None:
        make = load_policy_class(policy)
        config = msgspec.convert(card.config, make.config_class)
        return Model(make(card.columns, Tokenizer(card.words), config), card)
    make_policy, make_config = POLICIES[card.kind]
    return Model(make_policy(card.columns, Tokenizer(card.words), make_config(**card.config)), card)


def encode_model(
    model: Model, extra: Mapping[str, torch.Tensor] | None = None, notes: str = "", *, half: bool = False
) -> bytes:
    """The bytes of a model file; `extra` tensors and `notes` hold the state of training.

    `half` stores weights in half precision, which is enough for inference.
    """
    tensors = {f"policy.{name}": value.contiguous() for name, value in model.policy.state_dict().items()}
    if is_external(model.card.kind):  # it may share weights between layers, which safetensors refuses
        tensors = {name: value.clone() for name, value in tensors.items()}
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


def read_model(path: str | Path, *, policy: PolicyClass | None = None) -> ModelFile:
    """The contents of a model file; raises BadFile for another format or version, or weights of the wrong shape.

    No code outside Itinera is imported unless it is named: `policy` is the class of a model that was trained with
    a policy of yours.

    Memory for the model is allocated only if the file contains all its weights: a card of 200 bytes may describe a
    model of many gigabytes.
    """
    path = Path(path)
    try:
        status = path.stat()
        if status.st_size > MAX_BYTES or not stat.S_ISREG(status.st_mode):  # a pipe or device may never end
            problem = f"is no regular file, or larger than {MAX_BYTES >> 20} MiB."
            raise BadFile(str(path), [Fault("", problem, "Check that it is a model file of Itinera.")])
        with safetensors.safe_open(str(path), framework="pt") as file:
            header = file.metadata() or {}
            card = _decode_card(path, header, policy)
            faults = _check_shapes(path, card, policy, {name: file.get_slice(name) for name in file.keys()})  # noqa: SIM118
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise BadFile(str(path), [Fault("", "there is no such file.", "Check the path.")]) from None
    except (OSError, ValueError, safetensors.SafetensorError) as error:
        remedy = "Give a safetensors file written by Itinera."
        raise BadFile(str(path), [Fault("", f"is not a safetensors file ({error}).", remedy)]) from None
    weights = _take_prefix(tensors, "policy.")
    faults += _check_values(weights)
    if faults:
        raise BadFile(str(path), faults)
    model = build_model(card, policy)
    model.policy.load_state_dict(weights)
    return ModelFile(model, _take_prefix(tensors, "extra."), header.get("notes", ""))


def _take_prefix(tensors: Mapping[str, T], prefix: str) -> dict[str, T]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def read_card(path: str | Path, *, policy: PolicyClass | None = None) -> ModelCard:
    """The card of a model file whose model can act; raises BadFile for any other."""
    model = read_model(path, policy=policy).model
    if not isinstance(model.policy, _ACTING):
        problem = f"is a model of kind {model.card.kind}, which cannot act as an agent."
        raise BadFile(str(path), [Fault("", problem, "Give a model that follows instructions.")])
    return model.card


def load_agent(
    path: str | Path,
    view_columns: Sequence[str] = (),
    *,
    policy: PolicyClass | None = None,
    context: GroundContext | None = None,
) -> PolicyAgent | GroundPolicyAgent | DecisionAgent | PointNavAgent:
    """The agent of a model file, for views with these columns, or on the ground in this context."""
    # First of all: in a forked process, torch's other threads no longer exist, and whatever needs them waits forever.
    torch.set_num_threads(1)
    return read_model(path, policy=policy).model.agent(view_columns, context=context)


def _decode_card(path: Path, header: Mapping[str, str], policy: PolicyClass | None) -> ModelCard:
    try:
        card = msgspec.json.decode(header.get(CARD_KEY, ""), type=ModelCard)
    except (msgspec.DecodeError, ValueError, RecursionError, BadArgument) as error:
        problem = f"has no model card of Itinera ({error})."
        raise BadFile(str(path), [Fault("header", problem, "Give a file written by Itinera.")]) from None
    faults = []
    if card.version != VERSION:
        faults.append(Fault("version", f"is {card.version}, expected {VERSION}.", "Train the model again."))
    if is_external(card.kind) and policy is None:
        problem = f"is {card.kind!r}, a class outside Itinera, which is never imported by itself."
        faults.append(Fault("kind", problem, f"If you trust its code, name it: --policy {card.kind} (policy=)."))
    elif card.kind not in POLICIES and not is_external(card.kind):
        faults.append(Fault("kind", f"is {card.kind!r}.", f"Known kinds: {', '.join(POLICIES)}; yours module:Class."))
    elif policy is not None and policy != card.kind and card.kind in POLICIES:
        problem = f"is {card.kind!r}, which is part of Itinera."
        faults.append(Fault("kind", problem, "Leave --policy (policy=) out."))
    else:
        faults += _check_sizes(card)
        faults += _check_config(card, policy)
    if faults:
        raise BadFile(str(path), faults)
    return card


def _check_config(card: ModelCard, policy: PolicyClass | None) -> Iterator[Fault]:
    """The faults of a card's configuration, found before memory is allocated for it."""
    external = is_external(card.kind) and policy is not None
    config_class = load_policy_class(policy).config_class if external else POLICIES[card.kind][1]  # type: ignore[arg-type]
    known = {field.name for field in fields(config_class)}  # type: ignore[arg-type]
    for name in sorted(card.config.keys() - known):
        yield Fault(f"config.{name}", "is unknown.", f"Known fields: {', '.join(sorted(known))}.")
    for name, value in () if external else card.config.items():  # what the numbers of other classes mean is unknown
        low, high = (0, MAX_LAYERS) if name.endswith("_layers") else (1, MAX_DIM)
        if isinstance(value, int) and not isinstance(value, bool) and not low <= value <= high:
            yield Fault(f"config.{name}", f"is {_shorten(value)}.", f"Sizes must be from {low} to {high}.")
        elif isinstance(value, float) and not 0 <= value <= 1:
            yield Fault(f"config.{name}", f"is {value:g}.", "Rates must be from 0 to 1.")
    try:
        msgspec.convert(card.config, config_class)
    except msgspec.ValidationError as error:
        yield Fault("config", f"is not a configuration of {card.kind}: {error}.")


def _check_sizes(card: ModelCard) -> Iterator[Fault]:
    """The faults of a card's lists and numbers besides the configuration."""
    for name, values, limit in (("words", card.words, MAX_WORDS), ("columns", card.columns, MAX_COLUMNS)):
        if len(values) > limit:
            yield Fault(name, f"has {len(values):,} entries.", f"At most {limit:,} are allowed.")
    if not 1 <= card.max_words <= MAX_DIM:
        yield Fault("max_words", f"is {_shorten(card.max_words)}.", f"It must be from 1 to {MAX_DIM}.")
    if not (math.isfinite(card.reach) and card.reach >= 0):
        yield Fault("reach", f"is {card.reach:g}.", "It is a distance in metres.")


def _shorten(value: int) -> str:
    return str(value) if abs(value) < 10**20 else "a number of more than 20 digits"


def _check_shapes(path: Path, card: ModelCard, policy: PolicyClass | None, slices: Mapping[str, Any]) -> list[Fault]:
    """Every tensor of the card's model that the file lacks or has in another shape, and every unknown one.

    The model is built without memory for its weights, and of the file only the header is used.
    """
    try:
        expected, wrong = _build_state(card, policy)
    except Exception as error:  # layers raise many kinds of errors for sizes that do not fit together
        problem = f"describes a model that cannot be built ({error})."
        raise BadFile(str(path), [Fault("config", problem, "Give a file written by Itinera.")]) from None
    found = _take_prefix(slices, "policy.")
    faults = wrong + [Fault(name, "is missing.") for name in sorted(expected.keys() - found.keys())]
    faults += [Fault(name, "is not a parameter of this model.") for name in sorted(found.keys() - expected.keys())]
    for name in sorted(expected.keys() & found.keys()):
        shape, dtype = tuple(found[name].get_shape()), _DTYPES.get(found[name].get_dtype(), found[name].get_dtype())
        wanted = (tuple(expected[name].shape), expected[name].dtype)
        halved = dtype is torch.float16 and wanted[1] is torch.float32
        if shape != wanted[0] or not (halved or dtype is wanted[1]):
            faults.append(Fault(name, f"is {_describe(dtype, shape)}; its card requires {_describe(*wanted[::-1])}."))
    return faults


def _build_state(card: ModelCard, policy: PolicyClass | None) -> tuple[dict[str, torch.Tensor], list[Fault]]:
    """The weights of the card's model, without memory for their values unless a class outside Itinera needs it.

    The faults are those of its camera and maps.
    """
    try:
        with torch.device("meta"), _NoInitialization():
            made = build_model(card, policy).policy
    except Exception:
        if policy is None:
            raise
        made = build_model(card, policy).policy  # such as one whose constructor computes with values
    return made.state_dict(), [*_check_ground(card, made), *_check_pointnav(card, made)]


def _check_ground(card: ModelCard, policy: nn.Module) -> Iterator[Fault]:
    """The faults of a card's camera and maps."""
    if not isinstance(policy, GroundPolicy | decision.DecisionPolicy):
        if card.ground is not msgspec.UNSET:
            yield Fault("ground", "is set.", "This policy does not act on the ground.")
    elif card.ground is msgspec.UNSET:
        yield Fault("ground", "is missing.", "A policy on the ground has the camera it was trained with on its card.")
    else:
        yield from card.ground.faults(policy)


def _check_pointnav(card: ModelCard, policy: nn.Module) -> Iterator[Fault]:
    """The faults of a card's PointNav sensor."""
    if not isinstance(policy, pointnav.PointNavPolicy):
        if card.pointnav is not msgspec.UNSET:
            yield Fault("pointnav", "is set.", "This is no PointNav policy.")
    elif card.pointnav is msgspec.UNSET:
        yield Fault("pointnav", "is missing.", "A PointNav policy has the sensor it was trained with on its card.")
    else:
        yield from card.pointnav.faults(policy.config)


class _NoInitialization(TorchFunctionMode):
    """Weights get a shape and no values: computing values on the device "meta" imports torch's compiler, for 3 s."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = func.__name__
        # What changes values in place, or scales them by a number, leaves the shape as it is.
        if (name.endswith("_") and not name.startswith("_")) or name in ("__setitem__", "mul"):
            return args[0] if args else kwargs["tensor"]
        return (torch.empty if name == "randn" else func)(*args, **kwargs)


def _check_values(weights: Mapping[str, torch.Tensor]) -> Iterator[Fault]:
    for name, value in sorted(weights.items()):
        if not bool(torch.isfinite(value.float()).all()):
            yield Fault(name, "contains values that are not finite.")


def _describe(dtype: object, shape: tuple[int, ...]) -> str:
    return f"{str(dtype).removeprefix('torch.')} {shape}"
