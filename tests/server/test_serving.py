"""The socket of a server process; that it stops and resumes is tested with `itinera serve`."""

from __future__ import annotations

import socket

import pytest

from itinera.errors import BadArgument
from itinera.server.serving import open_socket


def test_a_reply_on_an_open_connection_is_sent_at_once():
    with open_socket("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_that_is_used_is_named():
    with open_socket("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(BadArgument, match=f"127.0.0.1:{port}: another program"):
            open_socket("127.0.0.1", port)
