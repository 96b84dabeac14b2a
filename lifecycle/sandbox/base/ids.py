"""Ids that look like GitHub's, and are the same in each run of a seed."""

from __future__ import annotations

import base64
import hashlib
import struct


def node_id(prefix: str, scope: int, number: int) -> str:
    """Build a global node id: a type prefix, and a packed array of the owner's id and the object's.

    Clients must treat it as opaque
    (https://docs.github.com/graphql/guides/migrating-graphql-global-node-ids).
    """
    packed = b"\x93\x00\xce" + struct.pack(">I", scope) + b"\xce" + struct.pack(">I", number)
    return f"{prefix}_{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def named_id(prefix: str, scope: int, name: str) -> str:
    """Build the id of an object that has a name in its repository: a commit (`C_`), a ref (`REF_`)."""
    text = name.encode()
    packed = b"\x93\x00\xce" + struct.pack(">I", scope) + b"\xd9" + bytes([len(text) & 0xFF]) + text
    return f"{prefix}_{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def read_named_id(text: str) -> tuple[str, int, str] | None:
    """Split an id of `named_id` into prefix, scope and name; None for any other text."""
    prefix, _, encoded = text.partition("_")
    try:
        packed = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
        if packed[:3] != b"\x93\x00\xce" or packed[7:8] != b"\xd9":
            return None
        return prefix, struct.unpack(">I", packed[3:7])[0], packed[9:].decode()
    except (ValueError, struct.error):
        return None


def option_id(field: str, name: str, turn: int) -> str:
    """Eight hexadecimal digits for an option of a single select field; another `turn` returns others."""
    return hashlib.sha256(f"{field}\0{name}\0{turn}".encode()).hexdigest()[:8]
