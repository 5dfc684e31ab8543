"""The settings of `ppo.py`: its schedules, the distance curriculum and the stop gate."""

from __future__ import annotations

from dataclasses import dataclass

from itinera.errors import BadArgument

FORBIDDEN = 1e9  # subtracted from the logit of an action that must not be sampled


def linear(step: float, first: float, last: float, since: float, until: float) -> float:
    """A value that goes on a line from `first` at step `since` to `last` at step `until`, and stays there.

    >>> linear(75, 1.0, 0.0, 50, 100)
    0.5
    """
    share = 1.0 if until <= since else min(1.0, max(0.0, (step - since) / (until - since)))
    return first + share * (last - first)


@dataclass(frozen=True)
class Curriculum:
    """Training starts near the goal, and farther away as soon as most episodes succeed."""

    first: float = 3.0  # metres, the largest geodesic distance of a start at first
    last: float = 30.0  # and in the end
    factor: float = 1.3  # by which it grows
    success_rate: float = 0.5  # above which it grows; with 0.7 training stays near the goals for too long
    window: int = 300  # episodes over which the rate is measured


@dataclass(frozen=True)
class StopGate:
    """STOP is forbidden while the goal is farther than `radius` by the agent's own estimate.

    Without a gate an untrained agent learns to stop at once: that costs less than to wander. From `lift_from` on, a
    share of all steps, the logit of STOP is only lowered, by less and less, down to nothing at `lift_until`.
    """

    radius: float = 0.2  # metres
    lift_from: float | None = None  # None: the gate stays
    lift_until: float = 0.9
    penalty: float = 6.0  # of the logit when the gate begins to lift

    def penalty_at(self, progress: float) -> float:
        """What is subtracted from the logit of STOP beyond the radius, after this share of all steps."""
        if self.lift_from is None or progress < self.lift_from:
            return FORBIDDEN
        return linear(progress, self.penalty, 0.0, self.lift_from, self.lift_until)


@dataclass(frozen=True)
class PPOConfig:
    """What decides the weights besides the stage and the seed. Steps are those of all environments of all processes."""

    steps: int
    rollout_steps: int = 64  # of each environment between updates
    epochs: int = 2
    minibatches: int = 4  # of whole sequences
    learning_rate: float = 7e-4
    final_rate: float = 0.0  # of learning at the end
    clip: float = 0.2
    discount: float = 0.99
    gae_lambda: float = 0.95
    value_coefficient: float = 0.5
    entropy_coefficient: float = 0.01
    max_grad_norm: float = 0.5
    normalize_advantages: bool = True
    curriculum: Curriculum | None = Curriculum()
    gate: StopGate | None = StopGate()
    checkpoint_every: int = 500_000
    evaluate_every: int = 1_000_000

    def __post_init__(self) -> None:
        for name in ("steps", "rollout_steps", "epochs", "minibatches", "checkpoint_every", "evaluate_every"):
            if getattr(self, name) < 1:
                raise BadArgument(f"{name} must be ≥ 1 (got {getattr(self, name)}).")


PAPER = PPOConfig(
    steps=150_000_000,
    rollout_steps=128,
    minibatches=2,
    learning_rate=2.5e-4,
    final_rate=2.5e-4,
    max_grad_norm=0.2,
    normalize_advantages=False,
    curriculum=None,
    gate=None,
)
"""The paper's training, on 64 GPU environments. The stage decays its reward over 80 million steps."""
