"""What every part of a seed is."""

from __future__ import annotations

import msgspec


class Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of a seed. An unknown key is a mistake: to ignore it would give another world."""
