"""A worker of live phases: asks the server for questions about tours and answers them by its simulator."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from itinera.errors import ItineraError
from itinera.formats.hosted_challenge import HostedChallenge
from itinera.server.client import Client
from itinera.server.live_messages import LivePoll, LiveWork, PhaseFacts, PlayAnswer, PlayQuestion

BATCH_SECONDS = 0.02  # after which answers leave, though there are more questions
PAUSE_SECONDS = 0.2  # after a failure of the connection
_TYPE = "application/msgpack"
_work_decoder = msgspec.msgpack.Decoder(LiveWork)
logger = logging.getLogger("itinera")


class TourState(Protocol):
    """The requests that an agent must answer next, or that end the tour."""

    @property
    def payload(self) -> bytes: ...

    @property
    def done(self) -> bool: ...

    @property
    def frames(self) -> int: ...


class Player(Protocol):
    """The simulator of a phase."""

    @property
    def tours(self) -> int: ...

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def protocol(self) -> Any: ...

    def play(
        self, secret: str, number: int, known: int, answers: Sequence[tuple[int, str]], *, wants: Any, replay: bool
    ) -> TourState | None: ...


class LiveWorker:
    """Plays the live phases of a challenge for one server.

    make_player: the simulator of a phase, with the host's files.
    """

    def __init__(
        self, client: Client, challenge: HostedChallenge, make_player: Callable[[Any], Player], *, name: str
    ) -> None:
        self._client, self._name = client, name
        live = [phase for phase in challenge.phases if phase.live is not None]
        self._players: Mapping[str, Player] = {phase.name: make_player(phase) for phase in live}
        self._facts = {
            phase.name: PhaseFacts(phase.digest, player.tours, list(player.columns), player.protocol.name)
            for phase in live
            for player in (self._players[phase.name],)
        }

    def run(self, stopping: threading.Event) -> None:
        """Play until `stopping` is set; a server that does not answer is asked again."""
        try:
            self._play(stopping)
        finally:
            self._client.close()

    def _play(self, stopping: threading.Event) -> None:
        questions: deque[PlayQuestion] = deque()
        answers: list[PlayAnswer] = []
        while not stopping.is_set():
            try:
                questions.extend(self._poll(answers, wait=not questions))
            except ItineraError as error:
                logger.warning(str(error))
                questions.clear()  # they will be asked again
                stopping.wait(PAUSE_SECONDS)
            answers = []
            until = time.monotonic() + BATCH_SECONDS
            while questions and time.monotonic() < until:
                answers.append(self.answer(questions.popleft()))

    def answer(self, question: PlayQuestion) -> PlayAnswer:
        """The answer to a question."""
        wants = None if question.wants is None else frozenset(question.wants)
        try:
            found = self._players[question.phase].play(
                question.secret, question.tour, question.known, question.answers, wants=wants, replay=question.replay
            )
        except Exception:
            logger.exception(f"Tour {question.tour} of a session of phase {question.phase} cannot be played.")
            return PlayAnswer(question.id, error="The host cannot play this tour now.")
        if found is None:
            return PlayAnswer(question.id, missing=True)
        return PlayAnswer(question.id, found.payload, found.done, found.frames)

    def _poll(self, answers: list[PlayAnswer], *, wait: bool) -> list[PlayQuestion]:
        message = msgspec.msgpack.encode(LivePoll(self._name, self._facts, answers, wait))
        content = self._client.exchange("/api/worker/live", message, _TYPE, repeat=False)
        return _work_decoder.decode(content).questions
