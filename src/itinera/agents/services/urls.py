"""URLs of servers: which are accepted, and which are this machine."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from itinera.errors import BadArgument


def parse_url(url: str) -> str:
    """The URL of a server without a slash at its end; refuses those that are none, or contain a password or query."""
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 80) > 0
    except ValueError:
        is_valid = False
    if not is_valid or any(character.isspace() or not character.isprintable() for character in url):
        raise BadArgument(f"{url[:80]!r} is not the URL of a server, such as http://localhost:8000/v1.")
    if "@" in parts.netloc or parts.query or parts.fragment:
        # What was given is not quoted: it may be a key.
        raise BadArgument(
            f"The URL of the server at {parts.hostname} contains a user name, a password, ? or #. Results contain the "
            "URL, so give keys in an environment variable."
        )
    return url.rstrip("/")


def is_local(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
