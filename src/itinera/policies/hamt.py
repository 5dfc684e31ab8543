"""HAMT: a transformer over the words, what is seen now, and a token for every step behind.

Words are read once. At every step the ways on, STOP and the steps behind are tokens of one sequence that looks at the
words and at itself; the token of a way, or of STOP, says how good it is. Nothing is kept from episode to episode.
Reference: Chen et al. 2021, History Aware Multimodal Transformer for Vision-and-Language Navigation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import torch
from torch import Tensor, nn

from itinera.errors import BadArgument
from itinera.policies.base import Weighed, with_stop
from itinera.policies.encoders import Meanings, WayEncoder
from itinera.policies.observation import ANGLES, GEOMETRY, Seen
from itinera.policies.text_encoder import kept_share
from itinera.policies.tokenizer import PAD, Vocabulary
from itinera.policies.transformer import Block, CrossLayer, Packing, Shape, packing_of, packing_of_mask
from itinera.rendering.panorama import TURNS, VIEWS


@dataclass(frozen=True)
class Sizes:
    """How large the parts are; the defaults are the paper's."""

    size: int = 768  # of every token, and of a word
    heads: int = 12
    inner: int = 3072
    text_layers: int = 9
    cross_layers: int = 4
    panorama_layers: int = 2  # over the views around at every step behind, where it looks around
    around: bool = True  # whether all views are looked at, or the ways on and the place as a whole
    words_look: bool = True  # whether words look at what is seen too; else they are worked out once (R4R, RxR)
    norm_first: bool = False  # before each part rather than after it
    dropout: float = 0.1  # inside the layers
    token_dropout: float = 0.1  # before them: the same numbers of all tokens of a walker, from beginning to end
    env_dropout: float = 0.4
    critic_dropout: float = 0.5
    trains_history: bool = True  # False: the tokens of steps behind are taken as they come (fine-tuning in the paper)
    longest: int = 512  # words; those beyond have the place of the last
    most_steps: int = 100  # the same for steps


SMALL = Sizes(
    size=128,
    heads=4,
    inner=256,
    text_layers=2,
    cross_layers=1,
    panorama_layers=0,
    around=False,
    words_look=False,
    norm_first=True,
    dropout=0.0,
    token_dropout=0.1,
    env_dropout=0.3,
    critic_dropout=0.1,
    longest=128,
    most_steps=50,
)
"""About a million numbers, which a CPU trains in minutes."""

STOPPING, WAY, VIEW, STEP = range(4)  # kinds of tokens
CRITIC = 512


@dataclass(frozen=True, eq=False)
class State:
    """What is kept in mind."""

    text: Tensor  # (walkers, longest, size) the words, [CLS] before them
    mask: Tensor  # (walkers, longest)
    told: Tensor | None  # (walkers, layers, longest, 2 size) what they offer to what is seen; None where words look too
    history: Tensor  # (walkers, steps, size) a token for each step behind in this episode
    there: Tensor  # (walkers, steps) whether there was such a step
    moves: Tensor  # (walkers,) how many there were
    faced: Tensor | None  # (walkers, …) the place seen last, as it was seen; None before the first
    meanings: Meanings
    kept: Tensor | None  # (walkers, size) which numbers of a token are not dropped; None: all
    # For those who remember earlier episodes:
    raw: Tensor | None = None  # (walkers, steps, …) the steps as they were seen, of which tokens can be made again
    earlier: Tensor | None = None  # (walkers, earlier steps, …) the same of earlier episodes
    earlier_moves: Tensor | None = None  # (walkers, earlier steps) how many moves into its episode each was
    earlier_there: Tensor | None = None  # (walkers, earlier steps)
    past: Tensor | None = None  # (walkers, earlier steps, size) their tokens


@dataclass(frozen=True, eq=False)
class Found:
    """What is made of what is seen, a token each."""

    summary: Tensor  # (walkers, size) of the whole, with the [CLS] of the words where these look too
    stop: Tensor  # (walkers, size)
    candidates: Tensor  # (rows, size)


class HAMT(nn.Module):
    """The navigator. A step behind is what was seen of the place and the way that was taken from there."""

    def __init__(self, columns: Sequence[str], vocabulary: Vocabulary, sizes: Sizes | None = None) -> None:
        super().__init__()
        s = self.sizes = sizes or Sizes()
        self.features = len(columns)
        self.looks_around = s.around
        shape = Shape(s.size, s.heads, s.inner, s.norm_first, s.dropout)
        self.embedding = nn.Embedding(len(vocabulary), s.size, padding_idx=PAD)
        self.opening = nn.Parameter(torch.randn(s.size) * 0.1)  # [CLS] of the words
        self.word_places = nn.Embedding(s.longest + 1, s.size)
        self.word_norm = nn.LayerNorm(s.size, eps=1e-12)
        self.reading = nn.ModuleList(Block(shape) for _ in range(s.text_layers))

        self.sights = WayEncoder(columns, vocabulary, word=s.size, size=s.size, env_dropout=s.env_dropout)
        self.kinds = nn.Embedding(4, s.size)
        self.sight_norm = nn.LayerNorm(s.size, eps=1e-12)

        seen = 4 * s.size  # of the place one was at, and along the way taken
        self.passed = nn.Sequential(nn.LayerNorm(seen), nn.Linear(seen, s.size)) if columns else None
        self.onward = nn.Sequential(nn.Linear(GEOMETRY, s.size), nn.ReLU(), nn.Linear(s.size, s.size))
        self.step_places = nn.Embedding(s.most_steps, s.size)
        self.step_norm = nn.LayerNorm(s.size, eps=1e-12)
        self.panorama = nn.ModuleList(Block(shape) for _ in range(s.panorama_layers if s.around else 0))
        self.gathering = nn.Parameter(torch.randn(s.size) * 0.1)  # [CLS] of the history

        self.layers = nn.ModuleList(CrossLayer(shape) for _ in range(s.cross_layers))
        self.last_norm = nn.LayerNorm(s.size, eps=1e-12) if s.norm_first else nn.Identity()
        self.like = nn.Sequential(
            nn.Linear(s.size, s.size),
            nn.ReLU(),
            nn.LayerNorm(s.size, eps=1e-12),
            nn.Dropout(s.dropout),
            nn.Linear(s.size, 1),
        )
        self.value = nn.Sequential(
            nn.Linear(s.size, CRITIC), nn.ReLU(), nn.Dropout(s.critic_dropout), nn.Linear(CRITIC, 1)
        )
        for table in (self.embedding, self.word_places, self.kinds, self.step_places):
            nn.init.normal_(table.weight, std=0.1)

    @property
    def _crossed(self) -> list[CrossLayer]:
        return cast(list[CrossLayer], list(self.layers))

    def read(self, words: Tensor, lengths: Tensor) -> State:
        return self.heard(self.embedding(words), lengths)

    def heard(self, embedded: Tensor, lengths: Tensor) -> State:
        """What is kept in mind of words (walkers, longest, size), of which each walker has so many."""
        walkers, size = len(lengths), self.sizes.size
        place = torch.arange(embedded.shape[1] + 1).clamp_max(self.sizes.longest)
        embedded = torch.cat([self.opening.expand(walkers, 1, size), embedded], dim=1) + self.word_places(place)
        packing = packing_of_mask(torch.arange(embedded.shape[1]) <= lengths[:, None])
        kept = kept_share(walkers, size, self.sizes.token_dropout) if self.training else None
        rows = self.word_norm(packing.gather(embedded))
        rows = rows if kept is None else rows * kept[packing.walkers]
        for block in self.reading:
            rows = block(rows, packing)
        return State(
            packing.spread(rows),
            packing.mask,
            None if self.sizes.words_look else self._offers(rows, packing),
            history=rows.new_zeros(walkers, 0, size),
            there=torch.zeros(walkers, 0, dtype=torch.bool),
            moves=torch.zeros(walkers, dtype=torch.int64),
            faced=None,
            meanings=self.sights.meanings(self.embedding.weight),
            kept=kept,
        )

    def _offers(self, rows: Tensor, packing: Packing) -> Tensor:
        """(walkers, layers, longest, 2 size) what words offer that do not look at what is seen."""
        offers = []
        for layer in self._crossed:
            offers.append(layer.offered(rows, packing))
            if layer is not self.layers[-1]:
                rows = layer.say(rows, packing)
        return torch.stack(offers, dim=1)

    def step(self, state: State, seen: Seen) -> tuple[State, Weighed]:
        state = self.watch(state, seen)
        return state, self.weigh(state, seen)

    def watch(self, state: State, seen: Seen, moved: Tensor | None = None) -> State:
        """What is kept in mind after seeing this: the step that led here is behind.

        `moved` (walkers,) tells who made one; the others are still where they were.
        """
        if state.faced is not None:
            if moved is None:
                moved = torch.ones(seen.walkers, dtype=torch.bool)
            raw = raw_steps(state.faced, seen)
            token = self.step_tokens(raw, state.moves, state.meanings)
            state = replace(
                state,
                history=torch.cat([state.history, token[:, None]], dim=1),
                there=torch.cat([state.there, moved[:, None]], dim=1),
                moves=state.moves + moved,
                raw=None if state.raw is None else torch.cat([state.raw, raw[:, None]], dim=1),
            )
        return replace(state, faced=self.as_seen(seen))

    def as_seen(self, seen: Seen) -> Tensor:
        """(walkers, …) the place as it is seen: what is ahead and all around, or the place as a whole."""
        if not self.sizes.around:
            return seen.here
        around, facing = _all_around(seen)
        level = slice(TURNS, 2 * TURNS)
        ahead = TURNS + facing[:, level, 1].argmax(dim=1)  # the level view at the least angle, whose cosine is 1
        faced = around[torch.arange(len(ahead)), ahead]
        return torch.cat([faced, around.flatten(1), facing.flatten(1)], dim=1)

    def step_tokens(self, raw: Tensor, moves: Tensor, meanings: Meanings) -> Tensor:
        """(rows, size) tokens of steps as they were seen, which were so many moves into their episodes."""
        n = self.features
        faced, around = raw[:, :n], raw[:, n : -(n + GEOMETRY)]
        taken, geometry = raw[:, -(n + GEOMETRY) : -GEOMETRY], raw[:, -GEOMETRY:]
        token = self.step_places(moves.clamp_max(self.sizes.most_steps - 1)) + self.kinds.weight[STEP]
        token = token + self.onward(geometry)
        if self.passed is not None:
            stood, went = self.sights.pooled(torch.cat([faced, taken]), meanings).tensor_split(2)
            token = token + self.passed(torch.cat([stood, went], dim=1))
        if around.shape[1]:
            token = token + self._overlooked(around, meanings)
        token = cast(Tensor, self.step_norm(token))
        return token if self.sizes.trains_history else token.detach()

    def _overlooked(self, around: Tensor, meanings: Meanings) -> Tensor:
        """(rows, size) the mean of the views around after they looked at one another."""
        views, facing = around.tensor_split([VIEWS * self.features], dim=1)
        rows = self._views(views.reshape(-1, self.features), facing.reshape(-1, ANGLES), meanings)
        packing = packing_of_mask(torch.ones(len(around), VIEWS, dtype=torch.bool))
        for block in self.panorama:
            rows = block(rows, packing)
        return packing.spread(rows).mean(dim=1)

    def _views(self, views: Tensor, facing: Tensor, meanings: Meanings) -> Tensor:
        """(rows, size) views, and where they lie."""
        geometry = torch.cat([facing, facing.new_zeros(len(facing), GEOMETRY - ANGLES)], dim=1)
        return self._tokens(views, geometry, torch.full((len(views),), VIEW), meanings)

    def _choices(self, seen: Seen, meanings: Meanings) -> Tensor:
        """(walkers + rows, size) STOP, which is to stay at the place, and the ways on."""
        kinds = torch.cat([torch.full((seen.walkers,), STOPPING), torch.full((len(seen.candidates),), WAY)])
        geometry = torch.cat([seen.here_geometry, seen.geometry])
        return self._tokens(torch.cat([seen.here, seen.candidates]), geometry, kinds, meanings)

    def _tokens(self, features: Tensor, geometry: Tensor, kinds: Tensor, meanings: Meanings) -> Tensor:
        pooled = self.sights.pooled(features, meanings)
        # The vectors of the words for what is seen come along, so that words and sights begin alike.
        encoded = self.sights(pooled, geometry) + self.sights.spoken(pooled)
        tokens: Tensor = self.sight_norm(encoded + self.kinds(kinds))
        return tokens

    def weigh(self, state: State, seen: Seen) -> Weighed:
        """What is made of what is seen, which `watch` has been told of."""
        found = self.looked(state, seen)
        logits = self.like(torch.cat([found.stop, found.candidates])).squeeze(1)
        walkers = seen.walkers
        return Weighed(with_stop(logits[:walkers], logits[walkers:], seen), self.value(found.summary).squeeze(1))

    def looked(self, state: State, seen: Seen) -> Found:
        """The tokens of the whole and of what can be done, after words and sights have met."""
        rows, packing, asked = self.gathered(state, seen)
        words, rows = self.met(state, rows, packing, asked)
        summary, stop, candidates = rows.tensor_split([seen.walkers, 2 * seen.walkers])
        if self.sizes.words_look:
            opening = words[:, 0]
            summary, stop, candidates = (
                summary * opening,
                stop * opening,
                candidates * opening[asked.walkers[2 * seen.walkers :]],
            )
        return Found(summary, stop, candidates)

    def gathered(self, state: State, seen: Seen | None) -> tuple[Tensor, Packing, Packing]:
        """The tokens of the history's [CLS], STOP, ways, steps behind and views, and the packing of the first three.

        Without anything seen there are but the [CLS] and the steps behind.
        """
        walkers = len(state.mask)
        each = torch.arange(walkers)[:, None]
        behind, there = self.behind(state)
        parts, asked, masks, views = [self._summaries(walkers)], [each], [there], []
        if seen is not None:
            parts.append(self._choices(seen, state.meanings))
            asked += [walkers + each, 2 * walkers + seen.slots]
            if self.sizes.around:
                around, facing = _all_around(seen)
                left = views_left(seen)
                views, masks = [self._views(around[left], facing[left], state.meanings)], [there, left]
        first = sum(map(len, parts))
        asked_slots = torch.cat(asked, dim=1)
        rows = torch.cat([*parts, behind[there], *views])
        slots = [torch.where(asked_slots < first, asked_slots, len(rows))]
        for mask in masks:
            flat = mask.reshape(-1)
            slots.append(torch.where(flat, first + flat.cumsum(0) - 1, len(rows)).reshape(mask.shape))
            first += int(flat.sum())
        packing = packing_of(torch.cat(slots, dim=1), len(rows))
        rows = rows if state.kept is None else rows * state.kept[packing.walkers]
        return rows, packing, packing_of(asked_slots, sum(map(len, parts)))

    def _summaries(self, walkers: int) -> Tensor:
        token: Tensor = self.step_norm(self.gathering + self.kinds.weight[STEP])
        return token.expand(walkers, -1)

    def behind(self, state: State) -> tuple[Tensor, Tensor]:
        """(walkers, n, size) the tokens of the steps behind, and (walkers, n) whether there are."""
        return state.history, state.there

    def met(self, state: State, rows: Tensor, packing: Packing, asked: Packing) -> tuple[Tensor, Tensor]:
        """(walkers, longest, size) the words and (rows, size) the tokens asked, after they looked at each other."""
        if state.told is None:
            return self.both_met(state, rows, packing, asked)
        for k, layer in enumerate(self._crossed):
            rows = layer.look(rows, packing, state.told[:, k], state.mask)
            rows = layer.see(rows, packing, asked if layer is self.layers[-1] else None)
        return state.text, self.last_norm(rows)

    def both_met(self, state: State, rows: Tensor, packing: Packing, asked: Packing) -> tuple[Tensor, Tensor]:
        """The same where words look too, whether or not they are to while walking."""
        text = packing_of_mask(state.mask)
        words = text.gather(state.text)
        for layer in self._crossed:
            told, shown = layer.offered(words, text), layer.offered(rows, packing)
            words = layer.say(layer.look(words, text, shown, packing.mask), text)
            rows = layer.look(rows, packing, told, state.mask)
            rows = layer.see(rows, packing, asked if layer is self.layers[-1] else None)
        return text.spread(self.last_norm(words)), self.last_norm(rows)


def raw_steps(faced: Tensor, seen: Seen) -> Tensor:
    """(walkers, …) steps as they were seen: the place one was at, and the way that was taken to what is seen now."""
    return torch.cat([faced, seen.taken, seen.taken_geometry], dim=1)


def views_left(seen: Seen) -> Tensor:
    """(walkers, 36) the views that are not those in which the ways lie."""
    who = seen.open.nonzero()[:, 0]
    facing = _all_around(seen)[1][who]
    aside, lean = torch.atan2(facing[..., 0], facing[..., 1]), torch.atan2(facing[..., 2], facing[..., 3])
    geometry = seen.geometry[:, :ANGLES, None]
    aside = aside - torch.atan2(geometry[:, 0], geometry[:, 1])
    lean = lean - torch.atan2(geometry[:, 2], geometry[:, 3])
    aside = (aside + math.pi) % math.tau - math.pi
    left = torch.ones(seen.walkers, VIEWS, dtype=torch.bool)
    left[who, torch.hypot(aside, lean).argmin(dim=1)] = False
    return left


def _all_around(seen: Seen) -> tuple[Tensor, Tensor]:
    if seen.around is None or seen.facing is None:
        raise BadArgument(
            "This agent looks at all views around, and was shown only the ways on. Keep them in the atlas."
        )
    return seen.around, seen.facing
