"""Tasks: instructions, episodes, tours and protocols. Start with `episode.py`."""

from itinera.tasks.episode import Alignment, Episode, Instruction, Tour
from itinera.tasks.protocol import PROTOCOLS, Guidance, Protocol
from itinera.tasks.split import Split

__all__ = ["PROTOCOLS", "Alignment", "Episode", "Guidance", "Instruction", "Protocol", "Split", "Tour"]
