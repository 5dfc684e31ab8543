"""Several processes that train one policy: sums of gradients, preemption of stragglers, and a check of the weights.

`torchrun` starts the processes; each is a rank. Gradients are added as one flat tensor, each sample counting the same,
so ranks may bring different numbers of samples. `ALONE` is the only rank of an ordinary process, for which nothing is
sent.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous

from itinera.errors import ItineraError

TIMEOUT = timedelta(minutes=30)  # of any one exchange: an evaluation of the first rank keeps all others waiting
MIN_SHARE = 0.25  # of its own roll-out that a rank completes before it may be preempted
POLL_EVERY = 4  # steps between questions whether others are done


class RankLost(ItineraError):
    """Another process of the training ended."""


class RanksDiffer(ItineraError):
    """The weights of two processes differ, which must never happen."""


class Ranks:
    """This process among those that train together."""

    def __init__(
        self,
        rank: int = 0,
        size: int = 1,
        store: Any = None,
        *,
        preempt_share: float | None = None,
        device: str = "cpu",
    ) -> None:
        """A roll-out ends early once this share of the ranks is done with theirs; None: never.

        Tensors are exchanged on `device`, which is a GPU of this rank's own with the backend nccl.
        """
        self.rank, self.size, self._store, self.device = rank, size, store, device
        self._enough = size if preempt_share is None else max(1, round(preempt_share * size))
        self._polls = preempt_share is not None and size > 1
        self._rollout = 0

    @property
    def is_first(self) -> bool:
        """Whether this rank evaluates and writes files."""
        return self.rank == 0

    def add(self, values: Tensor) -> Tensor:
        """The sum over all ranks, in place."""
        if self.size > 1:
            sent = values.to(self.device)  # the same tensor if it is there already
            try:
                dist.all_reduce(sent)
                values.copy_(sent)
            except RuntimeError as error:
                reason = str(error).partition("\n")[0]
                raise RankLost(
                    f"Rank {self.rank} of {self.size} stops because another rank ended ({reason}). "
                    "Start the same command again: it resumes from the last checkpoint."
                ) from None
        return values

    def average_gradients(self, module: nn.Module, samples: int) -> None:
        """Replace gradients of sums over the samples of each rank by those of the mean over the samples of all."""
        gradients = [parameter.grad for parameter in module.parameters() if parameter.grad is not None]
        if self.size == 1:
            torch._foreach_div_(gradients, float(samples))
            return
        count = gradients[0].new_tensor([float(samples)])
        flat = self.add(torch.cat([count, *(gradient.reshape(-1) for gradient in gradients)]))
        flat /= flat[0].clone()
        first = 1
        for gradient in gradients:
            gradient.copy_(flat[first : first + gradient.numel()].view_as(gradient))
            first += gradient.numel()

    def check_equal(self, content: bytes, when: str) -> None:
        """Raise RanksDiffer unless all ranks give the same bytes."""
        if self.size == 1:
            return
        digest = torch.frombuffer(bytearray(hashlib.blake2b(content, digest_size=24).digest()), dtype=torch.uint8)
        # Sums of numbers and of their squares, which agree with equal ones only if all are equal.
        own = digest.double()
        sums = self.add(torch.cat([own, own * own]))
        if not torch.equal(sums, self.size * torch.cat([own, own * own])):
            raise RanksDiffer(
                f"The weights of rank {self.rank} differ from those of another rank at {when}. Every schedule must be "
                "a function of the steps of all ranks; the last checkpoint is intact."
            )

    def begin_rollout(self) -> None:
        """Count the next roll-out."""
        self._rollout += 1

    def end_rollout(self) -> None:
        """Tell the other ranks that this one is done with its roll-out."""
        if self._polls:
            self._store.add(f"done {self._rollout}", 1)

    def should_stop(self, steps: int, total: int) -> bool:
        """Whether so many ranks are done that this one need not go on, after this many steps of its roll-out."""
        if not self._polls or steps % POLL_EVERY or steps < MIN_SHARE * total:
            return False
        return int(self._store.add(f"done {self._rollout}", 0)) >= self._enough


ALONE = Ranks()


def is_launched() -> bool:
    """Whether `torchrun` started this process."""
    return dist.is_available() and dist.is_torchelastic_launched()


def join_ranks(*, device: str = "cpu", preempt_share: float | None = 0.6, timeout: timedelta = TIMEOUT) -> Ranks:
    """This process among those that `torchrun` started: with the backend gloo on CPUs, and nccl on GPUs ("cuda")."""
    store, rank, size = next(rendezvous("env://", timeout=timeout))
    store.set_timeout(timeout)
    own = PrefixStore("itinera", store)
    backend = "gloo"
    if device != "cpu":
        backend, device = "nccl", f"cuda:{rank % torch.cuda.device_count()}"
    dist.init_process_group(backend, store=PrefixStore("default", store), rank=rank, world_size=size, timeout=timeout)
    return Ranks(rank, size, own, preempt_share=preempt_share, device=device)


def leave_ranks() -> None:
    """Close the connections to the other ranks."""
    if dist.is_initialized():
        dist.destroy_process_group()
