"""What is asked: instructions, episodes, tours and the protocol they are judged by. Start with `episode.py`."""

from itinera.tasks.alignment import Alignment
from itinera.tasks.brief import Brief
from itinera.tasks.episode import Episode
from itinera.tasks.protocol import PROTOCOLS, Guidance, Protocol
from itinera.tasks.split import Split
from itinera.tasks.tour import Tour

__all__ = ["PROTOCOLS", "Alignment", "Brief", "Episode", "Guidance", "Protocol", "Split", "Tour"]
