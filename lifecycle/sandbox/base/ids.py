"""Ids that look like GitHub's, and are the same in every run of the same seed."""

from __future__ import annotations

import base64
import hashlib
import struct


def node_id(prefix: str, scope: int, number: int) -> str:
    """A global node id: a type prefix and a packed array of the owner's id and the thing's own.

    Clients must treat it as opaque
    (https://docs.github.com/graphql/guides/migrating-graphql-global-node-ids).
    """
    packed = b"\x93\x00\xce" + struct.pack(">I", scope) + b"\xce" + struct.pack(">I", number)
    return f"{prefix}_{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def named_id(prefix: str, scope: int, name: str) -> str:
    """The same for a thing that a repository knows by name: a commit (`C_`), a ref (`REF_`)."""
    text = name.encode()
    packed = b"\x93\x00\xce" + struct.pack(">I", scope) + b"\xd9" + bytes([len(text) & 0xFF]) + text
    return f"{prefix}_{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def read_named_id(text: str) -> tuple[str, int, str] | None:
    """Prefix, scope and name of such an id; None if it is none."""
    prefix, _, rest = text.partition("_")
    try:
        packed = base64.urlsafe_b64decode(rest + "=" * (-len(rest) % 4))
        if packed[:3] != b"\x93\x00\xce" or packed[7:8] != b"\xd9":
            return None
        return prefix, struct.unpack(">I", packed[3:7])[0], packed[9:].decode()
    except (ValueError, struct.error):
        return None


def option_id(field: str, name: str, turn: int) -> str:
    """Eight hexadecimal digits for an option of a single select field; `turn` makes it new."""
    return hashlib.sha256(f"{field}\0{name}\0{turn}".encode()).hexdigest()[:8]
