"""PPO on several machines: every rank is a chunk of an engine, and all of them train one policy (DD-PPO).

Instead of `torchrun`, an engine starts the ranks. They meet at a store of the process that asked for them. Roll-outs
are not cut short for stragglers, so equal seeds and numbers of ranks give equal weights on every engine. A rank that
ends stops the training; called again, it resumes from the last checkpoint of the first rank.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch.distributed as dist
from torch.distributed import TCPStore  # type: ignore[attr-defined]
from torch.distributed.distributed_c10d import PrefixStore

from itinera.errors import BadArgument
from itinera.runs.engines import Engine
from itinera.training.distributed import ALONE, TIMEOUT, Ranks, leave_ranks

LOOPBACK = "127.0.0.1"

TrainRank = Callable[[Ranks], bytes]  # trains as one of the ranks; returns the model file


@dataclass(frozen=True)
class Meeting:
    """Where the ranks meet."""

    host: str
    port: int
    size: int


def train_on_engine(engine: Engine, size: int, train: TrainRank, files: list[Path]) -> bytes:
    """The model file that so many ranks train, each in a process of the engine; `train` is sent to them."""
    if engine.workers < size:
        raise BadArgument(f"{size} ranks train at the same time, but the engine has {engine.workers} workers.")
    # Ranks on this machine meet where no other can; those of a cluster at the address by which it reaches this one.
    host = LOOPBACK if engine.shares_files else socket.gethostbyname(socket.gethostname())
    store = TCPStore(host, 0, is_master=True, timeout=TIMEOUT, wait_for_workers=False)
    meeting = Meeting(host, store.port, size)
    with closing(engine.map(partial(train_rank, meeting, train), range(size), files=files)) as results:
        models = dict(results)
    return models[0]


def train_rank(meeting: Meeting, train: TrainRank, rank: int) -> bytes:
    """In a process of an engine: train as one of the ranks. The first one returns the model file."""
    if meeting.size == 1:
        return train(ALONE)
    if meeting.host == LOOPBACK:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    store: Any = TCPStore(meeting.host, meeting.port, is_master=False, timeout=TIMEOUT)
    dist.init_process_group(
        "gloo", store=PrefixStore("default", store), rank=rank, world_size=meeting.size, timeout=TIMEOUT
    )
    try:
        model = train(Ranks(rank, meeting.size, PrefixStore("itinera", store)))
        return model if rank == 0 else b""
    finally:
        leave_ranks()
